"""Corners that the larger tests seldom turn."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.flattening.flatten import flatten
from instrc.flattening.slots import splice
from instrc.flattening.subsumes import subsumes
from instrc.problems.problem import CompileError
from instrc.schema.upgrade import upgrade
from instrc.schema.walk import refers

LATEST = "https://json-schema.org/draft/2020-12/schema"
D4, D7 = (f"http://json-schema.org/draft-0{year}/schema#" for year in (4, 7))


def test_all_of_that_is_no_list_is_a_problem_where_it_is_read() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"allOf": [{"allOf": 3}, {"minimum": 1}]})
    assert "/allOf" in error.value.problems[0].message


def test_definitions_are_named_after_titles_where_references_say_nothing() -> None:
    flat = flatten({"items": {"allOf": [True, {"title": "Tree of life", "$id": "https://e.com/", "items": {"$ref": "#"}}]}})
    (name,) = flat["$defs"]
    assert name in {"Tree_of_life", "schema"}
    again = flatten(
        {
            "anyOf": [{"$ref": "#/$defs/a"}],
            "$defs": {
                "a": {"title": "A", "allOf": [True, {"$ref": "#/$defs/b"}]},
                "b": {"not": {"allOf": [{"$ref": "#/$defs/a"}, True]}},
            },
        }
    )
    assert set(again["$defs"]) == {"a"}


def test_a_closed_recursion_that_is_folded_again_keeps_its_definition() -> None:
    schema = {
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {
            "T": {
                "allOf": [
                    {"patternProperties": {"^b": {}}},
                    {
                        "properties": {"b1": {"$ref": "#/$defs/T"}},
                        "additionalProperties": {"allOf": [{"type": "null"}, {"type": "array"}]},
                    },
                ]
            }
        },
    }
    flat = flatten(schema)
    assert flat["$defs"]["T"] == {"properties": {"b1": {"$ref": "#/$defs/T"}}, "additionalProperties": False}


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


def test_nullable_counts_in_documents_of_today_too() -> None:
    meta = {"$schema": LATEST}
    schema = {"$schema": "https://e.com/m", "type": "string", "nullable": True, "allOf": [{}]}
    assert flatten(schema, {"https://e.com/m": meta}, nullable=True)["type"] == ["string", "null"]


def test_one_object_below_itself_and_elsewhere() -> None:
    folded = {"allOf": [{"minimum": 1}]}
    documents = {"https://e.com/a": {"not": folded}, "https://e.com/b": {"contains": folded}}
    flat = flatten({"properties": {"a": {"$ref": "https://e.com/a"}, "b": {"$ref": "https://e.com/b"}}}, documents)
    assert flat == {"properties": {"a": {"not": {"minimum": 1}}, "b": {"contains": {"minimum": 1}}}}


def test_identifiers_of_draft_4_in_a_schema_of_another_dialect() -> None:
    schema = {
        "$schema": D4,
        "id": "http://e.com/r",
        "allOf": [{}],
        "not": {"$id": "https://e.com/x", "$schema": D7, "minimum": 1},
    }
    assert flatten(schema)["not"] == {"minimum": 1}
    assert flatten({"$schema": D7, "allOf": [{}], "not": {"$id": "#", "minimum": 1}})["not"] == {"minimum": 1}


def test_a_value_stays_as_it_is_though_a_schema_is_the_same_object() -> None:
    shared = {"allOf": [{"minimum": 1}, {"maximum": 2}]}
    flat = flatten({"properties": {"a": shared}, "default": shared, "const": shared})
    assert flat == {"properties": {"a": {"minimum": 1, "maximum": 2}}, "default": shared, "const": shared}


def test_the_fragment_of_an_identifier_is_an_anchor_in_older_drafts_only() -> None:
    schema = {
        "properties": {"a": {"$ref": "https://e.com/d#part"}},
        "$defs": {"d": {"$id": "https://e.com/d#part", "minimum": 1}},
    }
    assert flatten({"$schema": D7, **schema})["properties"] == {"a": {"minimum": 1}}
    with pytest.raises(CompileError, match="unresolved-reference"):
        flatten({"$schema": LATEST, **schema})


def test_a_dynamic_reference_that_begins_at_another_resource() -> None:
    schema = {
        "$id": "https://e.com/r",
        "$dynamicRef": "other#a",
        "$defs": {"o": {"$id": "other", "$defs": {"x": {"$dynamicAnchor": "a", "minimum": 1}}}},
    }
    assert flatten(schema) == {"$id": "https://e.com/r", "minimum": 1}


def test_names_are_looked_for_below_every_keyword() -> None:
    document = {
        "not": {"properties": {"deep": {"minimum": 1}}},
        "items": True,
        "anyOf": [True],
        "x-data": {"properties": {"deep": {}}},
    }
    assert flatten({"$ref": "aug:x#deep"}, {"aug:x": document}) == {"minimum": 1}


def test_required_slots_beside_others() -> None:
    library = {"aug:m_Mixin": {"properties": {"default": {}}}}
    flat = flatten(
        {"$ref": "aug:m_Mixin", "properties": {"default": {"properties": {"a": {}}}, "b": {}}, "required": ["default"]}, library
    )
    assert flat == {"properties": {"a": {}, "b": {}}}
    lifted = splice(
        {"properties": {"m": {}, "default": {}}}, {"properties": {"a": {}}, "not": True, "anyOf": [False, {"maxProperties": 1}]}
    )
    assert lifted["anyOf"] == [False, {"maxProperties": 2}]


def test_witnesses_that_lack_something_required() -> None:
    wide = {"type": "object", "required": ["a"]}
    assert subsumes(wide, {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}).verdict in {"no", "unknown"}
    assert subsumes({"type": "object", "required": ["zz"]}, {"type": "object", "required": ["a", "b"]}).witness is not None


def test_upgrading_a_reference_to_data() -> None:
    old = {"$schema": D7, "x-data": {"a": {}}, "items": [{"$ref": "#/x-data/a"}]}
    assert upgrade(old)["prefixItems"] == [{"$ref": "#/x-data/a"}]


def test_whether_anything_refers() -> None:
    part = {"minimum": 1}
    assert not refers({"anyOf": [part, part, True]})
    assert refers({"anyOf": [part, {"not": {"$ref": "#"}}]})


def test_equal_contains_with_only_one_bound() -> None:
    both = flatten({"allOf": [{"contains": {"minimum": 1}}, {"contains": {"minimum": 1}, "minContains": 2}]})
    assert both == {"contains": {"minimum": 1}, "minContains": 2}
