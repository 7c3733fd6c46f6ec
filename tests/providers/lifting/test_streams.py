"""The pieces of a streamed answer are read as the answer they make."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from every_case import every_case

from instrc import lift, lower, lower_all

SCHEMA: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
VALUE = {"city": "Oslo", "days": 2}
ARGUMENTS = ['{"city"', ': "Os', 'lo", "days": 2}']


def deltas(*parts: dict[str, Any], reason: str | None = "tool_calls") -> list[dict[str, Any]]:
    """Return the pieces of Chat Completions."""
    first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}
    last = [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": {}}] if reason else []
    return [first, *({"choices": [{"index": 0, "delta": part}]} for part in parts), *last]


def call(text: str, **more: Any) -> dict[str, Any]:
    """Return a fragment of a call."""
    return {"tool_calls": [{"index": 0, "function": {"arguments": text}, **more}]}


FIRST = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "weather", "arguments": ""}}]}
BLOCK = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
ITEM = {"type": "function_call", "call_id": "f1", "name": "weather", "arguments": ""}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "openai chat": deltas(FIRST, *map(call, ARGUMENTS)),
    "openai output": deltas(*({"content": text} for text in ARGUMENTS), reason="stop"),
    "mistral": deltas({"tool_calls": [{"id": "x", "function": {"name": "weather", "arguments": VALUE}}]}),
    "gigachat": deltas({"function_call": {"name": "weather", "arguments": VALUE}}, reason="function_call"),
    "anthropic": [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me see."}},
        {"type": "content_block_start", "index": 1, "content_block": BLOCK},
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": text}}
            for text in ARGUMENTS
        ),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ],
    "openai responses": [
        {"type": "response.created", "response": {"object": "response", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
        *({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text} for text in ARGUMENTS),
        {
            "type": "response.completed",
            "response": {"object": "response", "status": "completed", "output": [{**ITEM, "arguments": "".join(ARGUMENTS)}]},
        },
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "So: ", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "weather", "args": VALUE}}]}, "finishReason": "STOP"}]},
    ],
    "ollama chat": [
        {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False},
        {"message": {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": VALUE}}]}, "done": False},
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ],
    "ollama text": [
        *({"response": text, "done": False} for text in ARGUMENTS),
        {"response": "", "done": True, "done_reason": "stop"},
    ],
}


def written(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a stream in the forms in which it can be kept."""
    return {
        "list": pieces,
        "text of a list": json.dumps(pieces),
        "events": "".join(f"event: {piece.get('type', 'x')}\ndata: {json.dumps(piece)}\n\n" for piece in pieces)
        + "data: [DONE]\n\n",
        "lines": "\n".join(map(json.dumps, pieces)) + "\n",
    }


@every_case("provider", STREAMS)
@every_case("form", ["list", "text of a list", "events", "lines"])
def test_a_stream_is_the_answer_it_makes(provider: str, form: str) -> None:
    lifted = lift(written(STREAMS[provider])[form], lower(SCHEMA, "openai", "weather").map)
    assert lifted.ok, lifted
    assert lifted.value == VALUE


@every_case("provider", STREAMS)
def test_a_stream_that_ends_too_early_is_cut_off(provider: str) -> None:
    pieces = STREAMS[provider]
    shorter = (
        pieces[:-2] if provider.startswith(("anthropic", "openai chat", "openai output", "mistral", "gigachat")) else pieces[:-1]
    )
    lifted = lift(shorter, lower(SCHEMA, "openai", "weather").map)
    assert lifted.status == "cut"


def test_of_a_response_that_ends_too_early_the_arguments_that_came_are_there_and_no_other_text() -> None:
    said = {"type": "response.output_text.delta", "output_index": 0, "delta": "So: "}
    lifted = lift(
        [*STREAMS["openai responses"][:2], said, *STREAMS["openai responses"][2:-1]], lower(SCHEMA, "openai", "weather").map
    )
    assert (lifted.status, lifted.call.value) == ("cut", VALUE)


def test_parallel_calls_of_a_stream_are_told_apart() -> None:
    two = deltas(
        FIRST,
        *map(call, ARGUMENTS),
        {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "weather", "arguments": '{"city": "Bonn", '}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": '"days": 1}'}}]},
    )
    lifted = lift(two, lower(SCHEMA, "openai", "weather").map)
    assert [(each.id, each.value["city"]) for each in lifted.calls] == [("c1", "Oslo"), ("c2", "Bonn")]
    miscounted = deltas(
        FIRST, *map(call, ARGUMENTS), {"tool_calls": [{**two[5]["choices"][0]["delta"]["tool_calls"][0], "index": 0}]}
    )
    assert len(lift(miscounted, lower(SCHEMA, "openai", "weather").map).calls) == 2


