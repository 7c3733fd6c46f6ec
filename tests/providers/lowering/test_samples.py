"""A sample of a schema is small, however much the schema asks for."""

from __future__ import annotations

import time
from typing import Any

from every_case import every_case
from grammar_engines import swaps
from jsonschema import Draft202012Validator

from instrc.schema.formats import CHECKS
from instrc.schema.samples import sample
from instrc.schema.validation import validate
from instrc.text.jsontext import dumps


@every_case(
    "schema",
    [
        {"type": "string", "minLength": 10**10},
        {"type": "string", "minLength": 1e300},
        {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 4}},
        {"type": "object", "minProperties": 10**8},
    ],
)
def test_what_asks_for_too_much_gets_less(schema: Any) -> None:
    assert len(dumps(sample(schema))) < 1_000_000


@every_case(
    "itself",
    [
        {"$ref": "#"},
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
    ],
)
def test_a_sample_of_a_schema_that_leads_to_itself_ends_with_the_alternative_that_does_not(itself: Any) -> None:
    schema = {"type": "object", "properties": {"next": {"anyOf": [itself, {"type": "string"}]}}, "required": ["next"]}
    assert Draft202012Validator(schema).is_valid(sample(schema))


def test_a_long_text_is_as_long_as_it_must_be() -> None:
    assert sample({"type": "string", "minLength": 500}) == "a" * 500


def test_keys_of_objects_in_a_list_change_places_as_well() -> None:
    pair = {"type": "object", "properties": {"a": {}, "b": {}}}
    schema = {"type": "array", "prefixItems": [{}, pair], "items": pair}
    found = [(swap.place, swap.value) for swap in swaps([1, {"a": 1, "b": 2}, {"a": 3, "b": 4}], schema)]
    assert found == [("/1", [1, {"b": 2, "a": 1}, {"a": 3, "b": 4}]), ("/2", [1, {"a": 1, "b": 2}, {"b": 4, "a": 3}])]
    assert [list(value[int(place[1])]) for place, value in found if isinstance(value, list)] == [["b", "a"], ["b", "a"]]


SATISFIED: list[Any] = [
    {"type": "string", "pattern": r"^[A-Z]{2}-\d{4}$"},
    {"type": "string", "pattern": r"^\d{4}", "format": "date"},
    {"type": "string", "minLength": 3, "maxLength": 3, "pattern": "b"},
    {"type": "string", "not": {"const": "a"}},
    {"not": {"type": "string"}},
    {"enum": ["a", "bb"], "minLength": 2},
    {"type": "integer", "exclusiveMinimum": 0.5, "maximum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "multipleOf": 0.1, "exclusiveMinimum": 0.25},
    {"type": "integer", "maximum": -5, "multipleOf": 3},
    *({"type": "number", "multipleOf": 0.01, "minimum": low} for low in (0.34, 0.4, 1.13, -0.34)),
    {"type": "number", "multipleOf": 0.1, "exclusiveMaximum": -0.3},
    {"type": "number", "multipleOf": 0.1, "minimum": 1.1, "maximum": 1.15},
    {"type": "integer", "multipleOf": 0.01, "minimum": 0.5},
    {"type": "number", "multipleOf": 0.5, "minimum": 10**400},
    {"type": "number", "multipleOf": 1e300, "minimum": 1e300},
    {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}], "maxLength": 1},
    {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "integer", "minimum": 3}}}]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 2, "uniqueItems": True},
    {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True},
    {
        "type": "array",
        "items": {"type": ["integer", "string"]},
        "contains": {"pattern": "^x", "type": "string"},
        "minContains": 2,
    },
    {"type": "object", "propertyNames": {"pattern": "^x-"}, "minProperties": 2},
    {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False, "minProperties": 2},
    {"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1, "required": ["b"]},
    {"type": "object", "properties": {"a": {}}, "dependentRequired": {"a": ["c"]}, "required": ["a", "c"]},
    {"type": "object", "properties": {"a": False, "b": {"type": "boolean"}}},
    {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["z"], "properties": {"z": {"const": 5}}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "anyOf": [{"properties": {"b": {"const": 1}}, "required": ["b"]}],
        "unevaluatedProperties": False,
    },
    {"$defs": {"code": {"type": "string"}}, "type": "object", "properties": {"c": {"$ref": "#/$defs/code", "pattern": "^Q$"}}},
    *({"type": "string", "format": name} for name in CHECKS),
    *({"type": "array", "items": {"format": name}, "minItems": 3, "uniqueItems": True} for name in CHECKS),
]


@every_case("schema", SATISFIED, ids=dumps)
def test_it_satisfies_what_a_keyword_asks(schema: Any) -> None:
    assert validate(sample(schema), schema) == ()


def test_optional_properties_are_there_unless_nothing_fits() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "a^"}, "b": {"type": "string", "pattern": "^b"}},
    }
    assert sample(schema) == {"b": "b"}


@every_case(
    "schema",
    [
        {"type": "object", "properties": {f"p{number}": {"pattern": f"^(a+)+$x{number}"} for number in range(40)}},
        {"properties": {"a": {"not": {}}}, "required": ["a"], "anyOf": [{"required": [str(number)]} for number in range(300)]},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"]}}, "$ref": "#/$defs/a"},
        {"type": 5, "properties": [], "anyOf": "x", "pattern": 3, "minLength": "a"},
        {"allOf": ["x", 5], "oneOf": [{}, {"allOf": True}]},
        {"type": "array", "minItems": float("inf"), "not": True, "then": {"type": "array"}, "if": {}},
    ],
    ids=["patterns", "impossible branches", "a circle", "no end", "no schema", "parts that are none", "endless"],
)
def test_what_nothing_satisfies_ends(schema: Any) -> None:
    start = time.process_time()
    sample(schema)
    assert time.process_time() - start < 20
