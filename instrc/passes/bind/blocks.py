"""Blocks: each is a step of the body around it, and its own bodies hold steps that are cut by themselves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from instrc import problems
from instrc.ir import graph, surface
from instrc.ir.graph import (
    Constant,
    Given,
    Group,
    Local,
    Named,
    Path,
    Reading,
    Region,
    Step,
    Test,
    Unit,
    reading_paths,
    regions_of,
    word_of,
)
from instrc.ir.surface import Access, Anonymous, Binding, Body, Expression, Literal, Name
from instrc.passes.bind.conditions import condition, read
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.scopes import Definition, Scope
from instrc.passes.bind.steps import PRIVATE, slot_reads
from instrc.passes.bind.values import Data, Members, Result, Value, paths
from instrc.passes.trampoline import Task
from instrc.source import Span

MOST_ELEMENTS = 1_000
"""Elements of a list that a block takes where its author says nothing."""
MOST_ROUNDS = 3
"""Rounds of a `repeat` where its author says nothing."""
DEEPEST_VALUE = 100
"""Objects in objects that a block gives."""
MOST = 1_000_000
"""The largest bound that may be written."""

_Made: TypeAlias = "tuple[graph.Block, tuple[Hashable, ...], tuple[Path, ...]]"
"""A block, what tells it from others, and what it reads itself: its conditions and its list."""


def evaluate_block(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> Task[Value | None]:
    """Make a block a step, and return that as its value."""
    about = _about(ev, written, context)
    if context.key == PRIVATE or (context.direct and context.frame is not None):
        ev.report.add(problems.misplaced.MisplacedBlock(at=written.span))
        return None
    first = len(ev.steps.regions)
    outside = context.inside()
    match written:
        case surface.When():
            made = yield _when(ev, written, outside)
        case surface.Each():
            made = yield _each(ev, written, outside)
        case surface.Repeat():
            made = yield _repeat(ev, written, outside)
        case surface.Try():
            made = yield _try(ev, written, outside)
        case surface.Do():
            made = yield _do(ev, written, outside)
    if made is None:
        return None
    content, signs, direct = made
    own = range(first, len(ev.steps.regions))
    reads = _reads(ev, content, direct, own)
    _warn_of_unread_pipe(ev, written, context, reads)
    number = len(ev.steps.table)
    word = word_of(content)
    key = context.key
    step = Step(number, word, key, "block", False, content, (), reads, None, written.span, context.timing, about=about)  # noqa: FBT003  # a block has no `output`
    found = ev.steps.one(step, ev.steps.identities.of("block", word, signs, context.timing, about), context)
    if found != number:
        ev.steps.drop(own)
    if context.frame is not None:
        context.frame.barriers.add(found)
    return Result(Path(found))


def _about(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> str | None:
    """Return the description of a block; its annotations take nothing else beside a deadline and a delay."""
    texts: list[str] = []
    for each in context.annotations:
        text = each.get("description") if isinstance(each, dict) and each.keys() == {"description"} else None
        if not isinstance(text, str):
            ev.report.add(problems.misplaced.MisplacedAnnotation(at=written.span))
        elif text not in texts:
            texts.append(text)
    return "\n".join(texts) or None


# ---- the kinds of blocks


def _when(ev: Evaluation, written: surface.When, context: EvaluationContext) -> Task[_Made | None]:
    branches: list[graph.Branch] = []
    reads: list[Path] = []
    for each in written.branches:
        tests = yield condition(ev, each.condition, context)
        body = yield _region(ev, each.body, context, {})
        if tests is not None and body is not None:
            branches.append(graph.Branch(tests, body))
            reads += [test.path for test in tests]
    if written.otherwise is not None:
        body = yield _region(ev, written.otherwise, context, {})
        if body is not None:
            branches.append(graph.Branch((), body))
    if len(branches) < len(written.branches) + (written.otherwise is not None):
        return None
    signs = tuple((_tests(ev, each.condition), ev.steps.identity(each.body)) for each in branches)
    return graph.When(tuple(branches)), signs, tuple(reads)


def _each(ev: Evaluation, written: surface.Each, context: EvaluationContext) -> Task[_Made | None]:
    most = _bound(ev, written.most, MOST_ELEMENTS)
    source = yield _elements(ev, written.source, context)
    body = yield _region(ev, written.body, context, {written.name.text: "item"})
    if most is None or source is None or body is None:
        return None
    most = max(most, source) if isinstance(source, int) else most
    signs = (written.name.text, _source(ev, source), most, ev.steps.identity(body))
    return (
        graph.Each(written.name.text, source, most, body, written.source.span),
        signs,
        (source,) if isinstance(source, Path) else (),
    )


def _repeat(ev: Evaluation, written: surface.Repeat, context: EvaluationContext) -> Task[_Made | None]:
    most = _bound(ev, written.most, MOST_ROUNDS if written.source is None else MOST_ELEMENTS)
    keep = _bound(ev, written.keep, 0)
    source = None if written.source is None else (yield read(ev, written.source, context))
    names: dict[str, Given] = {} if written.name is None else {written.name.text: "item"}
    names |= {"round": "round", "previous": "previous", "rounds": "rounds"}
    tests: list[tuple[Test, ...]] = []
    kept: list[tuple[str, Reading]] = []
    body = yield _region(ev, written.body, context, names, written.until, tests, kept)
    otherwise = None
    if written.otherwise is not None:
        otherwise = yield _region(ev, written.otherwise, context, {"rounds": "rounds"})
    if most is None or keep is None or body is None or (written.source is not None and source is None):
        return None
    if (written.until is not None and not tests) or (written.otherwise is not None and otherwise is None):
        return None
    until = tests[0] if tests else ()
    identities = ev.steps.identities
    signs = (
        written.name and written.name.text,
        None if source is None else identities.path(source),
        most,
        keep,
        _tests(ev, until),
        ev.steps.identity(body),
        None if otherwise is None else ev.steps.identity(otherwise),
        tuple((name, identities.reading(reading)) for name, reading in kept),
    )
    _refuse_hidden(ev, body, ("round", "previous", "rounds"), until)
    if otherwise is not None:
        _refuse_hidden(ev, otherwise, ("rounds",))
    item = None if written.name is None else written.name.text
    at = written.span if written.source is None else written.source.span
    handed = _hands(ev, body, otherwise)
    content = graph.Repeat(item, source, most, keep or None, body, until, otherwise, tuple(kept), handed, at)
    return content, signs, () if source is None else (source,)


def _try(ev: Evaluation, written: surface.Try, context: EvaluationContext) -> Task[_Made | None]:
    body = yield _region(ev, written.body, context, {})
    otherwise = yield _region(ev, written.otherwise, context, {"error": "error"})
    if body is None or otherwise is None:
        return None
    _refuse_hidden(ev, otherwise, ("error",))
    return graph.Try(body, otherwise), (ev.steps.identity(body), ev.steps.identity(otherwise)), ()


def _do(ev: Evaluation, written: surface.Do, context: EvaluationContext) -> Task[_Made | None]:
    body = yield _region(ev, written.body, context, {})
    return None if body is None else (graph.Do(body), (ev.steps.identity(body),), ())


def _tests(ev: Evaluation, tests: tuple[Test, ...]) -> tuple[Hashable, ...]:
    identities = ev.steps.identities
    return tuple((identities.path(test.path), identities.json(test.schema)) for test in tests)


def _source(ev: Evaluation, source: Path | int) -> Hashable:
    return ev.steps.identities.path(source) if isinstance(source, Path) else source


def _elements(ev: Evaluation, written: Name | Access | Literal, context: EvaluationContext) -> Task[Path | int | None]:
    """Evaluate what an `each` goes through: a list that is read, or a number."""
    if isinstance(written, Literal):
        yield from ()
        return _bound(ev, written, 0)
    return (yield read(ev, written, context))


def _bound(ev: Evaluation, written: Literal | None, otherwise: int) -> int | None:
    """Return the number of a bound; `None`, once that is reported, if it is no number to count with."""
    if written is None:
        return otherwise
    value = written.value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST:
        return value
    ev.report.add(problems.flow.BadBound(at=written.span, limit=MOST))
    return None


# ---- bodies


def _region(
    ev: Evaluation,
    written: Body,
    context: EvaluationContext,
    given: dict[str, Given],
    until: surface.Condition | None = None,
    tests: list[tuple[Test, ...]] | None = None,
    kept: list[tuple[str, Reading]] | None = None,
) -> Task[Region | None]:
    """Read the statements of a body and its value; `until` is read inside it, into `tests`, what its names have into `kept`."""
    scope = _scope(ev, written, context, given)
    inside = EvaluationContext(scope, scope.region, scope.piped, keys=context.keys, braces=context.braces)
    complete = True
    read_names = context.scope.program.survey.read[written.span.start]
    for statement in written.statements:
        if isinstance(statement, Binding) and (statement.name.text in read_names or not _is_work(ev, statement, scope)):
            continue
        complete = (yield _carried(ev, statement, scope, inside)) and complete
    value = yield ev.value(written.value, inside)
    if until is not None and tests is not None:
        found = yield condition(ev, until, inside)
        if found is not None:
            tests.append(found)
    for statement in written.statements:  # what is read only by what comes later, as by the condition or by the round before
        if isinstance(statement, Binding) and _is_work(ev, statement, scope):
            definition = Definition(statement, scope)
            if definition.key not in ev.carried:
                complete = (yield _carried(ev, statement, scope, inside)) and complete
    if kept is not None:
        for name, binding in scope.locals.items():
            if not ev.ends.is_alias(Definition(binding, scope)):
                known = yield ev.local(binding.name, Definition(binding, scope), inside)
                reading = None if known is None or depth_of(known) > DEEPEST_VALUE else reading_of(known)
                if reading is not None:
                    kept.append((name, reading))
    if value is not None and depth_of(value) > DEEPEST_VALUE:
        ev.report.add(problems.text.TooDeep(at=written.value.span, limit=DEEPEST_VALUE))
        return None
    reading = None if value is None else reading_of(value)
    if value is not None and reading is None:
        ev.report.add(problems.misplaced.MisplacedData(at=written.value.span))
    if reading is None or not complete:
        return None
    return Region(scope.region, ev.steps.units(region=scope.region), reading, written.span)


def _scope(ev: Evaluation, written: Body, context: EvaluationContext, given: dict[str, Given]) -> Scope:
    region = ev.steps.open(context.region)
    level = context.scope.level + 1
    values = {name: Result(Path(Local(region, level, kind, name))) for name, kind in given.items()}
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
    return not ev.ends.is_alias(Definition(statement, scope))


def _carried(ev: Evaluation, statement: Binding | Anonymous, scope: Scope, context: EvaluationContext) -> Task[bool]:
    """Evaluate a statement that nothing reads; tell whether it could be."""
    if isinstance(statement, Binding):
        return (yield ev.local(statement.name, Definition(statement, scope), context)) is not None
    value = yield ev.value(statement.value, context)
    if isinstance(value, Data):
        ev.report.add(problems.misplaced.MisplacedData(at=statement.value.span))
    return value is not None


def depth_of(value: Value) -> int:
    """Return how deep the objects of a value lie in each other."""
    deepest = 0
    waiting: list[tuple[Value, int]] = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(each, Members):
            waiting.extend((member, depth + 1) for _, member in each.fields)
    return deepest


def reading_of(value: Value) -> Reading | None:
    """Return a value as a block gives it."""
    match value:
        case Result(path):
            return path
        case Data(constant):
            return Constant(constant)
        case Members(fields):
            members = [(name, reading_of(member)) for name, member in fields]
            whole = tuple((name, member) for name, member in members if member is not None)
            return Named(whole) if len(whole) == len(members) else None
        case _:
            return None


# ---- what a block reads


def _reads(ev: Evaluation, content: graph.Block, direct: Iterable[Path], own: range) -> tuple[Path, ...]:
    """Return what a block reads from outside of it, each path once."""
    inside = {number for region in own for number in ev.steps.regions[region]}
    found = list(direct)
    for region in regions_of(content):
        found += _region_reads(ev, region)
    if isinstance(content, graph.Repeat):
        found += [test.path for test in content.until]
        if content.handed:
            found += [path for _, reading in content.names for path in reading_paths(reading)]
    return tuple(
        path
        for path in dict.fromkeys(found)
        if not (path.origin.block in own if isinstance(path.origin, Local) else path.origin in inside)
    )


def _region_reads(ev: Evaluation, region: Region) -> list[Path]:
    found: list[Path] = []
    waiting: list[Unit] = list(region.units)
    while waiting:
        unit = waiting.pop()
        if isinstance(unit, Group):
            found += slot_reads(unit.application.slots)
            waiting.extend(unit.members)
    for number in ev.steps.among(region.number):
        found += (*ev.steps.table[number].reads, *ev.steps.table[number].needs)
    return [*found, *reading_paths(region.value)]


def _refuse_hidden(ev: Evaluation, region: Region, names: tuple[str, ...], tests: tuple[Test, ...] = ()) -> None:
    """Report what reads a name of a block around under which this body has one of its own: there is one word for both."""

    def hidden(reads: Iterable[Path]) -> str | None:
        origins = (path.origin for path in reads)
        found = (each for each in origins if isinstance(each, Local) and each.kind != "item" and each.block != region.number)
        return next((each.name for each in found if each.name in names), None)

    for number in ev.steps.among(region.number):
        step = ev.steps.table[number]
        if word := hidden((*step.reads, *step.needs)):
            ev.report.add(problems.flow.HiddenName(at=step.span, word=word))
    if word := hidden([*reading_paths(region.value), *(test.path for test in tests)]):
        ev.report.add(problems.flow.HiddenName(at=region.span, word=word))


def _hands(ev: Evaluation, body: Region, otherwise: Region | None) -> bool:
    """Tell whether `previous` or `rounds` is read."""
    regions = [body] if otherwise is None else [body, otherwise]
    own = {region.number for region in regions}
    reads = (path for region in regions for path in _region_reads(ev, region))
    return any(
        isinstance(path.origin, Local) and path.origin.block in own and path.origin.kind in {"previous", "rounds"}
        for path in reads
    )


def _warn_of_unread_pipe(ev: Evaluation, written: surface.Block, context: EvaluationContext, reads: tuple[Path, ...]) -> None:
    if context.own and context.piped is not None:
        piped = set(paths(context.piped))
        if piped and not any(_leads_into(read_, each) for each in piped for read_ in reads):
            ev.report.add(problems.flow.UnreadPipe(at=_head(written)))


def _leads_into(path: Path, other: Path) -> bool:
    return path.origin == other.origin and path.tail[: len(other.tail)] == other.tail


def _head(written: surface.Block) -> Span:
    return written.span._replace(end=min(written.span.end, written.span.start + len(type(written).__name__)))
