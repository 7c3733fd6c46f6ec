"""Every keyword of a result says where it came from."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from typing import Any

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from making import Maker

import instrc
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.provenance import KeywordOrigin
from instrc.schema.walk import walk
from instrc.text.jsonvalue import JsonObject, at, pointer


def traced(schema: Any, documents: Any = None, base: str = "") -> dict[str, list[str]]:
    return {
        place: [str(origin) for origin in found]
        for place, found in flatten(schema, documents, base=base, trace=True).origins.items()
    }


def test_each_keyword_has_its_places_in_written_order() -> None:
    found = traced(
        {
            "title": "t",
            "allOf": [{"type": "object", "properties": {"a": {"minimum": 1}}}, {"$ref": "aug:x"}],
            "properties": {"b": {"items": [1]}},
        },
        {"aug:x": {"type": "object", "properties": {"a": {"minimum": 2, "x-y": 1}}}},
    )
    assert found == {
        "/title": ["#/title"],
        "/type": ["#/allOf/0/type", "aug:x#/type"],
        "/properties": ["#/properties", "#/allOf/0/properties", "aug:x#/properties"]
        if found["/properties"][0] == "#/properties"
        else ["#/allOf/0/properties", "aug:x#/properties", "#/properties"],
        "/properties/a/minimum": ["#/allOf/0/properties/a/minimum", "aug:x#/properties/a/minimum"],
        "/properties/a/x-y": ["aug:x#/properties/a/x-y"],
        "/properties/b/items": ["#/properties/b/items"],
    }


def test_what_is_left_alone_comes_from_where_it_stands() -> None:
    schema = {"properties": {"a/b": {"minimum": 1}}}
    assert traced(schema, base="aug:x") == {
        "/properties": ["aug:x#/properties"],
        "/properties/a~1b/minimum": ["aug:x#/properties/a~1b/minimum"],
    }
    assert flatten(schema, trace=True).schema is schema
    assert traced(True) == {}
    assert traced({"allOf": [False]}) == {}


def test_the_head_of_the_root_is_its_own() -> None:
    found = traced(
        {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://e.com/a", "allOf": [{"items": [{"minimum": 1}]}]}
    )
    assert found["/$schema"] == ["https://e.com/a#/$schema"] or found["/$schema"] == ["#/$schema"]
    assert found["/prefixItems"][0].endswith("#/allOf/0/items")
    assert found["/prefixItems/0/minimum"][0].endswith("#/allOf/0/items/0/minimum")


def test_what_is_made_on_the_way_has_no_origin() -> None:
    found = traced({"items": {"$ref": "#/$defs/T"}, "$defs": {"T": {"items": {"$ref": "#/$defs/T"}}}})
    assert found["/$defs"] == []
    assert found["/$defs/T/items"] == ["#/$defs/T/items"]
    assert found["/items/$ref"] == []


def test_a_keyword_that_took_the_place_of_another_says_so() -> None:
    found = traced({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False, "unevaluatedItems": False})
    assert found["/additionalProperties"] == ["#/unevaluatedProperties"]
    assert found["/items"] == ["#/unevaluatedItems"]


def test_residual_branches_have_origins_too() -> None:
    found = traced({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})
    assert found["/pattern"] == ["#/allOf/0/pattern", "#/allOf/1/pattern"]
    assert found["/allOf/0/pattern"] == ["#/allOf/1/pattern"]


def test_what_turns_out_to_be_closed_and_is_folded_once_more_still_knows_where_it_was_written() -> None:
    nothing = {"allOf": [{"const": ""}, {"type": "array"}]}
    found = traced(
        {
            "$comment": "c",
            "allOf": [{"patternProperties": {"^b": {}}}, {"properties": {"a": {}, "b": {}}, "additionalProperties": nothing}],
        }
    )
    assert found == {
        "/$comment": ["#/$comment"],
        "/properties": ["#/allOf/1/properties"],
        "/additionalProperties": ["#/allOf/1/additionalProperties"],
    }


def test_what_a_mixin_and_what_it_is_applied_to_say_have_their_places() -> None:
    mixin = {"type": "object", "properties": {"_why": {"type": "string"}, "default": {}}, "required": ["_why", "default"]}
    inside = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    found = traced(
        {
            "allOf": [{"$ref": "aug:m_Mixin"}, {"properties": {"default": inside}}],
            "unevaluatedProperties": False,
            "maxProperties": 3,
        },
        {"aug:m_Mixin": mixin},
    )
    assert found == {
        "/type": ["aug:m_Mixin#/type", "#/allOf/1/properties/default/type"],
        "/properties": ["aug:m_Mixin#/properties", "#/allOf/1/properties/default/properties"],
        "/required": ["aug:m_Mixin#/required", "#/allOf/1/properties/default/required"],
        "/properties/_why/type": ["aug:m_Mixin#/properties/_why/type"],
        "/properties/a/type": ["#/allOf/1/properties/default/properties/a/type"],
        "/maxProperties": ["#/maxProperties"],
        "/additionalProperties": ["#/unevaluatedProperties"],
    }


def test_a_mixin_that_is_applied_twice_has_its_places_once() -> None:
    mixin = {"type": "object", "properties": {"_why": {}, "default": {}}}
    schema = {"allOf": [{"$ref": "aug:m_Mixin"}, {"$ref": "aug:m_Mixin"}, {"properties": {"default": {"minProperties": 1}}}]}
    found = traced(schema, {"aug:m_Mixin": mixin})
    assert found["/type"] == ["aug:m_Mixin#/type"]
    assert found["/minProperties"] == ["#/allOf/2/properties/default/minProperties"]


@examples(20)
@given(st.integers(0, 2**48))
def test_origins_cover_every_keyword_and_lead_to_one(seed: int) -> None:
    for offset in range(30):
        schema = Maker(seed + offset).document()
        flat, origins = flatten(schema, trace=True)
        assert flat == flatten(schema)
        places = {pointer((*path, keyword)) for path, node in walk(flat) if isinstance(node, dict) for keyword in node}
        assert places == origins.keys()
        for found in origins.values():
            for uri, place in found:
                assert uri == ""
                at(schema, place)


def test_an_origin_reads_like_a_reference() -> None:
    assert str(KeywordOrigin("aug:a", "/b")) == "aug:a#/b"


def test_a_trace_of_very_deep_schemas_is_refused_with_a_word_as_its_pointers_grow_with_the_square() -> None:
    schema: JsonObject = {"type": "string"}
    for _ in range(12_000):
        schema = {"type": "array", "items": schema}
    assert instrc.flatten(schema) == schema
    with pytest.raises(instrc.CompileError, match="the trace has over 50,000,000 characters of JSON Pointers"):
        instrc.flatten(schema, trace=True)


def test_origins_survive_a_second_pass() -> None:
    left: Any = {
        "anyOf": [{"properties": {"x": {}}}, {"allOf": [{"type": "null"}, {"type": "array"}]}],
        "unevaluatedProperties": False,
    }
    branch: Any = {
        "oneOf": [True, {"items": {"minimum": 1}, "allOf": [{"type": "null"}, {"type": "string"}]}],
        "unevaluatedItems": False,
    }
    schema = {"allOf": [left, branch, {"prefixItems": [True]}, {"properties": {"x": {}, "y": {}}}]}
    flat, origins = flatten(schema, trace=True)
    assert flatten(flat) == flat
    assert any(str(origin) == "#/allOf/1/unevaluatedItems" for found in origins.values() for origin in found)


def test_an_object_that_stands_at_two_places_comes_from_the_first() -> None:
    shared = {"minimum": 1}
    schema = {"allOf": [{"properties": {"a": shared, "b": shared}}, {"maxProperties": 3}]}
    flat = flatten(schema, trace=True)
    assert flat.schema == {"properties": {"a": shared, "b": shared}, "maxProperties": 3}
    assert {str(place.pointer) for place in flat.origins["/properties/b/minimum"]} == {"/allOf/0/properties/a/minimum"}
