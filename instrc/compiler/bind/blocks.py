"""Evaluate blocks and their bodies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, TypeAlias

from msgspec import Struct, structs

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.access import read_local
from instrc.compiler.bind.bodies import carry_out
from instrc.compiler.bind.conditions import branch_condition, condition, read_path
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.exports import WrittenLines
from instrc.compiler.bind.given import data_of, is_data
from instrc.compiler.bind.scopes import LocalName, Scope
from instrc.compiler.bind.steps import PRIVATE, EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, Members, StepResult, group_reads, paths_read
from instrc.language import surface
from instrc.language.surface import (
    Access,
    Body,
    Expression,
    Literal,
    Name,
)
from instrc.problems.suggest import nearest
from instrc.process.flow import Constant
from instrc.text.limits import ELEMENTS, ROUNDS, VALUE_LEVELS
from instrc.text.source import Span


def reads_of_block(ev: Evaluation, content: ir.Block, direct: Iterable[ir.Path]) -> tuple[ir.Path, ...]:
    """Return the paths that a block reads from outside, without duplicates and without values of its inner blocks.

    The condition after `until` reads values from inside the block; anything else is reported.
    """
    bodies = ir.regions_of(content)
    own = {region.number for region in bodies}
    found = list(direct)
    for region in bodies:
        found += _region_reads(ev, region)
    return tuple([path for path in dict.fromkeys(found) if ev.steps.regions.home_of(path) not in own])


def _region_reads(ev: Evaluation, region: ir.Region) -> list[ir.Path]:
    found = group_reads(region.units)
    for number in ev.steps.among(region.number):
        step = ev.steps.table[number]
        found += step.reads
        found += step.needs
    return [*found, *ir.reading_paths(region.value)]


def refuse_hidden(ev: Evaluation, region: ir.Region, names: tuple[str, ...], tests: tuple[ir.Test, ...] = ()) -> None:
    """Report readers of an input, or of an outer block's name, that this body redefines."""

    def hidden(reads: Iterable[ir.Path]) -> str | None:
        for origin in (path.origin for path in reads):
            if isinstance(origin, ir.Local) and origin.kind != "item" and origin.block != region.number and origin.name in names:
                return origin.name
            if isinstance(origin, str) and origin in names:
                return origin
        return None

    for number in ev.steps.among(region.number):
        step = ev.steps.table[number]
        if word := hidden((*step.reads, *step.needs)):
            ev.report.add(problems.names.HiddenName(at=step.span, word=word))
    if word := hidden([*ir.reading_paths(region.value), *(test.path for test in tests)]):
        ev.report.add(problems.names.HiddenName(at=region.span, word=word))


def reads_rounds(ev: Evaluation, body: ir.Region, otherwise: ir.Region | None) -> bool:
    """Return whether `previous` or `rounds` is read."""
    regions = [body] if otherwise is None else [body, otherwise]
    own = {region.number for region in regions}
    reads = (path for region in regions for path in _region_reads(ev, region))
    return any(
        isinstance(path.origin, ir.Local) and path.origin.block in own and path.origin.kind in {"previous", "rounds"}
        for path in reads
    )


class ReadBody(Struct, frozen=True):
    """A bound body, the tests that end its rounds, and the values of its names; `None` for a missing or invalid part."""

    number: int
    """Number of the region."""
    region: ir.Region | None
    tests: tuple[ir.Test, ...] | None
    selected: tuple[ir.Test, ...] | None
    """Condition on its elements, evaluated before them."""
    names: tuple[tuple[str, ir.Reading], ...]


def read_body(
    ev: Evaluation,
    written: Body,
    context: EvaluationContext,
    given: dict[str, ir.BlockName],
    until: surface.Condition | None = None,
    *,
    keeps: bool = False,
    over: ir.Path | int | None = None,
    after: int | None = None,
    selected: surface.Condition | None = None,
) -> ReadBody:
    """Bind the statements of a body and its value; `until` is bound inside it, and with `keeps` so are the values of its names.

    It runs for the elements of the list `over`; it sees the rounds of the body `after` which it comes, or else its own.
    """
    scope = _scope(ev, written, context, given)
    if isinstance(over, ir.Path):
        ev.rounds.lists[scope.region] = over
    if "rounds" in given:
        ev.rounds.bodies[scope.region] = scope.region if after is None else after
        ev.rounds.homes[scope.region] = scope
    inside = EvaluationContext(scope, scope.region, scope.piped, keys=context.keys, braces=context.braces)
    element = {name: value for name, value in scope.given.items() if given[name] == "item"}
    before = structs.replace(inside, scope=structs.replace(scope, locals={}, given=element))
    chosen = () if selected is None else condition(ev, selected, before)
    read_names = context.scope.program.survey.read[written.span.start]
    lines = WrittenLines(written.statements, written.value, len(written.statements), read_names)
    carried = carry_out(ev, lines, scope, inside, inside, until)
    value, tests = carried.value, carried.tests
    ev.frames[scope.region] = carried.frames
    kept = _names(ev, scope, inside) if keeps else ()
    reading = None if value is None else _reading_of_body(ev, value, written.value)
    region = None
    if reading is not None and carried.complete:
        region = ir.Region(scope.region, ev.steps.units(region=scope.region), reading, written.span)
    return ReadBody(scope.region, region, tests, chosen, kept)


