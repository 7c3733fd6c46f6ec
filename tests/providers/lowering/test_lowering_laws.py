"""The laws of lowering, in both directions, for every target and schemas of every shape."""

from __future__ import annotations

import re
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from every_case import every_case
from generate import KEYS, Instances, schemas
from hunting import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from judges import breaches, keywords

from instrc import Inexpressible, Lowering, encode, lift, lower, targets
from instrc.problems.errors import InstrcError
from instrc.providers.maps import tool_map  # the map of one tool, by itself
from instrc.providers.transcode import Transcoder  # a value without the checks around it
from instrc.schema.validation import validate
from instrc.schema.walk import nodes
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import equal, mapping

LAWFUL = examples(40, without=list(HealthCheck))
ODD = [key for key in KEYS if not re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]{0,63}", key)]


def lowered(schema: Any, target: str, **options: Any) -> Lowering | None:
    """Lower a schema; `None` if flattening refuses it."""
    try:
        return lower(schema, target, "my.tool", **options)
    except InstrcError:
        return None


@pytest.mark.parametrize("target", targets())
@LAWFUL
@given(schema=schemas(), ordered=st.booleans())
def test_a_payload_keeps_the_rules_of_its_target(target: str, schema: Any, *, ordered: bool) -> None:
    result = lowered(schema, target, ordered=ordered)
    if result is not None:
        told = any(problem.name == "budget-exceeded" for problem in result.problems)
        assert not [each for each in breaches(result.payload, target) if not (told and each.rule == "budget")]
        assert loads(dumps(result.map)) == result.map


@pytest.mark.parametrize("target", targets())
@LAWFUL
@given(schema=schemas(), seed=st.integers(0, 2**32))
def test_what_is_lifted_is_valid_or_the_constraint_is_reported(target: str, schema: Any, seed: int) -> None:
    result = lowered(schema, target)
    if result is None:
        return
    original = Draft202012Validator(schema)
    declared = {name for part in nodes(schema) for name in mapping(part.get("properties"))}
    reported = {loss.keyword for loss in result.losses if loss.kind in {"unenforced", "part"}}
    transcoder = Transcoder(tool_map(result.map))
    for answer in Instances(result.schema, Random(seed)).some(5):  # noqa: S311  -- reproducible, not secret
        if any(dumps(key, indent=False) in dumps(answer, indent=False) for key in ODD):
            continue  # our own name for a renamed key is understood, so it is no undeclared one
        if any(f'"key":{dumps(name, indent=False)}' in dumps(answer, indent=False) for name in declared):
            continue  # no target keeps a pair from having the key of a declared property: its value is judged as that
        value = transcoder.read(answer)
        broken = {keyword for error in original.iter_errors(value) for keyword in keywords(error)}
        assert not broken or broken & reported, (answer, value, broken)


@pytest.mark.parametrize("target", targets())
@LAWFUL
@given(schema=schemas(), seed=st.integers(0, 2**32))
def test_each_valid_value_has_an_answer_that_lifts_to_it(target: str, schema: Any, seed: int) -> None:
    result = lowered(schema, target)
    if result is None:
        return
    payload = Draft202012Validator(result.schema)
    reported = any(loss.kind in {"narrowed", "convention"} for loss in result.losses)
    transcoder = Transcoder(tool_map(result.map))
    for value in Instances(schema, Random(seed)).some(5):  # noqa: S311  -- reproducible, not secret
        try:
            answer = transcoder.write(value)
        except Inexpressible:
            assert reported
            continue
        fits = payload.is_valid(answer) and equal(transcoder.read(answer), value)
        assert fits or reported, (value, answer)
        if fits:
            assert_lifts(result, answer, value, schema)


def assert_lifts(result: Lowering, answer: Any, value: Any, schema: Any) -> None:
    """Hold that an answer lifts to a value; lifting asserts formats, so one of a wrong format may be repaired, which is told."""
    call = {"type": "function", "function": {"name": result.map["tool"]["sent"], "arguments": dumps(answer)}}
    lifted = lift(call, result.map)
    if validate(value, schema):
        assert equal(lifted.value, value) or lifted.call.repairs, (value, answer)
    else:
        assert lifted.ok, (value, answer)
        assert not lifted.call.repairs, (value, answer)
        assert equal(lifted.value, value), (value, answer)


