"""A key that the schema leaves open and the payload forbids is no answer of a model, so no example shows it."""

from __future__ import annotations

import pytest

from instrc import Inexpressible, encode, lower
from instrc.text.jsonvalue import Json, JsonObject

TRIP: JsonObject = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "stay": {"type": "object", "properties": {"nights": {"type": "integer"}}},
        "stops": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"at": {}}}]}},
        "back": {
            "anyOf": [
                {"type": "null"},
                {"type": "object", "properties": {"stay": {"type": "object", "properties": {"nights": {"type": "integer"}}}}},
            ]
        },
    },
}


@pytest.mark.parametrize(
    ("value", "key", "where"),
    [
        ({"to": "Riga", "by": "train"}, "by", "/"),
        ({"stay": {"nights": 2, "hotel": "Neiburgs"}}, "hotel", "/stay"),
        ({"stops": [None, {"at": "Cēsis", 'a "b"': 1}]}, r"a \"b\"", "/stops/1"),
        ({"back": {"stay": {"hotel": "Neiburgs"}}}, "hotel", "/back/stay"),
    ],
    ids=["at the root", "in an object", "in a branch of a union", "in an object in a branch"],
)
def test_an_undeclared_key_is_refused_with_its_place_and_the_way_out(value: JsonObject, key: str, where: str) -> None:
    with pytest.raises(Inexpressible) as refused:
        encode(value, lower(TRIP, "openai").map)
    assert str(refused.value) == (
        f'the key "{key}" at {where} is not declared, and `openai` closes objects: '
        "declare it in `properties`, or allow other keys by `additionalProperties`"
    )


def test_an_example_with_an_undeclared_key_is_left_out_and_told() -> None:
    lowering = lower(TRIP, "anthropic-strict", examples=[{"to": "Riga", "by": "train"}, {"to": "Riga"}])
    assert isinstance(lowering.payload, dict)
    shown = lowering.payload["input_examples"]
    assert isinstance(shown, list)
    assert [example["to"] for example in shown if isinstance(example, dict)] == ["Riga"]
    (told,) = [loss for loss in lowering.losses if loss.keyword == "examples"]
    assert told.reason.startswith('number 1 is left out: the key "by" at / is not declared')


def test_a_target_with_open_objects_is_shown_the_key() -> None:
    assert encode({"to": "Riga", "by": "train"}, lower(TRIP, "gigachat").map) == {"to": "Riga", "by": "train"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({**TRIP, "additionalProperties": {"type": "string"}}, {"by": "train"}),
        ({**TRIP, "patternProperties": {"^b": {}}}, {"by": "train"}),
        ({"type": "object", "properties": {"labels": {"type": "object"}}}, {"labels": {"by": "train"}}),
        ({"type": "object", "properties": {"any": {}}}, {"any": {"by": "train"}}),
        ({"type": "object", "properties": {"u": {"anyOf": [TRIP, {}]}}}, {"u": {"by": "train"}}),
        (
            {
                "type": "object",
                "properties": {"l": {"anyOf": [{"type": "array", "items": TRIP}, {"type": "array"}]}},
                "required": ["l"],
            },
            {"l": [{"by": "train"}]},
        ),
        ({"type": "object", "required": ["by"], "properties": {"to": {}}}, {"by": "train"}),
        ({"anyOf": [TRIP, {"type": "object", "properties": {"by": {}}}]}, {"by": "train"}),
        (
            {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "type": "object", "$ref": "#/$defs/n"},
            {"n": {"n": {}}},
        ),
    ],
    ids=[
        "spoken of",
        "by a pattern",
        "a map",
        "anything",
        "or anything",
        "or any list",
        "required only",
        "in another branch",
        "recursive",
    ],
)
def test_a_key_that_the_payload_has_a_place_for_comes_back(schema: Json, value: Json) -> None:
    from instrc.providers.lifting.lift import lift

    lowering = lower(schema, "openai")  # type: ignore[arg-type]
    assert lift({"name": "tool", "arguments": encode(value, lowering.map)}, lowering.map).value == value


@pytest.mark.parametrize(
    ("patterns", "said"), [({"^x-": {"type": "string"}}, 3), ({}, None)], ids=["may have more", "has no more"]
)
def test_a_greatest_number_of_keys_is_said_of_an_object_that_may_have_more_than_it_declares(
    patterns: JsonObject, said: int | None
) -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "maxProperties": 3}
    lowering = lower({**schema, "patternProperties": patterns, "additionalProperties": False}, "mistral")
    assert lowering.schema.get("maxProperties") == said
    assert not [loss for loss in lowering.losses if loss.keyword == "maxProperties"]
