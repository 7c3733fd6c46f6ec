"""No answer, however odd, ends in a traceback, changes what was given, or takes for ever."""

from __future__ import annotations

import copy
from typing import Any, get_args

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc import lift, lower, lower_all
from instrc.providers.lifting.repair import RepairKind  # the list of repairs, or one of them
from instrc.text.jsontext import dumps, loads

SCHEMA: Any = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "$b": {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"type": "array"}]},
        "c": {"enum": ["Yes", 1, None]},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["a"],
    "additionalProperties": False,
}
MAPS = [lower(SCHEMA, target, "tool").map for target in ("jsonschema", "openai", "gigachat", "vllm", "anthropic")]
MAPS.append(lower_all([("tool", SCHEMA), ("other", {"type": "object"})], "ollama").map)
WORDS = [
    *(
        "choices",
        "message",
        "delta",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "parameters",
        "input",
        "type",
        "text",
    ),
    *("candidates", "parts", "functionCall", "args", "finishReason", "output", "outputs", "error", "result", "jsonrpc", "status"),
    *(
        "stop_reason",
        "done",
        "done_reason",
        "response",
        "messages",
        "role",
        "refusal",
        "structuredContent",
        "isError",
        "index",
        "id",
    ),
    *(
        "custom_id",
        "body",
        "ResponseMetadata",
        "generations",
        "generation_info",
        "raw_item",
        "replies",
        "meta",
        "_content",
        "_role",
    ),
    *("_meta", "alternatives", "results", "predictions", "outputText", "generated_text", "completion", "stop_type", "success"),
    *("errors", "tool", "tool_input", "action", "chunk", "bytes", "cached", "kind", "parts", "custom", "tool_call", "request_id"),
    *("a", "$b", "b", "c", "m", "key", "value", "choice", "tool", "other", "item", "promptFeedback", "blockReason", "thought"),
]
KINDS = [
    "tool_use",
    "function_call",
    "text",
    "message",
    "refusal",
    "error",
    "assistant",
    "length",
    "SAFETY",
    "failed",
    "tools/call",
    "custom",
    "user",
    "ai",
    "human",
    "tool_call_item",
    "AssistantMessage",
    "accept",
    "succeeded",
    "errored",
]
EVENTS = [
    "message_delta",
    "content_block_start",
    "content_block_delta",
    "response.completed",
    "response.output_item.added",
    "ping",
    "tool-call-start",
    "tool-call-delta",
    "content-start",
    "content-delta",
    "message-end",
]
PIECES = [
    *("<tool_call>", "</tool_call>", "<function=tool>", "</function>", "<parameter=a>", "</parameter>", "<think>", "</think>"),
    *(
        "[TOOL_CALLS]",
        "[ARGS]",
        "<|python_tag|>",
        '<invoke name="tool">',
        "</invoke>",
        "<|channel|>",
        "<|message|>",
        " to=functions.tool",
        "<|start|>assistant",
        "<|START_ACTION|>",
        "call:tool{",
        ">>>tool\n",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
    ),
    *("```json\n", "\n```\n", "{", "}", "[", "]", '"', '{"name": "tool", "arguments": {"a": "x"}}', "tool", "(a=1)", ",", ";"),
    *(
        "data: ",
        "\n",
        "event: x\n",
        '{"done": true, "response": "',
        '{"choices": [{"delta": {}}]}',
        "\\",
        "<｜tool▁call▁begin｜>",
        "\0",
    ),
]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([*WORDS, *KINDS, *EVENTS, *PIECES, '{"a": "x"}', "null", "5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=14,
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


@examples(300)
@given(answer=values | texts | values.map(dumps) | st.lists(values, max_size=3))
def test_any_answer_is_told_what_came_of_it(answer: Any) -> None:
    before = copy.deepcopy(answer)
    for record in MAPS:
        lifted = lift(answer, record)
        assert lifted.status in {"ok", "failed", "refused", "cut", "malformed", "empty", "invalid"}
        assert dumps(lifted.to_json())
    assert answer == before


@examples(100)
@given(arguments=st.dictionaries(st.sampled_from(["a", "$b", "b", "c", "m"]), values, max_size=4))
def test_what_is_mended_is_less_wrong_and_told(arguments: Any) -> None:
    for record in MAPS[:-1]:
        lifted = lift({"name": "tool", "arguments": arguments}, record)
        (call,) = lifted.calls
        again = lift({"name": "tool", "arguments": arguments}, record)
        assert again.calls[0].value == call.value
        if call.repairs:
            assert all(repair.what in get_args(RepairKind) for repair in call.repairs)


def test_a_long_text_of_openings_is_read_in_time_that_grows_with_it() -> None:
    record = MAPS[3]
    for piece in (
        "<tool_call>",
        "{",
        '{"name":',
        "```json\n",
        "[TOOL_CALLS]a{",
        "<function=a>",
        "<parameter=a>",
        "<invoke name='a'>",
        "<think>",
    ):
        assert lift(piece * 3000, record).status in {"cut", "invalid", "empty"}


CIRCLE: dict[str, Any] = {}
CIRCLE["choices"] = [CIRCLE]
CIRCULAR_LIST: list[Any] = []
CIRCULAR_LIST.append(CIRCULAR_LIST)
PLACES = [
    '{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": *, "function": {"name": "tool", "arguments": "{}"}}]}}]}',
    '{"type": "content_block_start", "index": *, "content_block": {}}',
    '{"contentBlockDelta": {"contentBlockIndex": *, "delta": {"text": "x"}}}',
    '{"type": "response.output_item.added", "output_index": *, "item": {}}',
    '{"type": "tool-call-start", "index": *, "delta": {"message": {"tool_calls": {}}}}',
    '{"choices": [{"message": {"tool_calls": [{"id": *, "function": {"name": *, "arguments": *}}]}}]}',
    *('{"error": *}', '{"error": {"message": *}}', '{"detail": *}', '{"generations": *}', '{"results": *}', '{"messages": [*]}'),
    *('{"custom_id": 1, "result": *}', '{"tool": "tool", "tool_input": *}', '{"tool": *}', '{"arguments": *}', "[*]", '{"a": *}'),
]


@pytest.mark.long
@every_case("place", PLACES)
def test_what_is_deep_or_holds_itself_is_no_traceback_wherever_it_stands(place: str) -> None:
    for deep in ("[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000):
        assert lift(place.replace("*", deep), MAPS[1]).problems
    for circle in (CIRCLE, CIRCULAR_LIST):
        answer = _with_circles(loads(place.replace("*", '"*"')), circle)
        for record in MAPS:
            assert lift(answer, record).problems


def _with_circles(value: Any, circle: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_circles(item, circle) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_circles(item, circle) for item in value]
    return circle if value == "*" else value


@every_case(
    "answer",
    [{"a": "\ud800"}, {"a": "x", "\udc00": 1}, {"a": ["\ud800"]}, '{"a": "\\ud800"}', {1: 2}, {"a": {None: 1}}, {"a": b"x"}],
)
def test_what_no_json_can_hold_is_invalid_as_text_and_as_a_value(answer: Any) -> None:
    (call,) = lift(answer, MAPS[1]).calls
    assert [violation.keyword for violation in call.violations] == ["json"]
    assert (call.output, call.thoughts) == (call.value, {})
