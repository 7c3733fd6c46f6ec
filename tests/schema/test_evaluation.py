"""Whether a value satisfies a schema, as far as that is certain whatever validator is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema_rs
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from making import Maker

from instrc.schema.kinds import kind_of_value
from instrc.schema.relations import InstanceCheck, satisfies  # one value and one schema by themselves
from instrc.text.limits import DEPTH

CERTAIN: list[tuple[Any, Any, bool]] = [
    (1.0, {"type": "integer"}, True),
    (1.5, {"type": "integer"}, False),
    (True, {"type": "integer"}, False),
    (1, {"enum": [1.0]}, True),
    (3, {"minimum": 3, "maximum": 3, "exclusiveMinimum": 2, "exclusiveMaximum": 4}, True),
    (3, {"exclusiveMinimum": 3}, False),
    (3, {"exclusiveMaximum": 3}, False),
    (3, {"maximum": 2}, False),
    (1.5, {"multipleOf": 0.5}, True),
    (1.5, {"multipleOf": 1}, False),
    (2**53, {"multipleOf": 3}, False),  # up to here a float holds every integer
    ("ab", {"minLength": 2, "maxLength": 2, "pattern": "^a", "minItems": 3}, True),
    ("ab", {"pattern": "^b"}, False),
    ({"a": 1}, {"required": ["a"], "properties": {"a": {"type": "integer"}}, "additionalProperties": False}, True),
    ({"a": 1}, {"additionalProperties": False, "patternProperties": {"^a": True}}, True),
    ({"a": 1}, {"additionalProperties": False, "patternProperties": {"^b": True}}, False),
    ({"a": 1}, {"patternProperties": {"^a": {"minimum": 2}}}, False),
    ({"a": 1}, {"propertyNames": {"maxLength": 0}}, False),
    ({"a": 1}, {"dependentRequired": {"a": ["b"]}}, False),
    ({"a": 1}, {"dependentSchemas": {"a": {"minProperties": 2}}}, False),
    ([1, "a"], {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}, "uniqueItems": True}, True),
    ([1, 1.0], {"uniqueItems": True}, False),
    ([1, 2, 3], {"contains": {"minimum": 2}, "minContains": 2, "maxContains": 2}, True),
    ([1, 2, 3], {"contains": {"minimum": 2}, "maxContains": 1}, False),
    ([], {"contains": {}}, False),
    (1, {"oneOf": [{"minimum": 0}, {"maximum": 0}]}, True),
    (0, {"oneOf": [{"minimum": 0}, {"maximum": 0}]}, False),
    (0, {"anyOf": [{"minimum": 1}, {"maximum": 0}], "not": {"const": 1}}, True),
    (0, {"if": {"const": 0}, "then": False}, False),
    (1, {"if": {"const": 0}, "then": False, "else": {"minimum": 1}}, True),
    (1, {"then": False}, True),
    (0, {"title": "t", "$comment": "c", "$defs": {"a": False}}, True),
    (0, False, False),
]
UNCERTAIN: list[tuple[Any, Any]] = [
    ("a", {"format": "date"}),
    ("a", {"pattern": "(?<=a)b"}),
    ("a", {"pattern": 3}),
    (0.3, {"multipleOf": 0.1}),
    (2**42 + 1 / 1024, {"multipleOf": 1 / 1024}),  # by its text, 4398046511104.001, it is none
    (3, {"multipleOf": 0}),
    (2**60, {"multipleOf": 3}),
    (3, {"minimum": "3"}),
    ("a", {"maxLength": "3"}),
    (3, {"type": "text"}),
    (3, {"enum": 3}),
    (3, {"x-own": 3}),
    (3, {"$ref": "#/$defs/a"}),
    (3, {"$ref": 3}),
    (3, {"$dynamicRef": "#a"}),
    (3, {"anyOf": 3}),
    (3, {"anyOf": [3]}),
    ({"a": 1}, {"unevaluatedProperties": False}),
    ({"a": 1}, {"properties": 3}),
    ({"a": 1}, {"dependentRequired": {"a": True}}),
    ({"a": 1}, {"patternProperties": {"(?<=x)a": False}}),
    ({"a": 1}, {"patternProperties": {"(?<=x)a": {}}, "additionalProperties": False}),
    ([1], {"items": [True]}),
    ([1], {"prefixItems": 3}),
    ([1], {"uniqueItems": 3}),
    ([1], {"contains": {}, "minContains": "1"}),
    (["a"], {"contains": {"format": "date"}}),
    ("a", {"if": {"format": "date"}, "then": False}),
    ("a", {"oneOf": [{"format": "date"}, {}]}),
]


@every_case(("value", "schema", "answer"), CERTAIN)
def test_what_is_certain(value: Any, schema: Any, answer: bool) -> None:  # noqa: FBT001
    assert satisfies(value, schema) is answer


@every_case(("value", "schema"), UNCERTAIN)
def test_what_validators_may_see_in_another_way(value: Any, schema: Any) -> None:
    assert satisfies(value, schema) is None


def test_what_is_not_asked_needs_no_certainty() -> None:
    assert satisfies("a", {"anyOf": [{"format": "date"}, True], "if": {"format": "date"}, "then": {}, "else": {}}) is True
    assert satisfies({"a": 1}, {"patternProperties": {"(?<=x)a": {"minimum": 0}}}) is True
    assert InstanceCheck({"#a": {"minimum": 3}}.get).of(3, {"$ref": "#a"}, 0) is True
    assert satisfies("a", {"enum": ["b"], "format": "date"}) is False


def test_long_questions_have_no_answer() -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"allOf": [deep, deep]}
    assert satisfies(3, deep) is None
    assert satisfies(3, {"anyOf": [{"const": 4}] * 3000}) is None


STEPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "properties": (lambda value: {"a": value}, lambda schema: {"properties": {"a": schema}}),
    "patternProperties": (lambda value: {"a": value}, lambda schema: {"patternProperties": {"^a": schema}}),
    "additionalProperties": (lambda value: {"a": value}, lambda schema: {"additionalProperties": schema}),
    "items": (lambda value: [value], lambda schema: {"items": schema}),
    "prefixItems": (lambda value: [value], lambda schema: {"prefixItems": [schema]}),
    "contains": (lambda value: [value], lambda schema: {"contains": schema}),
    "allOf": (lambda value: value, lambda schema: {"allOf": [schema]}),
    "anyOf": (lambda value: value, lambda schema: {"anyOf": [schema]}),
    "oneOf": (lambda value: value, lambda schema: {"oneOf": [schema]}),
    "not": (lambda value: value, lambda schema: {"not": schema}),
    "if": (lambda value: value, lambda schema: {"if": schema, "else": False}),
    "then": (lambda value: value, lambda schema: {"if": True, "then": schema}),
    "else": (lambda value: value, lambda schema: {"if": False, "else": schema}),
}


@every_case("word", STEPS)
def test_each_step_into_a_schema_is_one_of_those_that_are_gone(word: str) -> None:
    outside, around = STEPS[word]
    value: Any = 5
    schema: Any = {"minimum": 3}
    for _ in range(DEPTH):
        value, schema = outside(value), around(schema)
    assert satisfies(value, schema) is True
    assert satisfies(outside(value), around(schema)) is None


def test_kinds_do_not_overlap() -> None:
    kinds = [kind_of_value(value) for value in (None, True, 1, 1.0, 1.5, "a", [], {})]
    assert kinds == ["null", "boolean", "integer", "integer", "fraction", "string", "array", "object"]


@examples(60)
@given(st.integers(0, 2**48))
def test_a_certain_answer_is_that_of_a_validator(seed: int) -> None:
    maker = Maker(seed)
    for _ in range(100):
        schema = maker.schema(2)
        judge = jsonschema_rs.Draft202012Validator(schema)
        for _ in range(5):
            value = maker.value()
            assert satisfies(value, schema) in {None, judge.is_valid(value)}, (schema, value)


@every_case(
    ("value", "schema"),
    [
        ([1], {"items": [{"type": "integer"}]}),
        ({}, {"patternProperties": 3}),
        ({}, {"required": "a"}),
        ({}, {"dependentSchemas": ["a"]}),
    ],
)
def test_nothing_is_certain_by_a_malformed_keyword(value: Any, schema: Any) -> None:
    assert satisfies(value, schema) is None
