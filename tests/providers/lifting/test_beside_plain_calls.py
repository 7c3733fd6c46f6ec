"""What a provider writes beside plain calls: tools that take a text, marks around calls, ids, pauses, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_case import every_case

from instrc import lift, lower, targets

N: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
GRAMMAR = {"syntax": "lark", "definition": "start: /[a-z]+ = [0-9]+/"}
CUSTOM: dict[str, Any] = {
    "chat": {"type": "custom", "custom": {"name": "sum", "format": {"type": "grammar", "grammar": GRAMMAR}}},
    "responses": {"type": "custom", "name": "sum", "format": {"type": "grammar", **GRAMMAR}},
}
CALLS: dict[str, Any] = {
    "chat": {"id": "c", "type": "custom", "custom": {"name": "sum", "input": "a = 1"}},
    "responses": {"type": "custom_tool_call", "call_id": "c", "name": "sum", "input": "a = 1"},
}


@every_case("target", targets())
@every_case("written", CUSTOM)
def test_a_custom_tool_is_one_text_with_its_grammar_in_words(written: str, target: str) -> None:
    lowered = lower(CUSTOM[written], target)
    assert "start: /[a-z]+ = [0-9]+/" in json.dumps(lowered.payload)
    assert lift({"name": "sum", "arguments": {"input": "a = 1"}}, lowered).values == [{"input": "a = 1"}]
    for call in CALLS.values():
        assert lift({"role": "assistant", "content": None, "tool_calls": [call]}, lowered).values == [{"input": "a = 1"}]


def test_a_custom_tool_of_free_text_and_of_an_unknown_format() -> None:
    assert lift(CALLS["chat"], lower({"type": "custom", "custom": {"name": "sum"}}, "openai")).ok
    with pytest.raises(TypeError, match="neither a text nor a grammar"):
        lower({"type": "custom", "name": "sum", "format": {"type": "song"}}, "openai")


ONE = lower(N, "vllm", "one")
CALLED = '{"n": 1}'
INVOKED = '<invoke name="one"><parameter name="n">1</parameter></invoke>'
KIMI = f"<|tool_call_begin|>functions.one:0<|tool_call_argument_begin|>{CALLED}<|tool_call_end|>"
DEEPSEEK = f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>one\n```json\n{CALLED}\n```<｜tool▁call▁end｜>"
IN_TEXT = (
    f"<|tool_calls_section_begin|>{KIMI}<|tool_calls_section_end|>",
    f"<｜tool▁calls▁begin｜>{DEEPSEEK}<｜tool▁calls▁end｜>",
    '<tool_calls>\n<tool_call>{"name":"one","arguments":{"n":1}}</tool_call>\n</tool_calls>',
    f"<minimax:tool_call>\n{INVOKED}\n</minimax:tool_call>",
    f"<function_calls>\n{INVOKED}\n</function_calls>",
    f"<steptml:toolcall>{INVOKED.replace('<', '<steptml:').replace('<steptml:/', '</steptml:')}</steptml:toolcall>",
    "<seed:tool_call><function=one><parameter=n>1</parameter></function></seed:tool_call>",
    '<TOOLCALL>[{"name":"one","arguments":{"n":1}}]</TOOLCALL>',
    '<tool_calls>[{"name":"one","arguments":{"n":1}}]</tool_calls>',
    'functools[{"name":"one","arguments":{"n":1}}]',
    '<tool_call>{"name":"one","arguments":{"n":1}}</tool_call><|im_end|>',
)


@every_case("text", IN_TEXT)
def test_marks_around_calls_are_no_words(text: str) -> None:
    found = lift({"role": "assistant", "content": f"Hi. {text}"}, ONE)
    assert (found.status, found.values, found.text) == ("ok", [{"n": 1}], "Hi.")


def test_calls_of_one_id_are_told_and_doubles_are_one() -> None:
    calls = [{"type": "tool_use", "id": "x", "name": "one", "input": {"n": n}} for n in (1, 2, 1)]
    found = lift({"role": "assistant", "content": calls, "stop_reason": "tool_use"}, ONE)
    assert found.values == [{"n": 1}, {"n": 2}]
    assert [[repair.what for repair in call.repairs] for call in found.calls] == [[], ["repeated-id"]]


def test_a_paused_turn_goes_on() -> None:
    for target, text in (("anthropic", "So"), ("anthropic", '{"n": 1}'), ("anthropic-output", 'So:\n{"n": 1}\n')):
        answer = {"role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "pause_turn"}
        found = lift(answer, lower(N, target))
        assert (found.status, found.paused) == ("empty", True)
        assert "the turn goes on" in str(found.problems[0])


@every_case("target", ["openai", "anthropic-strict", "gemini", "vllm", "mcp"])
def test_a_key_that_is_written_twice_is_told_in_pairs_and_in_text(target: str) -> None:
    lowered = lower(
        {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}}, target
    )
    pairs = '{"m": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]}'
    for text in ('{"m": {"a": 1, "a": 2}}', *([pairs] if lowered.map["codec"] else [])):
        found = lift({"name": "tool", "arguments": text}, lowered)
        assert (found.values, [repair.what for repair in found.call.repairs]) == ([{"m": {"a": 2}}], ["repeated-key"])
