"""What stands in several places of a large payload is sent once, as a definition."""

from __future__ import annotations

import json
from typing import Any

from every_case import every_case
from judges import written_out

from instrc import lift, lower, targets, verify

SHARING = [name for name, dialect in targets().items() if dialect.shares]
PLACE: Any = {
    "type": "object",
    "description": "Where it is.",
    "properties": {name: {"type": "string", "description": f"The {name} of the place."} for name in ("street", "town", "land")},
    "required": ["street", "town", "land"],
    "additionalProperties": False,
}


def journeys(number: int, place: Any = PLACE) -> Any:
    """Return a schema with a place in each of many legs."""
    legs = {f"leg{each}": {"anyOf": [place, {"type": "string", "description": f"Leg {each}."}]} for each in range(number)}
    return {"type": "object", "properties": legs, "required": list(legs), "additionalProperties": False}


def found_in(payload: Any, key: str) -> Any:
    """Return the first value of a key in a payload."""
    if isinstance(payload, dict):
        if key in payload:
            return payload[key]
        payload = list(payload.values())
    if isinstance(payload, list):
        return next((found for each in payload if (found := found_in(each, key)) is not None), None)
    return None


@every_case("target", SHARING)
def test_what_a_large_payload_repeats_is_a_definition(target: str) -> None:
    lowered = lower(journeys(60), target, "travel")
    definitions = found_in(lowered.payload, "$defs")
    assert len(definitions) == 1
    assert len(json.dumps(lowered.payload)) < 0.5 * len(json.dumps(lowered.schema))
    assert found_in(written_out(lowered.payload), "leg0") == lowered.schema["properties"]["leg0"]
    assert found_in(written_out(lowered.payload), "leg59") == lowered.schema["properties"]["leg59"]
    assert not verify(lowered.payload, target).breaches


@every_case("target", SHARING)
def test_answers_come_back(target: str) -> None:
    lowered = lower(journeys(60), target, "travel")
    answer = {f"leg{each}": {"street": "a", "town": "b", "land": "c"} for each in range(60)}
    assert lift(answer, lowered).calls[0].violations == ()
    assert lift({**answer, "leg7": {"street": "a"}}, lowered).calls[0].violations


@every_case("target", targets())
def test_a_small_payload_is_written_out(target: str) -> None:
    assert found_in(lower(journeys(6), target, "travel").payload, "$ref") is None


@every_case("target", [name for name in targets() if name not in SHARING])
def test_a_target_whose_readers_may_not_follow_references_gets_none(target: str) -> None:
    assert found_in(lower(journeys(60), target, "travel").payload, "$ref") is None


def test_little_is_not_worth_a_definition() -> None:
    schema = journeys(2)
    schema["properties"] |= {f"word{each}": {"type": "string", "description": f"Word {each}."} for each in range(200)}
    schema["required"] = list(schema["properties"])
    assert found_in(lower(schema, "openai", "travel").payload, "$ref") is None


def test_definitions_of_recursive_parts_keep_their_names() -> None:
    tree: Any = {"$ref": "#/$defs/tree"}
    schema = journeys(60) | {"$defs": {"tree": {**PLACE, "properties": {**PLACE["properties"], "inside": tree}}}}
    schema["properties"]["tree"] = tree
    lowered = lower(schema, "openai", "travel")
    assert {"tree"} < set(found_in(lowered.payload, "$defs"))
    assert not verify(lowered.payload, "openai").breaches
