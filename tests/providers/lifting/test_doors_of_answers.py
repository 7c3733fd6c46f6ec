"""A fact about an answer is told alike however the answer comes: as an object, a text, bytes, events, lines, a stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from every_case import every_case

from instrc import lift, lower

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TARGETS = (
    "openai",
    "openai-output",
    "openai-responses",
    "openai-responses-output",
    "anthropic-output",
    "bedrock",
    "bedrock-output",
)
LOWERED = {target: lower(SCHEMA, target, "t") for target in TARGETS}

# What a provider says went wrong


BEGUN: dict[str, Any] = {
    "anthropic": {"type": "message_start", "message": {"role": "assistant", "content": []}},
    "responses": {"type": "response.created", "response": {"output": []}},
    "chat": {"choices": [{"index": 0, "delta": {"content": "x"}}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
    "ollama": {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": False},
    "converse": {"messageStart": {"role": "assistant"}},
    "mistral": {"type": "conversation.response.started", "conversation_id": "c"},
}
ERRORS: list[tuple[str, Any]] = [
    ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Oops"}}),
    ("anthropic", {"type": "error", "message": "Oops"}),
    ("responses", {"type": "error", "code": "server_error", "message": "Oops", "param": None}),
    ("responses", {"type": "error", "error": {"message": "Oops", "code": "x"}}),
    ("responses", {"type": "response.error", "error": {"message": "Oops"}}),
    ("responses", {"type": "response.failed", "response": {"status": "failed", "error": {"message": "Oops"}, "output": []}}),
    ("chat", {"error": {"message": "Oops", "code": 500}}),
    ("chat", {"error": "Oops"}),
    ("chat", {"object": "error", "message": "Oops", "type": "x", "code": 400}),
    ("chat", {"choices": [], "error": {"message": "Oops"}}),
    ("chat", {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}], "error": {"message": "Oops"}}),
    ("gemini", {"error": {"code": 503, "message": "Oops", "status": "UNAVAILABLE"}}),
    ("ollama", {"error": "Oops"}),
    ("converse", {"throttlingException": {"message": "Oops"}}),
    ("mistral", {"type": "conversation.response.error", "message": "Oops"}),
]


def _events(*pieces: Any) -> str:
    return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)


def _named_events(*pieces: Any) -> str:
    return "".join(f"event: {piece.get('type', 'message')}\ndata: {json.dumps(piece)}\n\n" for piece in pieces)


def _lines(*pieces: Any) -> str:
    return "\n".join(map(json.dumps, pieces))


DOORS: dict[str, Callable[..., Any]] = {
    "list": lambda *pieces: [*pieces],
    "stream": lambda *pieces: iter(pieces),
    "events": _events,
    "bytes of events": lambda *pieces: _events(*pieces).encode(),
    "named events": _named_events,
    "lines": _lines,
}


@every_case("door", DOORS)
@every_case("target", LOWERED)
def test_an_error_is_told_in_its_words_first_alone_and_behind_others(door: str, target: str) -> None:
    for provider, error in ERRORS:
        for pieces in ([error], [BEGUN[provider], error]):
            found = lift(DOORS[door](*pieces), LOWERED[target])
            assert (found.status, found.failure) == ("failed", "Oops"), (provider, error, len(pieces))


@every_case("target", LOWERED)
def test_an_error_as_a_whole_answer_is_told_in_its_words(target: str) -> None:
    for _, error in ERRORS:
        for answer in (error, json.dumps(error), json.dumps(error).encode()):
            assert lift(answer, LOWERED[target]).failure == "Oops", error


# A key that stands twice in one object


TWICE = '{"a": "x", "a": "y"}'
CALL: Any = {"id": "1", "type": "function", "function": {"name": "t", "arguments": TWICE}}
HALVES: Any = [
    {
        "choices": [
            {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "t", "arguments": TWICE[:7]}}]}}
        ]
    },
    {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "function": {"arguments": TWICE[7:]}}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
]
OLLAMA = (
    '{"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "t", "arguments": %s}}]}, "done": %s}'
)
BEDROCK = '{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"name": "t", "input": %s}}]}}}'
REPEATED: dict[str, Any] = {
    "bare": TWICE,
    "a text of a text": json.dumps(TWICE),
    "a fence": f"```json\n{TWICE}\n```",
    "loose": "{'a': 'x', 'a': 'y'}",
    "with its name": f'{{"name": "t", "arguments": {TWICE}}}',
    "chat": {"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
    "events of chat": _events(*HALVES),
    "content of chat": {"choices": [{"message": {"role": "assistant", "content": TWICE}, "finish_reason": "stop"}]},
    "responses": {
        "object": "response",
        "status": "completed",
        "output": [{"type": "function_call", "name": "t", "arguments": TWICE}],
    },
    "text of bedrock": BEDROCK % TWICE,
    "output of anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": TWICE}],
        "stop_reason": "end_turn",
    },
    "text of anthropic": f'{{"role": "assistant", "content": [{{"type": "tool_use", "name": "t", "input": {TWICE}}}]}}',
    "text of gemini": f'{{"candidates": [{{"content": {{"parts": [{{"functionCall": {{"name": "t", "args": {TWICE}}}}}]}}}}]}}',
    "text of ollama": OLLAMA % (TWICE, "true"),
    "bytes of ollama": (OLLAMA % (TWICE, "true")).encode(),
    "lines of ollama": f"{OLLAMA % (TWICE, 'false')}\n" + '{"message": {"role": "assistant", "content": ""}, "done": true}',
    "text of mcp": f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "t", "arguments": {TWICE}}}}}',
}
IN_TEXT = [
    f'<tool_call>\n{{"name": "t", "arguments": {TWICE}}}\n</tool_call>',
    f'[TOOL_CALLS][{{"name": "t", "arguments": {TWICE}}}]',
    f"[TOOL_CALLS]t[ARGS]{TWICE}",
    f'{{"name": "t", "arguments": {TWICE}}}; {{"name": "t", "arguments": {{"a": "z"}}}}',
    f'So:\n```json\n{{"name": "t", "arguments": {TWICE}}}\n```',
]


def _told(answer: Any, target: str) -> list[Any]:
    found = lift(answer, lower(SCHEMA, target, "t"))
    return [
        (call.value, [(repair.what, repair.key) for repair in call.repairs if repair.what == "repeated-key"])
        for call in found.calls
    ]


@every_case("door", REPEATED)
@every_case("target", LOWERED)
def test_a_key_that_stands_twice_is_told(door: str, target: str) -> None:
    assert _told(REPEATED[door], target) == [({"a": "y"}, [("repeated-key", "a")])]


@every_case("text", IN_TEXT)
def test_a_key_that_stands_twice_in_a_call_in_a_text_is_told_of_that_call(text: str) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    first, *others = _told(answer, "vllm")
    assert first == ({"a": "y"}, [("repeated-key", "a")])
    assert others in ([], [({"a": "z"}, [])])


def test_a_key_of_the_envelope_alone_is_not_told_of_a_call() -> None:
    call = '{"type": "tool_use", "id": "1", "name": "t", "input": {"a": "x"}}'
    text = f'{{"role": "assistant", "role": "assistant", "content": [{call}]}}'
    assert _told(text, "anthropic") == [({"a": "x"}, [])]


def test_pairs_of_one_key_are_told_as_in_a_text() -> None:
    free = {"type": "object", "additionalProperties": {"type": "integer"}}
    lowered = lower({"type": "object", "properties": {"m": free}, "required": ["m"]}, "openai", "t")
    assert lowered.payload["function"]["parameters"]["properties"]["m"]["type"] == "array", "no strict object is free"
    pairs = [{"key": "k", "value": 1}, {"key": "k", "value": 2}]
    repairs = lift({"name": "t", "arguments": {"m": pairs}}, lowered).call.repairs
    assert [(repair.what, repair.key) for repair in repairs] == [("repeated-key", "k")]
