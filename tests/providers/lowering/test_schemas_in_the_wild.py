"""Function schemas as they are met in the wild lower to every target, and nothing crashes."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from judges import breaches
from objects import closed

from instrc import CompileError, encode, lift, lower, targets
from instrc.providers.lowering.context import Loss  # one step of a lowering
from instrc.providers.lowering.intake import read, survey  # what a schema is read as, before it is lowered

WILD: dict[str, Any] = {
    "dict with python types": {
        "type": "dict",
        "properties": {
            "a": {"type": "float"},
            "b": {"type": "tuple", "items": {"type": "integer"}},
            "c": {"type": "any"},
            "d": {"type": "list", "items": {"type": "dict", "properties": {"x": {"type": "bool"}}}},
            "e": {"type": "String"},
        },
        "required": ["a"],
    },
    "required in the property": {
        "type": "object",
        "properties": {"a": {"type": "string", "required": True}, "b": {"type": "string", "required": False}},
    },
    "draft 4 bounds": {
        "type": "object",
        "properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False}},
    },
    "nullable": {"type": "object", "properties": {"a": {"type": "string", "nullable": True, "enum": ["x"]}}, "required": ["a"]},
    "items in a list": {
        "type": "object",
        "properties": {"a": {"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": False}},
    },
    "nulls": {
        "type": "object",
        "properties": {"a": {"type": "string", "description": None, "enum": None, "default": None}},
        "required": None,
    },
    "no type": {"properties": {"a": {"description": "anything"}, "b": {"enum": [1, "x", True]}}},
    "names": {
        "type": "object",
        "properties": {
            "user.name": {"type": "string"},
            "x-y": {"type": "string"},
            "@id": {"type": "string"},
            "": {"type": "string"},
        },
    },
    "broken pattern": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "(?<n>x"}, "b": {"type": "string", "pattern": "\\p{L}+"}},
    },
    "empty": {"type": "object", "properties": {"a": {"type": "string", "enum": []}, "b": {"anyOf": []}, "c": {"type": []}}},
    "shorthand": {"type": "object", "properties": {"a": "string", "b": None}},
    "unknown keywords": {
        "type": "object",
        "properties": {"a": {"type": "string", "optional": True, "x-order": 3, "example": "q"}},
        "strict": True,
    },
    "odd counts": {"type": "object", "properties": {"a": {"type": "string", "minLength": "3", "maxLength": 2.0}}},
    "definitions": {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/b"}},
        "definitions": {"b": {"type": "integer"}},
    },
    "required twice": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "a", "b"]},
    "big numbers": {"type": "object", "properties": {"a": {"type": "integer", "maximum": 10**30}, "b": {"enum": [10**25]}}},
    "const of an object": {"type": "object", "properties": {"a": {"const": {"b": [1, None]}}}, "required": ["a"]},
    "type with nothing": {"type": "object", "properties": {"a": {"type": ["string", "any"]}, "b": {"type": "file"}}},
}


def understood(schema: Any) -> tuple[Any, list[Loss]]:
    """Return a schema in the words of 2020-12, and what had to be read in another way than it is written."""
    seen, losses = read(survey(schema))
    return seen.schema, losses


@every_case("target", targets())
@every_case("case", WILD)
def test_what_is_met_in_the_wild_is_lowered(case: str, target: str) -> None:
    result = lower(WILD[case], target, "api.call-it/now")
    assert not breaches(result.payload, target)


def test_what_is_read_otherwise_is_reported() -> None:
    schema, losses = understood(WILD["dict with python types"])
    assert schema["type"] == "object"
    assert "type" not in schema["properties"]["c"]
    assert {loss.pointer for loss in losses} == {
        "",
        "/properties/a",
        "/properties/b",
        "/properties/c",
        "/properties/d",
        "/properties/d/items",
        "/properties/d/items/properties/x",
        "/properties/e",
    }


@every_case(
    ("pattern", "read_as"),
    [
        (r"^[[A-Z]+]?$", r"^[\[A-Z]+]?$"),
        (r"[a&&b]", r"[a\&&b]"),
        (r"[\\&&b]", r"[\\\&&b]"),
        (r"\[[x]\]a[[]", r"\[[x]\]a[\[]"),
        (r"[^\]\[]", r"[^\]\[]"),
        (r"a&&b", r"a&&b"),
    ],
)
def test_brackets_and_signs_in_classes_are_characters_to_every_engine(pattern: str, read_as: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}
    assert understood(schema) == (schema, [])
    assert lower(schema, "smolagents").schema["properties"]["a"]["pattern"] == read_as
    assert lower(schema, "mcp").schema == schema  # to whom all of JSON Schema is sent it is sent as it is written


@every_case(
    ("schema", "meaning"),
    [
        ({"type": ["string", "bigint"]}, {"type": ["string", "integer"]}),
        ({"type": "uuid"}, {"type": "string", "format": "uuid"}),
        ({"type": "int[]"}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "boolean", "minLength": "3"}, {"type": "boolean", "minLength": 3}),
        ({"type": "str", "pattern": "(?<n>x"}, {"type": "string"}),
        ({"type": "array", "enum": ["a", "b"]}, {"type": "array", "items": {"enum": ["a", "b"]}}),
        ({"type": ["array", "null"], "enum": ["a", None]}, {"type": ["array", "null"], "items": {"enum": ["a"]}}),
    ],
)
def test_a_schema_means_the_same_to_import_and_to_lower_and_what_is_changed_is_told(schema: Any, meaning: Any) -> None:
    again, losses = understood({"type": "object", "properties": {"a": schema}})
    assert again["properties"]["a"] == meaning
    assert losses
    assert all(loss.pointer == "/properties/a" for loss in losses)


@every_case(
    ("schema", "kind"),
    [
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}, "repaired"),
        ({"type": "string", "minLength": "3"}, "repaired"),
        ({"type": "string", "examples": 3}, "annotation"),
    ],
)
def test_a_meaning_that_is_changed_is_no_annotation(schema: Any, kind: str) -> None:
    _, losses = understood({"type": "object", "properties": {"a": schema}})
    assert [loss.kind for loss in losses] == [kind]


@every_case(
    "schema", [{"type": "strnig"}, {"type": ["string", "strnig"]}, {"items": 3}, {"properties": ["a", {"b": 1}]}, {"$defs": "x"}]
)
def test_what_nobody_can_read_is_an_error(schema: Any) -> None:
    with pytest.raises(CompileError) as caught:
        understood({"type": "object", "properties": {"a": schema}})
    assert {problem.name for problem in caught.value.problems} == {"invalid-schema"}
    assert all(problem.pointer.startswith("/properties/a/") for problem in caught.value.problems)


def test_a_schema_that_is_sound_by_an_older_draft_is_read_by_it_without_a_word() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": False}
    again, losses = understood(schema)
    assert (again["prefixItems"], again["items"]) == ([{"type": "string"}], False)
    assert not losses


def test_beside_a_reference_nothing_counts_in_the_drafts_that_say_so() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/word", "maxLength": 2}}, "$defs": {"word": {"type": "string"}}}
    older, losses = understood({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    assert (older["properties"]["a"], losses) == ({"$ref": "#/$defs/word"}, [])
    newer, losses = understood({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    assert (newer["properties"]["a"], losses) == (schema["properties"]["a"], [])


def test_documents_without_a_dialect_have_that_of_the_schema_that_refers_to_them() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "http://x/z#/definitions/n"}}}

    def lowered(part: Any, **around: Any) -> Any:
        documents = {"http://x/z": {"definitions": {"n": part}, **around}, "http://x/y": True}
        return lower(schema, "mcp", documents=documents).schema["properties"]["a"]

    assert lowered({"items": [{"minimum": 1}], "additionalItems": False}) == {"prefixItems": [{"minimum": 1}], "items": False}
    newer = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    assert lowered({"prefixItems": [{"minimum": 1}]}, **newer) == {"prefixItems": [{"minimum": 1}]}


def test_a_schema_of_a_dialect_that_nobody_knows_is_refused() -> None:
    with pytest.raises(CompileError) as caught:
        understood({"$schema": "https://example.org/my-own-dialect", "type": "object"})
    assert {problem.name for problem in caught.value.problems} == {"unknown-dialect"}


def test_what_needs_no_reading_is_the_same_object() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [None]}, "b": True}, "required": ["a"], "$defs": {"x": False}}
    again, losses = understood(schema)
    assert again is schema
    assert not losses


def test_a_value_of_any_type_comes_back() -> None:
    schema = {"type": "dict", "properties": {"v": {"type": "any"}}, "required": ["v"]}
    for target in targets():
        record = lower(schema, target).map
        for value in ("text", "12", 12, None, {"a": [True]}, '{"a":1}', [], "null"):
            assert lift(encode({"v": value}, record), record).value == {"v": value}, (target, value)


@every_case(
    ("pattern", "whole"),
    [
        ("^(a|b)$", True),
        ("^(?:(a|b)c|d)$", True),
        (r"^[|$^\]]\|\$$", True),
        ("^a|b$", False),
        ("^(a)|(b)$", False),
        ("(^a)|(^b)", False),
        ("^a(^b|c)$", False),
        (r"^a\$", False),
        ("a", False),
        ("^a", False),
    ],
)
def test_a_pattern_is_kept_for_an_engine_that_anchors_if_it_is_anchored(pattern: str, *, whole: bool) -> None:
    payload = lower({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}, "vllm")
    assert ("pattern" in payload.schema["properties"]["a"]) is whole
    assert not breaches(payload.payload, "vllm")


@every_case("pattern", ["a" * 20_001, "(?=x)((a{1000}){1000}){100}"])
def test_a_regular_expression_that_is_too_large_is_lost_but_not_forgotten(pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    kept, losses = read(survey(schema))
    assert (kept.schema, losses) == (schema, [])
    told = [loss for loss in lower(schema, "openai").losses if loss.keyword == "pattern"]
    assert [(loss.kind, loss.reason) for loss in told] == [
        ("unenforced", "is too large to be read, so no answer can be checked by it")
    ]


TEXT: Any = {"type": "string"}


def test_what_is_read_otherwise_is_told_in_a_schema_of_an_older_draft_too() -> None:
    old = {"type": "number", "minimum": 3, "exclusiveMinimum": True}  # which is no loss
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", **closed(a=old, b={**TEXT, "minLength": "3"})}
    told = [(loss.pointer, loss.keyword) for loss in lower(schema, "openai").losses]
    assert told == [("/properties/b", "minLength")]


@every_case("target", ["openai", "gemini", "vllm", "gigachat"])
def test_a_whole_number_written_with_a_point_is_a_count(target: str) -> None:
    written, counted = (lower(closed(a={**TEXT, "minLength": count}), target) for count in (3.0, 3))
    assert written.payload == counted.payload
    assert [str(loss) for loss in written.losses] == [str(loss) for loss in counted.losses]