def keys_in_order(schema: Any, value: Any, root: Any) -> bool:
    """Say whether the keys of a value are in the order of some alternative of its schema that accepts it."""
    if isinstance(value, list):
        prefix = schema.get("prefixItems", []) if isinstance(schema, dict) else []
        rest = schema.get("items", {}) if isinstance(schema, dict) else {}
        return all(keys_in_order(prefix[i] if i < len(prefix) else rest, item, root) for i, item in enumerate(value))
    if not isinstance(value, dict) or not isinstance(schema, dict):
        return True
    for place, held in (("$ref", None), ("anyOf", schema.get("anyOf")), ("oneOf", schema.get("oneOf"))):
        if place in schema:
            branches = held if held is not None else [root["$defs"][schema["$ref"].removeprefix("#/$defs/")]]
            fitting = [
                each
                for each in branches
                if Draft202012Validator({"$defs": root.get("$defs", {}), "allOf": [each]}).is_valid(value)
            ]
            return not fitting or any(keys_in_order(each, value, root) for each in fitting)
    declared = [key for key in schema.get("properties", {}) if key in value]
    inside = all(keys_in_order(schema["properties"][key], value[key], root) for key in declared)
    return [*value][: len(declared)] == declared and inside


@pytest.mark.parametrize("target", targets())
@LAWFUL
@given(schema=schemas(), seed=st.integers(0, 2**32))
def test_what_is_encoded_has_the_order_of_the_payload(target: str, schema: Any, seed: int) -> None:
    result = lowered(schema, target)
    if result is None or ("$ref" in dumps(result.schema) and "#/$defs/" not in dumps(result.schema)):
        return
    random = Random(seed)  # noqa: S311  -- reproducible, not secret
    for value in Instances(schema, random).some(3):
        with suppress(Inexpressible, InstrcError):
            mixed = shuffled(value, random)
            for given_map in (result, result.map):
                sent = encode(mixed, given_map)
                assert keys_in_order(result.schema, sent, result.schema), (mixed, sent)


def shuffled(value: Any, random: Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, random) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: shuffled(value[key], random) for key in random.sample([*value], len(value))}


@every_case("target", targets())
def test_a_text_of_a_wrong_format_is_no_valid_value(target: str) -> None:
    schema = {
        "anyOf": [
            {"type": "array", "items": {"type": "object"}, "maxItems": 1, "uniqueItems": True},
            {"type": ["string", "null"], "enum": ["42", "aa", "ab", None]},
            {"type": "string", "format": "uri", "not": {"type": ["string", "null"], "enum": ["42", "true", None]}},
        ]
    }
    result = lower(schema, target, "my.tool")
    transcoder = Transcoder(tool_map(result.map))
    for value in ("null", "aa", None, "https://example.org", "42"):
        answer = transcoder.write(value)
        assert equal(transcoder.read(answer), value)
        assert_lifts(result, answer, value, schema)
    assert Draft202012Validator(schema).is_valid("null"), "where formats only annotate"
    assert lift(transcoder.write("null"), result.map).value is None, "lifting asserts them, and null is what fits"


@pytest.mark.slow
@settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
@given(schema=schemas(leaves=20), ordered=st.booleans())
def test_ten_thousand_schemas_keep_the_rules_of_every_target(schema: Any, *, ordered: bool) -> None:
    for target in targets():
        result = lowered(schema, target, ordered=ordered)
        assert result is None or not breaches(result.payload, target)


@LAWFUL
@given(schema=schemas())
def test_the_schema_is_not_touched_and_the_result_is_the_same_each_time(schema: Any) -> None:
    before = dumps(schema)
    for target in ("openai", "gigachat", "anthropic", "vllm"):
        first, second = lowered(schema, target), lowered(schema, target)
        assert first is None or second is None or (first.payload == second.payload and first.map == second.map)
    assert dumps(schema) == before
