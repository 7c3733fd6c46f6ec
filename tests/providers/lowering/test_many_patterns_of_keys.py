"""Objects with very many patterns of keys: the work grows with their number, and so does what is kept apart."""

from __future__ import annotations

import re
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from objects import closed

from instrc import lower, targets
from instrc.providers.codec import RefCodec  # the closed union, each case by itself
from instrc.providers.lowering.context import PayloadDefinitions, Variant, key_names  # one step of a lowering
from instrc.providers.lowering.unions import COMPARED_PAIRS, _mistakable  # one question about many alternatives
from instrc.text.jsonvalue import JsonObject, mapping


def lines_of(work: Callable[[], object]) -> int:
    """Return how many lines of Python were carried out."""
    count = 0

    def count_one(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return count_one

    before = sys.gettrace()
    sys.settrace(count_one)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def patterned(count: int) -> JsonObject:
    by_pattern: JsonObject = {f"^k{number}of{count}_": {"type": "string"} for number in range(count)}
    return {"type": "object", "patternProperties": by_pattern, "additionalProperties": False}


@pytest.mark.parametrize("target", ["openai", "gemini"])
def test_twice_as_many_patterns_of_keys_are_twice_the_work(target: str) -> None:
    lower(patterned(2), target)
    few, many = (lines_of(lambda count=count: lower(patterned(count), target)) for count in (200, 400))
    assert many / few <= 2.1


def test_python_reads_a_pattern_of_keys_once_for_all_that_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    compile_ = re.compile

    def counted(pattern: Any, flags: Any = 0) -> Any:
        asked[str(pattern)] += 1
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    schema = patterned(7)
    lower(schema, "openai")
    once_for_the_schema_and_once_for_the_target = 2
    patterns = list(mapping(schema["patternProperties"]))
    assert [asked[pattern] for pattern in patterns] == [once_for_the_schema_and_once_for_the_target] * len(patterns)


def test_a_name_that_a_rewrite_makes_is_looked_up_without_a_copy_of_all_names() -> None:
    names = key_names(targets()["anthropic"].key, {f"$name{number}": None for number in range(5_000)})
    tracemalloc.start()
    try:
        assert [names.sent("key"), names.sent("name7")] == ["key", "name7_2"]
        assert tracemalloc.get_traced_memory()[1] < 50_000
    finally:
        tracemalloc.stop()


def alternatives(*different: int, count: int) -> list[Variant]:
    """Return alternatives that begin alike, of which some are read in a way of their own."""
    return [
        Variant("object", closed(a={"type": "string"}), RefCodec(f"n{number}") if number in different else None)
        for number in range(count)
    ]


@pytest.mark.parametrize("different", [(), (0,), (54,), (58,), (99,), (1, 70)])
def test_alternatives_beyond_the_pairs_that_are_compared_are_taken_for_alike(different: tuple[int, ...]) -> None:
    found = _mistakable(alternatives(*different, count=100), targets()["gemini"], PayloadDefinitions())
    assert found == (list(range(100)) if different else [])


def test_pairs_that_are_compared_and_differ_keep_their_alternatives_from_a_name() -> None:
    few = alternatives(0, count=3)
    told = Variant("object", closed(b={"type": "null"}), RefCodec("b"))
    assert len(few) * (len(few) + 1) / 2 < COMPARED_PAIRS
    assert _mistakable([*few, told], targets()["openai"], PayloadDefinitions()) == [0, 1, 2]
