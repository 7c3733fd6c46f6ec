"""What providers are known to take, stated once more by hand for one rich schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from every_case import every_case
from msgspec.structs import fields, replace

from instrc import Dialect, encode, lift, lower, targets
from instrc.providers.dialect import NameRule  # a dialect is made here

RICH: Any = {
    "type": "object",
    "description": "Draft a letter.",
    "properties": {
        "_thought": {"type": "string", "title": "Thought"},
        "$metric": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
        "тема": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"},
        "when": {"type": "string", "format": "date-time"},
        "mode": {"enum": ["Fast", 1, None, True]},
        "kind": {"const": "letter"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False, "minItems": 2},
        "free": {},
        "note": {"type": ["string", "null"]},
        "step": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"_reasoning": {"type": "string"}, "do": {"const": name}, name: {"type": "string"}},
                    "required": ["_reasoning", "do", name],
                    "additionalProperties": False,
                }
                for name in ("ask", "tell")
            ]
        },
        "tree": {"$ref": "#/$defs/Дерево"},
    },
    "required": ["_thought", "$metric", "mode", "step"],
    "additionalProperties": False,
    "$defs": {
        "Дерево": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Дерево"}}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}

VALUE = {
    "_thought": "hm",
    "$metric": 4,
    "тема": "abc",
    "mode": None,
    "tags": ["a", "b"],
    "counts": {"$metric": 1},
    "pair": [1, "x"],
    "free": {"a": [None]},
    "note": None,
    "step": {"_reasoning": "r", "do": "tell", "tell": "it"},
    "tree": {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c", "kids": [{"name": "d", "kids": [{"name": "e"}]}]}]}]},
}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all schema objects of a payload, whatever its spelling."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield node
        for keyword in ("properties", "$defs"):
            stack.extend((node.get(keyword) or {}).values())
        for keyword in ("anyOf", "prefixItems"):
            stack.extend(node.get(keyword) or ())
        stack.extend(node[keyword] for keyword in ("items", "additionalProperties") if keyword in node)


def said(target: str) -> list[dict[str, Any]]:
    return list(nodes(schema(target)))


def schema(target: str) -> Any:
    result = lower(RICH, target, "draft")
    payload = result.payload
    for key in ("function", "json_schema"):
        payload = payload.get(key, payload)
    for key in ("parameters", "schema", "input_schema", "parametersJsonSchema", "inputSchema"):
        if key in payload:
            return payload[key]
    return payload


TOLD_BY_ITSELF = {"name", "title", "facts"}


def unsourced(dialect: Dialect) -> set[str]:
    """Return the fields by which a target differs from the least one, and that none of its facts gives a source for."""
    least = Dialect(name="", title="", envelope=None, tool_name=NameRule("a", "a", 1))
    said = {field.name for field in fields(dialect) if getattr(dialect, field.name) != getattr(least, field.name)}
    return said - TOLD_BY_ITSELF - {name for fact in dialect.facts for name in fact.fields}


@every_case("target", targets())
def test_each_field_of_a_target_has_a_fact_with_source_and_date(target: str) -> None:
    assert unsourced(targets()[target]) == set()


def test_a_field_without_a_fact_would_be_found() -> None:
    known = targets()["openai"]
    assert unsourced(replace(known, most_min_items=3)) == {"most_min_items"}
    assert unsourced(replace(known, facts=known.facts[1:])) == {"envelope", "plain", "where", "tool_name"}


@every_case("target", targets())
def test_facts_name_fields_that_there_are(target: str) -> None:
    there = {field.name for field in fields(Dialect)}
    assert {name for fact in targets()[target].facts for name in fact.fields} <= there


@every_case("target", targets())
def test_each_limit_of_a_target_is_a_number_that_one_of_its_facts_tells(target: str) -> None:
    dialect = targets()[target]
    told = " ".join(fact.what for fact in dialect.facts)
    limits = [getattr(dialect.limits, field.name) for field in fields(dialect.limits)]
    repeated = [dialect.most_repeated, dialect.most_repeated_at_once]
    numbers = [*chain.from_iterable(limit if isinstance(limit, tuple) else (limit,) for limit in limits), *repeated]
    assert [number for number in numbers if number is not None and not re.search(rf"(?<![\d,]){number:,}(?!,?\d)", told)] == []


@every_case("target", ["openai", "openai-responses", "openai-output"])
def test_openai_strict(target: str) -> None:
    for node in said(target):
        assert not node.keys() & {
            "oneOf",
            "allOf",
            "not",
            "default",
            "uniqueItems",
            "prefixItems",
            "patternProperties",
            "propertyNames",
        }
        assert "anyOf" in node or "$ref" in node or "type" in node
        if "$ref" in node:
            assert node.keys() == {"$ref"}
            assert node["$ref"].isascii()
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert [next(iter(branch["properties"])) for branch in schema(target)["properties"]["step"]["anyOf"]] == ["do", "do"]


def test_openai_envelopes() -> None:
    assert lower(RICH, "openai", "draft").payload.keys() == {"type", "function"}
    assert list(lower(RICH, "openai", "draft").payload["function"]) == ["name", "description", "parameters", "strict"]
    assert list(lower(RICH, "openai-responses", "draft").payload) == ["type", "name", "description", "parameters", "strict"]
    output = lower(RICH, "openai-output", "draft").payload
    assert output["type"] == "json_schema"
    assert list(output["json_schema"]) == ["name", "description", "schema", "strict"]


def test_anthropic_strict() -> None:
    for node in said("anthropic-strict"):
        assert not node.keys() & {"minimum", "maximum", "minLength", "maxLength", "multipleOf", "oneOf", "$ref", "prefixItems"}
        assert node.get("minItems", 0) <= 1
        assert all(name.isascii() and "$" not in name for name in node.get("properties", ()))


def test_anthropic_keeps_everything_but_the_keys() -> None:
    plain = schema("anthropic")
    assert list(plain["properties"])[:3] == ["_thought", "metric", "tema"]
    assert plain["properties"]["metric"] == RICH["properties"]["$metric"]
    assert plain["required"][:2] == ["_thought", "metric"]


@every_case("target", ["gemini", "gemini-schema"])
def test_gemini_orders_every_level(target: str) -> None:
    for node in said(target):
        if isinstance(node.get("type"), str) and node["type"].lower() == "object":
            assert node["propertyOrdering"] == list(node["properties"])
        assert not node.keys() & {"const", "oneOf", "$ref"}


def test_the_schema_form_of_gemini_has_words_of_its_own() -> None:
    for node in said("gemini-schema"):
        assert node.get("type", "STRING") in {"STRING", "INTEGER", "NUMBER", "BOOLEAN", "OBJECT", "ARRAY"}
        assert all(isinstance(value, str) for value in node.get("enum", ()))
        assert "additionalProperties" not in node
        if node.get("type") == "ARRAY":
            assert "items" in node


def test_gigachat_has_no_combinators_and_strings_only_in_enums() -> None:
    for node in said("gigachat"):
        assert isinstance(node.get("type"), str)
        assert "anyOf" not in node
        assert all(isinstance(value, str) for value in node.get("enum", ()))
        if node["type"] == "object":
            assert "properties" in node
            assert all(child.get("description") for child in node["properties"].values())
        if node["type"] == "array":
            assert isinstance(node["items"]["type"], str)


def test_ollama_keeps_seven_keywords() -> None:
    for node in said("ollama"):
        assert node.keys() <= {"type", "anyOf", "items", "description", "enum", "properties", "required"}


def test_mcp_carries_the_schema_and_the_map() -> None:
    payload = lower(RICH, "mcp", "draft").payload
    assert payload["inputSchema"]["properties"]["$metric"] == RICH["properties"]["$metric"]
    assert payload["_meta"]["dev.instrc/map"]["instrc"] == 1


def test_smolagents_inputs_are_identifiers_with_type_and_description() -> None:
    payload = lower(RICH, "smolagents", "draft-it").payload
    assert payload["name"] == "draft_it"
    for name, item in payload["inputs"].items():
        assert name.isidentifier()
        assert item["description"]
        assert item["type"]
    assert payload["inputs"]["note"]["nullable"] is True
    assert "nullable" not in payload["inputs"]["_thought"]


def test_local_engines_keep_recursion_under_ascii_names() -> None:
    for target in ("mistral", "vllm"):
        assert all(name.isascii() for name in schema(target)["$defs"])
        assert not any(node.keys() & {"uniqueItems", "oneOf", "allOf"} for node in said(target))


@every_case("target", targets())
def test_a_full_answer_comes_back_as_it_was_meant(target: str) -> None:
    result = lower(RICH, target)
    value = {key: item for key, item in VALUE.items() if not (key == "note" and target.startswith("gigachat"))}
    lifted = lift(encode(value, result.map), result.map)
    assert lifted.value == value
    assert not lifted.invalid


def test_null_and_left_out_are_kept_apart() -> None:
    both = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "additionalProperties": False}
    for target in ("openai", "anthropic-strict", "gemini", "gemini-schema", "ollama", "mistral", "vllm", "smolagents"):
        record = lower(both, target).map
        for value in ({}, {"a": None}, {"a": "x"}, {"a": "<null>"}, {"a": "<<null>>"}):
            assert lift(encode(value, record), record).value == value, (target, value)


@every_case("text", ["<null>", "<<null>>"])
def test_the_word_for_null_is_none_of_the_texts_that_a_recursive_definition_lists(text: str) -> None:
    again = {"type": "object", "properties": {"next": {"$ref": "#/$defs/d"}}}
    definitions = {"d": {"anyOf": [{"$ref": "#/$defs/e"}, {"type": "null"}, again]}, "e": {"enum": [text, "other"]}}
    record = lower({"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": definitions}, "openai").map
    for value in ({}, {"a": None}, {"a": text}, {"a": {"next": text}}, {"a": {"next": None}}):
        assert lift(encode(value, record), record).value == value
    assert lift({"a": text}, record).value == {"a": text}


def test_null_beside_a_default_of_null_is_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}}
    result = lower(schema, "openai")
    assert result.schema["properties"]["a"]["type"] == ["string", "null"]
    assert lift({"a": None}, result.map).value == {}
    assert ("convention", "default") in {(loss.kind, loss.keyword) for loss in result.losses}


@every_case(
    "root",
    [
        {"type": "string"},
        {"type": "array", "items": {"type": "integer"}},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"enum": ["a", "b"]},
    ],
)
def test_a_root_that_is_no_object_goes_into_a_box(root: Any) -> None:
    for target in ("openai", "anthropic", "anthropic-strict", "gemini", "mcp", "gigachat", "mistral"):
        result = lower(root, target)
        value = {"string": "x", "array": [1, 2]}.get(root.get("type"), "a" if "enum" in root else None)
        answer = encode(value, result.map)
        assert list(answer) == ["value"]
        assert lift(answer, result.map).value == value


def test_a_tool_without_parameters_has_none() -> None:
    for empty in ({}, True, {"type": "object"}, {"type": "object", "properties": {}}):
        for target in ("openai", "anthropic-strict", "gemini", "gigachat", "mistral", "vllm", "smolagents"):
            result = lower(empty, target)
            assert result.schema["properties"] == {}
            assert lift({}, result.map).value == {}
