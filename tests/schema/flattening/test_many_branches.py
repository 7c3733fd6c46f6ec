"""Very many branches under one `allOf` are taken in at once, and say what they say one by one."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from every_case import every_case

from instrc import CompileError
from instrc.schema.flattening.flatten import flatten

MANY = 12


def branches() -> list[Any]:
    """Return many branches."""
    return [{"type": "object", "properties": {f"p{n % 3}": {"minimum": n}}, "required": [f"p{n % 3}"]} for n in range(MANY)]


def in_groups(schemas: list[Any]) -> dict[str, Any]:
    """Return a conjunction of schemas in small groups."""
    few = MANY - 1
    return {"allOf": [{"allOf": schemas[at : at + few]} for at in range(0, len(schemas), few)]}


SAME = {"maximum": 99}
FURTHER: list[list[Any]] = [
    [],
    [{}],
    [True],
    [False],
    [SAME, SAME],
    [{"$comment": "says nothing"}, {"$defs": {"a": {}}}],
    [{"$defs": {"a": {}}, "minProperties": 1}],
    [{"allOf": [{"minProperties": 1}]}],
    [{"properties": {"a": {"allOf": [{"minimum": 1}, {"maximum": 2}]}}}],
    [{"$id": "https://e.com/b", "$ref": "#/$defs/a", "$defs": {"a": {"minProperties": 1}}}],
    [{"unevaluatedProperties": False}],
    [{"anyOf": [{"minProperties": 1}]}],
    [{"additionalProperties": False}, {"title": "A", "description": "B"}],
]


@every_case("further", FURTHER, ids=str)
def test_many_branches_say_what_they_say_in_groups(further: list[Any]) -> None:
    schemas = [*branches(), *further]
    assert flatten({"allOf": schemas}) == flatten(in_groups(schemas))


@every_case("further", FURTHER, ids=str)
def test_many_schemas_of_one_property_say_what_they_say_in_groups(further: list[Any]) -> None:
    schemas = [*branches(), *further]
    flat = flatten({"allOf": [{"properties": {"x": schema}} for schema in schemas]})
    assert flat == {"properties": {"x": flatten(in_groups(schemas))}}


def test_what_stands_before_and_after_many_branches_is_in_written_order() -> None:
    flat = flatten({"title": "T", "allOf": [{"minProperties": 1, "properties": {"a": {}}}, *branches()], "maxProperties": 9})
    assert isinstance(flat, dict)
    assert list(flat) == ["title", "minProperties", "properties", "type", "required", "maxProperties"]


def test_many_branches_in_a_resource_of_their_own_say_what_they_say_in_groups() -> None:
    own = {"$id": "https://e.com/own", "allOf": branches()}
    assert flatten({"properties": {"x": own}}) == flatten({"properties": {"x": in_groups(branches())}})


def test_a_branch_that_is_no_schema_is_refused_among_many() -> None:
    with pytest.raises(CompileError, match="holds a number"):
        flatten({"allOf": [*branches(), 5]})


def test_many_places_of_the_same_parts_on_each_level_are_read_once() -> None:
    part: Any = {"type": "string"}
    for _ in range(6):
        part = {"properties": {f"p{n}": part for n in range(500)}}
    assert flatten(part) is part


def test_patterns_that_a_closed_schema_forbids_keep_nothing_apart() -> None:
    closed = {"properties": {"a": {}, "x-a": {}}, "patternProperties": {"^x-": False}, "additionalProperties": False}
    other = {"properties": {"a": {"type": "string"}, "x-b": {}}, "additionalProperties": False}
    flat = flatten({"allOf": [closed, other]})
    assert flat == {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    allowed = {"patternProperties": {"^a": {}, "^[ab]+$": False}, "additionalProperties": False}
    assert flatten({"allOf": [allowed, {"minProperties": 1}]}) == {**allowed, "minProperties": 1}  # `ab` has both
    unsure = {"properties": {"a": {}}, "patternProperties": {"(?<=x)a": {"minimum": 1}}, "additionalProperties": False}
    assert "allOf" in flatten({"allOf": [unsure, other]})


@every_case(("count", "apart"), [(100, 1), (150, 2)])
def test_groups_with_too_many_names_to_hold_against_patterns_stay_apart(count: int, apart: int) -> None:
    """The first joins neither of the others, as validators differ over its pattern; these two are joined if they are small."""
    first = {"patternProperties": {"(?<=m)a": {}}, "additionalProperties": {"type": "integer"}}
    patterns = {"patternProperties": {f"^a{number}b": {} for number in range(count)}, "additionalProperties": {"minimum": 1}}
    names = {"properties": {f"n{number}": {"maximum": 3} for number in range(count)}}
    flat = flatten({"allOf": [first, patterns, names]})
    assert isinstance(flat, dict)
    assert len(flat["allOf"]) == apart
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert [judge.is_valid({"n1": value}) for value in (0, 2, 2.5, 4)] == [False, True, False, False]
