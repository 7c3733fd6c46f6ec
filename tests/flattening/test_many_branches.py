"""Very many branches under one `allOf` are taken in at once, and say what they say one by one."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.flattening.flatten import flatten
from instrc.limits.schemas import MANY_TERMS
from instrc.problems.problem import CompileError


def branches() -> list[Any]:
    """Return as many branches as are taken in at once."""
    return [{"type": "object", "properties": {f"p{n % 3}": {"minimum": n}}, "required": [f"p{n % 3}"]} for n in range(MANY_TERMS)]


def in_groups(schemas: list[Any]) -> dict[str, Any]:
    """Return a conjunction of schemas in groups that are too small to be taken in at once."""
    few = MANY_TERMS - 1
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


@pytest.mark.parametrize("further", FURTHER, ids=str)
def test_many_branches_say_what_they_say_in_groups(further: list[Any]) -> None:
    schemas = [*branches(), *further]
    assert flatten({"allOf": schemas}) == flatten(in_groups(schemas))


@pytest.mark.parametrize("further", FURTHER, ids=str)
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
