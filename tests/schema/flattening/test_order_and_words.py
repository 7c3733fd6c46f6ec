"""The author's order and the author's words survive."""

from __future__ import annotations

from typing import Any

import orjson
from every_case import every_case

from instrc.schema.flattening.flatten import flatten


def text(schema: Any) -> str:
    return orjson.dumps(schema).decode()


SAME: dict[str, tuple[Any, Any]] = {
    "properties in order of first appearance": (
        {"allOf": [{"properties": {"b": {}, "a": {}}}, {"properties": {"c": {}, "a": {"minimum": 1}}}]},
        {"properties": {"b": {}, "a": {"minimum": 1}, "c": {}}},
    ),
    "the root before its branches where it is written before": (
        {"properties": {"z": {}}, "allOf": [{"properties": {"a": {}}}]},
        {"properties": {"z": {}, "a": {}}},
    ),
    "the root after its branches where it is written after": (
        {"allOf": [{"properties": {"a": {}}}], "properties": {"z": {}}},
        {"properties": {"a": {}, "z": {}}},
    ),
    "a root around its branches": (
        {"type": "object", "allOf": [{"title": "t", "properties": {"a": {}}}], "properties": {"z": {}}},
        {"type": "object", "title": "t", "properties": {"a": {}, "z": {}}},
    ),
    "keys that look like numbers": (
        {"allOf": [{"properties": {"b": {}, "10": {}, "2": {}}}, {"properties": {"1": {}}}]},
        {"properties": {"b": {}, "10": {}, "2": {}, "1": {}}},
    ),
    "required follows properties": (
        {"allOf": [{"required": ["z", "b"]}, {"properties": {"a": {}, "b": {}}, "required": ["b", "a"]}]},
        {"required": ["a", "b", "z"], "properties": {"a": {}, "b": {}}},
    ),
    "enum in its own order": ({"allOf": [{"enum": ["c", "a", "b"]}, {"enum": ["a", "b", "c"]}]}, {"enum": ["c", "a", "b"]}),
    "descriptions on lines": (
        {
            "description": "one",
            "allOf": [{"description": "two"}, {"description": "one"}],
            "$ref": "#/$defs/a",
            "$defs": {"a": {"description": "three"}},
        },
        {"description": "one\ntwo\nthree"},
    ),
    "the outer title": (
        {"allOf": [{"title": "inner"}], "title": "outer"},
        {"title": "outer"},
    ),
    "the outer title, written first": (
        {"title": "outer", "allOf": [{"title": "inner", "allOf": [{"title": "innermost"}]}]},
        {"title": "outer"},
    ),
    "of equally outer titles the last": ({"allOf": [{"title": "one"}, {"title": "two"}]}, {"title": "two"}),
    "of other words the last": (
        {
            "allOf": [
                {"default": 1, "examples": [1], "deprecated": True, "$comment": "a", "x-a": 1, "readOnly": True},
                {"default": 2, "examples": [2], "deprecated": False, "$comment": "b", "x-a": 2, "x-b": 3},
            ]
        },
        {"default": 2, "examples": [2], "deprecated": False, "$comment": "b", "x-a": 2, "readOnly": True, "x-b": 3},
    ),
    "what is said about content together": (
        {
            "allOf": [{"contentMediaType": "a/b", "contentSchema": {"$ref": "#/$defs/a"}}, {"contentEncoding": "base64"}],
            "$defs": {"a": {}},
        },
        {"contentEncoding": "base64"},
    ),
    "a schema for content is a schema": (
        {
            "allOf": [{"type": "string"}, {"contentMediaType": "a/b", "contentSchema": {"$ref": "#/$defs/a"}}],
            "$defs": {"a": {"minimum": 1}},
        },
        {"type": "string", "contentMediaType": "a/b", "contentSchema": {"minimum": 1}},
    ),
    "redundant keywords stay": (
        {"allOf": [{"type": "string"}, {"const": "a"}]},
        {"type": "string", "const": "a"},
    ),
    "the root keeps its identity where it stands": (
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://e.com/a",
            "allOf": [{"type": "object"}],
            "title": "t",
        },
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://e.com/a", "type": "object", "title": "t"},
    ),
    "branches lose theirs": (
        {
            "allOf": [
                {
                    "$id": "https://e.com/b",
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "$anchor": "a",
                    "minimum": 1,
                }
            ]
        },
        {"minimum": 1},
    ),
    "a nested resource loses its identity": (
        {"allOf": [{"minimum": 1}], "properties": {"a": {"$id": "https://e.com/b", "$anchor": "x", "maximum": 1}}},
        {"minimum": 1, "properties": {"a": {"maximum": 1}}},
    ),
    "a residual branch comes last": (
        {
            "allOf": [
                {"pattern": "a"},
                {"pattern": "b"},
                {"pattern": "a"},
                {"format": "date"},
                {"format": "email"},
                {"pattern": "c"},
            ],
            "title": "t",
        },
        {"pattern": "a", "format": "date", "title": "t", "allOf": [{"pattern": "b", "format": "email"}, {"pattern": "c"}]},
    ),
}


