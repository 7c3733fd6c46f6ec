"""What is meant for an engine is taken by it, and answers in another order are not."""

from __future__ import annotations

from typing import Any

import pytest
from generate import schema_of
from test_facts import RICH

from instrc.jsonvalue import dumps
from instrc.problems.problem import CompileError
from instrc.targets.catalogue import targets
from instrc.targets.lower import lower
from instrc.targets.sample import reordered, sample
from instrc.targets.verify import verify


@pytest.mark.parametrize("target", ["mistral", "vllm"])
def test_the_engines_of_a_target_take_its_payload_and_keep_its_order(target: str) -> None:
    pytest.importorskip("llguidance")
    verdict = verify(lower(RICH, target).payload, target)
    assert verdict.accepted, verdict
    assert verdict.ordered is True
    assert all(opinion.answers for opinion in verdict.opinions if opinion.binding and opinion.accepted)


@pytest.mark.parametrize("target", targets())
def test_rules_judge_where_there_is_no_engine(target: str) -> None:
    verdict = verify(lower(RICH, target).payload, target)
    assert not verdict.breaches
    assert verdict.to_json()["accepted"] is True


def test_a_payload_that_breaks_a_rule_is_not_accepted() -> None:
    payload: Any = lower(RICH, "openai").payload
    payload["function"]["parameters"]["properties"]["tags"]["uniqueItems"] = True
    assert not verify(payload, "openai").accepted
    assert not verify({"type": "object", "properties": {"$a": {"type": "string"}}}, "anthropic-strict").accepted


@pytest.mark.parametrize("target", ["mistral", "vllm"])
def test_llguidance_compiles_whatever_is_generated(target: str) -> None:
    llguidance = pytest.importorskip("llguidance")
    for seed in range(60):
        try:
            result = lower(schema_of(seed), target)
        except CompileError:
            continue
        grammar = llguidance.LLMatcher.grammar_from_json_schema(dumps(result.schema))
        assert not llguidance.LLMatcher.validate_grammar(grammar), (seed, dumps(result.schema))


def test_a_sample_satisfies_its_schema_and_can_be_reordered() -> None:
    schema = lower(RICH, "openai").schema
    value = sample(schema)
    assert list(value) == list(schema["properties"])
    swapped = reordered(value, schema)
    assert swapped == value
    assert list(swapped) != list(value)
