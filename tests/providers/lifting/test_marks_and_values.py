"""Marks of chat templates count only where a template puts them, and half a mark never gives a wrong value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from objects import closed

from instrc import lift, lower

TEXT: Any = {"type": "string"}
SCHEMA: Any = {
    "type": "object",
    "properties": {"a": TEXT, "b": TEXT},
    "required": ["a"],
    "additionalProperties": False,
}
MARKS = (
    "</think>",
    "<think>hm</think>",
    "<|channel|>final",
    "<|start|>assistant<|channel|>final<|message|>q<|end|>",
    "[TOOL_CALLS]f{}",
    '<tool_call>{"name": "f", "arguments": {"a": "q"}}</tool_call>',
    "<f><a>q</a></f>",
    "[ARGS]{",
    "<|begin_of_box|>q<|end_of_box|>",
    "```json\n{}\n```",
    "Action: f\nAction Input: {}\n",
)


DEEPSEEK = (
    '<‖DSML‖function_calls><‖DSML‖invoke name="f"><‖DSML‖parameter name="a" string="true">x</‖DSML‖parameter>'
    "</‖DSML‖invoke></‖DSML‖function_calls>"
)
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions_f_1<|tool_call_argument_begin|>"
    '{"a": "x"}<|tool_call_end|><|tool_calls_section_end|>'
)


def said(text: str | None, **more: Any) -> dict[str, Any]:
    """Return a response of Chat Completions with a text."""
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": "stop"}]}


def called(arguments: str, name: str = "f") -> dict[str, Any]:
    """Return a response of Chat Completions with a call."""
    return said(None, tool_calls=[{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}])


def ours(answer: Any, target: str = "vllm", schema: Any = SCHEMA) -> tuple[str, list[Any]]:
    """Return the status of an answer and its values."""
    lifted = lift(answer, lower(schema, target, "f").map)
    return lifted.status, lifted.values


@pytest.mark.parametrize("target", ["vllm", "openai", "openai-output", "ollama-output", "llamacpp"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_in_a_value_is_a_part_of_it(mark: str, target: str) -> None:
    value = {"a": f"use {mark} here", "b": "x"}
    text = json.dumps(value)
    for answer in (said(text), said(f"<think>hm</think>{text}"), said(f"```json\n{text}\n```"), called(text), text):
        assert ours(answer, target) == ("ok", [value])


@pytest.mark.parametrize("mark", MARKS[:6])
def test_a_cut_text_with_a_mark_in_it_is_never_a_value(mark: str) -> None:
    for text in (f'{{"a": {json.dumps(mark)[:-1]}', f'{{"a": {json.dumps(mark)}'):
        assert ours(said(text))[0] != "ok"


@pytest.mark.parametrize(
    "body",
    [
        "<parameter=a>\nx\n<parameter=b>\ny\n</parameter>",
        "<parameter=a>\nuse </parameter> here\n</parameter>",
        "<parameter=a>\nuse <parameter=b> here\n</parameter>",
        "<parameter=a>\nx\n</parameter>\n<parameter=b>\nuse </parameter> here\n</parameter>",
    ],
)
def test_a_mark_of_an_argument_that_is_missing_or_in_a_value_makes_the_call_invalid(body: str) -> None:
    assert ours(said(f"<tool_call><function=f>{body}</function></tool_call>"))[0] == "invalid"
    element = body.replace("<parameter=a>", '<parameter name="a">').replace("<parameter=b>", '<parameter name="b">')
    assert ours(said(f'<invoke name="f">{element}</invoke>'))[0] == "invalid"


def test_arguments_of_glm_whose_marks_are_mixed_up_are_invalid() -> None:
    body = "f\n<arg_key>a</arg_key>\n<arg_value>x\n<arg_key>b</arg_key>\n<arg_value>y</arg_value>"
    assert ours(said(f"<tool_call>{body}</tool_call>"))[0] == "invalid"


@pytest.mark.parametrize(("reason", "target"), [("MALFORMED_FUNCTION_CALL", "gemini"), ("UNEXPECTED_TOOL_CALL", "gemini")])
def test_a_call_beside_the_word_that_it_is_malformed_is_not_used(reason: str, target: str) -> None:
    parts = [{"functionCall": {"name": "f", "args": {"a": "x"}}}]
    assert ours({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]}, target)[0] == "malformed"
    use = {"toolUse": {"toolUseId": "u", "name": "f", "input": {"a": "x"}}}
    bedrock = {"output": {"message": {"role": "assistant", "content": [use]}}, "stopReason": "malformed_tool_use"}
    assert ours(bedrock, "bedrock")[0] == "malformed"


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning", "thinking"])
def test_an_answer_that_stands_whole_in_the_thoughts_is_read(member: str) -> None:
    text = '{"a": "x"}'
    pieces = [{"choices": [{"index": 0, "delta": {"reasoning_content": half}}]} for half in (text[:4], text[4:])]
    pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    ollama = {"message": {"role": "assistant", "content": "", "thinking": text}, "done": True, "done_reason": "stop"}
    for answer in (said("", **{member: text}), said(None, **{member: text}), pieces, ollama):
        assert ours(answer, "openai-output") == ("ok", [{"a": "x"}])
    for other in ('{"c": "x"}', "{}", "Hm.", f"So: {text}", text[:-1]):
        assert ours(said("", **{member: other}), "openai-output")[0] == "empty"
    assert ours(said('{"a": "y"}', **{member: text}), "openai-output") == ("ok", [{"a": "y"}])


@pytest.mark.parametrize("kind", ["array", "object"])
@pytest.mark.parametrize("target", ["openai", "anthropic", "gemini", "vllm", "mcp"])
def test_the_text_null_is_a_null_where_one_may_be(kind: str, target: str) -> None:
    inner: Any = {"type": "object", "properties": {"x": TEXT}} if kind == "object" else {"type": "array", "items": TEXT}
    for nullable in ({"anyOf": [inner, {"type": "null"}]}, {**inner, "type": [kind, "null"]}):
        schema = closed(a=nullable)
        for word in ("null", "None", None):
            assert ours({"name": "f", "arguments": {"a": word}}, target, schema) == ("ok", [{"a": None}])


def test_a_legal_null_of_a_member_that_may_be_left_out_stays() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": ["object", "null"]}, "b": TEXT}}
    for word in ("null", None):
        assert ours({"name": "f", "arguments": {"a": word, "b": None}}, "vllm", schema) == ("ok", [{"a": None}])


@pytest.mark.parametrize("text", ["", "null", "5", '"q"', "[1]", '{"x": 1}', '{"input": "z"}', "```json\n{}\n```", "</think>"])
def test_what_a_custom_tool_is_given_is_a_text_whatever_it_looks_like(text: str) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": text}
    schema = closed(input=TEXT)
    assert ours({"object": "response", "status": "completed", "output": [item]}, "openai-responses", schema)[1] == [
        {"input": text}
    ]
    assert ours(said(None, tool_calls=[{"id": "c", "type": "custom", "custom": {"name": "f", "input": text}}]), "openai", schema)[
        1
    ] == [{"input": text}]


def deltas(*calls: dict[str, Any]) -> list[Any]:
    """Return a stream of fragments of calls, all under the index 0."""
    pieces = [{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]} for call in calls]
    return [*pieces, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def test_whole_calls_at_one_index_without_ids_are_two() -> None:
    for first, second in (('{"a": "x"}', '{"a": "y"}'), ({"a": "x"}, {"a": "y"})):
        calls = [{"function": {"name": "f", "arguments": arguments}} for arguments in (first, second)]
        assert ours(deltas(*calls)) == ("ok", [{"a": "x"}, {"a": "y"}])


@pytest.mark.parametrize("name", [None, "", "f"])
def test_fragments_under_new_ids_are_one_call(name: str | None) -> None:
    halves = ['{"a": ', '"x"', "}"]
    calls = [
        {"id": str(place), "function": {"name": name if place else "f", "arguments": half}} for place, half in enumerate(halves)
    ]
    assert ours(deltas(*calls)) == ("ok", [{"a": "x"}])


def test_whole_calls_with_ids_of_their_own_are_two() -> None:
    calls = [{"id": word, "function": {"name": "f", "arguments": json.dumps({"a": word})}} for word in "xy"]
    assert ours(deltas(*calls)) == ("ok", [{"a": "x"}, {"a": "y"}])


@pytest.mark.parametrize(
    "text",
    [
        DEEPSEEK,
        'f[ARGS]{"a": "x"}',
        '[ARGS]{"a": "x"}',
        'json\n{"a": "x"}',
        '<|begin_of_box|>{"a": "x"}<|end_of_box|>',
        '<think>hm</think>\n<|begin_of_box|>{"a": "x"}<|end_of_box|>',
        KIMI,
    ],
)
def test_notations_of_open_models_are_read_without_a_rest(text: str) -> None:
    lifted = lift(said(text), lower(SCHEMA, "vllm", "f").map)
    assert (lifted.status, lifted.values, lifted.text) == ("ok", [{"a": "x"}], None)


def test_a_numbered_name_of_kimi_is_read_and_told() -> None:
    lifted = lift(called('{"a": "x"}', "functions_f_1"), lower(SCHEMA, "openai", "f").map)
    assert [repair.what for repair in lifted.call.repairs] == ["tool-name"]
    assert lifted.value == {"a": "x"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_data_of_an_event_may_stand_on_several_lines(end: str) -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": '{"a": "x"}'}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = [f"data: {line}" for line in json.dumps(piece, indent=1).split("\n")]
    events = end.join([*lines, "", f"data: {json.dumps(last)}", "", "data: [DONE]", ""])
    assert ours(events) == ("ok", [{"a": "x"}])
    assert ours(end.join([f"data: {json.dumps(item)}" for item in (piece, last)] + ["data: [DONE]"])) == ("ok", [{"a": "x"}])