def test_a_gemini_stream_is_whole_by_its_reason_alone_and_has_one_candidate() -> None:
    tool = lower(SCHEMA, "gemini", "tool")
    parts = [{"functionCall": {"name": "tool", "args": VALUE}}]
    begun: Any = {"candidates": [{"index": 0, "content": {"parts": parts}}]}
    for feedback in ({}, {"safetyRatings": []}):
        assert lift([{**begun, "promptFeedback": feedback}], tool).status == "cut"
    assert lift([{"promptFeedback": {"blockReason": "SAFETY"}}], tool).refusal == "SAFETY"
    other: Any = {"candidates": [{"index": 1, "content": {"parts": parts}, "finishReason": "STOP"}]}
    ended: Any = {"candidates": [{"index": 0, "content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]}
    assert lift([begun, other], tool).status == "cut"
    assert lift([begun, other, ended], tool).values == [VALUE]


def test_of_several_answers_the_first_by_number_is_read() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "tool", "arguments": json.dumps(VALUE)}}]
    ended: Any = {"finish_reason": "stop"}
    choices: Any = [{"index": 1, "message": {"content": "No."}, **ended}, {"index": 0, "message": {"tool_calls": calls}, **ended}]
    assert lift({"choices": choices}, lower(SCHEMA, "openai", "tool")).values == [VALUE]
    parts = [{"functionCall": {"name": "tool", "args": VALUE}}]
    candidates: Any = [{"index": 1, "content": {"parts": [{"text": "No."}]}}, {"index": 0, "content": {"parts": parts}}]
    assert lift({"candidates": candidates}, lower(SCHEMA, "gemini", "tool")).values == [VALUE]
    unnumbered = [{"choices": [{"index": None, "delta": {"tool_calls": [{"index": 0, **calls[0]}]}, **ended}]}]
    assert lift(unnumbered, lower(SCHEMA, "openai", "tool")).values == [VALUE]


def test_an_error_in_a_stream_is_one() -> None:
    record = lower(SCHEMA, "anthropic", "weather").map
    for pieces in (
        [
            {"type": "message_start", "message": {}},
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ],
        [{"type": "response.created", "response": {}}, {"type": "error", "message": "Overloaded"}],
    ):
        lifted = lift(pieces, record)
        assert lifted.status == "failed"
        assert lifted.failure == "Overloaded"


def test_a_refusal_in_a_stream_is_one() -> None:
    assert lift(deltas({"refusal": "I "}, {"refusal": "won't."}, reason="stop"), lower(SCHEMA).map).refusal == "I won't."
    assert lift([{"promptFeedback": {"blockReason": "SAFETY"}}], lower(SCHEMA, "gemini").map).status == "refused"


@every_case("text", ["data: {", "data: 3\n\n", "{}\n{}", '{"a": 1}\n{"b', "data:", "\n\n", '{"choices": 3}\n{"choices": 4}'])
def test_what_is_no_stream_is_no_traceback(text: str) -> None:
    assert not lift(text, lower_all([("a", SCHEMA), ("b", SCHEMA)]).map).ok


@every_case("odd", [[], ["a"], {"a": 1}, None, 1.5, True])
@every_case(
    "pieces",
    [
        lambda odd: [{"choices": [{"index": odd, "delta": {"tool_calls": [{"index": odd, "function": {"arguments": "{}"}}]}}]}],
        lambda odd: [
            {"type": "message_start"},
            {"type": odd},
            {"type": "content_block_start", "index": odd, "content_block": {"type": "tool_use", "name": "t"}},
        ],
        lambda odd: [{"type": "response.output_item.done", "output_index": odd, "item": {"type": "function_call", "name": "t"}}],
        lambda odd: [{"contentBlockStart": {"contentBlockIndex": odd, "start": {"toolUse": {"name": "t"}}}}],
    ],
)
def test_a_number_of_a_piece_that_is_none_does_not_end_the_reading(pieces: Callable[[Any], Any], odd: Any) -> None:
    record = lower({"type": "object", "properties": {}}, "openai", "t").map
    assert lift(pieces(odd), record).status in {"ok", "cut", "invalid", "empty"}
