"""Targets that take all of JSON Schema get a schema as it is, save for its keys and its root."""

from __future__ import annotations

from typing import Any

import pytest
from judges import breaches

from instrc import encode, lift, lower

LIKE_A_REFERENCE: Any = {"$ref": "#"}


def test_references_to_a_root_that_moves_are_moved_and_values_that_look_like_them_are_not() -> None:
    tree = {
        "type": "array",
        "items": {
            "anyOf": [{"$ref": "#"}, {"const": LIKE_A_REFERENCE}, {"enum": [LIKE_A_REFERENCE], "default": LIKE_A_REFERENCE}]
        },
        "examples": [[LIKE_A_REFERENCE]],
    }
    result = lower(tree, "mcp")
    value = result.schema["properties"]["value"]
    assert value["items"]["anyOf"][0] == {"$ref": "#/properties/value"}
    assert value["items"]["anyOf"][1:] == tree["items"]["anyOf"][1:]
    assert value["examples"] == tree["examples"]
    assert lift(encode([[], LIKE_A_REFERENCE], result.map), result.map).value == [[], LIKE_A_REFERENCE]


def test_a_property_called_like_a_keyword_is_no_reference() -> None:
    schema = {
        "anyOf": [{"type": "object", "properties": {"$ref": {"const": "#"}, "enum": {"type": "string"}}}, {"type": "array"}]
    }
    assert lower(schema, "mcp").schema["properties"]["value"] == schema


@pytest.mark.parametrize("target", ["anthropic", "mcp", "jsonschema"])
@pytest.mark.parametrize("depth", [3, 140, 160, 400])
def test_keys_are_renamed_however_deep_they_are(target: str, depth: int) -> None:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"ключ": schema}, "required": ["ключ"], "additionalProperties": False}
    result = lower(schema, target)
    assert not breaches(result.payload, target)
    assert not [loss for loss in result.losses if loss.grave]


@pytest.mark.parametrize("target", ["anthropic", "mcp", "jsonschema"])
def test_a_schema_that_needs_nothing_is_sent_as_it_is(target: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"oneOf": [{"minimum": 1.5}, {"not": {}}]}},
        "patternProperties": {"^x": True},
    }
    assert lower(schema, target).schema == schema
    assert lower(schema, target).losses == ()


def test_a_schema_that_flattening_finds_unsatisfiable_is_sent_in_a_box() -> None:
    result = lower({"allOf": [{"type": "string"}, {"type": "integer"}]}, "anthropic")
    assert result.schema["properties"] == {"value": False}