@every_case("what", SAME)
def test_flattening_keeps(what: str) -> None:
    schema, flat = SAME[what]
    assert text(flatten(schema)) == text(flat)


def test_what_need_not_change_is_not_copied() -> None:
    part = {"type": "array", "items": {"properties": {"a": {"minimum": 1}}}}
    flat = flatten({"properties": {"x": part, "y": {"allOf": [{"minimum": 1}, {"maximum": 2}]}}})
    assert flat["properties"]["x"] is part
    twice = flatten(
        {"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"minimum": 1}]}}}
    )
    assert twice["properties"]["x"] is twice["properties"]["y"]


GROUPS: dict[str, tuple[Any, Any]] = {
    "equal alternatives once": (
        {"allOf": [{"anyOf": [{"minimum": 1}, True]}, {"anyOf": [{"$ref": "#/$defs/a"}, True]}], "$defs": {"a": {"minimum": 1}}},
        {"anyOf": [{"minimum": 1}, True]},
    ),
    "a single alternative among several is merged": (
        {"allOf": [{"oneOf": [{"minimum": 1}]}, {"oneOf": [{"maximum": 3}, {"maximum": 4}]}]},
        {"minimum": 1, "oneOf": [{"maximum": 3}, {"maximum": 4}]},
    ),
    "a single alternative alone is left": ({"allOf": [{"oneOf": [{"minimum": 1}]}, {}]}, {"oneOf": [{"minimum": 1}]}),
    "contains of one schema share it": (
        {
            "allOf": [
                {"contains": {"minimum": 1}, "minContains": 2},
                {"contains": {"minimum": 1}, "minContains": 3, "maxContains": 5},
            ]
        },
        {"contains": {"minimum": 1}, "minContains": 3, "maxContains": 5},
    ),
    "contains with odd bounds stay apart": (
        {"allOf": [{"contains": {"minimum": 1}, "minContains": "2"}, {"contains": {"minimum": 1}}]},
        {"contains": {"minimum": 1}, "minContains": "2", "allOf": [{"contains": {"minimum": 1}}]},
    ),
    "contains three times": (
        {"allOf": [{"contains": {"minimum": 1}}, {"contains": {"minimum": 2}}, {"contains": {"minimum": 2}, "maxContains": 4}]},
        {"contains": {"minimum": 2}, "maxContains": 4},
    ),
    "bounds without contains say nothing": (
        {"allOf": [{"minContains": 3}, {"contains": {"minimum": 1}}]},
        {"contains": {"minimum": 1}},
    ),
    "negations are gathered": (
        {
            "allOf": [
                {"not": {"anyOf": [{"minimum": 1}, {"maxLength": 1}]}},
                {"not": {"minimum": 1}},
                {"not": False},
                {"not": {"$ref": "#/$defs/a"}},
            ],
            "$defs": {"a": {"anyOf": [{"maxLength": 1}, {"maxItems": 1}]}},
        },
        {"not": {"anyOf": [{"minimum": 1}, {"maxLength": 1}, {"maxItems": 1}]}},
    ),
    "one negation twice": ({"allOf": [{"not": {"minimum": 1}}, {"not": {"minimum": 1}}]}, {"not": {"minimum": 1}}),
    "nothing negated": ({"allOf": [{"not": False}, {"not": False}]}, {"not": False}),
    "a condition that decides nothing goes": (
        {
            "allOf": [
                {"if": {"minimum": 1}},
                {"if": {"maximum": 1}, "then": True, "else": {}},
                {"if": {"type": "null"}, "else": False},
            ]
        },
        {"if": {"type": "null"}, "else": False},
    ),
    "a condition that turns out to decide nothing goes": (
        {
            "allOf": [{"if": {"minimum": 1}, "then": False}, {"if": {"maximum": 1}, "then": {"$ref": "#/$defs/a"}}],
            "$defs": {"a": {}},
        },
        {"if": {"minimum": 1}, "then": False},
    ),
    "dependencies of old meet": (
        {"allOf": [{"dependencies": {"a": {"minProperties": 2}}}, {"dependencies": {"a": {"maxProperties": 3}, "b": ["c"]}}]},
        {"dependencies": {"a": {"minProperties": 2, "maxProperties": 3}, "b": ["c"]}},
    ),
    "dependencies of old that do not fit stay apart": (
        {"allOf": [{"dependencies": {"a": ["b"]}}, {"dependencies": {"a": {"allOf": [{"maxProperties": 3}]}}}]},
        {"dependencies": {"a": ["b"]}, "allOf": [{"dependencies": {"a": {"maxProperties": 3}}}]},
    ),
    "malformed keywords are not lost where others are closed": (
        {
            "allOf": [
                {"properties": 3, "patternProperties": []},
                {"properties": {"a": {}}, "additionalProperties": False},
                {"prefixItems": 3},
                {"prefixItems": [True], "items": False},
            ]
        },
        {
            "properties": {"a": {}},
            "additionalProperties": False,
            "prefixItems": [True],
            "items": False,
            "allOf": [{"properties": 3, "patternProperties": [], "prefixItems": 3}],
        },
    ),
    "malformed keywords stay apart": (
        {
            "allOf": [
                {"properties": {"a": {}}},
                {"properties": 3},
                {"minimum": "a"},
                {"minimum": 1},
                {"anyOf": {"a": 1}},
                {"anyOf": [{}, True]},
            ]
        },
        {
            "properties": {"a": {}},
            "minimum": "a",
            "anyOf": {"a": 1},
            "allOf": [{"properties": 3, "minimum": 1, "anyOf": [{}, True]}],
        },
    ),
}


@every_case("what", GROUPS)
def test_groups(what: str) -> None:
    schema, flat = GROUPS[what]
    assert text(flatten(schema)) == text(flat)


EVALUATED: dict[str, tuple[Any, Any]] = {
    "a parent sees its branches": (
        {"allOf": [{"properties": {"a": {}}}, {"patternProperties": {"^b": {}}}], "unevaluatedProperties": {"minimum": 1}},
        {"properties": {"a": {}}, "patternProperties": {"^b": {}}, "additionalProperties": {"minimum": 1}},
    ),
    "a branch sees only itself": (
        {"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": False}, {"required": ["a"]}]},
        {"properties": {"a": {}}, "additionalProperties": False, "required": ["a"]},
    ),
    "conditions that look at nothing new do no harm": (
        {
            "allOf": [
                {"properties": {"a": {}, "b": {}}},
                {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"minimum": 1}}}]},
            ],
            "unevaluatedProperties": False,
        },
        {
            "properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"properties": {"b": {"minimum": 1}}}],
            "additionalProperties": False,
        },
    ),
    "what depends on the instance stays beside what it depends on": (
        {"allOf": [{"properties": {"a": {}}}, {"if": {"properties": {"b": {}}}}], "unevaluatedProperties": False},
        {"properties": {"a": {}}, "if": {"properties": {"b": {}}}, "unevaluatedProperties": False},
    ),
    "in a branch it is merged if the others look at nothing": (
        {"type": "object", "allOf": [{"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False}]},
        {"type": "object", "anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False},
    ),
    "else it stays a branch": (
        {"properties": {"a": {}}, "allOf": [{"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False}]},
        {"properties": {"a": {}}, "allOf": [{"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False}]},
    ),
    "two of them stay two, equal ones one": (
        {
            "allOf": [
                {"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False},
                {"anyOf": [{"properties": {"c": {}}}, True], "unevaluatedProperties": False},
                {"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False},
            ]
        },
        {
            "allOf": [
                {"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False},
                {"anyOf": [{"properties": {"c": {}}}, True], "unevaluatedProperties": False},
            ]
        },
    ),
    "everything is evaluated by additionalProperties": (
        {"allOf": [{"properties": {"a": {}}, "additionalProperties": True}], "unevaluatedProperties": False},
        {"properties": {"a": {}}, "additionalProperties": True},
    ),
    "true says nothing": (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": True},
        {"properties": {"a": {}}, "additionalProperties": True},
    ),
    "items in a branch": (
        {
            "allOf": [
                {"prefixItems": [{"minimum": 1}], "unevaluatedItems": False},
                {"prefixItems": [True, {"minimum": 2}], "items": {"maximum": 9}},
            ]
        },
        {"prefixItems": [{"minimum": 1}], "items": False},
    ),
    "items at the parent": (
        {"allOf": [{"prefixItems": [{"minimum": 1}]}], "unevaluatedItems": {"minimum": 2}},
        {"prefixItems": [{"minimum": 1}], "items": {"minimum": 2}},
    ),
    "items without a list": ({"allOf": [{"type": "array"}], "unevaluatedItems": False}, {"type": "array", "items": False}),
    "all items looked at": ({"allOf": [{"items": {"minimum": 1}}], "unevaluatedItems": False}, {"items": {"minimum": 1}}),
    "true says nothing of items": (
        {"allOf": [{"type": "array"}], "unevaluatedItems": True},
        {"type": "array", "unevaluatedItems": True},
    ),
    "contained items depend on the instance": (
        {"allOf": [{"contains": {"minimum": 1}, "minContains": 0}], "unevaluatedItems": False},
        {"contains": {"minimum": 1}, "minContains": 0, "unevaluatedItems": False},
    ),
    "a condition stays for the items it looks at": (
        {
            "allOf": [{"if": {"prefixItems": [{"minimum": 1}]}}, {"if": {"prefixItems": [{"minimum": 2}]}}],
            "unevaluatedItems": False,
        },
        {
            "if": {"prefixItems": [{"minimum": 1}]},
            "unevaluatedItems": False,
            "allOf": [{"if": {"prefixItems": [{"minimum": 2}]}}],
        },
    ),
}


@every_case("what", EVALUATED)
def test_what_is_unevaluated(what: str) -> None:
    schema, flat = EVALUATED[what]
    assert text(flatten(schema)) == text(flat)
    assert text(flatten(flat)) == text(flat)


CLOSED: dict[str, tuple[Any, Any]] = {
    "a schema for the others reaches their patterns": (
        {
            "allOf": [
                {"properties": {"a": {}}, "additionalProperties": {"minimum": 1}},
                {"patternProperties": {"^b": {"maximum": 3}}},
            ]
        },
        {
            "properties": {"a": {}},
            "additionalProperties": {"minimum": 1},
            "patternProperties": {"^b": {"maximum": 3, "minimum": 1}},
        },
    ),
    "but not where a pattern meets a listed name": (
        {
            "allOf": [
                {"properties": {"b1": {}}, "additionalProperties": {"minimum": 1}},
                {"patternProperties": {"^b": {"maximum": 3}}},
            ]
        },
        {
            "properties": {"b1": {}},
            "additionalProperties": {"minimum": 1},
            "allOf": [{"patternProperties": {"^b": {"maximum": 3}}}],
        },
    ),
    "patterns of one are kept for its own names when the other is closed": (
        {
            "allOf": [
                {"properties": {"b1": {}, "c": {}}, "additionalProperties": False},
                {"patternProperties": {"^b": {"maximum": 3}}},
            ]
        },
        {"properties": {"b1": {"maximum": 3}, "c": {}}, "additionalProperties": False},
    ),
    "a pattern that judges may read in two ways decides nothing": (
        {"allOf": [{"patternProperties": {"\\p{L}": {}}, "additionalProperties": False}, {"properties": {"a": {"minimum": 1}}}]},
        {"properties": {"a": {"minimum": 1}}, "allOf": [{"patternProperties": {"\\p{L}": {}}, "additionalProperties": False}]},
    ),
    "the same patterns closed twice": (
        {
            "allOf": [
                {"patternProperties": {"^a": {"minimum": 1}}, "additionalProperties": False},
                {"patternProperties": {"^a": {"maximum": 3}}, "additionalProperties": False},
            ]
        },
        {"patternProperties": {"^a": {"minimum": 1, "maximum": 3}}, "additionalProperties": False},
    ),
    "what stays apart is tried again": (
        {
            "allOf": [
                {"patternProperties": {"^\u00e1": {}}, "additionalProperties": False},
                {"properties": {"a": {}}},
                {"additionalProperties": False},
            ]
        },
        {"additionalProperties": False},
    ),
    "groups that stay apart are joined with each other": (
        {
            "allOf": [
                {"patternProperties": {"^\u00e1": {}}, "additionalProperties": False},
                {"properties": {"a": {}}},
                {"properties": {"b": {}}},
            ]
        },
        {"properties": {"a": {}, "b": {}}, "allOf": [{"patternProperties": {"^\u00e1": {}}, "additionalProperties": False}]},
    ),
    "a group that turns out to be closed is joined then": (
        {
            "allOf": [
                {"patternProperties": {"^b": {"minimum": 1}}},
                {"properties": {"b1": {}}, "additionalProperties": {"allOf": [{"type": "null"}, {"type": "array"}]}},
            ]
        },
        {"properties": {"b1": {"minimum": 1}}, "additionalProperties": False},
    ),
}


@every_case("what", CLOSED)
def test_closed_groups_of_properties(what: str) -> None:
    schema, flat = CLOSED[what]
    assert text(flatten(schema)) == text(flat)
