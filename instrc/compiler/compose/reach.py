"""Resolve paths in the composed schemas, and check whether arguments can fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.compose.conditions import check_conditions, numbers_in, regions_around
from instrc.compiler.compose.outcomes import (
    ERROR,
    RUN_PLAN,
    Outcomes,
    choices_of,
    excluding,
    inputs_of,
    is_count_schema,
    non_null_paths,
    plannable_tools,
    plans_of,
)
from instrc.compiler.compose.shown import Shown, shown_in_rounds
from instrc.compiler.compose.unread import unread_choices, unread_results, unshown_results
from instrc.compiler.instructions import fitting_literals, fitting_members
from instrc.compiler.rounds import Rounds, bodies_by_number
from instrc.language.program_places import place_of_value
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.process.flow import Constant
from instrc.schema.flattening.parts import elements, member
from instrc.schema.kinds import ALL, own_kinds
from instrc.schema.relations import disjoint, literal_fault, satisfies
from instrc.schema.strip import is_meta
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Span


def check_names_of_rounds(graph: ir.Graph, report: Report) -> None:
    """Report reads of names of the previous round that are neither a step nor a block."""
    blocks = [step.content for step in graph.blocks() if isinstance(step.content, ir.Repeat)]
    rounds = {block.body.number: dict(block.names) for block in blocks}
    bodies = {block.body.number: numbers_in(graph, block.body) for block in blocks}
    written = {access.path: access.span for access in graph.accesses}
    if not rounds:
        return
    found = Rounds(bodies_by_number(graph))
    left = shown_in_rounds(graph)
    for path, span in _reads(graph):
        for place in range(len(path.tail)):
            shown = found.body_of(ir.Path(path.origin, path.tail[:place]))
            if shown is None:
                mixed = found.mixed(ir.Path(path.origin, path.tail[:place]))
                if any(path.tail[place] in rounds.get(body, {}) for body in mixed):
                    at = written.get(path, span)
                    report.add(problems.steps.UnknownMember(at=at, word=path.tail[place], mixed=True))
                    break
                continue
            names, body = rounds[shown], bodies[shown]
            if (hides := _hides(graph, left, names.get(path.tail[place]), path.tail[place + 1 :])) is not None:
                at = written.get(path, span)
                report.add(problems.steps.UnknownMember(at=at, word=hides or path.tail[place], in_rounds=True))
            elif not _is_handed(names.get(path.tail[place]), path.tail[place + 1 :], body):
                known = tuple(name for name, reading in names.items() if _is_handed(reading, (), body))
                at = written.get(path, span)
                passed = path.tail[place] if path.tail[place] in names else ""
                report.add(problems.steps.UnknownMember(at=at, word=path.tail[-1], known=known, passed=passed))


def _reads(graph: ir.Graph) -> Iterator[tuple[ir.Path, Span]]:
    for step in graph.steps.values():
        for path in (*step.reads, *step.needs):
            yield path, step.span
        for region in ir.regions_of(step.content):
            for path in ir.reading_paths(region.value):
                yield path, region.span
        for test in ir.tests_of(step.content):
            yield test.path, test.span


def _hides(graph: ir.Graph, left: Shown, reading: ir.Reading | None, rest: tuple[str, ...]) -> str | None:
    """Return the member that rounds hide of a name, the empty string for the whole, or `None` if they show it."""
    word = ""
    while isinstance(reading, ir.ObjectReading) and rest:
        word, rest, members = rest[0], rest[1:], dict(reading.members)
        reading = members.get(word)
    if not isinstance(reading, ir.Path) or not isinstance(reading.origin, int):
        return None
    if not left.holds(graph, reading.origin, reading.tail):
        return word
    return next(
        (rest[at] for at in range(len(rest)) if not left.holds(graph, reading.origin, (*reading.tail, *rest[: at + 1]))), None
    )


def _is_handed(reading: ir.Reading | None, rest: tuple[str, ...], body: set[int | str | ir.Local]) -> bool:
    """Return whether a member of a name is part of a value that a body passes on without thoughts and metrics."""
    reading, _ = ir.member_of(reading, rest)
    if reading is None:
        return True  # there is no such member, which is reported separately
    return isinstance(reading, ir.Path) and reading.origin in body and not any(map(is_meta, reading.tail))


def check_bound(graph: ir.Graph, report: Report) -> None:
    """Report plans in which one tool has two meanings, and bound values that no longer exist when a plan is executed."""
    running = [step for step in graph.awaited() if step.activity == RUN_PLAN]
    around = regions_around(graph) if running else {}
    for step in running:
        last: set[int] = set()
        plans = plans_of(graph, step, last)
        tools: dict[str, ir.PlannableTool] = {}
        for tool in (tool for planned in plans or () for tool in planned.tools):
            other = tools.setdefault(tool.name, tool)
            if tool != other:
                report.add(problems.plans.DifferentTools(at=step.span, word=tool.name))
            elif (label := _out_of_reach(tool, step, around, last)) is not None:
                report.add(problems.plans.BoundInBlock(at=step.span, word=tool.name, argument=label))


def _out_of_reach(tool: ir.PlannableTool, step: ir.Step, around: dict[int, tuple[int, ...]], last: set[int]) -> str | None:
    """Return the first argument of a tool bound to a value of a block that has ended when a step runs.

    The same applies to the previous round of the bodies `last`, whose plan the step executes.
    """
    for argument in tool.bound:
        match argument.value:
            case ir.Path(int(number)):
                needed = around[number][-1:]
            case ir.Path(ir.Local(block)):
                needed = (block,)
            case _:
                needed = ()
        if not set(needed) <= set(around[step.number]) - last:
            return argument.label or ""
    return None


def check_failing(graph: ir.Graph, report: Report) -> None:
    """Report each `Fail` whose value is read, except by the block that ends in it."""
    failing = {step.number for step in graph.awaited() if step.fail}
    if not failing:
        return
    read = {path.origin for step in graph.steps.values() for path in _read_by(step)}
    for number in sorted(failing & read):
        step = graph.steps[number]
        report.add(problems.steps.NotAValue(at=step.span, word=step.span.text, failing=True))


def _read_by(step: ir.Step) -> Iterator[ir.Path]:
    """Yield what a step waits for; for a block its conditions and lists, and values of its bodies from outside."""
    yield from (*step.reads, *step.needs, *step.chosen)
    for test in ir.tests_of(step.content):
        yield test.path
    if isinstance(step.content, ir.Each | ir.Repeat) and isinstance(step.content.source, ir.Path):
        yield step.content.source
    for region in ir.regions_of(step.content):
        yield from (path for path in ir.reading_paths(region.value) if path.origin not in region.units)


_OF_FAIL = mapping(mapping(ERROR)["properties"])
"""Arguments of `Fail`; `null` counts as missing."""


def check_fitting(flat: ir.FlatGraph, report: Report) -> None:
    """Report arguments that can never be valid, except for `null`, which has its own rules."""
    given = list(_typed_arguments(flat))
    if not given:
        return
    outcomes = Outcomes(flat.graph, flat.schemas, recorded=True)
    for each in given:
        value = each.value
        found = _literal_fault(each, value) if isinstance(value, Constant) else _path_fault(flat, each, value, outcomes)
        if found is not None:
            at, reason, instead = found
            report.add(
                problems.plans.WrongArgument(
                    at=at, pointer="", callee=each.callee, argument=each.label, reason=reason, instead=instead
                )
            )


def _typed_arguments(flat: ir.FlatGraph) -> Iterator[ir.TypedArgument]:
    for step in flat.graph.awaited():
        yield from _arguments_of(flat, step)
    yield from flat.graph.passed
    yield from _filled(flat)


def _arguments_of(flat: ir.FlatGraph, step: ir.Step) -> Iterator[ir.TypedArgument]:
    if step.executor != "server" or not (step.output or step.fail) or not step.arguments:
        return
    properties = _OF_FAIL if step.fail else inputs_of(step, flat.schemas.get(step.number))[0]
    callee = step.activity or step.base_name
    for argument in step.arguments:
        label = argument.label
        if label is not None and label in properties and not (step.fail and argument.value == Constant(None)):
            named = flat.graph.labels.get((step.number, label), step.span)
            yield ir.TypedArgument(callee, label, argument.value, properties[label], step.span, named)


def _filled(flat: ir.FlatGraph) -> Iterator[ir.TypedArgument]:
    """Yield the texts that fill properties of model and people's steps; another type is a contradiction."""
    for step in flat.graph.compounds():
        schema, content = flat.schemas.get(step.number), step.content
        if not isinstance(content, ir.Fusion) or not isinstance(schema, dict):
            continue
        properties = mapping(schema.get("properties"))
        for slot in content.slots:
            if isinstance(slot.content, Constant) and slot.name in properties:
                yield ir.TypedArgument(
                    content.instruction.name, slot.name, slot.content, properties[slot.name], slot.span, slot.span
                )


