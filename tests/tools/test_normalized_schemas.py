"""Schemas as they are met in the wild become sound, and sound ones stay as they are."""

from __future__ import annotations

from typing import Any

from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc import import_tools
from instrc.schema.normalize import Rules
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import Json, equal
from instrc.tools.sources import normalized, of_value  # one schema without a file

SLIPS: dict[str, tuple[Json, Json]] = {
    "a word for a type": ({"type": "dict"}, {"type": "object"}),
    "a list of words": ({"type": ["str", "null"]}, {"type": ["string", "null"]}),
    "a union of schemas": (
        {"type": [{"type": "string"}, {"type": "array", "items": {"type": "int"}}]},
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
    ),
    "any": ({"type": "any", "description": "d"}, {"description": "d"}),
    "what a word implies gives way to what is written": (
        {"type": "int[]", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "string"}},
    ),
    "nullable": ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    "nullable beside a word": ({"type": "float", "nullable": True, "enum": [1]}, {"type": ["number", "null"], "enum": [1, None]}),
    "not nullable": ({"type": "string", "nullable": False}, {"type": "string"}),
    "a text for a schema": ({"properties": {"a": "str"}}, {"properties": {"a": {"type": "string"}}}),
    "a description for a schema": ({"properties": {"a": "The city."}}, {"properties": {"a": {"description": "The city."}}}),
    "choices for a schema": ({"properties": {"a": [1, "b"]}}, {"properties": {"a": {"enum": [1, "b"]}}}),
    "null for a schema": ({"items": None, "properties": {"a": None}}, {"properties": {"a": {}}}),
    "required where it was in draft 3": (
        {"properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}},
        {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
    ),
    "optional": ({"properties": {"a": {"optional": True}}, "required": ["a"]}, {"properties": {"a": {}}}),
    "required as a text": ({"properties": {"a": {}}, "required": "a"}, {"properties": {"a": {}}, "required": ["a"]}),
    "required twice": ({"properties": {"a": {}}, "required": ["a", "a", 3]}, {"properties": {"a": {}}, "required": ["a"]}),
    "required and not described": (
        {"properties": {"a": {}}, "required": ["b"]},
        {"properties": {"a": {}, "b": {}}, "required": ["b"]},
    ),
    "required and described elsewhere": (
        {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["a"]}]},
        {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["a"]}]},
    ),
    "a tuple": ({"items": [{"type": "int"}], "additionalItems": False}, {"prefixItems": [{"type": "integer"}], "items": False}),
    "exclusive as in draft 4": ({"minimum": 3, "exclusiveMinimum": True}, {"exclusiveMinimum": 3}),
    "not exclusive": ({"minimum": 3, "exclusiveMinimum": False}, {"minimum": 3}),
    "a number in a text": ({"minimum": "3", "maxLength": "10"}, {"minimum": 3, "maxLength": 10}),
    "a count with a point": ({"minItems": 2.0}, {"minItems": 2}),
    "a bound that is none": ({"minimum": "low", "maxLength": -1, "multipleOf": 0, "minItems": None}, {}),
    "a truth in a text": (
        {"additionalProperties": "false", "uniqueItems": "True"},
        {"additionalProperties": False, "uniqueItems": True},
    ),
    "no choice": ({"enum": [], "anyOf": [], "allOf": None}, {}),
    "choices by name": ({"enum": {"a": "first", "b": "second"}}, {"enum": ["a", "b"]}),
    "choices that no type has": ({"type": "integer", "enum": ["1", "2"]}, {"enum": ["1", "2"]}),
    "a constant that no type has": ({"type": ["integer", "null"], "const": "x"}, {"const": "x"}),
    "choices of an array": (
        {"type": "array", "items": {"type": "string"}, "enum": ["a"]},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    ),
    "one example": ({"example": 3}, {"examples": [3]}),
    "examples by name": ({"examples": {"a": {"value": 1}}}, {"examples": [1]}),
    "texts that are none": (
        {"description": ["a", "b"], "title": 3, "format": 1, "pattern": None},
        {"description": "a\nb", "title": "3"},
    ),
    "dependencies": (
        {"dependencies": {"a": ["b"], "c": {"type": "dict"}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"type": "object"}}},
    ),
    "words of the engine": ({"references": ["a"], "activity": "x", "when": "y"}, {}),
    "properties in a list": ({"properties": [{"name": "a", "type": "int"}]}, {"properties": {"a": {"type": "integer"}}}),
    "words of one's own": ({"x-unit": "km", "examples": [1]}, {"x-unit": "km", "examples": [1]}),
    "data is not touched": (
        {"default": {"type": "dict"}, "const": {"type": "dict"}},
        {"default": {"type": "dict"}, "const": {"type": "dict"}},
    ),
    "parameters for a schema": (
        {"city": {"type": "str"}, "days": {"type": "int", "default": 1}},
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
            "required": ["city"],
        },
    ),
}


@every_case("name", SLIPS)
def test_a_slip_is_read_as_it_was_meant(name: str) -> None:
    written, expected = SLIPS[name]
    made = normalized(written, (), of_value(None), Rules())
    assert made == expected
    assert list(made) == list(expected)


