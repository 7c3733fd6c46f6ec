"""An annotation closes a step over all its properties, in either word of JSON Schema for it."""

from __future__ import annotations

from typing import Any

import pytest

import instrc

DRAFT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
UNION: dict[str, Any] = {**DRAFT, "anyOf": [{"properties": {"tone": {}}, "required": ["tone"]}, {"properties": {"size": {}}}]}


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
@pytest.mark.parametrize("draft", [DRAFT, {**DRAFT, "additionalProperties": False}, {**DRAFT, "additionalProperties": True}])
def test_a_step_is_closed_over_its_properties_and_those_of_the_annotation(word: str, draft: dict[str, Any]) -> None:
    [tool] = instrc.compile(f"Draft @ {{ {word}: false, properties: {{ tone: {{ type: 'string' }} }} }}", vibes={"Draft": draft})
    assert isinstance(tool, dict)
    assert list(tool["properties"]) == ["text", "tone"]
    assert instrc.lift({"text": "a", "tone": "b"}, instrc.lower(tool, target="jsonschema", name="draft").map).status == "ok"
    assert tool["additionalProperties"] is (word == "unevaluatedProperties" and draft.get("additionalProperties", False))


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
def test_the_fields_of_a_mixin_are_among_them(word: str) -> None:
    [tool] = instrc.compile(f"Introspect_Mixin(Draft) @ {{ {word}: false }}", vibes={"Draft": DRAFT})
    assert isinstance(tool, dict)
    assert list(tool["properties"]) == ["_considerations", "text", "_feedback"]
    assert tool["additionalProperties"] is False


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
def test_the_properties_of_alternatives_are_among_them(word: str) -> None:
    [tool] = instrc.compile(f"Draft @ {{ {word}: false }}", vibes={"Draft": UNION})
    closed = instrc.lower(tool, target="jsonschema", name="draft").map
    assert instrc.lift({"text": "a", "tone": 1}, closed).status == "ok"
    assert instrc.lift({"text": "a", "other": 1}, closed).status != "ok"
