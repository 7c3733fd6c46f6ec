"""Find conditions that are always or never true, and conditions that no round changes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Final

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.compose.outcomes import Outcomes, without_null
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.schema.flattening.flattener import intersect
from instrc.schema.kinds import own_kinds
from instrc.schema.relations import disjoint, implies, literal_fault, missed_format
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_texts, listing, mapping
from instrc.text.source import Span


def check_conditions(graph: ir.Graph, outcomes: Outcomes, report: Report) -> None:
    """Report conditions that are always or never true by the schemas of their values, and those that no round changes."""
    for step in graph.blocks():
        _check_compared(ir.tests_of(step.content), outcomes, report)
        _check_cases(step.content, outcomes, report)
        for test in ir.tests_of(step.content):
            found = outcomes.find(test.path)
            schema = found.schema
            if schema is None or schema in (True, {}) or test.compared:
                continue
            if disjoint(schema, test.schema):
                admitted = tuple(dumps(value, indent=False) for value in _listed_values(schema))
                report.add(problems.blocks.NeverTrue(at=test.span, admitted=admitted, advice=_advice(schema, test)))
            elif fault := _missed_format(schema, test):
                report.add(problems.blocks.NeverTrue(at=test.span, advice=fault))
            elif not found.optional and implies(schema, test.schema):
                report.add(problems.blocks.AlwaysTrue(at=test.span))
        if (type(step.content) is ir.Repeat or type(step.content) is ir.Each) and step.content.until:
            inside, own = numbers_in(graph, step.content.body), {region.number for region in ir.regions_of(step.content)}
            for test in step.content.until:
                origin = test.path.origin
                known = outcomes.find(test.path).schema is not None  # otherwise that is the mistake
                changes = origin.block in own if isinstance(origin, ir.Local) else origin in inside
                if known and not changes:
                    report.add(problems.blocks.UnchangingCondition(at=test.span))


def _check_compared(tests: tuple[ir.Test, ...], outcomes: Outcomes, report: Report) -> None:
    """Report two compared paths whose values can never be equal."""
    for test, other in pairwise(tests):
        if test.compared in {None, "other"}:
            continue
        if test.path == other.path:
            _check_same(test, outcomes, report)
            continue
        found = [outcomes.find(each.path) for each in (test, other)]
        schemas = [without_null(each.schema) for each in found if each.schema is not None]
        if test.compared not in {"equals", "differs"}:
            if any(disjoint(schema, {"type": "number"}) for schema in schemas):
                report.add(problems.blocks.NeverTrue(at=test.span, advice="only numbers are compared by size"))
            continue
        if len(schemas) < 2 or not disjoint(*schemas):
            continue
        if test.compared == "equals":
            report.add(problems.blocks.NeverTrue(at=test.span, advice="no value matches both paths"))
        elif not any(outcomes.may_be_null(each.path) for each in (test, other)):
            report.add(problems.blocks.AlwaysTrue(at=test.span))


def _check_same(test: ir.Test, outcomes: Outcomes, report: Report) -> None:
    """Report a path compared with itself."""
    if test.compared in {"differs", "exclusiveMinimum", "exclusiveMaximum"}:
        report.add(problems.blocks.NeverTrue(at=test.span, advice="both paths are the same: compare with another one"))
    elif not outcomes.may_be_null(test.path):
        report.add(problems.blocks.AlwaysTrue(at=test.span))


def _check_cases(content: ir.Content, outcomes: Outcomes, report: Report) -> None:
    """Report cases that are never true, cases that cover everything, and a branch whose cases an earlier one covers."""
    taken: list[ir.Test] = []
    for part in ir.parts_of(content):
        cases = ir.alternatives(part.condition or part.until)
        for case in cases:
            for tests in _by_path(case):
                whole = _known(tests[0].path, outcomes)
                if len(tests) > 1 and whole is not None and _contradict(whole, tests):
                    said = "the conditions joined by `and` exclude each other for this value: change one of them"
                    report.add(problems.blocks.NeverTrue(at=_around(tests), advice=said))
        paths = {test.path for case in cases for test in case}
        whole = _known(cases[0][0].path, outcomes) if len(cases) > 1 and len(paths) == 1 else None
        if whole is not None and not outcomes.find(cases[0][0].path).optional and _is_all_there_is(whole, cases):
            report.add(problems.blocks.AlwaysTrue(at=_around([*cases[0], *cases[-1]])))
        if part.condition and all(any(_covers(test, case) for test in taken[-COMPARED_TESTS:]) for case in cases):
            said = "a branch before it has taken these cases: remove this one, or change one of the two conditions"
            report.add(problems.blocks.NeverTrue(at=part.condition[0].span, advice=said))
        taken += [case[0] for case in cases if len(case) == 1 and not case[0].compared] if part.condition else []


def _by_path(case: list[ir.Test]) -> Iterable[list[ir.Test]]:
    """Return the tests of a case with values in groups of one path."""
    groups: dict[ir.Path, list[ir.Test]] = {}
    for test in case:
        if not test.compared:
            groups.setdefault(test.path, []).append(test)
    return groups.values()


def _known(path: ir.Path, outcomes: Outcomes) -> Json | None:
    """Return what a schema allows at a path, or `None` if it does not restrict it."""
    schema = outcomes.find(path).schema
    return None if schema in (True, {}) else schema


def _contradict(whole: Json, tests: list[ir.Test]) -> bool:
    """Return whether no value of a schema satisfies all of some tests, although each may hold alone."""
    each = [whole, *(test.schema for test in tests)]
    if any(disjoint(whole, test.schema) for test in tests):
        return False  # reported with the test itself
    values = _listed(whole)
    return _excludes_all(each) if values is None else not any(_holds(value, tests) for value in values)


def _listed(schema: Json) -> list[Json] | None:
    """Return all values of a schema, or `None` if it does not list them or lists too many."""
    if not isinstance(schema, dict):
        return None
    if own_kinds(schema) <= {"boolean", "null"}:
        values: list[Json] = [True, False, None]
    elif "const" in schema:
        values = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        values = listing(schema["enum"])
    else:
        return None
    return [value for value in values if literal_fault(value, schema) is None]


COMPARED_TESTS: Final = 50
"""Tests of one path that are compared with each other; time grows with the square of their number."""


def _excludes_all(schemas: list[Json]) -> bool:
    """Return whether numeric bounds alone exclude every value that satisfies some schemas."""
    if not isinstance(schemas[0], dict) or not own_kinds(schemas[0]) <= {"integer", "number"}:
        return any(disjoint(one, other) for one, other in combinations(schemas[:COMPARED_TESTS], 2))
    try:
        both = intersect(schemas)
    except CompileError:  # a schema that refers to others
        return False
    return disjoint(both, both)


def _holds(value: Json, tests: list[ir.Test]) -> bool:
    return all(literal_fault(value, test.schema) is None for test in tests)


def _around(tests: list[ir.Test]) -> Span:
    first, last = tests[0].span, tests[-1].span
    return Span(first.source, first.start, last.end)


def _is_all_there_is(whole: Json, cases: list[list[ir.Test]]) -> bool:
    """Return whether each value of a schema satisfies one of some cases, although no case covers all."""
    if any(test.compared for case in cases for test in case):
        return False
    values = _listed(whole)
    if values is not None:
        each = [[_holds(value, case) for value in values] for case in cases]
        return not any(map(all, each)) and all(map(any, zip(*each, strict=True)))
    listed: list[Json] = [case[0].schema for case in cases]
    if any(len(case) > 1 for case in cases) or any(implies(whole, schema) for schema in listed):
        return False
    is_number = isinstance(whole, dict) and own_kinds(whole) <= {"integer", "number"}  # a negation is one among numbers
    return implies(whole, {"anyOf": listed}) or (is_number and _excludes_all([whole, *map(_negation, listed)]))


_OPPOSITES = {
    "minimum": "exclusiveMaximum",
    "exclusiveMaximum": "minimum",
    "maximum": "exclusiveMinimum",
    "exclusiveMinimum": "maximum",
}


def _negation(schema: Json) -> Json:
    """Return a schema of the values that fail a test; for a comparison, of the numbers that do."""
    if isinstance(schema, dict) and schema.get("type") == "number":
        for word, other in _OPPOSITES.items():
            if schema.keys() == {"type", word}:
                return {"type": "number", other: schema[word]}
    return {"not": schema}


def _covers(earlier: ir.Test, case: list[ir.Test]) -> bool:
    """Return whether a test holds wherever all tests of a case do."""
    return any(test.path == earlier.path and not test.compared and implies(test.schema, earlier.schema) for test in case)


def _missed_format(schema: Json, test: ir.Test) -> str | None:
    """Return why a value can never equal those in a condition: they lack its format; `None` if it can."""
    faults = [missed_format(value, schema) for value in _listed_values(test.schema)]
    return f"{faults[0].message}; write a value that is one" if faults and faults[0] is not None and all(faults) else None


def _listed_values(schema: Json) -> list[Json]:
    """Return the values that a schema lists."""
    known = mapping(schema)
    return [known["const"]] if "const" in known else listing(known.get("enum"))


_SOMETHING = {"string": "{ minLength: 1 }", "array": "{ minItems: 1 }"}
_LIMITS = {"minimum": "at least", "exclusiveMinimum": "over", "maximum": "at most", "exclusiveMaximum": "under"}


def _advice(schema: Json, test: ir.Test) -> str:
    """Return the test to write instead of one for a value of another type, or one that is never `true`."""
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
    limits = [f"{word} {number}" for key, word in _LIMITS.items() if (number := mapping(schema).get(key)) is not None]
    if limits and kinds <= {"integer", "number"}:
        more = "; `max` allows more rounds" if isinstance(test.path.origin, ir.Local) and test.path.origin.kind == "round" else ""
        return f"it is {' and '.join(limits)} here{more}"
    return ""


def numbers_in(graph: ir.Graph, body: ir.Region) -> set[int | str | ir.Local]:
    """Return the steps of a body, including nested ones."""
    found: set[int | str | ir.Local] = set(step_numbers(body.units))
    return found | {inner for number in step_numbers(body.units) for inner in graph.inner.get(number, ())}


def regions_around(graph: ir.Graph) -> dict[int, tuple[int, ...]]:
    """Return the enclosing regions of each step, outermost first."""
    around: dict[int, tuple[int, ...]] = dict.fromkeys(graph.steps, ())
    for block in reversed(graph.blocks()):  # a block is numbered after its contents
        for region in ir.regions_of(block.content):
            for number in numbers_in(graph, region):
                if isinstance(number, int):
                    around[number] = (*around[block.number], region.number)
    return around