@every_case("name", SLIPS)
def test_what_is_mended_needs_no_mending(name: str) -> None:
    _, expected = SLIPS[name]
    found = of_value(None)
    assert normalized(expected, (), found, Rules()) == expected
    assert found.problems == []


NAMES = st.sampled_from(["a", "b", "type", "Имя", "x/y", "~", "", "required", "$ref", "output"])
VALUES = st.none() | st.booleans() | st.integers(-3, 10**20) | st.text(max_size=3) | st.just([]) | st.just({"a": [1]})


def _sound(below: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    named = st.dictionaries(NAMES, below, max_size=3)
    several = st.lists(below, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "title": st.text(max_size=3),
            "type": st.sampled_from(["string", "object", "array", "integer"]),
            "description": st.text(max_size=3),
            "properties": named,
            "patternProperties": st.dictionaries(st.just("^a"), below, max_size=1),
            "additionalProperties": below,
            "propertyNames": below,
            "dependentRequired": st.dictionaries(NAMES, st.just(["a"]), max_size=2),
            "dependentSchemas": named,
            "items": below,
            "prefixItems": several,
            "contains": below,
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": below,
            "if": below,
            "then": below,
            "examples": st.lists(VALUES, max_size=2),
            "default": VALUES,
            "minimum": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
            "maxLength": st.integers(0, 9),
            "uniqueItems": st.booleans(),
            "format": st.just("date"),
            "pattern": st.just("^a"),
            "deprecated": st.booleans(),
            "x-unit": VALUES,
        },
    )


SOUND = st.recursive(st.booleans() | _sound(st.booleans()), _sound, max_leaves=12)


@given(SOUND)
def test_a_sound_schema_stays_as_it_is(schema: Json) -> None:
    assert not problems_of(schema)
    found = of_value(None)
    assert equal(normalized(schema, (), found, Rules(shorthand=False)), schema)
    assert found.problems == []


WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "not",
        "pattern",
        "minimum",
        "maxLength",
        "description",
        "nullable",
        "$schema",
        "$id",
        "$anchor",
        "$dynamicRef",
        "dependencies",
        "definitions",
        "default",
        "additionalProperties",
        "exclusiveMinimum",
        "prefixItems",
        "optional",
        "examples",
        "format",
        "references",
        "schema",
        "if",
    ]
)
JUNK = st.one_of(
    VALUES,
    st.sampled_from(
        [
            "string",
            "dict",
            "List[int]",
            "#",
            "#/$defs/a",
            "http://a.b/c",
            "((",
            "true",
            "any",
            "http://json-schema.org/draft-07/schema#",
        ]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)
WILD = st.recursive(
    JUNK,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS | NAMES, below, max_size=5),
    max_leaves=25,
)
KINDS = st.sampled_from(["openai", "anthropic", "mcp", "bfcl", "smolagents", "pydantic", "openapi"])


def _entries(kind: str, schema: Any) -> Json:
    if kind == "openapi":
        operation = {
            "parameters": [{"name": "p", "in": "query", "schema": schema}, schema],
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}, "required": True},
            "responses": {"200": {"content": {"application/json": {"schema": schema}}}},
        }
        return {"openapi": "3.0.0", "paths": {"/a": {"get": operation, "post": schema}}, "components": {"schemas": {"A": schema}}}
    if kind == "pydantic":
        return [schema, {"title": "T", "properties": schema}]
    key = {
        "openai": "parameters",
        "anthropic": "input_schema",
        "mcp": "inputSchema",
        "bfcl": "parameters",
        "smolagents": "inputs",
    }[kind]
    return [
        schema,
        {"name": "f", key: schema, "outputSchema": schema},
        {"name": schema, key: {"type": "object", "properties": schema}},
    ]


@examples(300)
@given(KINDS, WILD, st.sampled_from(["leave", "output", "activity"]))
def test_whatever_comes_in_only_sound_vibes_come_out(kind: str, schema: Json, results: Any) -> None:
    imported = import_tools(kind, _entries(kind, schema), results=results)
    for vibe in imported.vibes:
        assert not problems_of(vibe.document)
    assert len({vibe.path.casefold() for vibe in imported.vibes}) == len(imported.vibes)
    for problem in imported.problems:
        assert problem.message
        assert problem.name != "invalid-json"


def test_depth_and_size_have_bounds() -> None:
    deep: Json = {"type": "string"}
    for _ in range(1500):
        deep = {"properties": {"a": deep}}
    circle: Json = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"allOf": [{"$ref": "#/properties/b"}]}}}
    imported = import_tools("openai", [{"name": "deep", "parameters": deep}, {"name": "circle", "parameters": circle}])
    assert [vibe.name for vibe in imported.vibes] == ["deep", "circle"]
    assert [problem.message for problem in imported.problems] == [
        "`this part` is left out: it is over 500 levels deep",
        "`#/properties/b` is left out: it leads back to itself",
    ]


@every_case("depth", [5_000, 90_000])
def test_a_file_without_end_is_told(depth: int) -> None:
    text = '[{"name": "f", "parameters": {"type": "object", "default": ' + "[" * depth + "]" * depth + "}}]"
    (problem,) = import_tools("openai", text).problems
    assert (problem.name, problem.message) == ("too-large", "this file has over 4,000 levels")
