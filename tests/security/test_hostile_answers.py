"""Answers of models and of servers that were written by somebody hostile: they cost time by their length, and show no secret."""

from __future__ import annotations

from time import process_time

import pytest

from instrc.providers.lifting.lift import lift_response
from instrc.providers.lowering.lower import lower
from instrc.providers.targets import dialect
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.tools.plan_check import check_plan, with_unique_ids
from instrc.tools.tool import Tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array"}}, "required": ["a"]}
SPACES = " " * 200_000
TEXTS = {
    "spaces in a fence": f"```json\n{SPACES}x",
    "spaces in a value in a fence": f'```json\n{{"a":{SPACES}x',
    "spaces behind a mark": f"[ARGS]{{{SPACES}x",
    "lines behind a word": "json" + "\n" * 200_000 + "x",
    "spaces behind an object": '\n{"a":1}' + " " * 90_000 + "x",
    "spaces behind a name": f"[TOOL_CALLS]a{SPACES}x",
    "quotes without an end": '<|tool_call>call:a{"' + '\\"' * 200_000,
    "calls without a name": "<|tool_call_begin|>" * 40_000,
    "calls without a bracket": "functools[" * 60_000,
    "calls with many brackets": "functools[]x" * 60_000,
    "keys without an end": "<tool_call>a" + "<arg_key>" * 80_000,
    "keys without a value": "<tool_call>a" + "<arg_key>a</arg_key>x" * 40_000,
    "a parameter without an end": "<function=a><parameter=" + "a" * 20_000,
    "parameters without an end": "<function=a>" + "<parameter=a" * 60_000,
    "functions without an end": "<function=" * 60_000,
    "parameters that are repeated": "<function=a>" + "".join(f"<parameter=k{n}></parameter>" * 2 for n in range(12_000)),
    "keys that are repeated": '{"name":"answer","arguments":{"b":['
    + ",".join(f'{{"k{n}":1,"k{n}":1}}' for n in range(6_000))
    + "]}}",
}


def _fragment(arguments: str) -> str:
    call = {"index": 0, "function": {"name": "answer", "arguments": arguments}}
    return "data: " + dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}, indent=False) + "\n\n"


def seconds(target: str, answer: Json) -> float:
    """Return the seconds of the processor that reading an answer takes."""
    lowering = lower(Tool("answer", SCHEMA), target=dialect(target))
    begun = process_time()
    lift_response(answer, lowering.map)
    return process_time() - begun


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_reading_an_answer_takes_time_by_its_length(text: str) -> None:
    said: Json = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    assert max(seconds("openai", text), seconds("ollama", said)) < 2


def test_joining_a_stream_takes_time_by_its_length() -> None:
    assert seconds("openai", _fragment('{"a":"' + "x" * 200_000) + _fragment("{") * 1_500) < 1.5


def test_a_plan_takes_time_by_its_length() -> None:
    task: Json = {"properties": {"tool": {}, "id": {}, "arguments": {}}}
    tools: Json = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}, "output": {}}}
    begun = process_time()
    twice = [{"tool": "find", "id": "a" * 30 + str(number), "arguments": {}} for number in range(4_000) for _ in range(2)]
    assert len(with_unique_ids(twice, {"type": "array", "items": task})[1]) == 4_000
    reads = {"tool": "find", "id": "b", "arguments": {"text": {"from": "a" + ".x" * 200_000}}}
    assert not check_plan([{"tool": "find", "id": "a", "arguments": {}}, reads], tools)
    assert process_time() - begun < 2
