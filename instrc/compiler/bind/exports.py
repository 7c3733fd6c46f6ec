"""Find the exports of a file, and the lines of a body that run although nothing reads them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from instrc.compiler.bind.scopes import Ends, LocalName, ProgramNames, Scope
from instrc.language.surface import Annotated, Anonymous, Array, Binding, Expression, Literal, Statement


class WrittenLines(Struct, frozen=True):
    """The lines of a body: its statements and its value, with the place of the value among them."""

    statements: Sequence[Statement]
    value: Expression
    place: int
    read: AbstractSet[str]
    """Names of the body that an expression mentions; these lines run where they are read."""


class Export(Struct, frozen=True):
    """An expression that becomes an artefact, and its name from `tool`."""

    name: str | None
    lines: WrittenLines

    @property
    def expression(self) -> Expression:
        """The exported expression."""
        return self.lines.value


def exports_of(names: ProgramNames) -> list[Export]:
    """Return the exports of a file: each `tool`; without one, the file is a body, whose value is its last line."""
    statements = names.program.statements
    tools = [each for each in statements if isinstance(each, Binding) and each.exported]
    if tools:
        return [Export(each.name.text, WrittenLines((), each.value, 0, frozenset())) for each in tools]
    read = names.survey.mentioned
    ends, root = Ends(), names.root
    values = [
        (place, each)
        for place, each in enumerate(statements)
        if isinstance(each, Anonymous) or (isinstance(each, Binding) and each.name.text not in read)
    ]
    last = next((one for one in reversed(values) if runs_unread(one[1], read, ends, root)), values[-1] if values else None)
    return [] if last is None else [Export(None, WrittenLines(statements, last[1].value, last[0], read))]


def runs_unread(line: Binding | Anonymous, read: AbstractSet[str], ends: Ends, scope: Scope) -> bool:
    """Return whether a line runs where it is written: an expression, or work under an unused name."""
    return isinstance(line, Anonymous) or (line.name.text not in read and is_work(line, ends, scope))


def is_work(statement: Binding, ends: Ends, scope: Scope) -> bool:
    """Return whether a definition executes something: an alias of an instruction or a literal does not."""
    value: Expression = statement.value
    while isinstance(value, Annotated):
        value = value.value
    return not isinstance(value, Literal | Array) and not ends.is_alias(LocalName(statement, scope))