_Fault: TypeAlias = tuple[Span, str, tuple[str, ...]]
"""Span and reason of an argument that does not fit, with replacements that do."""


def _literal_fault(given: ir.TypedArgument, value: Constant) -> _Fault | None:
    """Return why a literal cannot be valid, or `None` if it can."""
    fault = literal_fault(value.value, given.schema)
    if fault is None:
        return None
    instead = fitting_literals(value.value, given.schema, fault.instance)
    return place_of_value(given.named, fault.instance), fault.message, instead


def _path_fault(flat: ir.FlatGraph, given: ir.TypedArgument, value: ir.Path, outcomes: Outcomes) -> _Fault | None:
    """Return why no value at a path can be valid, or `None` if one can."""
    found = outcomes.find(value).schema
    if found is None or outcomes.may_be_null(value) or not disjoint(found, given.schema):
        return None
    at = _place(flat, given)
    around = outcomes.find(ir.Path(value.origin, value.tail[:-1])).schema if value.tail and at != given.named else None
    return at, _reason(found, given.schema), () if around is None else fitting_members(around, given.schema)


def _place(flat: ir.FlatGraph, given: ir.TypedArgument) -> Span:
    """Return where a path is written in the call, or the argument's name if the value is a name itself."""
    whole = given.within
    for access in flat.graph.accesses:
        span = access.span
        if access.path == given.value and span.source is whole.source and whole.start <= span.start and span.end <= whole.end:
            return span
    return given.named


