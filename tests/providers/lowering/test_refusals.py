"""What providers and engines are known to refuse never reaches them; nothing of it goes without a loss."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest
from every_case import every_case
from judges import breaches
from objects import closed

from instrc import CompileError, encode, lift, lower, targets, verify
from instrc.text.jsontext import dumps


@every_case("target", sorted(targets()))
def test_a_property_that_nothing_satisfies_does_not_vanish_in_silence(target: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean", "enum": ["yes", "no"]}, "b": {"type": "string"}}}
    result = lower(schema, target)
    kept = "a" in result.schema["properties"]
    told = {(loss.pointer, loss.keyword) for loss in result.losses if loss.grave}
    assert kept or told & {("/properties/a", "schema"), ("", "properties")}
    assert kept or any(problem.name == "lossy-target" for problem in result.problems)


def test_a_property_that_its_author_forbids_is_no_contradiction() -> None:
    result = lower({**closed(b={"type": "string"}), "properties": {"a": False, "b": {"type": "string"}}}, "openai")
    assert [loss for loss in result.losses if loss.kind == "contradiction"] == []


@every_case("target", ["gemini", "gemini-schema"])
def test_gemini_is_not_sent_an_empty_word_and_it_comes_back_all_the_same(target: str) -> None:
    result = lower(closed(a={"enum": ["", "x"]}, b={"const": ""}), target)
    assert not breaches(result.payload, target)
    assert '""' not in [dumps(word) for word in result.schema["properties"]["a"]["enum"]]
    for value in ({"a": "", "b": ""}, {"a": "x", "b": ""}):
        assert lift(encode(value, result.map), result.map).value == value


@every_case("target", ["gemini", "gemini-schema"])
def test_gemini_is_sent_no_schema_of_a_tool_without_parameters(target: str) -> None:
    result = lower({"type": "object", "properties": {}}, target, "now", description="Tell the time.")
    assert result.payload == {"name": "now", "description": "Tell the time."}
    assert not breaches(result.payload, target)
    assert lift({"functionCall": {"name": "now", "args": {}}}, result.map).value == {}


@every_case("target", ["anthropic", "mcp"])
def test_what_is_written_for_people_does_not_reach_models(target: str) -> None:
    inner = {"type": "string", "x-order": 1, "X-Column": "key", "$comment": "Ask Ann."}
    result = lower({**closed(**{"x-key": inner}), "$comment": "Draft.", "x-internal": True}, target)
    assert result.schema == closed(**{"x-key": {"type": "string"}})
    assert {loss.keyword for loss in result.losses} == {"x-order", "X-Column", "x-internal"}
    assert result.map["schema"]["$comment"] == "Draft."


BEYOND = [
    {"type": "integer", "maximum": 2**63},
    {"type": "number", "minimum": -(2**63)},
    {"type": "integer", "multipleOf": 2**63},
    {"type": "string", "maxLength": 2**63 - 1},
    {"type": "array", "items": {"type": "string"}, "maxItems": 2**63},
    {"type": "string", "pattern": "^a{1001}$"},
    {"type": "string", "pattern": r"^\<b\>$"},
    {"type": "string", "pattern": "^(?=a)b$"},
]


@every_case("target", ["mistral", "vllm"])
@every_case("schema", BEYOND, ids=dumps)
def test_engines_are_not_given_what_they_refuse(schema: Any, target: str) -> None:
    result = lower(closed(a=schema), target)
    assert verify(result.payload, target).accepted
    value = {key: item for key, item in result.schema["properties"]["a"].items() if key != "description"}
    assert value == schema or result.losses or schema["pattern"] == r"^\<b\>$"


def test_steps_of_a_number_that_no_law_joins_are_both_told() -> None:
    result = lower(closed(a={"type": "number", "allOf": [{"multipleOf": 0.5}, {"multipleOf": 0.3}]}), "openai")
    said = result.schema["properties"]["a"]
    assert said.get("multipleOf") == 1.5 or any(loss.keyword in {"multipleOf", "allOf"} for loss in result.losses)


def mutual(number: int) -> Any:
    """Return objects that lead to each other through unions."""
    names = [f"N{index}" for index in range(number)]
    return {
        **closed(root={"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}),
        "$defs": {
            name: {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "x": {"anyOf": [{"$ref": f"#/$defs/{other}"} for other in names if other != name]},
                    name: {"oneOf": [{"$ref": f"#/$defs/{other}"} for other in names]},
                },
            }
            for name in names
        },
    }


@every_case("target", sorted(targets()))
def test_unions_of_objects_that_lead_to_each_other_stay_small(target: str) -> None:
    schema = mutual(10)
    start = time.process_time()
    result = lower(schema, target)
    assert time.process_time() - start < 10
    assert len(dumps(result.payload)) + len(dumps(result.map)) < 100 * len(dumps(schema))
    assert not breaches(result.payload, target)


@every_case("number", [2, 4, 6])
def test_copies_in_such_unions_are_written_out_a_few_times_only(number: int) -> None:
    schema = mutual(number)
    assert len(dumps(lower(schema, "openai").payload, indent=False)) < 17 * len(dumps(schema, indent=False))


def discriminated(number: int) -> Any:
    """Return objects that a constant tells apart, each with a child that is any of them."""
    names = [f"N{index}" for index in range(number)]
    child = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    bodies = {name: {**closed(kind={"const": name}, child=child), "required": ["kind"]} for name in names}
    return {**closed(root={"$ref": "#/$defs/N0"}), "$defs": bodies}


@every_case("schema_of", [mutual, discriminated])
def test_what_becomes_of_such_unions_grows_no_faster_than_they_do(schema_of: Any) -> None:
    def times(number: int) -> float:
        schema = schema_of(number)
        result = lower(schema, "openai")
        return (len(dumps(result.payload)) + len(dumps(result.map))) / len(dumps(schema))

    assert times(16) < 1.2 * times(8)


def test_answers_to_such_unions_come_back() -> None:
    result = lower(discriminated(6), "openai")
    value = {"root": {"kind": "N0", "child": {"kind": "N4", "child": {"kind": "N0", "child": {"kind": "N5"}}}}}
    assert lift(encode(value, result.map), result.map).value == value


def doubling(levels: int) -> Any:
    """Return objects that hold the next one four times: written out, each level makes four times as many."""
    bodies = {
        f"L{level}": {"type": "object", "properties": {f"p{place}": {"$ref": f"#/$defs/L{level + 1}"} for place in range(4)}}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/L0", "$defs": {**bodies, f"L{levels}": {"type": "string"}}}


@every_case("target", ["openai", "gemini", "anthropic", "jsonschema"])
def test_a_schema_that_is_huge_when_written_out_shares_its_parts(target: str) -> None:
    schema = doubling(12)
    tracemalloc.start()
    result = lower(schema, target)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000
    assert len(dumps(result.payload)) < 1_000_000  # written out it would be hundreds of times as much
    assert len(dumps(result.map)) < 100_000
    value = {"p0": {"p1": {"p2": {}, "p3": {}}}}
    assert lift(encode(value, result.map), result.map).value == value


def test_where_no_reference_may_stay_a_huge_schema_is_too_large() -> None:
    with pytest.raises(CompileError, match="too-large"):
        lower(doubling(12), "openai", recursion="refuse")


def test_what_many_places_lose_is_recorded_once() -> None:
    node = closed(**{f"p{place}": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/node"}]} for place in range(60)})
    schema = {**closed(a={"$ref": "#/$defs/node"}), "$defs": {"node": node}}
    start = time.process_time()
    result = lower(schema, "gemini")
    assert time.process_time() - start < 10
    places = [(loss.pointer, loss.keyword, loss.kind) for loss in result.losses]
    assert len(places) == len(set(places))
    assert {("/$defs/node/properties/p59", "anyOf"), ("/$defs/node/properties/p0", "anyOf")} <= {each[:2] for each in places}


def test_an_answer_to_a_shared_union_comes_back() -> None:
    result = lower(mutual(10), "openai")
    value = {"root": {"name": "a", "N3": {"name": "b", "x": {"name": "c", "N7": {"N1": {"name": "d"}}}}}}
    assert lift(encode(value, result.map), result.map).value == value


def test_descriptions_name_keys_as_they_are_sent() -> None:
    schema = closed(
        **{
            "step1_найти_слот": {"type": "string", "description": "Полное имя."},
            "имя": {"type": "string", "description": "Use step1_найти_слот, имя."},
            "$score": {
                "type": "integer",
                "description": 'Из "имя", step1_найти_слот и $score; не $score2, не step1_найти_слоты.',
            },
        }
    )
    result = lower({**schema, "description": "Fill in `имя` and $score."}, "anthropic")
    said = result.payload["input_schema"]["properties"]
    assert result.payload["description"] == "Fill in `imya` and score."
    assert list(said) == ["step1_nayti_slot", "imya", "score"]
    assert said["step1_nayti_slot"]["description"] == "Полное имя."
    assert said["imya"]["description"] == "Use step1_nayti_slot, imya."
    assert said["score"]["description"] == 'Из "imya", step1_nayti_slot и score; не $score2, не step1_найти_слоты.'
    assert lower(schema, "jsonschema").payload == schema


@every_case("target", sorted(targets()))
def test_values_listed_beside_a_list_are_those_of_its_items(target: str) -> None:
    result = lower(closed(a={"type": "array", "enum": ["x", "y"]}), target)
    assert [loss.pointer for loss in result.losses if loss.keyword == "enum"][:1] == ["/properties/a"]
    assert lift(encode({"a": ["x", "y", "x"]}, result.map), result.map).value == {"a": ["x", "y", "x"]}


@every_case("never", [False, {"not": {}}, {"not": True}, {"description": "Removed.", "not": {"title": "Anything"}}])
@every_case("target", ["openai", "vllm", "gemini", "anthropic-strict"])
def test_a_property_that_may_never_be_there_is_not_sent(target: str, never: Any) -> None:
    result = lower({"type": "object", "properties": {"there": {"type": "integer"}, "gone": never}}, target)
    assert "gone" not in dumps(result.payload)
    assert [loss for loss in result.losses if loss.grave] == []
    assert lift({"there": 1}, result.map).ok


def test_a_branch_that_says_not_anything_is_no_alternative() -> None:
    result = lower({"type": "object", "properties": {"a": {"anyOf": [{"not": {}}, {"type": "string"}]}}}, "vllm")
    assert result.schema["properties"]["a"] == {"type": "string"}
