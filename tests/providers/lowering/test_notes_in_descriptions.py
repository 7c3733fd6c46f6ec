"""What a target refuses is said in the description, one sentence a keyword."""

from __future__ import annotations

import re
from typing import Any

from every_case import every_case

from instrc import Tool, lower, targets
from instrc.providers.lowering.context import DESCRIBED_VALUE, join_notes, note  # one step of a lowering
from instrc.schema.walk import map_schemas, walk
from instrc.text.sentences import sentences_in


@every_case(
    ("keyword", "value", "sentence"),
    [
        ("uniqueItems", True, "No two items are equal."),
        ("additionalProperties", False, "No other keys."),
        ("unevaluatedProperties", False, "No other keys."),
        ("items", False, "No further items."),
        ("unevaluatedItems", False, "No further items."),
        ("items", {"type": "string"}, 'Further items match {"type":"string"}.'),
        ("unevaluatedItems", {"type": "string"}, 'Other items match {"type":"string"}.'),
        ("default", False, "Default: false."),
        ("format", "uri", "Format: uri."),
        ("default", {"a": [1]}, 'Default: {"a":[1]}.'),
        ("title", "A title", ""),
    ],
)
def test_a_keyword_is_said_in_a_sentence(keyword: str, value: Any, sentence: str) -> None:
    assert note(keyword, value) == sentence


@every_case(("length", "cut"), [(DESCRIBED_VALUE, False), (DESCRIBED_VALUE + 1, True)])
def test_a_long_value_is_cut_where_it_becomes_too_long(length: int, cut: bool) -> None:  # noqa: FBT001  # a parameter of a test
    said = note("format", "x" * length)
    assert said == f"Format: {'x' * DESCRIBED_VALUE}{'…' if cut else ''}."


def test_equal_notes_are_joined_once_and_nothing_is_no_note() -> None:
    assert join_notes("a", None, "b", "", "a") == "a\nb"
    assert join_notes(None, "") is None


FOREIGN = re.compile("[A-Za-z]{2,}[ ,:][a-z]{2,}|^[A-Z][a-z]+[ .:]", re.MULTILINE)
"""Words in a row that are no values, no types and no keywords."""
HARD = {
    "type": "object",
    "properties": {
        "a": {"type": "number", "minimum": 1, "exclusiveMaximum": 3, "multipleOf": 0.5, "default": 1, "examples": [2]},
        "b": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 2, "maxItems": 3},
        "c": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "minProperties": 1,
            "propertyNames": {"maxLength": 2},
        },
        "d": {},
        "e": {"anyOf": [{"type": "object", "properties": {"x": {"type": "string"}}}, {"type": "array", "items": {}}]},
        "f": {"type": ["string", "null"], "pattern": "^(?=a)b", "format": "email", "minLength": 1, "contentEncoding": "base64"},
        "g": {"type": "array", "prefixItems": [{"type": "string"}], "items": False, "contains": {"const": "x"}},
        "h": {"not": {"const": 1}, "type": "integer", "if": {"minimum": 2}, "then": {"maximum": 9}, "else": {"maximum": 1}},
        "i": {"type": "array", "items": False},
        "j": {"type": "object", "properties": {"k": {}}, "patternProperties": {"^l": {"type": "null"}}},
        "m": {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]},
    },
    "dependentRequired": {"a": ["b"]},
}


@every_case("target", targets())
def test_no_word_of_ours_is_english_where_a_project_speaks_russian(target: str) -> None:
    sent = lower(Tool("t", HARD, sentences=sentences_in("ru")), target)
    texts = [node["description"] for _, node in walk(sent.schema) if isinstance(node, dict) and "description" in node]
    assert [text for text in texts if FOREIGN.search(re.sub(r"[\[{].*[\]}]", "", text))] == []
    english = lower(Tool("t", HARD), target)
    assert without(sent.schema) == without(english.schema)
    assert sent.map == english.map
    assert sent.losses == english.losses


def without(schema: Any) -> Any:
    return map_schemas(schema, lambda node: {**node, "description": ""} if isinstance(node, dict) else node)