def _reason(value: Json, taken: Json) -> str:
    """Return the types of the value and the parameter, if they differ."""
    kinds = [own_kinds(each) if isinstance(each, dict) else ALL for each in (value, taken)]
    if ALL in kinds or kinds[0] == kinds[1]:
        return "none of the values passed to it can be valid"
    given, wanted = (", ".join(sorted({"number" if each == "fraction" else each for each in kind})) for kind in kinds)
    return f"it receives the type {given}, and takes {wanted}"


def check_inputs(flat: ir.FlatGraph, report: Report) -> None:
    """Report calls of activities without a required input, or with an unknown one.

    The inputs of an activity are listed next to its `output`.  A label needs no property, so another name is an error only
    if the schema excludes it, and a warning if it resembles a missing input.  An unnamed argument may
    provide any input, so none is missing next to it.
    """
    for step in flat.graph.awaited():
        if step.executor != "server" or not step.output or not step.arguments:
            continue
        schema = flat.schemas.get(step.number)
        properties, required = inputs_of(step, schema)
        given = [argument.label for argument in step.arguments if argument.label is not None]
        if not properties or not given:
            continue
        plain = len(given) < len(step.arguments)
        needed = () if plain else tuple(name for name in required if name in properties)
        others = [name for name in given if name not in properties]
        if others or not set(needed) <= set(given):
            closed = isinstance(schema, dict) and schema.get("additionalProperties") is False
            for problem in _faults(flat, step, given, tuple(properties), needed, closed=closed):
                report.add(problem)


