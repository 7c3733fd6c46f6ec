"""Surface to text: one statement a line, in the one way that reads back as the same program.

Comments are not printed.  Brackets appear where the meaning needs them, so redundant ones of the source are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from instrc.language.lexer import is_name, normal
from instrc.language.surface import (
    Access,
    Annotated,
    Anonymous,
    Argument,
    Array,
    Binding,
    Body,
    Call,
    Compares,
    Condition,
    Do,
    Each,
    Equals,
    Expression,
    Field,
    Inline,
    Input,
    Literal,
    Matches,
    Name,
    Object,
    Pipe,
    Program,
    Race,
    Repeat,
    Segment,
    Selection,
    Statement,
    Test,
    Truth,
    Try,
    Uri,
    When,
)
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

_Piece: TypeAlias = "str | Expression | Argument | Field | Body | Condition | Test | _Data"
_METRIC = re.compile(r"\$\w+")


class _Data:
    """Plain JSON that waits to be printed."""

    __slots__ = ("value",)

    def __init__(self, value: Json) -> None:
        self.value = value


def print_program(program: Program) -> str:
    """Return the canonical text of a program; parsing it gives the program back, up to places and comments."""
    return "".join(f"{_written(_statement(statement))};\n" for statement in program.statements)


def _statement(statement: Statement) -> list[_Piece]:
    match statement:
        case Binding():
            return ["tool " if statement.exported else "const ", statement.name, " = ", statement.value]
        case Input(annotation=None):
            return ["input ", statement.name]
        case Input():
            return ["input ", statement.name, " @ ", _Data(statement.annotation)]
        case Anonymous():
            return [statement.value]


def _written(pieces: list[_Piece]) -> str:
    """Join pieces, opening each into smaller ones: an explicit stack, for programs nest deeper than Python calls do."""
    done: list[str] = []
    stack = pieces[::-1]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            done.append(piece)
        else:
            stack.extend(reversed(_opened(piece)))
    return "".join(done)


def _opened(piece: Expression | Argument | Field | Body | Condition | Test | _Data) -> list[_Piece]:
    match piece:
        case When() | Each() | Repeat() | Try() | Race() | Do():
            return _block(piece)
        case Body() | Condition() | Truth() | Equals() | Compares() | Matches():
            return _in_block(piece)
        case Access():
            return [piece.base, *(f".{_member(each)}" for each in piece.members)]
        case Name() | Uri():
            return [piece.text]
        case Literal():
            return [dumps(piece.value)]
        case Inline():
            return ["@ ", _Data(piece.schema)]
        case Call():
            return [piece.callee, "(", *_separated(piece.arguments), ")"]
        case Argument(label=None):
            return [piece.value]
        case Argument():
            return [f"{piece.label}: ", piece.value]
        case Annotated():
            inner = ["(", piece.value, ")"] if isinstance(piece.value, Repeat | Each) else _bracketed(piece.value)
            return [*inner, " @ ", _Data(piece.annotation)]
        case Pipe():
            first, *rest = piece.stages
            stages = _bracketed(first)
            for stage in rest:
                stages += [" | ", *_bracketed(stage)]
            return stages
        case Array():
            return ["[", *_separated(piece.items), "]"]
        case Object(fields=()):
            return ["{}"]
        case Object():
            return ["{ ", *_separated(piece.fields), " }"]
        case Field():
            return [piece.key] if piece.value is None else [f"{_key(piece.key)}: ", piece.value]
        case _Data():
            return list(_data(piece.value))


def _block(block: When | Each | Repeat | Try | Race | Do) -> list[_Piece]:
    pieces: list[_Piece] = []
    match block:
        case When(branches, otherwise):
            for number, branch in enumerate(branches):
                pieces += [" else when " if number else "when ", branch.condition, " ", branch.body]
        case Each(name, source, selection, body, _, until):
            pieces += ["each ", name, " in ", source, *_selected(selection), " ", body]
            pieces += [] if until is None else [" until ", until]
            otherwise = None
        case Race(branches):
            pieces += ["race ", *_separated(branches, " or ")]
            otherwise = None
        case Repeat(name, source, body, until, most, keep, otherwise, _, first, selection):
            pieces += ["repeat ", body]
            if name is not None and source is not None:
                pieces[1:1] = [name, " in ", source, *_selected(selection), " "]
            pieces += [] if first is None else [" from ", first]
            if until is not None:
                pieces += [" until ", until, *_numbered("max", most), *_numbered("keep", keep)]
        case Try(body, otherwise):
            pieces += ["try ", body]
        case Do(body):
            pieces += ["do ", body]
            otherwise = None
    return pieces if otherwise is None else [*pieces, " else ", otherwise]


def _selected(selection: Selection) -> list[_Piece]:
    condition: list[_Piece] = [] if selection.condition is None else [" when ", selection.condition]
    return [*condition, *_numbered("max", selection.most), *_numbered("first", selection.first)]


def _numbered(word: str, number: Literal | Name | Access | None) -> list[_Piece]:
    return [] if number is None else [f" {word} ", number]


def _in_block(piece: Body | Condition | Test) -> list[_Piece]:
    match piece:
        case Body(statements, value):
            inside = [part for statement in statements for part in (*_statement(statement), "; ")]
            return ["{ ", *inside, value, " }"]
        case Condition(tests, _, joined):
            words = [[" and " if number in joined else " or "] if number else [] for number in range(len(tests))]
            return [piece for word, test in zip(words, tests, strict=True) for piece in (*word, test)]
        case Truth(subject):
            return [subject]
        case Equals(subject, value, _, negated):
            return [subject, " is not " if negated else " is ", value]
        case Compares(subject, sign, value):
            return [subject, f" {sign} ", value]
        case Matches(subject, schema):
            return [subject, " @ ", _Data(schema)]


def _member(segment: Segment) -> str:
    """Return a member without quotes if it reads back as the same member."""
    text = segment.text
    plain = is_name(text) or (_METRIC.fullmatch(text) and is_name(f"a{text[1:]}"))
    return text if plain and normal(text) == text else dumps(text)


def _data(value: Json) -> Iterator[_Piece]:
    if isinstance(value, dict):
        yield "{ " if value else "{"
        for number, (key, item) in enumerate(value.items()):
            yield f"{', ' if number else ''}{_key(key)}: "
            yield _Data(item)
        yield " }" if value else "}"
    elif isinstance(value, list):
        yield "["
        yield from _separated([_Data(item) for item in value])
        yield "]"
    else:
        yield dumps(value)


def _separated(pieces: Iterable[_Piece], sign: str = ", ") -> Iterator[_Piece]:
    for number, piece in enumerate(pieces):
        if number:
            yield sign
        yield piece


def _bracketed(value: Expression) -> list[_Piece]:
    """Return a stage, or what is annotated: a pipe needs brackets there."""
    return ["(", value, ")"] if isinstance(value, Pipe) else [value]


def _key(key: str) -> str:
    """Return a key without quotes if it reads back as the same key."""
    return key if is_name(key) and normal(key) == key else dumps(key)
