"""What cannot be becomes `false`, as far as it reaches, with a warning that shows both sides."""

from __future__ import annotations

from typing import Any

import pytest

from instrc import Report, Source, Span
from instrc.problems.schemas import ClosedAway, Contradiction  # the class of one problem
from instrc.schema.flattening.flatten import flatten

CASES: dict[str, tuple[Any, Any, tuple[str, str]]] = {
    "types": ([{"type": "string"}, {"type": "number"}], False, ("/allOf/0/type", "/allOf/1/type")),
    "enums": ([{"enum": [1]}, {"enum": [2]}], False, ("/allOf/0/enum", "/allOf/1/enum")),
    "constants": ([{"const": 1}, {"title": "x"}, {"const": 2}], False, ("/allOf/0/const", "/allOf/2/const")),
    "constant and enum": ([{"const": 1}, {"enum": [2]}], False, ("/allOf/0/const", "/allOf/1/enum")),
    "type and constant": ([{"type": "string"}, {"const": 1}], False, ("/allOf/0/type", "/allOf/1/const")),
    "type and enum": ([{"type": "string"}, {"enum": [1, 2]}], False, ("/allOf/0/type", "/allOf/1/enum")),
    "a range": ([{"type": "integer", "minimum": 3}, {"maximum": 2}], False, ("/allOf/0/minimum", "/allOf/1/maximum")),
    "the second of three": (
        [{"type": ["string", "null"]}, {"type": "null"}, {"type": "string"}],
        False,
        ("/allOf/1/type", "/allOf/2/type"),
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_a_contradiction_leaves_nothing_and_shows_both_sides(what: str) -> None:
    branches, flat, (left, right) = CASES[what]
    report = Report()
    assert flatten({"allOf": branches}, report=report) is flat
    (problem,) = report.problems
    assert isinstance(problem, Contradiction)
    assert problem.severity == "warning"
    assert (problem.left.pointer, problem.right.pointer) == (left, right)
    assert left in problem.message
    assert right in problem.message
    assert not report.failed


def test_without_a_report_nothing_is_reported() -> None:
    assert flatten({"allOf": [{"type": "string"}, {"type": "null"}]}) is False


ONE, OTHER = {"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "null"}}}


def test_an_optional_property_is_forbidden() -> None:
    report = Report()
    assert flatten({"type": "object", "allOf": [ONE, OTHER]}, report=report) == {"type": "object", "properties": {"a": False}}
    assert [problem.name for problem in report.problems] == ["contradiction"]


def test_a_required_one_leaves_nothing_of_the_object() -> None:
    report = Report()
    assert flatten({"type": "object", "required": ["a"], "allOf": [ONE, OTHER]}, report=report) is False
    assert [problem.name for problem in report.problems] == ["contradiction"]
    nested = {"properties": {"x": {"type": "object", "required": ["a"], "allOf": [ONE, OTHER]}}}
    assert flatten(nested) == {"properties": {"x": False}}


def test_and_only_of_objects_if_others_are_let_in() -> None:
    assert flatten({"required": ["a"], "allOf": [ONE, OTHER]}) == {"required": ["a"], "properties": {"a": False}}


def test_a_property_that_is_always_left_over_for_a_dynamic_neighbour_is_reported_too() -> None:
    report = Report()
    choice = {"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False}
    assert flatten({"allOf": [{"properties": {"b": {}}}, choice]}, report=report) == {"properties": {"b": False}, **choice}
    (problem,) = report.problems
    assert isinstance(problem, ClosedAway)
    assert (problem.closed.pointer, problem.described.pointer) == ("/allOf/1/unevaluatedProperties", "/allOf/0/properties/b")


def test_a_property_that_is_lost_twice_over_is_reported_where_it_is_described() -> None:
    report = Report()
    closed = {"properties": {"b": {}}, "additionalProperties": False}
    open_below = {"allOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": False}
    assert flatten({"allOf": [closed, open_below]}, report=report) == {"additionalProperties": False}
    assert [problem.described.pointer for problem in report.problems if isinstance(problem, ClosedAway)] == [
        "/allOf/1/allOf/0/properties/a",
        "/allOf/0/properties/b",
    ]


def test_what_a_closed_schema_requires_but_forbids_leaves_nothing() -> None:
    schema = {"type": "object", "allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"required": [3, "b"]}]}
    assert flatten(schema) is False
    schema["allOf"][1]["required"] = ["a"]  # type: ignore[index]
    assert flatten(schema) is not False


def test_a_branch_that_must_stay_by_itself_may_be_impossible() -> None:
    unit = {
        "anyOf": [{"properties": {"x": {}}}, {}],
        "unevaluatedProperties": False,
        "allOf": [{"type": "string"}, {"type": "null"}],
    }
    assert flatten({"properties": {"y": {}}, "allOf": [unit]}) is False
    assert flatten({"allOf": [unit]}) is False


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"minimum": 1}, False]},
        {"allOf": [{"anyOf": [False]}, {"anyOf": [{}, True]}]},
        {"allOf": [{"type": "object"}, {"$ref": "#/$defs/no"}], "$defs": {"no": False}},
    ],
)
def test_false_is_false_and_nobody_needs_a_warning(schema: Any) -> None:
    report = Report()
    assert flatten(schema, report=report) is False
    assert report.problems == []


@pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
def test_a_property_that_a_closed_neighbour_forbids_is_reported_with_the_way_out(keyword: str) -> None:
    report = Report()
    schema = {"allOf": [{"properties": {"a": {}}, keyword: False}, {"properties": {"b": {"type": "string"}}}]}
    assert flatten(schema, report=report) == {"properties": {"a": {}}, "additionalProperties": False}
    (problem,) = report.problems
    assert isinstance(problem, ClosedAway)
    assert problem.severity == "warning"
    assert problem.key == "b"
    assert problem.closed.pointer == f"/allOf/0/{keyword}"
    assert problem.described.pointer == "/allOf/1/properties/b"
    assert "unevaluatedProperties" in str(problem.hint)
    assert "`b`" in problem.message


def test_a_property_that_the_parent_forbids_is_reported_too() -> None:
    report = Report()
    schema = {
        "properties": {"p": {}},
        "additionalProperties": False,
        "$ref": "#/$defs/m",
        "$defs": {"m": {"properties": {"m": {}}}},
    }
    assert flatten(schema, report=report) == {"properties": {"p": {}}, "additionalProperties": False}
    assert [problem.name for problem in report.problems] == ["closed-away"]


def test_warnings_have_places_if_the_caller_knows_them() -> None:
    source = Source("a.json", "x" * 100)
    places = {"/allOf/0/type": 1, "/allOf/1/type": 5, "/allOf/0/additionalProperties": 7, "/allOf/1/properties/b": 9}

    def locate(uri: str, pointer: str) -> Span | None:
        assert uri == "aug:x"
        return source.span(places[pointer], places[pointer] + 1)

    report = Report()
    flatten({"allOf": [{"type": "string"}, {"type": "null"}]}, base="aug:x", locate=locate, report=report)
    flatten({"allOf": [{"additionalProperties": False}, {"properties": {"b": {}}}]}, base="aug:x", locate=locate, report=report)
    contradiction, closed = report.problems
    assert contradiction.at == source.span(5, 6)
    assert [label.span.start for label in contradiction.labels] == [1]
    assert closed.at == source.span(7, 8)
    assert [label.span.start for label in closed.labels] == [9]


def test_long_values_are_shown_in_short() -> None:
    report = Report()
    flatten({"allOf": [{"enum": list(range(100))}, {"enum": ["a"]}]}, report=report)
    assert "…" in report.problems[0].message
    assert len(report.problems[0].message) < 200
