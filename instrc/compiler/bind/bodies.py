"""Carry out the lines of a body, of a block or of a file, and find what a file exports."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.access import read_local
from instrc.compiler.bind.conditions import condition
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.lookup import names_a_value
from instrc.compiler.bind.scopes import Ends, LocalName, ProgramNames, Scope
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Cut, Data, paths_read
from instrc.language.surface import (
    Access,
    Annotated,
    Anonymous,
    Array,
    Binding,
    Call,
    Condition,
    Expression,
    Input,
    Literal,
    Statement,
)


class WrittenLines(Struct, frozen=True):
    """The lines of a body: its statements and its value, with the place of the value among them."""

    statements: Sequence[Statement]
    value: Expression
    place: int
    read: AbstractSet[str]
    """The names of the body that an expression mentions: these run where they are read."""


class CarriedLines(Struct, frozen=True):
    """What the lines of a body gave, and the tests that end its rounds; `None` for a mistake."""

    value: BoundValue | None
    tests: tuple[ir.Test, ...] | None
    complete: bool
    """Whether every line has a value."""
    frames: tuple[int, ...]
    """The lines in their order, as frames of the log."""


def carry_out(
    ev: Evaluation,
    lines: WrittenLines,
    scope: Scope,
    inside: EvaluationContext,
    last: EvaluationContext,
    until: Condition | None = None,
) -> CarriedLines:
    """Evaluate every line of a body, read or not; `last` is the context of its value, and `until` is read after that."""
    log = ev.steps.log
    begun: dict[int, int] = {}
    unread: list[Hashable] = []
    complete = True
    for place, line in enumerate(lines.statements):
        if place != lines.place and not isinstance(line, Input) and _runs_unread(line, lines.read, ev.ends, scope):
            begun[place] = log.begin()
            complete = _carried(ev, line, scope, inside, unread) and complete
            log.close()
    begun[lines.place] = log.begin()
    value = ev.value(lines.value, last)
    log.close()
    if unread and isinstance(value, Cut):
        for place in sorted(begun.keys() - {lines.place}):
            ev.report.add(problems.names.MisplacedLine(at=lines.statements[place].span, beside="Process(…)"))
    tests = None if until is None else condition(ev, until, inside)
    for line in lines.statements:  # what is read only by what comes later, as by the condition or by the round before
        left = isinstance(line, Binding) and line.value is not lines.value and ev.frame_of(scope, line.name.text) is None
        if left and not isinstance(value, Cut) and isinstance(line, Binding) and is_work(line, ev.ends, scope):
            complete = _carried(ev, line, scope, inside, unread) and complete
    ev.steps.places.note_carried(inside.region, unread)
    frames: list[int] = []
    for place, statement in enumerate((*lines.statements, None)):
        named = isinstance(statement, Binding) and place != lines.place
        frame = ev.frame_of(scope, statement.name.text) if named and isinstance(statement, Binding) else begun.get(place)
        if frame is not None:
            frames.append(frame)
    return CarriedLines(value, tests, complete, tuple(frames))


def _runs_unread(line: Binding | Anonymous, read: AbstractSet[str], ends: Ends, scope: Scope) -> bool:
    """Return whether a line is carried out where it stands: an expression, or work under a name that nothing mentions."""
    return isinstance(line, Anonymous) or (line.name.text not in read and is_work(line, ends, scope))


def is_work(statement: Binding, ends: Ends, scope: Scope) -> bool:
    """Return whether a definition carries something out: another name of an instruction or a literal does not."""
    value: Expression = statement.value
    while isinstance(value, Annotated):
        value = value.value
    return not isinstance(value, Literal | Array) and not ends.is_alias(LocalName(statement, scope))


def _carried(
    ev: Evaluation, statement: Binding | Anonymous, scope: Scope, context: EvaluationContext, unread: list[Hashable]
) -> bool:
    """Evaluate a statement that nothing reads, and record its value; return whether it has one."""
    if isinstance(statement, Binding):
        value = read_local(ev, statement.name, LocalName(statement, scope), context)
    else:
        value = ev.value(statement.value, context)
        if isinstance(value, Data):
            ev.report.add(problems.calls.MisplacedData(at=statement.value.span))
        elif value is not None and _only_names(ev, statement.value, context):
            ev.report.add(problems.steps.NothingToDo(at=statement.value.span))
    paths = () if value is None else paths_read(value)
    unread += map(ev.steps.identities.path, paths)
    ev.unread.update(path.origin for path in paths if isinstance(path.origin, int))
    return value is not None


def _only_names(ev: Evaluation, line: Expression, context: EvaluationContext) -> bool:
    """Return whether a line is the bare name of a value, or a path into one: it does nothing."""
    return names_a_value(ev, line, context) and not (isinstance(line, Access) and isinstance(line.base, Call))


class Export(Struct, frozen=True):
    """An expression that becomes an artefact, and the name that `tool` gives it."""

    name: str | None
    lines: WrittenLines

    @property
    def expression(self) -> Expression:
        """What it exports."""
        return self.lines.value


def exports_of(names: ProgramNames) -> list[Export]:
    """Return what a file exports: each `tool`; without one, the file is a body, whose value is its last line."""
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
    last = next((one for one in reversed(values) if _runs_unread(one[1], read, ends, root)), values[-1] if values else None)
    return [] if last is None else [Export(None, WrittenLines(statements, last[1].value, last[0], read))]
