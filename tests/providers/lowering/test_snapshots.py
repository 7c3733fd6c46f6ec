"""Payloads, maps and losses of a few schemas for every target, to be reviewed as a diff."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from table_of_targets import table
from test_facts_of_targets import RICH

from instrc import lower, targets

WEATHER: Any = {
    "type": "object",
    "description": "Looks the weather up.",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city"],
}
RULES: Any = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "format": "date"},
        "to": {"type": "string", "format": "date"},
        "who": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "contains": {"const": "me"}}]},
        "labels": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
        "extra": {"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    },
    "required": ["from"],
    "dependentRequired": {"to": ["from"]},
    "if": {"required": ["to"]},
    "then": {"required": ["who"]},
    "additionalProperties": False,
}
CASES = {
    "rich": RICH,
    "weather": WEATHER,
    "rules": RULES,
    "list": {"type": "array", "items": {"enum": ["a", 1, True]}, "minItems": 2},
}


@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("case", CASES)
def test_a_lowering(case: str, target: str, snapshot: SnapshotAssertion) -> None:
    result = lower(CASES[case], target, case)
    shown = {
        "payload": result.payload,
        "codec": {key: value for key, value in result.map.items() if key in {"codec", "codecs", "tool"}},
        "losses": [str(loss) for loss in result.losses if loss.kind != "part"],
    }
    if target == "mcp":
        shown["payload"] = {key: value for key, value in result.payload.items() if key != "_meta"}
    assert shown == snapshot(extension_class=JSONSnapshotExtension)


def test_the_table(snapshot: SnapshotAssertion) -> None:
    assert table() == snapshot
