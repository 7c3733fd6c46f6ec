"""What one schema says of another: laws for what is seen, and that it is never seen wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema_rs
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from making import Maker

from instrc.schema.relations import disjoint, implies
from instrc.text.limits import DEPTH

A: dict[str, Any] = {"properties": {"k": {"const": "a"}}, "required": ["k"], "type": "object"}
B: dict[str, Any] = {"properties": {"k": {"const": "b"}}, "type": "object"}
CLOSED: dict[str, Any] = {"properties": {"a": {"minimum": 3}, "b": {}}, "additionalProperties": False, "type": "object"}
PAIR: dict[str, Any] = {"prefixItems": [{"minimum": 3}], "items": {"type": "string"}, "minItems": 2, "type": "array"}

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
    # numbers: ranges, with integers at their own ends
    ({"exclusiveMinimum": 3}, {"minimum": 3}),
    ({"exclusiveMinimum": 3, "type": "integer"}, {"minimum": 4}),
    ({"maximum": 3.5, "type": "integer"}, {"exclusiveMaximum": 4}),
    ({"type": "integer"}, {"multipleOf": 1}),
    ({"multipleOf": 6}, {"multipleOf": 3}),
    # sizes, also by what is listed or required
    ({"minLength": 3, "maxLength": 5}, {"minLength": 2, "maxLength": 5}),
    ({"required": ["a", "b"]}, {"minProperties": 2}),
    (CLOSED, {"maxProperties": 2}),
    ({"prefixItems": [True], "items": False}, {"maxItems": 1, "uniqueItems": True}),
    ({}, {"uniqueItems": False, "minLength": 0}),
    # properties: listed, by pattern, all others
    (CLOSED, {"properties": {"a": {"minimum": 2}, "c": {"type": "null"}}}),
    (CLOSED, {"propertyNames": {"maxLength": 1}}),
    ({"additionalProperties": False}, {"propertyNames": {"maxLength": 1}}),
    (CLOSED, {"patternProperties": {"^a": {"minimum": 1}, "^x": False, "^b": {}}}),
    (CLOSED, {"properties": {"b": {}}, "additionalProperties": {"minimum": 1}}),
    (
        {"patternProperties": {"^a": {"minimum": 3}}},
        {"patternProperties": {"^a": {"minimum": 2}}, "properties": {"ab": {"minimum": 1}}},
    ),
    ({"additionalProperties": {"minimum": 3}}, {"properties": {"a": {"minimum": 2}}}),
    ({"dependentRequired": {"a": ["b", "c"]}, "required": ["d"]}, {"dependentRequired": {"a": ["b", "d"]}}),
    ({"properties": {"a": False}}, {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": False}}),
    ({"required": ["b"], "type": "object"}, {"dependentSchemas": {"a": {"required": ["b"]}}}),
    ({"dependentSchemas": {"a": {"minProperties": 3}}}, {"dependentSchemas": {"a": {"minProperties": 2}}}),
    # items: by position, and all others
    (PAIR, {"prefixItems": [{"minimum": 2}, {"type": "string"}]}),
    (PAIR, {"items": {"anyOf": [{"type": "string"}, {"minimum": 1}]}}),
    (PAIR, {"contains": {"anyOf": [{"type": "string"}, {"minimum": 1}]}, "minContains": 2}),
    ({"maxItems": 0}, {"items": False}),
    ({"contains": {"minimum": 3}, "minContains": 2}, {"contains": {"minimum": 1}}),
    ({"maxItems": 3}, {"contains": {}, "minContains": 0, "maxContains": 3}),
    # combinators, on either side
    ({"anyOf": [{"minimum": 3}, {"const": 2}], "type": "number"}, {"minimum": 1}),
    ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "maxLength": 1}),
    ({"allOf": [{"minimum": 3}, {"maximum": 5}]}, {"minimum": 2, "maximum": 6}),
    ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ({"type": "string", "minLength": 1}, {"oneOf": [{"type": "string"}, {"type": "null"}, {"const": ""}]}),
    ({"minimum": 3, "type": "number"}, {"not": {"maximum": 2, "type": "number"}}),
    ({"minimum": 3, "type": "number"}, {"if": {"minimum": 1}, "then": {"minimum": 2}, "else": False}),
    ({"minimum": 3, "type": "number"}, {"if": {"maximum": 1}, "then": False}),
    ({"minimum": 3}, {"then": False, "else": False}),
    ({"type": []}, False),
    ({"minimum": 3, "maximum": 2, "type": "integer"}, False),
    ({"anyOf": [{"const": "a"}, {"const": "b"}], "type": "null"}, False),
    ({"anyOf": [{"type": "string"}], "type": "array"}, {"unevaluatedItems": False}),  # nothing satisfies the left
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
    (3, {"minimum": 3}),
    ({"exclusiveMinimum": 3}, {"minimum": 4}),
    ({"minimum": 3}, {"minimum": "3"}),
    ({"multipleOf": 3}, {"multipleOf": 6}),
    ({"multipleOf": 3}, {"multipleOf": 0}),
    ({"type": "number"}, {"multipleOf": 1}),
    ({"minLength": 3}, {"minLength": "3"}),
    ({"maxLength": 3}, {"minLength": 3}),
    ({"items": False}, {"uniqueItems": 3}),
    ({"required": ["a"]}, {"required": ["a", 3]}),
    ({"required": ["a"]}, {"required": 3}),
    ({"required": ["a"]}, {"dependentRequired": {"b": 3}}),
    ({"required": ["a"]}, {"dependentSchemas": 3}),
    (CLOSED, {"properties": 3}),
    (CLOSED, {"patternProperties": 3}),
    (CLOSED, {"patternProperties": {"^a": {"minimum": 4}}}),
    ({"properties": {"a": {"minimum": 3}}}, {"patternProperties": {"^a": {"minimum": 3}}}),
    ({"patternProperties": {"^a": {}}, "additionalProperties": False}, {"propertyNames": {"maxLength": 1}}),
    (PAIR, {"items": {"type": "string"}}),
    (PAIR, {"items": [True]}),
    (PAIR, {"prefixItems": 3}),
    (PAIR, {"contains": {"type": "string"}, "minContains": 2}),
    ({"contains": {}}, {"contains": {}, "minContains": "2"}),
    ({"contains": {}}, {"contains": {}, "maxContains": 3}),
    ({"contains": {}, "minContains": "2"}, {"contains": {}, "minContains": 1}),
    ({"prefixItems": [{}] * 300, "items": False}, {"items": {"minimum": 3}}),
    ({"type": "string"}, {"anyOf": 3}),
    ({"type": "string"}, {"oneOf": 3}),
    ({"type": "string"}, {"allOf": 3}),
    ({"type": "string"}, {"oneOf": [{"type": "string"}, {}]}),
    ({"minimum": 3}, {"if": {"maximum": 1}, "then": False}),
    ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"const": 3}]}),
    ({"anyOf": [{"minimum": 3}, 3], "type": "number"}, {"minimum": 1}),
    ({"anyOf": [{"minimum": 3}, {}], "type": "number"}, {"minimum": 1}),
    ({"type": "string"}, {"$dynamicRef": "#a"}),
    ({"type": "string"}, {"$ref": "#/$defs/a"}),
    ({"const": {"a": 1}}, {"patternProperties": {"(?<=a)b": {}}, "format": "date"}),
]


@every_case(("left", "right"), IMPLIED)
def test_what_is_said_too(left: Any, right: Any) -> None:
    assert implies(left, right)


@every_case(("left", "right"), NOT_IMPLIED)
def test_what_is_not_seen_to_be_said(left: Any, right: Any) -> None:
    assert not implies(left, right)


@every_case("step", [True, "1", None, []])
def test_a_step_that_is_no_number_is_never_implied(step: Any) -> None:
    assert not implies({"type": "integer"}, {"multipleOf": step})


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
    # the three that three parts of the compiler once answered in three ways
    (A, B),
    ({"type": "integer"}, {"const": 1.5}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "integer"}),
    # numbers and sizes
    ({"minimum": 3, "type": "number"}, {"exclusiveMaximum": 3}),
    ({"exclusiveMinimum": 3, "type": "integer"}, {"exclusiveMaximum": 4}),
    ({"minLength": 3, "type": "string"}, {"maxLength": 2}),
    ({"minItems": 2, "type": "array"}, {"prefixItems": [{}], "items": False}),
    ({"required": ["a", "b"], "type": "object"}, {"maxProperties": 1}),
    # objects and arrays
    ({"required": ["c"], "type": "object"}, CLOSED),
    ({"required": ["c"], "type": "object"}, {"patternProperties": {"^c": False}}),
    ({"required": ["ab"], "type": "object"}, {"propertyNames": {"maxLength": 1}}),
    ({"required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}, "type": "object"}, {"properties": {"c": False}}),
    ({"required": ["a"], "type": "object"}, {"dependentRequired": {"a": ["b"]}, "maxProperties": 1}),
    ({"required": ["a"], "type": "object"}, {"dependentSchemas": {"a": {"maxProperties": 0}}}),
    ({"required": ["a"], "type": "object"}, {"dependentRequired": {"a": ["b"]}, "propertyNames": {"const": "a"}}),
    (PAIR, {"prefixItems": [{"maximum": 2, "type": "number"}]}),
    (PAIR, {"items": {"type": "null"}}),
    ({"type": "array", "contains": {}, "minContains": 3}, {"maxItems": 2}),
    ({"type": "array", "contains": {}, "minContains": 3, "maxContains": 2}, {}),
    ({"type": "array", "minItems": 3, "items": {"enum": [1, 2, 1]}}, {"uniqueItems": True}),
    (
        {"type": "array", "contains": {"minimum": 3}, "minContains": 4, "items": {"type": ["boolean", "null"]}},
        {"uniqueItems": True},
    ),
    # steps
    ({"type": "integer", "minimum": 1, "maximum": 4}, {"multipleOf": 5}),
    ({"type": "integer", "exclusiveMinimum": 3, "maximum": 5}, {"multipleOf": 1.5}),
    ({"type": "integer", "minimum": float("inf")}, {"maximum": 1}),
    ({"type": "number", "exclusiveMinimum": 1.5, "exclusiveMaximum": 3}, {"multipleOf": 1.5}),
    ({"type": "number", "minimum": 1.25, "maximum": 1.75}, {"multipleOf": 1}),
    # conditions
    ({"if": {"minimum": 1}, "then": False}, {"type": "integer", "minimum": 2}),
    ({"if": {"type": "string"}, "else": {"maximum": 2}}, {"type": "integer", "minimum": 3}),
    ({"if": True, "then": False}, {}),
    ({"oneOf": [{"type": "string"}, {"type": "string"}]}, {}),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"type": "string"}, {"minimum": 1}]}, {"type": "string", "minLength": 1}),
    ({"type": "array", "contains": {"type": "null"}}, {"items": {"type": "string"}}),
    # combinators
    ({"not": {"minimum": 1}}, {"minimum": 2, "type": "number"}),
    ({"oneOf": [{"const": 1}, {"const": 2}]}, {"allOf": [{"minimum": 3, "type": "number"}]}),
    (
        {"type": ["string", "null"], "anyOf": [{"minLength": 3}, {"type": "null"}]},
        {"type": ["string", "null"], "anyOf": [{"maxLength": 2, "type": "string"}]},
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
    (True, {"minimum": 3}),
    ({"minimum": 3}, {"maximum": 2}),
    ({"type": "array", "items": {"type": "null"}}, {"items": {"type": "string"}}),
    ({"type": "array", "contains": {"type": "null"}, "minContains": 0}, {"items": {"type": "string"}}),
    ({"type": "array", "contains": {"type": "null"}, "minContains": "1"}, {"items": {"type": "string"}}),
    ({"type": "boolean"}, {"type": ["boolean", "null"]}),
    ({"multipleOf": 0.5, "type": "number"}, {"multipleOf": 0.3}),
    ({"$ref": "#/$defs/a"}, {"type": "string"}),
    ({"type": "string", "pattern": "^a"}, {"pattern": "^b"}),
    ({"type": "integer", "minimum": 1, "maximum": 5}, {"multipleOf": 5}),
    ({"type": "number", "minimum": 0.1, "maximum": 0.2}, {"multipleOf": 0.1}),
    ({"type": "number", "minimum": 1}, {"multipleOf": 5}),
    ({"type": "number", "minimum": 1, "maximum": 2}, {"multipleOf": "5"}),
    ({"type": "array", "minItems": 3, "items": {"type": ["boolean", "null"]}}, {"uniqueItems": True}),
    ({"type": "array", "minItems": 3, "items": {"enum": [1, 2]}}, {"uniqueItems": False}),
    ({"type": "array", "minItems": 3, "prefixItems": [{}], "items": {"enum": [1, 2]}}, {"uniqueItems": True}),
    ({"type": "array", "contains": {}, "minContains": 0, "maxContains": 0}, {}),
    ({"required": ["a"]}, {"dependentRequired": {"a": ["b"]}, "maxProperties": 1}),
    ({"required": ["a"], "type": "object"}, {"dependentRequired": {"b": ["c"]}, "maxProperties": 1}),
    ({"if": {"minimum": 3}, "then": False}, {"type": "integer", "minimum": 2}),
    ({"if": True, "else": False}, {}),
    ({"oneOf": [{"type": "string"}, {"type": "number"}]}, {}),
    ({"oneOf": [{"type": "string"}, {}]}, {}),
    ({"type": "object", "required": ["b"]}, {"properties": {"a": {}}, "unevaluatedProperties": False}),
]


@every_case(("left", "right"), EXCLUDED)
def test_what_cannot_be_together(left: Any, right: Any) -> None:
    assert disjoint(left, right)
    assert disjoint(right, left)


@every_case(("left", "right"), NOT_EXCLUDED)
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
    def twice(depth: int, last: str) -> Any:
        both = {"type": "object", "required": ["a", "b"]}
        return nested(lambda schema: {**both, "properties": {"a": schema, "b": schema}}, depth, {"type": last})

    assert implies(twice(10, "integer"), twice(10, "number"))
    assert not implies(twice(40, "integer"), twice(40, "number"))
    assert disjoint(twice(10, "integer"), twice(10, "string"))
    assert not disjoint(twice(40, "integer"), twice(40, "string"))


@every_case("word", ["properties", "patternProperties", "dependentSchemas"])
def test_each_step_into_an_object_is_one_of_those_that_are_gone(word: str) -> None:
    lower, higher = (nested(lambda schema: {word: {"a": schema}}, DEPTH, {"minimum": least}) for least in (2, 3))
    assert implies(higher, lower)
    assert not implies({word: {"a": higher}}, {word: {"a": lower}})


@every_case("word", ["items", "contains", "additionalProperties", "propertyNames"])
def test_each_step_into_what_an_array_or_object_holds_is_one_of_those_that_are_gone(word: str) -> None:
    lower, higher = (nested(lambda schema: {word: schema}, DEPTH, {"minimum": least}) for least in (2, 3))
    assert implies(higher, lower)
    assert not implies({word: higher}, {word: lower})


def test_each_step_into_one_of_several_items_is_one_of_those_that_are_gone() -> None:
    lower, higher = (nested(lambda schema: {"prefixItems": [schema]}, DEPTH, {"minimum": least}) for least in (2, 3))
    assert implies(higher, lower)
    assert not implies({"prefixItems": [higher]}, {"prefixItems": [lower]})


def nested(wrap: Callable[[Any], Any], times: int, schema: Any) -> Any:
    for _ in range(times):
        schema = wrap(schema)
    return schema


TREE: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}, "required": ["next"]}
KNOWN: dict[str, Any] = {
    "#/$defs/tree": TREE,
    "#/$defs/text": {"type": "string", "minLength": 3},
    "#/$defs/loop": {"$ref": "#/$defs/loop"},
}


@every_case(
    ("left", "right", "said", "apart"),
    [
        ({"$ref": "#/$defs/text"}, {"type": "string", "minLength": 2}, True, False),
        ({"$ref": "#/$defs/text"}, {"type": "null"}, False, True),
        ({"const": "abcd"}, {"$ref": "#/$defs/text"}, True, False),
        ({"const": "ab"}, {"$ref": "#/$defs/text"}, False, True),
        ({"type": "string", "minLength": 4}, {"$ref": "#/$defs/text"}, True, False),
        ({"$ref": "#/$defs/tree"}, {"properties": {"next": {"type": "object"}}}, True, False),
        ({"$ref": "#/$defs/tree"}, {"properties": {"next": {"type": "null"}}}, False, True),
        ({"$ref": "#/$defs/tree"}, {"properties": {"next": {"type": "null"}}, "type": "object"}, False, True),
        ({"$ref": "#/$defs/text", "type": "array"}, {"unevaluatedItems": False}, True, True),
        ({"$ref": "#/$defs/loop"}, {"type": "null"}, False, False),
        ({"$ref": "#/$defs/lost"}, {"type": "null"}, False, False),
        ({"$ref": 3}, {"type": "null"}, False, False),
    ],
)
def test_references_are_followed_where_it_is_known_whereto(left: Any, right: Any, said: bool, apart: bool) -> None:  # noqa: FBT001
    assert implies(left, right, resolve=KNOWN.get) is said
    assert disjoint(left, right, resolve=KNOWN.get) is apart