def _faults(
    flat: ir.FlatGraph, step: ir.Step, given: list[str], known: tuple[str, ...], needed: tuple[str, ...], *, closed: bool
) -> Iterator[Problem]:
    from instrc.compiler.instructions import missing_arguments, unknown_argument  # most calls are right

    callee = step.activity or step.base_name
    missing = {name for name in needed if name not in given}
    for name in given:
        if name in known:
            continue
        at = flat.graph.labels.get((step.number, name), step.span)
        near = nearest(name, tuple(each for each in known if each not in given))
        if closed or not missing.isdisjoint(near):
            yield unknown_argument(name, at, callee, known)
        elif near:
            yield problems.habits.SimilarLabel(at=at, label=name, callee=callee, other=near[0])
    if (found := missing_arguments(given, step.span, callee, known, needed)) is not None:
        yield found


def check_reach(graphs: Sequence[ir.FlatGraph], report: Report) -> None:
    """Report unresolvable paths, and blocks over a value that is not a list; shared ones are reported once."""
    mine = Report()
    for graph in graphs:
        _check(graph, mine)
    report.problems.extend(mine.once())


def _check(flat: ir.FlatGraph, report: Report) -> None:
    graph = flat.graph
    for step, shown in unread_results(flat):
        other = None if shown is step else shown.span
        report.add(problems.steps.UnreadResult(at=step.span, word=shown.key or shown.base_name, other=other))
    for step, choice, early in unread_choices(flat):
        word = step.key or step.base_name
        report.add(problems.steps.UnreadAnswer(at=step.span, word=word, choice=choice, early=early))
    for each in unshown_results(flat):
        word = each.result.key or each.result.base_name
        found = problems.steps.UnreadResult(at=each.person.span, word=word, other=each.result.span, carried=each.activity.span)
        report.add(found)
    check_failing(graph, report)
    check_fitting(flat, report)
    check_inputs(flat, report)
    if not graph.has_flow:
        return
    check_names_of_rounds(graph, report)
    check_bound(graph, report)
    outcomes = Outcomes(graph, flat.schemas, recorded=True)
    for access in graph.accesses:
        _check_member(access, outcomes, report)
    for number in sorted({*graph.compound, *graph.awaited_numbers}):
        step = graph.steps[number]
        content = step.content
        for _, chosen in choices_of(content):
            if isinstance(chosen, ir.Among):
                _check_choices(outcomes.find(chosen.choices).schema, chosen.span, report)
        resolved = step.activity == RUN_PLAN and all(outcomes.find(path).schema is not None for path in step.reads)
        if resolved and plannable_tools(graph, step) is None:  # other paths are reported separately
            report.add(problems.plans.NotAPlan(at=step.span))
        if isinstance(content, ir.Each | ir.Repeat):
            if isinstance(content.source, ir.Path):
                _check_list(outcomes.find(content.source).schema, content.at, report)
            _check_counts(content.selection, outcomes, report)
    check_conditions(graph, outcomes, report)
    check_first_values(flat, outcomes, report)
    _check_nulls(flat, outcomes, report)


def _check_member(access: ir.Reached, outcomes: Outcomes, report: Report) -> None:
    path, span = access.path, access.span
    found = outcomes.find(path)
    if found.schema is not None or outcomes.find(ir.Path(path.origin, path.tail[:-1])).schema is None:
        return  # it exists, or an earlier member has been reported
    word = path.tail[-1]
    about = path.origin.kind if isinstance(path.origin, ir.Local) and len(path.tail) == 1 else ""
    if found.is_list:
        report.add(problems.steps.PathIntoList(at=span, word=word, rounds=about == "rounds"))
    else:
        near = nearest(word, found.known)
        handed = isinstance(path.origin, ir.Local) or (isinstance(path.origin, int) and path.origin in outcomes.blocks)
        report.add(problems.steps.UnknownMember(at=span, word=word, known=found.known, nearest=near, handed=handed, about=about))


_CHOOSABLE: Json = {"type": ["string", "number"]}


def _check_choices(schema: Json | None, span: Span, report: Report) -> None:
    """Report a value that is not a list, and a list whose elements cannot be chosen because they are not texts or numbers."""
    found = None if schema is None else elements(schema)
    if _is_number(schema) or (found is not None and disjoint(found, _CHOOSABLE)):
        report.add(problems.steps.NotAList(at=span, word=span.text, choosing=True))
    else:
        _check_list(schema, span, report)


