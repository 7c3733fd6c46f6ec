"""Evaluate the lines of a body: of a block, a file, or a called program."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from msgspec import Struct, structs

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.access import read_local
from instrc.compiler.bind.conditions import condition
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.exports import WrittenLines, is_work, runs_unread
from instrc.compiler.bind.lookup import names_a_value
from instrc.compiler.bind.scopes import CalledProgram, LocalName, Scope
from instrc.compiler.bind.steps import PRIVATE, EvaluationContext
from instrc.compiler.bind.values import BoundValue, Cut, Data, paths_read
from instrc.language.surface import Access, Anonymous, Argument, Binding, Call, Condition, Expression, Input, Name
from instrc.text.source import Span


class CarriedLines(Struct, frozen=True):
    """The values of a body's lines, and the tests that end its rounds; `None` for a mistake."""

    value: BoundValue | None
    tests: tuple[ir.Test, ...] | None
    complete: bool
    """Whether every line has a value."""
    frames: tuple[int, ...]
    """Frames of the lines in the log, in order."""


def carry_out(
    ev: Evaluation,
    lines: WrittenLines,
    scope: Scope,
    inside: EvaluationContext,
    last: EvaluationContext,
    until: Condition | None = None,
) -> CarriedLines:
    """Evaluate every line of a body, read or not; `last` is the context of its value, and `until` is evaluated after that."""
    log = ev.steps.log
    begun: dict[int, int] = {}
    unread: list[Hashable] = []
    complete = True
    for place, line in enumerate(lines.statements):
        if place != lines.place and not isinstance(line, Input) and runs_unread(line, lines.read, ev.ends, scope):
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
    for line in lines.statements:  # read only by something later, such as the condition or the next round
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


def _carried(
    ev: Evaluation, statement: Binding | Anonymous, scope: Scope, context: EvaluationContext, unread: list[Hashable]
) -> bool:
    """Evaluate an unread statement, and record its value; return whether it has one."""
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
    """Return whether a line is the bare name of a value, or a path into one, so that it has no effect."""
    return names_a_value(ev, line, context) and not (isinstance(line, Access) and isinstance(line.base, Call))


def call_program(
    ev: Evaluation, program: CalledProgram, written: tuple[Argument, ...], span: Span, context: EvaluationContext
) -> BoundValue | None:
    """Evaluate a call of a program: its value is that of its export, with the inputs passed in."""
    from instrc.compiler.bind.called_programs import evaluate_arguments, export_of, read_program, with_call  # few call others

    calls = [each.path for each in context.scope.program.calls]
    if program.file.path in calls:
        circle = context.scope.program.calls[calls.index(program.file.path) :]
        uris = (*(each.uri for each in circle), program.file.uri)
        ev.report.add(problems.calls.CircularProgram(at=span, uris=uris))
        return None
    names = read_program(ev, program, span, context)
    if names is None:
        return None
    ev.calls[names.program.source] = span
    export = export_of(ev, program, names, span)
    given = evaluate_arguments(ev, names, program.file.segment, written, span, context)
    if given is None or export is None:
        return None
    scope = Scope(
        ev.next_scope(),
        names.locals,
        {},
        names,
        given=given,
        region=context.region,
        level=context.scope.level,
        piped=given["prompt"],
    )
    inside = EvaluationContext(scope, context.region, scope.piped, braces=context.braces, by_hand=context.by_hand)
    last = structs.replace(context, scope=scope, piped=given["prompt"], own=False, keys=None, placing=context.placing)
    _note_exported(ev, export.lines.value, names.locals, last)
    before = len(ev.report.problems)
    log = ev.steps.log
    whole = log.begin()
    carried = carry_out(ev, export.lines, scope, inside, last)
    log.note_body(whole, context.region, carried.frames)
    log.close()
    value = carried.value if carried.complete else None
    ev.report.change(before, lambda each: with_call(each, span))
    return value


def _note_exported(ev: Evaluation, value: Expression, locals_: Mapping[str, Binding], context: EvaluationContext) -> None:
    """Record the context of an exported name: what it adds applies to the one step that all lines of the program read."""
    if not (context.annotations or context.timing is not ir.NO_TIMING or context.key) or context.direct or context.key == PRIVATE:
        return
    context = structs.replace(context, placing=False)
    while isinstance(value, Name) and value.text in locals_ and (key := (context.scope.number, value.text)) not in ev.exported:
        ev.exported[key] = context
        value = locals_[value.text].value
