"""Statements beside each other: what they begin and end with, whether they share a line, whether they are prose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from instrc import problems
from instrc.ir.children import bodies
from instrc.ir.surface import (
    Annotated,
    Anonymous,
    Body,
    Call,
    Do,
    Each,
    Expression,
    Input,
    Name,
    Object,
    Pipe,
    Repeat,
    Statement,
    Try,
    Valued,
    When,
)
from instrc.problems.problem import Problem
from instrc.source import Source
from instrc.syntax.spelling import is_foreign

_PROSE = 4
"""Names one after the other that are no program any more."""
_Joined: TypeAlias = Pipe | Annotated
"""What begins with another expression."""
_OF_BLOCKS = frozenset({"until", "max", "keep", "times"})
"""Words of the end of a block: one behind a first name is a slip of a program."""
_SENTENCE = 2
"""Names alone behind a first one that are the words of a sentence: `Write a letter`."""


def prose(source: Source, row: Sequence[Statement], at: int) -> Problem | None:
    """Return the problem of a line of names without anything between them."""
    alone = True
    for count, (one, other) in enumerate(zip(row[at:], row[at + 1 :], strict=False), 1):
        name = first_part(one)
        if not isinstance(name, Name) or not share_line(source, one, other):
            return None
        behind = first_part(other)
        if count == 1 and isinstance(behind, Name) and behind.text in _OF_BLOCKS:  # `Draft until done`
            return None
        alone = alone and isinstance(one, Anonymous) and one.value is name and not is_foreign(name.text)
        sentence = count >= _SENTENCE and alone and isinstance(behind, Name) and behind.text[:1].islower()
        if count >= _PROSE or sentence:
            return problems.habits.NotAProgram(at=row[at].span, kind="plain text")
    return None


def share_line(source: Source, one: Statement, other: Statement) -> bool:
    """Tell whether two statements stand on one line with nothing but spaces between them."""
    end = one.span.end
    return source.text[end : end + 1] != ";" and not source.text[end : other.span.start].strip(" \t")


def first_of(statement: Statement | None) -> Expression | None:
    """Return what a statement begins with, if there is one that has a value."""
    return None if statement is None else first_part(statement)


def first_part(statement: Statement) -> Expression | None:
    """Return what the value of a statement begins with."""
    return ends(statement.value)[0] if isinstance(statement, Valued) else None


def ends(value: Expression) -> tuple[Expression, Expression]:
    """Return what an expression begins with and what it ends with."""
    if not isinstance(value, _Joined):
        return value, value
    first: Expression = value
    last: Expression = value
    while isinstance(first, _Joined):
        first = first.stages[0] if isinstance(first, Pipe) else first.value
    while isinstance(last, Pipe):
        last = last.stages[-1]
    return first, last


def rows_inside(row: Sequence[Statement]) -> Iterator[Sequence[Statement]]:
    """Yield the statements of each body in the values of statements, but not those of the bodies in these."""
    pending = [each.value for each in reversed(row) if type(each) is not Input]
    while pending:
        node = pending.pop()
        if type(node) is Call:  # as most are
            pending.extend([each.value for each in node.arguments if type(each.value) in _HOLDERS])
            continue
        match node:
            case Do() | When() | Each() | Repeat() | Try():
                for body in bodies(node):
                    yield _statements(body)
            case Pipe(stages):
                pending.extend(stages)
            case Annotated(inner):
                pending.append(inner)
            case Object(fields):
                pending.extend([each.value for each in fields if each.value is not None and type(each.value) in _HOLDERS])
            case _:
                pass


_HOLDERS = frozenset({Call, Do, When, Each, Repeat, Try, Pipe, Annotated, Object})
"""What may have bodies in it."""


def _statements(body: Body) -> Sequence[Statement]:
    return (*body.statements, Anonymous(body.value, body.value.span))
