"""Numbers of payloads: bounds that a target has no word for, and numbers that are sampled."""

from __future__ import annotations

from typing import Any

from every_case import every_case

from instrc import lift, lower
from instrc.schema.relations import satisfies
from instrc.schema.samples import sample
from instrc.text.jsonvalue import at


@every_case(
    ("bounds", "sent"),
    [
        ({"exclusiveMaximum": 5}, {"maximum": 4}),
        ({"exclusiveMaximum": 5.5}, {"maximum": 5}),
        ({"exclusiveMaximum": 5, "maximum": 9}, {"maximum": 4}),
        ({"exclusiveMaximum": 5, "maximum": 3}, {"maximum": 3}),
        ({"exclusiveMinimum": 5}, {"minimum": 6}),
        ({"exclusiveMinimum": 4.5}, {"minimum": 5}),
        ({"exclusiveMinimum": 5, "minimum": 2}, {"minimum": 6}),
        ({"exclusiveMinimum": 5, "minimum": 8}, {"minimum": 8}),
    ],
)
def test_an_exclusive_bound_of_an_integer_is_the_next_inclusive_one_where_only_that_is_known(bounds: Any, sent: Any) -> None:
    made = lower({"type": "object", "properties": {"n": {"type": "integer", **bounds}}, "required": ["n"]}, "gemini")
    assert made.payload["parametersJsonSchema"]["properties"]["n"] == {"type": "integer", **sent}  # type: ignore[index,call-overload]


@every_case(
    "schema",
    [
        {"type": "integer", "exclusiveMinimum": 3, "maximum": 4},
        {"type": "integer", "exclusiveMinimum": 3, "minimum": 3, "maximum": 4},
        {"type": "integer", "exclusiveMaximum": 3, "minimum": 2},
        {"type": "number", "exclusiveMinimum": 3, "multipleOf": 2, "maximum": 7},
        {"type": "number", "minimum": 4, "exclusiveMinimum": 4, "multipleOf": 0.5, "maximum": 4.5},
        {"type": "number", "maximum": -2, "multipleOf": 2, "minimum": -3},
    ],
)
def test_a_sampled_number_lies_within_its_bounds(schema: Any) -> None:
    assert satisfies(sample(schema), schema) is True


@every_case(
    ("said", "sent"),
    [
        ({"minimum": 99}, {"minimum": 99}),
        ({"minimum": 8031}, {"minimum": 8031, "maximum": 10**16 - 1}),
        ({"exclusiveMinimum": 2 * 10**15}, {"minimum": 2 * 10**15 + 1, "maximum": 10**16 - 1}),
        ({"minimum": 10**17}, {"minimum": 10**17, "maximum": 2**62}),
        ({"minimum": 10**17, "maximum": 10**18}, {"minimum": 10**17, "maximum": 10**18}),
        ({"minimum": -8031}, {"minimum": -8031}),
        ({"maximum": 5}, {"maximum": 5}),
        ({"exclusiveMaximum": 0}, {"maximum": -1, "minimum": 1 - 10**16}),
        ({"maximum": -(10**17)}, {"maximum": -(10**17), "minimum": -(2**62)}),
    ],
)
def test_a_bound_that_llama_cpp_reads_wrongly_alone_has_the_other_one_beside_it(
    said: dict[str, int], sent: dict[str, int]
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", **said}}, "required": ["n"]}
    lowered = lower(schema, "llamacpp")
    assert at(lowered.schema, "/properties/n") == {"type": "integer", **sent}
    told = [loss.keyword for loss in lowered.losses if loss.pointer == "/properties/n"]
    assert told == ([] if len(sent) == len(said) else list(said))
    assert at(lower(schema, "vllm").schema, "/properties/n").keys() == {"type", *said}


def test_a_listed_number_that_llama_cpp_would_change_is_sent_as_text() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [12345678901234567890123, 1]}}, "required": ["n"]}
    lowered = lower(schema, "llamacpp")
    assert at(lowered.schema, "/properties/n") == {"type": "string", "enum": ["12345678901234567890123", "1"]}
    [call] = lift({"n": "12345678901234567890123"}, lowered).calls
    assert call.value == {"n": 12345678901234567890123}
    small = {"type": "object", "properties": {"n": {"enum": [2**63 - 1, 1]}}, "required": ["n"]}
    assert at(lower(small, "llamacpp").schema, "/properties/n") == {"type": "integer", "enum": [2**63 - 1, 1]}


@every_case(
    ("target", "schema", "keyword"),
    [
        ("llamacpp", {"type": "array", "items": {"type": "string"}, "maxItems": 1998}, "maxItems"),
        ("ollama-output", {"type": "array", "items": {"type": "string"}, "maxItems": 5000}, "maxItems"),
        ("ollama-output", {"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": 5000}, "maxProperties"),
    ],
)
def test_a_number_of_items_that_llama_cpp_refuses_or_ignores_is_said_in_words(
    target: Any, schema: dict[str, Any], keyword: str
) -> None:
    lowered = lower({"type": "object", "properties": {"a": schema}, "required": ["a"]}, target)
    sent: Any = at(lowered.schema, "/properties/a")
    assert "maxItems" not in sent
    assert str(schema[keyword]) in sent["description"]
    assert keyword in {loss.keyword for loss in lowered.losses if loss.kind == "unenforced"}
    fewer: dict[str, Any] = {"type": "object", "properties": {"a": {**schema, keyword: 1997}}, "required": ["a"]}
    assert at(lower(fewer, target).schema, "/properties/a/maxItems") == 1997
