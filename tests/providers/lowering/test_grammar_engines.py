"""What is meant for an engine is taken by it, and answers in another order are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grammar_engines
import llguidance
import pytest
from every_case import every_case
from generate import schema_of
from grammar_engines import ENGINES_OF, binding, opinions, swaps
from test_facts_of_targets import RICH

from instrc import CompileError, lower, targets, verify
from instrc.providers.lowering.spelling import standard  # engines read JSON Schema, whatever the target's spelling
from instrc.schema.samples import SAMPLE_OPTIONAL_LEVELS, sample  # the limit that is tried here
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import at

ROOT = Path(__file__).parents[3]
_FOUND = sorted(path for kind in ("tool", "flat") for path in ROOT.glob(f"examples/*/expected/**/*.{kind}.json"))
EXAMPLES = list({path.read_bytes(): path for path in _FOUND}.values())


@every_case("target", ["mistral", "vllm"])
def test_the_engines_of_a_target_take_its_payload_and_keep_its_order(target: str) -> None:
    asked = binding(lower(RICH, target))
    assert asked
    assert all(opinion.accepted and opinion.answers and opinion.ordered for opinion in asked), asked


def orderable(schema: Any) -> bool:
    """Say whether a sample of a schema has two declared neighbours that could change places."""
    return next(swaps(sample(schema), schema), None) is not None


@pytest.mark.long
@every_case("example", EXAMPLES, ids=lambda path: path.name)
def test_the_tools_of_the_examples_are_taken_and_their_order_is_kept(example: Path) -> None:
    schema = loads(example.read_text(encoding="utf-8"))
    for target, dialect in targets().items():
        lowered = lower(schema, target, "example")
        assert verify(lowered).accepted
        for opinion in opinions(lowered):
            if not opinion.accepted:
                assert opinion.engine not in ENGINES_OF.get(target, ())
                assert dialect.structure == "pass_through" or target == "smolagents", (
                    "these hand on keywords that engines do not know"
                )
                assert "uniqueItems" in str(opinion.reason)
            else:
                assert opinion.answers is True
                asked = standard(lowered.schema, dialect.spelling)
                assert opinion.ordered is (True if orderable(asked) else None), opinion.loose


def test_declared_keys_that_come_late_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def lax(_schema: Any) -> Any:
        return lambda text: not text.startswith('{"c"')

    monkeypatch.setattr(grammar_engines, "find_spec", lambda _name: True)
    monkeypatch.setattr(grammar_engines, "_ENGINES", {"xgrammar": lax})
    schema = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "required": ["a", "b"]}
    (opinion,) = binding(lower(schema, "vllm"))
    assert (opinion.ordered, opinion.loose) == (False, '"b" before "a" at /')


@every_case("first", ["a", "тема"])
def test_open_objects_are_where_xgrammar_forgets_keys_that_are_not_ascii(first: str) -> None:
    pytest.importorskip("xgrammar")
    schema = {"type": "object", "properties": {first: {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}
    for open_, ordered in ((False, True), (True, first.isascii())):
        asked = binding(lower({**schema, "additionalProperties": open_}, "vllm"))
        assert all(opinion.accepted for opinion in asked)
        assert all(opinion.ordered for opinion in asked if opinion.ordered is not None) is ordered


def test_a_schema_without_a_whole_instance_is_verified_all_the_same() -> None:
    node = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}}, "required": ["a", "b"]}
    lowered = lower({**node, "$defs": {"n": node}}, "vllm")
    assert verify(lowered).accepted
    assert all(opinion.answers is None for opinion in opinions(lowered))


@every_case("target", targets())
def test_the_rules_of_a_target_take_its_payload(target: str) -> None:
    verdict = verify(lower(RICH, target).payload, target)
    assert not verdict.breaches
    assert verdict.to_json()["accepted"] is True


def test_a_payload_that_breaks_a_rule_is_not_accepted() -> None:
    payload: Any = lower(RICH, "openai").payload
    payload["function"]["parameters"]["properties"]["tags"]["uniqueItems"] = True
    assert not verify(payload, "openai").accepted
    assert verify(lower({"type": "object"}, "openai").payload, "openai").accepted
    assert not verify({"type": "object", "properties": {"$a": {"type": "string"}}}, "anthropic-strict").accepted


@every_case("target", ["mistral", "vllm"])
def test_llguidance_compiles_whatever_is_generated(target: str) -> None:
    for seed in range(60):
        try:
            result = lower(schema_of(seed), target)
        except CompileError:
            continue
        grammar = llguidance.LLMatcher.grammar_from_json_schema(dumps(result.schema))
        assert not llguidance.LLMatcher.validate_grammar(grammar), (seed, dumps(result.schema))


def test_a_sample_satisfies_its_schema_and_each_declared_pair_can_be_swapped() -> None:
    schema = lower(RICH, "openai").schema
    value = sample(schema)
    assert list(value) == list(schema["properties"])
    found = list(swaps(value, schema))
    assert len({(swap.place, swap.keys) for swap in found}) == len(found) > len(value)
    for swap in found:
        assert swap.value == value
        assert dumps(swap.value) != dumps(value)


@every_case(
    "around",
    [
        lambda inner: {"type": "object", "properties": {"k0": inner}, "required": ["k0"]},
        lambda inner: {"type": "object", "additionalProperties": inner, "minProperties": 1},
        lambda inner: {"type": "array", "items": inner, "minItems": 1},
        lambda inner: {"type": "array", "prefixItems": [inner]},
        lambda inner: {"anyOf": [inner, {"type": "null"}]},
    ],
    ids=["a property", "an entry", "an item", "a place", "an alternative"],
)
def test_a_sample_has_what_is_optional_on_its_first_levels_only(around: Callable[[Any], Any]) -> None:
    schema: Any = {"type": "object", "properties": {"optional": {"type": "string"}}}
    for levels in range(SAMPLE_OPTIONAL_LEVELS + 1):
        assert ("optional" in dumps(sample(schema))) is (levels < SAMPLE_OPTIONAL_LEVELS)
        schema = around(schema)


@every_case("pattern", ["a^b", "^a$b", "^a^$", "[^]", "[]", "x[^]*", "(?:a)^"])
def test_a_pattern_that_no_engine_compiles_is_told_in_words(pattern: str) -> None:
    """An anchor inside, and the classes `[]` and `[^]` that only ECMA 262 has."""
    for target in ("mistral", "vllm", "openai"):
        lowered = lower({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}, target)
        assert [loss.keyword for loss in lowered.losses if loss.pointer == "/properties/a"] == ["pattern"]
        assert '"pattern"' not in dumps(lowered.payload)


@every_case("pattern", ["^$", "^a$|^b$", "(^a|b$)", "(?:^a)b", "[\\^$]a", "a\\^b", "a\\[]"])
def test_anchors_around_alternatives_and_signs_that_are_escaped_are_sent(pattern: str) -> None:
    lowered = lower({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}, "mistral")
    assert at(lowered.schema, "/properties/a/pattern") == pattern
    assert all(opinion.accepted for opinion in opinions(lowered))