def _reading_of_body(ev: Evaluation, value: BoundValue, written: Expression) -> ir.Reading | None:
    """Return the value of a body for its readers, or `None` after reporting why it cannot be read."""
    reading = None
    if depth_of(value) > VALUE_LEVELS:
        ev.report.add(problems.text.TooDeep(at=written.span, limit=VALUE_LEVELS))
    elif names_const(value):
        ev.report.add(problems.names.ReservedName(at=place_of_const(written), word="const"))
    elif (reading := reading_of(value)) is None:
        ev.report.add(problems.calls.MisplacedData(at=written.span))
    return reading


def _scope(ev: Evaluation, written: Body, context: EvaluationContext, given: dict[str, ir.BlockName]) -> Scope:
    region = ev.steps.open_region(context.region, written.span)
    level = context.scope.level + 1
    values = {name: StepResult(ir.Path(ir.Local(region, level, kind, name))) for name, kind in given.items()}
    element = next((values[name] for name, kind in given.items() if kind == "item"), None)
    scope = Scope(
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
    if element is None and context.piped is not None and values and scope.program.calls:
        from instrc.compiler.bind.choices import seen_from  # rarely needed: few programs are called

        return structs.replace(scope, piped=seen_from(ev, context.piped, scope, written.span))
    return scope


def _names(ev: Evaluation, scope: Scope, inside: EvaluationContext) -> tuple[tuple[str, ir.Reading], ...]:
    """Evaluate the names of a body."""
    kept: list[tuple[str, ir.Reading]] = []
    for name, binding in scope.locals.items():
        if not ev.ends.is_alias(LocalName(binding, scope)):
            known = read_local(ev, binding.name, LocalName(binding, scope), inside)
            reading = None if known is None or depth_of(known) > VALUE_LEVELS else reading_of(known)
            if reading is not None:
                kept.append((name, reading))
    return tuple(kept)


def depth_of(value: BoundValue) -> int:
    """Return the nesting depth of objects in a value."""
    deepest = 0
    waiting: list[tuple[BoundValue, int]] = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(each, Members):
            waiting.extend((member, depth + 1) for _, member in each.fields)
    return deepest


def names_const(value: BoundValue) -> bool:
    """Return whether an object of values has a member `const`, which is the process notation for constants."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Members):
            if any(name == "const" for name, _ in each.fields):
                return True
            waiting.extend(member for _, member in each.fields)
    return False


def place_of_const(expression: Expression) -> Span:
    """Return where an expression names a member `const`, or else the whole expression."""
    fields = expression.fields if isinstance(expression, surface.Object) else ()
    return next((field.key_span for field in fields if field.key == "const"), expression.span)


def reading_of(value: BoundValue) -> ir.Reading | None:
    """Return the value of a block for its readers."""
    match value:
        case StepResult(path):
            return path
        case Data(constant):
            return Constant(constant)
        case Members(fields):
            members = [(name, reading_of(member)) for name, member in fields]
            whole = tuple((name, member) for name, member in members if member is not None)
            return ir.ObjectReading(whole) if len(whole) == len(members) else None
        case _:
            return None


_Made: TypeAlias = "tuple[ir.Block, tuple[Hashable, ...], tuple[ir.Path, ...]]"
"""A block, its identity, and the paths that it reads itself: its conditions and its list."""


def evaluate_block(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> BoundValue | None:
    """Turn a block into a step, and return that as its value."""
    about = _about(ev, written, context)
    if context.key == PRIVATE or (context.direct and context.brackets is not None):
        ev.report.add(problems.calls.MisplacedBlock(at=written.span))
        return None
    place = ev.steps.places.label(context.region, written.span)
    context = structs.replace(context, region=ev.steps.places.region_of(place, context.region))
    outside = context.inside()
    match written:
        case surface.Do():
            made = _do(ev, written, outside)
        case surface.When():
            made = _when(ev, written, outside)
        case surface.Each():
            made = _each(ev, written, outside)
        case surface.Repeat():
            made = _repeat(ev, written, outside)
        case surface.Try():
            made = _try(ev, written, outside)
        case surface.Race():
            made = _race(ev, written, outside)
    if made is None:
        return None
    content, signs, direct = made
    reads = reads_of_block(ev, content, direct)
    _warn_of_unread_pipe(ev, written, context, reads)
    number = len(ev.steps.table)
    word = ir.word_of(content)
    key = context.key
    step = ir.Step(number, word, key, "block", False, content, (), reads, None, written.span, context.timing, about=about)  # noqa: FBT003  # a block has no `output`
    ident = ev.steps.identities.of("block", word, signs, context.timing, about)
    found = ev.steps.one(step, ident, context)
    if key is None:
        ev.steps.places.note(place, context.region, ident, ev.steps.table[found], new=found == number)
    if found != number:
        ev.steps.drop(region.number for region in ir.regions_of(content))
    if context.brackets is not None:
        context.brackets.barriers.add(found)
    return StepResult(ir.Path(found))


def _about(ev: Evaluation, written: surface.Block, context: EvaluationContext) -> str | None:
    """Return the description of a block; apart from it, annotations may only hold a deadline and a delay."""
    texts: list[str] = []
    for each in context.annotations:
        text = each.get("description") if isinstance(each, dict) and each.keys() == {"description"} else None
        if not isinstance(text, str):
            ev.report.add(problems.calls.MisplacedAnnotation(at=written.span, block=True))
        elif text not in texts:
            texts.append(text)
    return "\n".join(texts) or None


def _do(ev: Evaluation, written: surface.Do, context: EvaluationContext) -> _Made | None:
    body = read_body(ev, written.body, context, {}).region
    return None if body is None else (ir.Do(body), (ev.steps.identity(body),), ())


def _when(ev: Evaluation, written: surface.When, context: EvaluationContext) -> _Made | None:
    branches: list[ir.Branch] = []
    reads: list[ir.Path] = []
    otherwise = written.otherwise
    complete = True
    for each in written.branches:
        question = branch_condition(ev, each.condition, context)
        if question is not None and question.holds:
            otherwise = each.body  # what follows is unreachable
            break
        if question is not None and not question.tests:
            continue
        body = read_body(ev, each.body, context, {}).region
        if question is None or body is None:
            complete = False
        else:
            branches.append(ir.Branch(question.tests, body))
            reads += [test.path for test in question.tests]
    if otherwise is not None:
        body = read_body(ev, otherwise, context, {}).region
        if body is None:
            return None
        if not branches:
            return ir.Do(body), (ev.steps.identity(body),), ()
        branches.append(ir.Branch((), body))
    if not complete:
        return None
    if not branches:
        body = ir.Region(ev.steps.open_region(context.region, written.span), (), Constant(None), written.span)
        return ir.Do(body), (ev.steps.identity(body),), ()
    signs = tuple((_tests(ev, each.condition), ev.steps.identity(each.body)) for each in branches)
    return ir.When(tuple(branches)), signs, tuple(reads)


def _tests(ev: Evaluation, tests: tuple[ir.Test, ...]) -> tuple[Hashable, ...]:
    identities = ev.steps.identities
    return tuple((identities.path(test.path), identities.json(test.schema), test.joined, test.compared) for test in tests)


def _each(ev: Evaluation, written: surface.Each, context: EvaluationContext) -> _Made | None:
    most, counts = _selection(ev, written.selection, ELEMENTS, context)
    source = _elements(ev, written.source, context)
    names: dict[str, ir.BlockName] = {written.name.text: "item"}
    said = read_body(ev, written.body, context, names, written.until, over=source, selected=written.selection.condition)
    body, until = said.region, said.tests if written.until is not None else ()
    if most is None or source is None or body is None or until is None or counts is None or said.selected is None:
        return None
    selection = structs.replace(counts, tests=said.selected)
    if selection == ir.Selection() and _is_over_limit(ev, source, most, written):
        return None
    chosen = _selection_signs(ev, selection)
    signs = (written.name.text, _source(ev, source), most, _tests(ev, until), chosen, ev.steps.identity(body))
    content = ir.Each(written.name.text, source, most, body, written.source.span, until, selection)
    return content, signs, (*((source,) if isinstance(source, ir.Path) else ()), *selection.reads)


HIGHEST_BOUND: Final = 1_000_000
"""Largest bound on rounds or elements that is written or read."""


def _selection(
    ev: Evaluation, written: surface.Selection, otherwise: int, context: EvaluationContext
) -> tuple[int | None, ir.Selection | None]:
    """Return the limit of elements, and the numbers that are read, or `None` for a mistake."""
    number = written.most or written.first
    if number is None:
        return otherwise, ir.Selection()
    read = _elements(ev, number, context)
    if isinstance(read, ir.Path):
        if written.first is None:
            return HIGHEST_BOUND, ir.Selection(most=read, at=number.span)
        return otherwise, ir.Selection(first=read, at=number.span)
    return read, ir.Selection() if read is None or written.first is None else ir.Selection(first=read, at=number.span)


def _selection_signs(ev: Evaluation, selection: ir.Selection) -> tuple[Hashable, ...]:
    return _tests(ev, selection.tests), _source(ev, selection.most), _source(ev, selection.first)


def _bound_number(ev: Evaluation, written: Literal | None, otherwise: int) -> int | None:
    """Return the bound as an integer, or `None` after reporting that it is not one."""
    if written is None:
        return otherwise
    value = written.value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= HIGHEST_BOUND:
        return value
    ev.report.add(problems.blocks.BadBound(at=written.span, limit=HIGHEST_BOUND))
    return None


def _elements(ev: Evaluation, written: Name | Access | Literal, context: EvaluationContext) -> ir.Path | int | None:
    """Evaluate the list or the number of elements: a literal, the name of one, or a path."""
    if isinstance(written, Name) and (found := context.scope.find(written.text)) and isinstance(found.binding.value, Literal):
        ev.note_read(written.text, found.scope)
        return _bound_number(ev, structs.replace(found.binding.value, span=written.span), 0)
    return _bound_number(ev, written, 0) if isinstance(written, Literal) else read_path(ev, written, context)


def _is_over_limit(ev: Evaluation, source: ir.Path | int, most: int, written: surface.Each | surface.Repeat) -> bool:
    """Return whether a number of elements is over the limit; report it."""
    if not isinstance(source, int) or source <= most or written.source is None:
        return False
    bound = written.selection.most is not None or (isinstance(written, surface.Repeat) and written.most is not None)
    ev.report.add(problems.blocks.OverLimit(at=written.source.span, count=source, limit=most, written=bound))
    return True


def _source(ev: Evaluation, source: ir.Path | int | None) -> Hashable:
    return ev.steps.identities.path(source) if isinstance(source, ir.Path) else ("number", source)


def _repeat(ev: Evaluation, written: surface.Repeat, context: EvaluationContext) -> _Made | None:
    most, counts = _selection(ev, written.selection, ROUNDS if written.source is None else ELEMENTS, context)
    most = _bound_number(ev, written.most, most) if most is not None else None
    keep = _bound_number(ev, written.keep, 0)
    source = None if written.source is None else _elements(ev, written.source, context)
    if isinstance(source, int) and most is not None and counts == ir.Selection() and written.selection.condition is None:
        most = None if _is_over_limit(ev, source, most, written) else source
    if written.keep is not None and keep and most and keep > most:
        ev.report.add(problems.blocks.KeepOverMax(at=written.keep.span, keep=keep, most=most))
    given = () if written.first is None else _first_values(ev, written.first, context)
    names: dict[str, ir.BlockName] = {} if written.name is None else {written.name.text: "item"}
    names |= {"round": "round", "previous": "previous", "rounds": "rounds"}
    selected = written.selection.condition
    said = read_body(ev, written.body, context, names, written.until, keeps=True, over=source, selected=selected)
    body, tests, kept = said.region, said.tests, said.names
    otherwise = None
    if written.otherwise is not None:
        otherwise = read_body(ev, written.otherwise, context, {"rounds": "rounds"}, after=said.number).region
    if most is None or keep is None or body is None or given is None or counts is None or said.selected is None:
        return None
    parts = ((written.source, source), (written.until, tests), (written.otherwise, otherwise))
    if any(made is None and part is not None for part, made in parts):
        return None
    first = None if written.first is None else _placed_values(ev, given, body, kept)
    if written.first is not None and first is None:
        return None
    selection = structs.replace(counts, tests=said.selected)
    until = tests or ()
    identities = ev.steps.identities
    signs = (
        written.name and written.name.text,
        _source(ev, source),
        _selection_signs(ev, selection),
        most,
        keep,
        _tests(ev, until),
        ev.steps.identity(body),
        None if otherwise is None else ev.steps.identity(otherwise),
        tuple((name, identities.reading(reading)) for name, reading in kept),
        None if first is None else tuple((each.name, identities.reading(each.value)) for each in first),
    )
    refuse_hidden(ev, body, ("round", "previous", "rounds"), until)
    if otherwise is not None:
        refuse_hidden(ev, otherwise, ("rounds",))
    item = None if written.name is None else written.name.text
    at = written.span if written.source is None else written.source.span
    handed = reads_rounds(ev, body, otherwise)
    content = ir.Repeat(item, source, most, keep or None, body, until, otherwise, kept, handed, at, first, selection)
    reads = (source,) if isinstance(source, ir.Path) else ()
    return content, signs, (*reads, *selection.reads, *(path for each in first or () for path in ir.reading_paths(each.value)))


_GivenFirst: TypeAlias = "tuple[surface.Field, ir.Reading]"


def _first_values(ev: Evaluation, written: surface.Object, context: EvaluationContext) -> tuple[_GivenFirst, ...] | None:
    """Evaluate the values of names before the first round; return `None` for a mistake."""
    found: list[_GivenFirst] = []
    for field in written.fields:
        expression = field.content
        value = Data(data_of(ev, expression)) if is_data(expression) else ev.value(expression, context.inside())
        reading = None if value is None else reading_of(value)
        if value is not None and (reading is None or depth_of(value) > VALUE_LEVELS):
            ev.report.add(problems.blocks.WrongFirstValue(at=expression.span, word=field.key, reason="it is not a value"))
            reading = None
        if reading is not None:
            found.append((field, reading))
    return tuple(found) if len(found) == len(written.fields) else None


def _placed_values(
    ev: Evaluation, given: tuple[_GivenFirst, ...], body: ir.Region, names: tuple[tuple[str, ir.Reading], ...]
) -> tuple[ir.FirstValue, ...] | None:
    """Return first values with the sources of their names in the body, or `None` after reporting a mistake."""
    known = dict(names)
    inside = ev.steps.regions.steps[body.number]
    usable = tuple(name for name, reading in names if isinstance(reading, ir.Path) and reading.origin in inside)
    found: list[ir.FirstValue] = []
    for field, value in given:
        word, target = field.key, known.get(field.key)
        reason = ""
        if not isinstance(target, ir.Path) or target.origin not in inside:
            reason = (
                "no step or block of the body has this name" if target is None else "it leads to no step or block of the body"
            )
        elif other := next((each for each in found if _within(each.target, target)), None):
            reason = f"it lies in the same value as `{other.name}`"
        if reason:
            near = () if target is not None else nearest(word, usable)
            ev.report.add(
                problems.blocks.WrongFirstValue(at=field.key_span, word=word, reason=reason, nearest=near, known=usable)
            )
            return None
        found.append(ir.FirstValue(word, target, value, (field.value.span if field.value else field.key_span)))  # type: ignore[arg-type]  # it is a path
    return tuple(found)


def _within(one: ir.Path, other: ir.Path) -> bool:
    size = min(len(one.tail), len(other.tail))
    return one.origin == other.origin and one.tail[:size] == other.tail[:size]


def _try(ev: Evaluation, written: surface.Try, context: EvaluationContext) -> _Made | None:
    body = read_body(ev, written.body, context, {}).region
    otherwise = read_body(ev, written.otherwise, context, {"error": "error"}).region
    if body is None or otherwise is None:
        return None
    refuse_hidden(ev, otherwise, ("error",))
    return ir.Try(body, otherwise), (ev.steps.identity(body), ev.steps.identity(otherwise)), ()


def _race(ev: Evaluation, written: surface.Race, context: EvaluationContext) -> _Made | None:
    branches = [read_body(ev, each, context, {}).region for each in written.branches]
    whole = tuple(body for body in branches if body is not None)
    return None if len(whole) < len(branches) else (ir.Race(whole), tuple(map(ev.steps.identity, whole)), ())


def _warn_of_unread_pipe(ev: Evaluation, written: surface.Block, context: EvaluationContext, reads: tuple[ir.Path, ...]) -> None:
    if context.own and context.piped is not None:
        piped = set(paths_read(context.piped))
        if piped and not any(_leads_into(read_, each) for each in piped for read_ in reads):
            ev.report.add(problems.steps.UnreadPipe(at=_head(written)))


def _leads_into(path: ir.Path, other: ir.Path) -> bool:
    return path.origin == other.origin and path.tail[: len(other.tail)] == other.tail


def _head(written: surface.Block) -> Span:
    return structs.replace(written.span, end=min(written.span.end, written.span.start + len(type(written).__name__)))
