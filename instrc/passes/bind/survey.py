"""What the bodies of blocks define and which of these names are read, found before anything is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from instrc import problems
from instrc.ir.children import children, subjects
from instrc.ir.surface import (
    Binding,
    Body,
    Call,
    Condition,
    Do,
    Each,
    Expression,
    Inline,
    Input,
    Literal,
    Name,
    Object,
    Program,
    Repeat,
    Try,
    Uri,
    When,
)
from instrc.problems.report import Report
from instrc.source import Span

GIVEN = ("round", "previous", "rounds", "error")
"""Names that blocks give."""


class BodyNames(msgspec.Struct):
    """The names of each body, by the offset at which it starts."""

    locals: dict[int, dict[str, Binding]] = msgspec.field(default_factory=dict)
    read: dict[int, set[str]] = msgspec.field(default_factory=dict)
    """Those that an expression mentions."""
    mentioned: set[str] = msgspec.field(default_factory=set)
    """Every bare name that stands in an expression of the program."""

    elements: dict[str, Span] = msgspec.field(default_factory=dict)
    """The elements that blocks name, and where the first of each name is."""

    others: list[tuple[str, Span, Span]] = msgspec.field(default_factory=list)
    """The blocks with an `else` that is not given what the first body defines: their word and the places of both bodies."""

    refused: set[str] = msgspec.field(default_factory=set)
    """Reserved names that the program tries to define: no use of them is a mistake of its own."""

    def other_body(self, at: Span, defined: Span) -> str:
        """Return the word of the block in whose `else` a place lies, if its first body defines what stands there."""
        found = [word for word, body, other in self.others if _holds(body, defined) and _holds(other, at)]
        return found[-1] if found else ""

    def defined(self, name: str) -> Span | None:
        """Return where a block defines a name, or names its element so; `None` if none does."""
        return next((names[name].name.span for names in self.locals.values() if name in names), self.elements.get(name))


class _Open(msgspec.Struct, frozen=True, gc=False):
    """A body begins; `given` are the names that its block gives to it, with the place of one that is written."""

    body: Body
    given: tuple[tuple[str, Span | None], ...]


class _Close(msgspec.Struct, frozen=True, gc=False):
    body: Body
    given: tuple[tuple[str, Span | None], ...]


class _Visible(msgspec.Struct, frozen=True, gc=False):
    """What defines a name that can be seen: the body, `None` for the program itself and for what a block gives, and where."""

    body: int | None
    at: Span | None
    names: Mapping[str, Binding] = {}
    """Of a body: the statements of its names."""

    def place(self, name: str) -> Span | None:
        """Return where it defines a name."""
        return self.names[name].name.span if name in self.names else self.at


_Task: TypeAlias = "_Open | _Close | Expression"


def survey(program: Program, known: dict[str, Span | None], reserved: frozenset[str], report: Report) -> BodyNames:
    """Return the names of all bodies of a program; `known` are the names that the program itself defines."""
    found = BodyNames()
    visible = {name: _Visible(None, span) for name, span in known.items()}
    hidden: list[tuple[str, _Visible | None]] = []
    """What the names that blocks give meant before, the innermost last."""
    mentioned: set[str] = set()
    """The names that stand in expressions since a body has begun or ended: what they mean is the same for all of them."""
    waiting: list[_Task] = [each.value for each in reversed(program.statements) if not isinstance(each, Input)]
    while waiting:
        task = waiting.pop()
        if type(task) is Call:
            for argument in reversed(task.arguments):
                if type(argument.value) is Name:
                    mentioned.add(argument.value.text)
                else:
                    waiting.append(argument.value)
            task = task.callee
        if type(task) is Name:
            mentioned.add(task.text)
            continue
        match task:
            case _Open():
                _note(mentioned, visible, found)
                hidden += [(name, visible.get(name)) for name, _ in task.given]
                _open(task, visible, found, reserved, report)
            case _Close(body, given):
                _note(mentioned, visible, found)
                for name in found.locals[body.span.start]:
                    del visible[name]
                for _ in given:
                    name, before = hidden.pop()
                    if before is None:
                        visible.pop(name, None)  # an element may be called like what its block gives
                    else:
                        visible[name] = before
            case Do() | When() | Each() | Repeat() | Try():
                if isinstance(task, Repeat | Try) and task.otherwise is not None:
                    word = "try" if isinstance(task, Try) else "repeat"
                    found.others.append((word, task.body.span, task.otherwise.span))
                waiting.extend(reversed(_parts(task)))
            case Literal() | Uri() | Inline():
                pass
            case _:
                if isinstance(task, Object):
                    mentioned.update([each.key for each in task.fields if each.value is None])
                waiting.extend(reversed(children(task)))
    _note(mentioned, visible, found)
    return found


def _holds(body: Span, at: Span) -> bool:
    return body.start <= at.start and at.end <= body.end


def _note(mentioned: set[str], visible: dict[str, _Visible], found: BodyNames) -> None:
    """Note that names are mentioned, of the program or of the body that defines each, and forget them."""
    found.mentioned.update(mentioned)
    for name in mentioned:
        home = visible.get(name)
        if home is not None and home.body is not None:
            found.read[home.body].add(name)
    mentioned.clear()


def _open(task: _Open, visible: dict[str, _Visible], found: BodyNames, reserved: frozenset[str], report: Report) -> None:
    body, given = task.body, task.given
    start = body.span.start
    found.read[start] = set()
    names: dict[str, Binding] = {}
    home = _Visible(start, None, names)
    for name, span in given:
        if span is not None:
            if name in reserved or name in visible:
                _refuse(name, span, visible, reserved, found, report)
            found.elements.setdefault(name, span)
        visible[name] = _Visible(None, span)
    for statement in body.statements:
        if isinstance(statement, Binding):
            name = statement.name.text
            if name in reserved or name in visible:
                _refuse(name, statement.name.span, visible, reserved, found, report)
            else:
                names[name] = statement
                visible[name] = home
    found.locals[start] = names


def _refuse(
    name: str, span: Span, visible: dict[str, _Visible], reserved: frozenset[str], found: BodyNames, report: Report
) -> None:
    """Report a name that has a meaning already."""
    if name in reserved:
        found.refused.add(name)
        report.add(problems.names.ReservedName(at=span, word=name))
    else:
        report.add(problems.names.RepeatedName(at=span, word=name, first=visible[name].place(name)))


def _parts(block: When | Each | Repeat | Try | Do) -> list[_Task]:
    """Return what is in a block, in order, with the beginnings and ends of its bodies."""
    match block:
        case When(branches, otherwise):
            found: list[_Task] = []
            for branch in branches:
                found += [*_read(branch.condition), *_body(branch.body, ())]
            return found if otherwise is None else [*found, *_body(otherwise, ())]
        case Each(name, source, _, body):
            outside: list[_Task] = [] if isinstance(source, Literal) else [source]
            return [*outside, *_body(body, ((name.text, name.span),))]
        case Repeat():
            rounds: tuple[tuple[str, Span | None], ...] = (("round", None), ("previous", None), ("rounds", None))
            element = () if block.name is None else ((block.name.text, block.name.span),)
            until = () if block.until is None else _read(block.until)
            found = [] if block.source is None else [block.source]
            found += _body(block.body, (*element, *rounds), *until)
            return found if block.otherwise is None else [*found, *_body(block.otherwise, (("rounds", None),))]
        case Try(body, otherwise):
            return [*_body(body, ()), *_body(otherwise, (("error", None),))]
        case Do(body):
            return _body(body, ())


def _read(condition: Condition) -> tuple[_Task, ...]:
    return tuple(subjects(condition))


def _body(body: Body, given: tuple[tuple[str, Span | None], ...], *last: _Task) -> list[_Task]:
    return [_Open(body, given), *(each.value for each in body.statements), body.value, *last, _Close(body, given)]