def _is_number(schema: Json | None) -> bool:
    return isinstance(schema, dict) and schema.get("type") in ("integer", "number")


def _check_list(schema: Json | None, span: Span, report: Report) -> None:
    if schema is None or elements(schema) is not None or is_count_schema(schema):
        return
    found = {name: member(schema, name).schema for name in member(schema, "\0").known}
    lists = tuple(name for name, each in found.items() if each is not None and elements(each) is not None)
    report.add(problems.steps.NotAList(at=span, word=span.text, lists=lists, number=_is_number(schema)))


def _check_counts(selection: ir.Selection, outcomes: Outcomes, report: Report) -> None:
    """Report a count of elements that is read from a value that is never a number."""
    for path in (selection.most, selection.first):
        schema = outcomes.find(path).schema if isinstance(path, ir.Path) else None
        if selection.at is not None and schema is not None and disjoint(schema, {"type": "integer", "minimum": 0}):
            report.add(problems.blocks.NotACount(at=selection.at))


def _check_nulls(flat: ir.FlatGraph, outcomes: Outcomes, report: Report) -> None:
    asked = non_null_paths(flat.graph)
    for step, label, required in excluding(flat.graph, outcomes):
        if required:
            paths = [each.value for each in step.arguments if each.label == label and isinstance(each.value, ir.Path)]
            there = asked.get(step.number, ())
            if any(path not in there and outcomes.may_be_null(path, there) for path in paths):
                report.add(problems.blocks.MayBeNull(at=step.span, word=step.activity or step.base_name, argument=label))


def check_first_values(flat: ir.FlatGraph, outcomes: Outcomes, report: Report) -> None:
    """Report first-round values that their names never have in other rounds, or that a call cannot accept."""
    for step in flat.graph.blocks():
        block = step.content
        if not isinstance(block, ir.Repeat):
            continue
        for each in block.first or ():
            schema, value = outcomes.path(each.target), each.value
            if isinstance(value, Constant):
                fault = literal_fault(value.value, schema)
                reason = None if fault is None else fault.message
            else:
                wrong = disjoint(outcomes.reading(value), schema)
                reason = "none of the values passed to it can be valid" if wrong else None
            reason = reason or _refused_at_first(flat, block, each, outcomes)
            if reason is not None:
                report.add(problems.blocks.WrongFirstValue(at=each.span, word=each.name, reason=reason, misfit=True))


def _refused_at_first(flat: ir.FlatGraph, block: ir.Repeat, first: ir.FirstValue, outcomes: Outcomes) -> str | None:
    """Return why a call made in every round cannot accept a first value, or `None` if it can."""
    for number in block.body.units:
        for given in _arguments_of(flat, flat.graph.steps[number]) if isinstance(number, int) else ():
            path = given.value
            if not isinstance(path, ir.Path) or not isinstance(path.origin, ir.Local) or path.tail[:1] != (first.name,):
                continue
            if (path.origin.block, path.origin.kind) != (block.body.number, "previous"):
                continue
            schema = _schema_at(first.value, path.tail[1:], outcomes)
            if schema is None or satisfies(None, schema) is not False or not disjoint(schema, given.schema):
                continue
            if _path_fault(flat, given, path, outcomes) is None:  # otherwise it is reported there
                return f"`{given.label}` of `{given.callee}`: {_reason(schema, given.schema)}"
    return None


def _schema_at(value: ir.Reading, tail: tuple[str, ...], outcomes: Outcomes) -> Json | None:
    """Return the schema of a member of a value, or `None` if it may be missing."""
    while tail and not isinstance(value, ir.Path):
        if isinstance(value, ir.ObjectReading):
            value = dict(value.members).get(tail[0], Constant(None))
        else:
            value = Constant(mapping(value.value).get(tail[0]))
        tail = tail[1:]
    if not isinstance(value, ir.Path):
        return outcomes.reading(value)
    path = ir.Path(value.origin, (*outcomes.full(value), *tail))
    return None if outcomes.may_be_null(path) else outcomes.find(path).schema
