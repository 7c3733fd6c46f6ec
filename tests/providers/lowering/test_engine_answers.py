"""Answers written by a grammar engine, byte by byte at random under a payload's own grammar, come back as valid values.

No generator of ours stands between the payload and the answer: whatever the engine lets a model write is tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import llguidance
import pytest
from generate import schema_of
from jsonschema import Draft202012Validator
from judges import keywords

from instrc import CompileError, lift, lower
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

ENFORCED = ["openai", "anthropic-strict", "gemini", "mistral", "vllm"]
"""Targets whose decoder holds a model to the schema in standard words, which an engine can stand in for."""


class RepeatedKey(Exception):  # noqa: N818  -- not an error: JSON allows it, and no reader agrees on what it means
    """An object that gives a key twice."""


def written(grammar: str, random: Random, hurry: int = 60, most: int = 2_000) -> str | None:
    """Return an answer an engine allows, in random bytes that tend to an end after `hurry` of them; `None` if none comes."""
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    text = bytearray()
    while len(text) < most:
        if matcher.is_accepting() and (len(text) > hurry or random.random() < 0.3):
            return text.decode()
        mask = matcher.compute_bitmask()
        allowed = [byte for byte in range(256) if mask[byte >> 3] >> (byte & 7) & 1]
        if not allowed:
            return text.decode() if matcher.is_accepting() else None
        closing = [byte for byte in allowed if byte in b'"}],:']
        plain = [byte for byte in allowed if byte in b'"{}[],:-.' or chr(byte).isalnum()] or allowed
        eager = closing and random.random() < (0.9 if len(text) > hurry else 0.5)
        text.append(random.choice(closing if eager else plain))
        matcher.consume_token(text[-1])
    return None


def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise RepeatedKey
    return dict(pairs)


def answers(schema: Json, random: Random, count: int) -> Iterator[Json]:
    """Yield values an engine lets a model write under a schema."""
    grammar = llguidance.LLMatcher.grammar_from_json_schema(dumps(schema, indent=False))
    if llguidance.LLMatcher.validate_grammar(grammar):
        return  # what an engine refuses is a matter of other tests
    for _ in range(count):
        text = written(grammar, random)
        if text is None:
            continue
        try:
            yield json.loads(text, object_pairs_hook=unique)
        except RepeatedKey:
            continue


def disappointments(target: str, seeds: range) -> Iterator[tuple[Any, ...]]:
    """Yield the answers that come back as values that break a constraint which nobody reported as lost."""
    tried = 0
    for seed in seeds:
        try:
            schema = schema_of(seed)
            lowering = lower(schema, target, "my.tool")
        except CompileError:
            continue
        reported = {loss.keyword for loss in lowering.losses if loss.kind in {"unenforced", "part"}}
        for answer in answers(lowering.schema, Random(seed), 4):  # noqa: S311  -- reproducible, not secret
            tried += 1
            value = lift(answer, lowering.map).value
            broken = {keyword for error in Draft202012Validator(schema).iter_errors(value) for keyword in keywords(error)}
            if broken and not broken & reported and not jsonschema_rs.is_valid(schema, value):  # `\w` is not the same to all
                yield seed, broken, answer, value
    assert tried > len(seeds)


@pytest.mark.long
@pytest.mark.parametrize("target", ENFORCED)
def test_what_an_engine_writes_comes_back_valid(target: str) -> None:
    assert not list(disappointments(target, range(40)))


@pytest.mark.slow
@pytest.mark.parametrize("target", ENFORCED)
def test_what_an_engine_writes_comes_back_valid_for_thousands_of_schemas(target: str) -> None:
    assert not list(disappointments(target, range(1_000, 3_500)))
