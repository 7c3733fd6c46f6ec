"""Which objects a schema admits: seen as far as types and values say, and told where none is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from usual_vibes import problems

from instrc.compiler.compose.contents import admits_objects  # one verdict of many that a program asks for


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"const": 1},
        {"enum": [1, "a"]},
        {"type": ["string", "null"]},
        {"allOf": [{"type": "string"}]},
        {"allOf": [{"type": "string"}, True]},
        {"allOf": [{"type": "object"}, {"anyOf": [{"type": "string"}, {"const": 1}]}]},
        {"oneOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]},
        {"$ref": "#/$defs/text", "$defs": {"text": {"type": "string"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"const": []}}},
    ],
)
def test_what_no_object_satisfies_is_seen_as_far_as_types_and_values_say(schema: Any) -> None:
    assert not admits_objects(schema)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"const": {}},
        {"enum": [1, {}]},
        {"type": ["object", "null"]},
        {"allOf": [{"type": "object"}, True]},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [{"$ref": "#/$defs/node"}]}}},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "aug:text"},
    ],
)
def test_what_some_object_may_satisfy_admits_objects(schema: Any) -> None:
    assert admits_objects(schema)


@pytest.mark.parametrize(
    ("words", "severity"), [("", "warning"), (', required: ["b"]', "error"), (', required: ["a"]', "warning")]
)
def test_a_closed_schema_that_forbids_what_is_required_is_an_error(words: str, severity: str, folder: Path) -> None:
    text = f"@{{ allOf: [{{ properties: {{ a: {{}} }}, additionalProperties: false }}, {{ properties: {{ b: {{}} }}{words} }}] }}"
    assert {(problem.name, problem.severity) for problem in problems(text, folder)} == {("closed-away", severity)}


def test_what_is_required_below_a_slot_may_be_added_by_what_fills_it(folder: Path) -> None:
    text = 'Slot({ part: A }) @ { properties: { part: { required: ["z"], properties: { q: {} } } } }'
    assert problems(text, folder) == []
    assert [problem.name for problem in problems(text.replace("({ part: A })", ""), folder)] == ["missing-from-properties"]
