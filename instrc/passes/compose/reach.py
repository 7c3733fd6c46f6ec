"""Look for what paths lead to in the composed schemas, and for what conditions and lists are about."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from instrc import problems
from instrc.flattening.members import elements, member
from instrc.ir.blocks import Each, Repeat, Test, regions_of, tests_of
from instrc.ir.fusion import Among
from instrc.ir.graph import FlatGraph, Graph, Reached, Step
from instrc.ir.paths import Local, Path
from instrc.ir.reads import Constant
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, as_texts, listing
from instrc.passes.compose.bound import check_bound
from instrc.passes.compose.failing import check_failing
from instrc.passes.compose.fitting import check_fitting
from instrc.passes.compose.inputs import check_inputs
from instrc.passes.compose.nulls import excluding, non_null_paths
from instrc.passes.compose.outcomes import Outcomes
from instrc.passes.compose.planned import RUN_PLAN, choices_of, plannable_tools
from instrc.passes.compose.round_names import check_names_of_rounds, numbers_in
from instrc.passes.compose.unread import unread_results
from instrc.passes.compose.unshown import unshown_results
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.schema.literals import missed_format
from instrc.schema.relations import disjoint, implies
from instrc.source import Span


def check_reach(graphs: Sequence[FlatGraph], report: Report) -> None:
    """Report paths that lead nowhere, and blocks over what is no list; what several exports share is reported once."""
    mine = Report()
    for graph in graphs:
        _check(graph, mine)
    report.problems.extend(mine.once())


def _check(flat: FlatGraph, report: Report) -> None:
    graph = flat.graph
    for step, shown in unread_results(flat):
        other = None if shown is step else shown.span
        report.add(problems.steps.UnreadResult(at=step.span, word=shown.key or shown.base_name, other=other))
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
            if isinstance(chosen, Among):
                _check_choices(outcomes.find(chosen.choices).schema, chosen.span, report)
        if step.activity == RUN_PLAN and plannable_tools(graph, step) is None and _leads_somewhere(step, outcomes):
            report.add(problems.plans.NotAPlan(at=step.span))
        if step.executor == "block" and (type(content) is Each or type(content) is Repeat) and isinstance(content.source, Path):
            _check_list(outcomes.find(content.source).schema, content.at, report)
    _check_conditions(graph, outcomes, report)
    _check_nulls(flat, outcomes, report)


def _leads_somewhere(step: Step, outcomes: Outcomes) -> bool:
    """Tell whether all that a step reads is there; what is not is reported by itself."""
    return all(outcomes.find(path).schema is not None for path in step.reads)


class _Verdict(Struct, frozen=True):
    """What a schema says of a condition about the values that it admits."""

    schema: Json
    """Kept, so that what it is known by stays its own."""
    never: bool
    fault: str | None
    """Why a value that the condition names is never there."""
    always: bool


def _verdict(schema: Json, test: Test) -> _Verdict:
    never = disjoint(schema, test.schema)
    fault = None if never else _missed_format(schema, test)
    return _Verdict(schema, never, fault, always=not never and fault is None and implies(schema, test.schema))


def _check_conditions(graph: Graph, outcomes: Outcomes, report: Report) -> None:
    verdicts: dict[tuple[int, str], _Verdict] = {}
    """By the identity of the schema and the text of the condition: many blocks ask the same of the same."""
    for step in graph.blocks():
        for test in tests_of(step.content):
            found = outcomes.find(test.path)
            schema = found.schema
            if schema is None or schema in (True, {}):
                continue
            asked = id(schema), dumps(test.schema, indent=False)
            verdict = verdicts.get(asked)
            if verdict is None:
                verdict = verdicts[asked] = _verdict(schema, test)
            if verdict.never:
                report.add(problems.blocks.NeverTrue(at=test.span, admitted=_listed_values(schema), advice=_advice(schema, test)))
            elif verdict.fault is not None:
                report.add(problems.blocks.NeverTrue(at=test.span, advice=verdict.fault))
            elif verdict.always and not found.optional:
                report.add(problems.blocks.AlwaysTrue(at=test.span))
        if type(step.content) is Repeat:
            inside, own = numbers_in(graph, step.content.body), {region.number for region in regions_of(step.content)}
            for test in step.content.until:
                origin = test.path.origin
                known = outcomes.find(test.path).schema is not None  # else that is the mistake
                changes = origin.block in own if isinstance(origin, Local) else origin in inside
                if known and not changes:
                    report.add(problems.blocks.UnchangingCondition(at=test.span))


def _advice(schema: Json, test: Test) -> str:
    """Return what to ask instead of a value that is written as another kind, or of a value that is never `true`."""
    said = schema.get("type") if isinstance(schema, dict) else None
    kinds = {said} if isinstance(said, str) else set(as_texts(said or []))
    asked = test.schema.get("const") if isinstance(test.schema, dict) else None
    if isinstance(asked, str) and (
        (asked in {"true", "false"} and "boolean" in kinds) or (asked.lstrip("-").isdecimal() and {"integer", "number"} & kinds)
    ):
        return f"write `{asked}` without quotes"
    if asked is True and "boolean" not in kinds:
        for kind, written in _SOMETHING.items():
            if kind in kinds:
                return f"compare it, `PATH is …`, or ask for any value that is not empty, `PATH @ {written}`"
        if "object" in kinds:
            return "ask for one of its members: `PATH.NAME`, or compare it with `PATH @ { … }`"
    return ""


def _missed_format(schema: Json, test: Test) -> str | None:
    """Return why a value never equals any of those that a condition names: they have not its format; `None` if it may."""
    named = test.schema if isinstance(test.schema, dict) else {}
    values = [named["const"]] if "const" in named else listing(named.get("enum"))
    faults = [missed_format(value, schema) for value in values]
    return f"{faults[0].message}; write a value that is one" if faults and faults[0] is not None and all(faults) else None


_SOMETHING = {"string": "{ minLength: 1 }", "array": "{ minItems: 1 }"}


def _listed_values(schema: Json) -> tuple[str, ...]:
    """Return the values that a schema lists, as a condition writes them."""
    if not isinstance(schema, dict):
        return ()
    values = [schema["const"]] if "const" in schema else listing(schema.get("enum"))
    return tuple(dumps(value, indent=False) for value in values)


def _check_nulls(flat: FlatGraph, outcomes: Outcomes, report: Report) -> None:
    asked: dict[int, list[Path]] | None = None
    for step, label, required in excluding(flat.graph, outcomes):
        if required:
            asked = non_null_paths(flat.graph) if asked is None else asked
            given = [each.value for each in step.arguments if each.label == label]
            if not any(_leads_to(path, value) for path in asked.get(step.number, ()) for value in given):
                report.add(problems.blocks.MayBeNull(at=step.span, word=step.activity or step.base_name, argument=label))


def _leads_to(path: Path, value: Path | Constant) -> bool:
    """Tell whether a path leads to a value, or to a part of it."""
    return isinstance(value, Path) and path.origin == value.origin and path.tail[: len(value.tail)] == value.tail


def _check_member(access: Reached, outcomes: Outcomes, report: Report) -> None:
    path, span = access.path, access.span
    found = outcomes.find(path)
    if found.schema is not None or outcomes.find(Path(path.origin, path.tail[:-1])).schema is None:
        return  # it is there, or an earlier member has been reported
    word = path.tail[-1]
    about = path.origin.kind if isinstance(path.origin, Local) and len(path.tail) == 1 else ""
    if found.is_list:
        report.add(problems.steps.PathIntoList(at=span, word=word, rounds=about == "rounds"))
    else:
        near = nearest(word, found.known)
        handed = isinstance(path.origin, Local) or (isinstance(path.origin, int) and path.origin in outcomes.blocks)
        report.add(problems.steps.UnknownMember(at=span, word=word, known=found.known, nearest=near, handed=handed, about=about))


def _check_choices(schema: Json | None, span: Span, report: Report) -> None:
    """Report a list that is none, and one whose elements cannot be chosen from: they are no texts and no numbers."""
    found = None if schema is None else elements(schema)
    if _is_number(schema) or (found is not None and disjoint(found, _CHOOSABLE)):
        report.add(problems.steps.NotAList(at=span, word=span.text, choosing=True))
    else:
        _check_list(schema, span, report)


_CHOOSABLE: Json = {"type": ["string", "number"]}


def _check_list(schema: Json | None, span: Span, report: Report) -> None:
    if schema is None or elements(schema) is not None:
        return
    found = {name: member(schema, name).schema for name in member(schema, "\0").known}
    lists = tuple(name for name, each in found.items() if each is not None and elements(each) is not None)
    report.add(problems.steps.NotAList(at=span, word=span.text, lists=lists, number=_is_number(schema)))


def _is_number(schema: Json | None) -> bool:
    return isinstance(schema, dict) and schema.get("type") in ("integer", "number")
