"""The bodies of blocks: their statements, then their value."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from instrc import problems
from instrc.ir import surface
from instrc.ir.blocks import Region, Test
from instrc.ir.paths import BlockName, Local, ObjectReading, Path, Reading
from instrc.ir.reads import Constant
from instrc.ir.surface import Anonymous, Binding, Body, Expression, Literal
from instrc.limits.programs import VALUE_LEVELS
from instrc.passes.bind.conditions import condition
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.local_names import read_local
from instrc.passes.bind.scopes import LocalName, Scope
from instrc.passes.bind.values import BoundValue, Data, Members, StepResult, paths_read
from instrc.passes.trampoline import Task
from instrc.source import Span


class ReadBody(Struct, frozen=True):
    """A body, the tests that end its rounds, and what its names stand for; `None` for what has a mistake or is not there."""

    number: int
    """The number of the region."""
    region: Region | None
    tests: tuple[Test, ...] | None
    names: tuple[tuple[str, Reading], ...]


def read_body(
    ev: Evaluation,
    written: Body,
    context: EvaluationContext,
    given: dict[str, BlockName],
    until: surface.Condition | None = None,
    *,
    keeps: bool = False,
    over: Path | int | None = None,
    after: int | None = None,
) -> Task[ReadBody]:
    """Read the statements of a body and its value; `until` is read inside it; with `keeps`, what its names stand for as well.

    It is carried out for the elements of the list `over`; it sees the rounds of the body `after` which it comes, else its own.
    """
    scope = _scope(ev, written, context, given)
    if isinstance(over, Path):
        ev.rounds.lists[scope.region] = over
    if "rounds" in given:
        ev.rounds.bodies[scope.region] = scope.region if after is None else after
        ev.rounds.homes[scope.region] = scope
    inside = EvaluationContext(scope, scope.region, scope.piped, keys=context.keys, braces=context.braces)
    complete = True
    unread: list[Hashable] = []
    read_names = context.scope.program.survey.read[written.span.start]
    for statement in written.statements:
        if isinstance(statement, Binding) and (statement.name.text in read_names or not _is_work(ev, statement, scope)):
            continue
        made = yield _carried(ev, statement, scope, inside)
        complete = made is not None and complete
        unread += map(ev.steps.identities.path, () if made is None else paths_read(made))
    value = yield ev.value(written.value, inside)
    tests = None if until is None else (yield condition(ev, until, inside))
    for statement in written.statements:  # what is read only by what comes later, as by the condition or by the round before
        if not isinstance(statement, Binding) or ev.is_carried(scope, statement.name.text):
            continue
        if _is_work(ev, statement, scope):
            made = yield _carried(ev, statement, scope, inside)
            complete = made is not None and complete
            unread += map(ev.steps.identities.path, () if made is None else paths_read(made))
    ev.steps.places.carried[scope.region] = tuple(unread)
    kept = (yield _names(ev, scope, inside)) if keeps else ()
    if value is not None and depth_of(value) > VALUE_LEVELS:
        ev.report.add(problems.text.TooDeep(at=written.value.span, limit=VALUE_LEVELS))
        return ReadBody(scope.region, None, tests, kept)
    if value is not None and names_const(value):
        ev.report.add(problems.names.ReservedName(at=place_of_const(written.value), word="const"))
        return ReadBody(scope.region, None, tests, kept)
    reading = None if value is None else reading_of(value)
    if value is not None and reading is None:
        ev.report.add(problems.calls.MisplacedData(at=written.value.span))
    if reading is None or not complete:
        return ReadBody(scope.region, None, tests, kept)
    region = Region(scope.region, ev.steps.units(region=scope.region), reading, written.span)
    return ReadBody(scope.region, region, tests, kept)


def _names(ev: Evaluation, scope: Scope, inside: EvaluationContext) -> Task[tuple[tuple[str, Reading], ...]]:
    """Evaluate the names of a body."""
    kept: list[tuple[str, Reading]] = []
    for name, binding in scope.locals.items():
        if not ev.ends.is_alias(LocalName(binding, scope)):
            known = yield read_local(ev, binding.name, LocalName(binding, scope), inside)
            reading = None if known is None or depth_of(known) > VALUE_LEVELS else reading_of(known)
            if reading is not None:
                kept.append((name, reading))
    return tuple(kept)


def _scope(ev: Evaluation, written: Body, context: EvaluationContext, given: dict[str, BlockName]) -> Scope:
    region = ev.steps.open_region(context.region, written.span)
    level = context.scope.level + 1
    values = {name: StepResult(Path(Local(region, level, kind, name))) for name, kind in given.items()}
    if given:
        ev.steps.places.name_anything = True
    element = next((values[name] for name, kind in given.items() if kind == "item"), None)
    return Scope(
        number=ev.next_scope(),
        locals=context.scope.program.survey.locals[written.span.start],
        inputs=context.scope.inputs,
        program=context.scope.program,
        outer=context.scope,
        given=values,
        region=region,
        level=level,
        keys=context.keys,
        piped=element if element is not None else context.piped,
    )


def _is_work(ev: Evaluation, statement: Binding, scope: Scope) -> bool:
    """Tell whether a statement carries something out: another name of an instruction or a literal does not."""
    value: Expression = statement.value
    while isinstance(value, surface.Annotated):
        value = value.value
    if isinstance(value, Literal | surface.Array):
        return False
    return not ev.ends.is_alias(LocalName(statement, scope))


def _carried(ev: Evaluation, statement: Binding | Anonymous, scope: Scope, context: EvaluationContext) -> Task[BoundValue | None]:
    """Evaluate a statement that nothing reads."""
    if isinstance(statement, Binding):
        return (yield read_local(ev, statement.name, LocalName(statement, scope), context))
    value = yield ev.value(statement.value, context)
    if isinstance(value, Data):
        ev.report.add(problems.calls.MisplacedData(at=statement.value.span))
    return value


def depth_of(value: BoundValue) -> int:
    """Return how deep the objects of a value lie in each other."""
    deepest = 0
    waiting: list[tuple[BoundValue, int]] = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(each, Members):
            waiting.extend((member, depth + 1) for _, member in each.fields)
    return deepest


def names_const(value: BoundValue) -> bool:
    """Tell whether an object of values has a member `const`, which is how a process writes constants."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Members):
            if any(name == "const" for name, _ in each.fields):
                return True
            waiting.extend(member for _, member in each.fields)
    return False


def place_of_const(expression: Expression) -> Span:
    """Return where an expression names a member `const`, else the whole of it."""
    fields = expression.fields if isinstance(expression, surface.Object) else ()
    return next((field.key_span for field in fields if field.key == "const"), expression.span)


def reading_of(value: BoundValue) -> Reading | None:
    """Return a value as a block gives it."""
    match value:
        case StepResult(path):
            return path
        case Data(constant):
            return Constant(constant)
        case Members(fields):
            members = [(name, reading_of(member)) for name, member in fields]
            whole = tuple((name, member) for name, member in members if member is not None)
            return ObjectReading(whole) if len(whole) == len(members) else None
        case _:
            return None
