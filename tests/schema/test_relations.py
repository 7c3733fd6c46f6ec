"""What one schema says of another: laws for what is seen, and that it is never seen wrongly."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from making import Maker

from instrc.schema.relations import disjoint, implies

IMPLIED: list[tuple[Any, Any]] = [
    ({"minimum": 3}, True),
    ({"minimum": 3}, {}),
    (True, {"title": "t", "anyOf": [{"minimum": 1}, {}]}),
    (False, {"minimum": 3}),
    ({"minimum": 3, "type": "integer"}, {"type": "number", "minimum": 2.0}),
    ({"minimum": 3}, {"minimum": 3.0}),
    ({"type": "string"}, {"minimum": 3, "items": {"type": "null"}, "required": ["a"]}),
    ({"const": "a"}, {"minimum": 3, "type": ["string", "null"], "enum": ["a", "b"]}),
    ({"enum": [1, 2]}, {"type": "integer", "minLength": 3}),
    ({"required": ["a", "b"]}, {"required": ["b"]}),
    ({"items": {"minimum": 3}}, {"items": {"minimum": 1}}),
    ({"propertyNames": {"minLength": 3}}, {"propertyNames": {"minLength": 1}}),
    ({"properties": {"a": {"const": 1}, "b": False}}, {"properties": {"a": {"type": "number"}, "c": True}}),
    ({"if": {"minimum": 1}, "then": False, "minimum": 3}, {"if": {"minimum": 1}, "then": False}),
    ({"type": "string"}, {"allOf": [{"type": ["string", "null"]}, {"minimum": 2}]}),
    ({"type": "string"}, {"anyOf": [{"type": "null"}, {"type": ["string", "null"]}]}),
    ({"type": "string"}, {"not": {"type": "object"}}),
    ({"anyOf": [{"minimum": 1}, {"maximum": 0}], "title": "t"}, {"anyOf": [{"minimum": 1}, {"maximum": 0}]}),
    ({"$ref": "#/$defs/a", "minimum": 3}, {"minimum": 2}),
]
NOT_IMPLIED: list[tuple[Any, Any]] = [
    (True, {"minimum": 3}),
    ({"minimum": 2}, {"minimum": 3}),
    ({"minimum": 2}, False),
    ({"type": "number"}, {"type": "integer"}),
    ({"type": "number"}, {"type": 3}),
    ({"const": 1}, {"type": 3}),
    ({"const": 1}, {"enum": 3}),
    ({"enum": [1, "a"]}, {"type": "integer"}),
    ({"minimum": 3}, {"x-own": 1}),
    ({"format": "date"}, {"format": "email"}),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"additionalProperties": False}),
    ({"items": False, "prefixItems": [True]}, {"items": False}),
    ({"items": {"minimum": 3}, "prefixItems": [True]}, {"items": {"minimum": 1}}),
    ({"contains": {"minimum": 3}, "minContains": 0}, {"contains": {"minimum": 3}}),
    ({"if": {"minimum": 1}, "then": False, "else": {"maximum": 3}}, {"if": {"minimum": 1}, "else": {"maximum": 3}}),
    ({"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"minimum": 2}}}),
    ({"properties": {"a": {"minimum": 1}}}, {"properties": {"b": {"minimum": 1}}}),
    ({"minimum": 3}, {"minimum": 2, "unevaluatedProperties": True}),
    ({"minimum": 3}, 3),
]


@pytest.mark.parametrize(("left", "right"), IMPLIED)
def test_what_is_said_too(left: Any, right: Any) -> None:
    assert implies(left, right)


@pytest.mark.parametrize(("left", "right"), NOT_IMPLIED)
def test_what_is_not_seen_to_be_said(left: Any, right: Any) -> None:
    assert not implies(left, right)


EXCLUDED: list[tuple[Any, Any]] = [
    (False, {}),
    ({"type": "string"}, {"type": ["null", "number"]}),
    ({"const": 1}, {"const": 2}),
    ({"const": 1}, {"type": "string"}),
    ({"enum": [1, 2]}, {"enum": ["1", 3]}),
    ({"enum": [1, 2]}, {"const": True}),
    (
        {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]},
        {"properties": {"a": {"const": 2}}},
    ),
]
NOT_EXCLUDED: list[tuple[Any, Any]] = [
    ({}, {}),
    ({"type": "integer"}, {"type": "number"}),
    ({"type": ["null", "number"]}, {"type": "integer"}),
    ({"const": 1}, {"enum": [1.0]}),
    ({"enum": [1, "a"]}, {"type": "string"}),
    ({"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"a": {"const": 2}}}),
    ({"type": "object", "properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 2}}}),
    ({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 2}}}),
    ({"type": "object", "required": [3, "a"]}, {"properties": 3}),
    ({"minimum": 3}, 3),
]


@pytest.mark.parametrize(("left", "right"), EXCLUDED)
def test_what_cannot_be_together(left: Any, right: Any) -> None:
    assert disjoint(left, right)
    assert disjoint(right, left)


@pytest.mark.parametrize(("left", "right"), NOT_EXCLUDED)
def test_what_is_not_seen_to_be_impossible(left: Any, right: Any) -> None:
    assert not disjoint(left, right)
    assert not disjoint(right, left)


@examples(60)
@given(st.integers(0, 2**48))
def test_nothing_is_seen_that_is_not_so(seed: int) -> None:
    maker = Maker(seed)
    for _ in range(300):
        left, right = maker.schema(1), maker.schema(1)
        if isinstance(left, dict) and isinstance(right, dict) and maker.random.random() < 0.4:
            right = dict(maker.random.sample([*left.items(), *right.items()], 2)) if len(left) + len(right) > 2 else left
        said, apart = implies(left, right), disjoint(left, right)
        if said or apart:
            one, other = jsonschema_rs.Draft202012Validator(left), jsonschema_rs.Draft202012Validator(right)
            values = [maker.value() for _ in range(20)]
            assert not said or all(other.is_valid(value) for value in values if one.is_valid(value)), (left, right)
            assert not apart or not any(one.is_valid(value) and other.is_valid(value) for value in values), (left, right)


def test_depth_and_shared_parts_end_the_search_without_an_answer() -> None:
    def nested(depth: int, last: str) -> Any:
        schema: Any = {"type": last}
        for _ in range(depth):
            schema = {"type": "object", "required": ["a", "b"], "properties": {"a": schema, "b": schema}}
        return schema

    assert implies(nested(10, "integer"), nested(10, "number"))
    assert not implies(nested(40, "integer"), nested(40, "number"))
    assert disjoint(nested(10, "integer"), nested(10, "string"))
    assert not disjoint(nested(40, "integer"), nested(40, "string"))
