"""An answer survives parts that are empty, blank or absent: first, in the middle and last, in every envelope and stream."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from every_case import every_case

from instrc import lift, lower, lower_all
from tests.providers.lifting.parted import ENVELOPES, Texts

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
VALUE = {"a": "x y"}
TEXT = '{"a": "x y"}'
NOTHING = {"empty": "", "blank": " ", "line": "\n", "absent": None}
DIVIDED: dict[str, list[str]] = {"whole": [TEXT], "between": ['{"a":', ' "x y"}'], "inside": ['{"a": "x', ' y"}']}
"""A value in one part, in two that are divided between its tokens, in two that are divided inside of a text."""


def _with(texts: list[str], nothing: str | None, place: str) -> Texts | None:
    """Return parts with nothing at one place; `None` where it would be a part of the value."""
    if place == "middle" and (len(texts) == 1 or (nothing and texts[0].endswith("x"))):
        return None
    index = {"first": 0, "middle": 1, "last": len(texts)}[place]
    return [*texts[:index], nothing, *texts[index:]]


CASES = {
    f"{divided}, {nothing} {place}": parts
    for divided, nothing, place in product(DIVIDED, NOTHING, ("first", "middle", "last"))
    if (parts := _with(DIVIDED[divided], NOTHING[nothing], place)) is not None
}
SAMPLE = ("whole, empty last", "whole, absent first", "between, blank last", "inside, empty middle")
OUTPUT = lower(SCHEMA, "gemini-output")


def _lost(envelope: str, cases: Iterable[str]) -> list[str]:
    found = {case: lift(ENVELOPES[envelope](CASES[case]), OUTPUT) for case in cases}
    return [f"{case}: {each.to_json()}" for case, each in found.items() if (each.status, each.values) != ("ok", [VALUE])]


@every_case("envelope", ENVELOPES)
def test_an_answer_survives_empty_parts(envelope: str) -> None:
    assert not _lost(envelope, SAMPLE)


@pytest.mark.slow
@every_case("envelope", ENVELOPES)
def test_an_answer_survives_all_empty_parts(envelope: str) -> None:
    assert not _lost(envelope, CASES)


@every_case("texts", [[TEXT, "I hope this helps."], ["Here it is:", TEXT], ["So:", TEXT, "Done.", ""], [TEXT, TEXT]])
def test_a_value_among_words(texts: Texts) -> None:
    found = lift(ENVELOPES["object: anthropic"](texts), OUTPUT)
    assert (found.status, found.values) == ("ok", [VALUE])
    assert found.text == "\n".join(text for text in [*texts[: texts.index(TEXT)], *texts[texts.index(TEXT) + 1 :]] if text)


# A stream of Responses has its items once, whatever the servers of others make of ids, places and summaries.


N: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = lower_all([("one", N), ("two", N)], "openai-responses")
CALLS = [("one", {"n": 1}), ("two", {"n": 2})]
IDS = ("both", "call", "none", "other when done")
PLACES = ("right", "all zero", "none")
TWICE = ("no", "done", "in the summary")
BROUGHT_BY = ("delta", "done", "arguments done")
SUMMARIES: dict[str, Any] = {"full": ..., "empty": [], "null": None, "absent": None}
STREAMS = [
    case
    for case in product(IDS, PLACES, TWICE, BROUGHT_BY, SUMMARIES)
    if case[0] != "none" or (case[1] == "right" and (case[2] != "in the summary" or case[4] != "full"))
]
"""Without ids and places nobody can tell items apart."""


def _events(ids: str, places: str, twice: str, brought_by: str, summary: str) -> Iterable[Any]:
    items = []
    for index, (name, value) in enumerate(CALLS):
        whole = json.dumps(value)
        item: Any = {"type": "function_call", "name": name, "arguments": "", "status": "in_progress"}
        item |= {} if ids == "none" else {"call_id": f"c{index}"}
        item |= {"id": f"i{index}"} if ids in {"both", "other when done"} else {}
        place = {} if places == "none" else {"output_index": index if places == "right" else 0}
        about = {**place, **({"item_id": item["id"]} if "id" in item else {})}
        done = {**item, "arguments": whole, **({"id": f"o{index}"} if ids == "other when done" else {})}
        yield {"type": "response.output_item.added", **place, "item": item}
        for fragment in (whole[:3], whole[3:]) if brought_by == "delta" else ():
            yield {"type": "response.function_call_arguments.delta", **about, "delta": fragment}
        if brought_by == "arguments done":
            yield {"type": "response.function_call_arguments.done", **about, "arguments": whole}
        for _ in range((brought_by == "done") + (twice == "done")):
            yield {"type": "response.output_item.done", **place, "item": done}
        items.append(done)
    output = items * (2 if twice == "in the summary" else 1) if summary == "full" else SUMMARIES[summary]
    said = {"object": "response", "status": "completed"} | ({} if summary == "absent" else {"output": output})
    yield {"type": "response.completed", "response": said}


@pytest.mark.parametrize("case", [*STREAMS[::23], *(pytest.param(case, marks=pytest.mark.slow) for case in STREAMS)])
def test_items_of_responses_come_once(case: tuple[str, str, str, str, str]) -> None:
    found = lift([{"type": "response.created", "response": {"output": []}}, *_events(*case)], TOOLS)
    assert (found.status, [(call.name, call.value) for call in found.calls]) == ("ok", CALLS)


# A key that the schema owns is no call.


OWNED: list[tuple[str, Any, Any]] = [
    (
        "step1_read",
        {"step1_read": {"type": "object", "properties": {"topic": {"type": "string"}}}},
        {"step1_read": {"topic": "x"}},
    ),
    (
        "find",
        {"name": {"type": "string"}, "arguments": {"type": "object", "properties": {"q": {"type": "string"}}}},
        {"name": "find", "arguments": {"q": "x"}},
    ),
    ("find", {"tool": {"type": "string"}, "input": {"type": "string"}}, {"tool": "find", "input": "x"}),
]


@every_case("target", ["ollama", "vllm", "mistral", "openai-output", "anthropic"])
@every_case(("name", "properties", "value"), OWNED)
@every_case("envelope", ["object: chat", "object: anthropic", "stream: ollama", "stream: chat"])
@every_case("words", ["", "<think>hm</think>\n"])
def test_a_key_of_the_schema_is_no_call(target: str, name: str, properties: Any, value: Any, envelope: str, words: str) -> None:
    lowered = lower({"type": "object", "properties": properties, "required": [*value]}, target, name)
    found = lift(ENVELOPES[envelope]([words + json.dumps(value)]), lowered)
    assert (found.status, found.values) == ("ok", [value])


def test_a_key_that_no_schema_owns_is_a_call() -> None:
    found = lift(ENVELOPES["object: chat"]([json.dumps({"tool": {"a": "x y"}})]), lower(SCHEMA, "ollama", "tool"))
    assert (found.status, found.values) == ("ok", [VALUE])
