"""Streams as libraries and frameworks hand them out, whole and as they run: in the shapes of their classes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from itertools import repeat
from typing import Any

import pytest
from every_case import every_case

from instrc import CompileError, lift, lower, lower_all

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
MAP = lower_all([("one", SCHEMA), ("two", SCHEMA)], "openai").map
HALVES = ('{"a"', ': "x"}')
TEXT = "".join(HALVES)
BOTH = [("one", {"a": "x"}, "c0"), ("two", {"a": "x"}, "c1")]


def delta(index: int, name: str | None, arguments: str, id_: str | None) -> dict[str, Any]:
    return {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


DELTAS = [delta(0, "one", HALVES[0], "c0"), delta(0, None, HALVES[1], None), delta(1, "two", TEXT, "c1")]


def chunk(tool_calls: list[Any] | None, reason: str | None = None) -> dict[str, Any]:
    said = {"index": 0, "delta": {"content": None, "tool_calls": tool_calls}, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "choices": [said]}


CHAT = [*(chunk([each]) for each in DELTAS), chunk(None, "tool_calls")]


def langchain(call: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    listed = [] if call is None else [{"type": "tool_call_chunk", **call}]
    beside: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "tool_calls": [], "invalid_tool_calls": []}
    return {"type": "AIMessageChunk", "content": "", "tool_call_chunks": listed, "chunk_position": None, **beside, **more}


LANGCHAIN = [
    langchain({"name": "one", "args": HALVES[0], "id": "c0", "index": 0}),
    langchain({"name": None, "args": HALVES[1], "id": None, "index": 0}),
    langchain({"name": "two", "args": TEXT, "id": "c1", "index": 1}, content=[{"type": "text", "text": "Now: "}]),
    langchain(None, chunk_position="last"),
]


def call_part(name: str, args: str, id_: str) -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": name, "args": args, "tool_call_id": id_}


PYDANTIC_AI: list[dict[str, Any]] = [
    {"event_kind": "part_start", "index": 0, "part": {"part_kind": "thinking", "content": "hm"}},
    {"event_kind": "part_start", "index": 1, "part": call_part("one", HALVES[0], "c0")},
    {"event_kind": "final_result", "tool_name": "one", "tool_call_id": "c0"},
    {"event_kind": "part_delta", "index": 1, "delta": {"part_delta_kind": "tool_call", "args_delta": HALVES[1]}},
    {"event_kind": "part_end", "index": 1, "part": call_part("one", TEXT, "c0")},
    {"event_kind": "part_start", "index": 2, "part": call_part("two", TEXT, "c1")},
]


ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c0", "name": "one", "input": {}}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": TEXT}},
    {"type": "input_json", "partial_json": TEXT, "snapshot": {"a": "x"}},
    {"type": "content_block_stop", "index": 0, "content_block": {}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c1", "name": "two", "input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": TEXT}},
    {"type": "text", "text": "x", "snapshot": "x"},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop", "message": {}},
]
EVENTS = [{"type": "chunk", "chunk": each, "snapshot": {}} for each in CHAT]
STREAMS: dict[str, list[dict[str, Any]]] = {
    "openai chat": CHAT,
    "openai chat, events of its library": [EVENTS[0], {"type": "tool_calls.function.arguments.delta", "index": 0}, *EVENTS[1:]],
    "anthropic, events of its library": ANTHROPIC,
    "mistral": [{"data": each} for each in CHAT],
    "mistral, whose library says null": [
        {"data": each} for each in json.loads(json.dumps(CHAT).replace('"id": null', '"id": "null"'))
    ],
    "langchain": LANGCHAIN,
    "pydantic-ai": PYDANTIC_AI,
    "pydantic-ai, each part told once": [
        {"event_kind": "part_start", "index": 1, "part": call_part("one", HALVES[0], "c0")},
        {"event_kind": "part_start", "index": 2, "part": call_part("two", HALVES[0], "c1")},
        {"event_kind": "part_delta", "index": 2, "delta": {"part_delta_kind": "tool_call", "args_delta": HALVES[1]}},
        {"event_kind": "part_delta", "index": 1, "delta": {"part_delta_kind": "tool_call", "args_delta": HALVES[1]}},
        {"event_kind": "part_delta", "index": 7, "delta": {"part_delta_kind": "tool_call", "args_delta": "of no part"}},
        {"event_kind": "part_end", "index": 8, "part": call_part("three", TEXT, "of no part")},
    ],
    "smolagents": [{"content": None, "tool_calls": [each], "token_usage": None} for each in DELTAS],
}


@every_case("name", STREAMS)
def test_a_stream_of_a_library_is_the_answer_it_makes(name: str) -> None:
    for answer in (STREAMS[name], iter(STREAMS[name])):
        lifted = lift(answer, MAP)
        assert lifted.status == "ok", lifted
        assert [(call.name, call.value, call.id) for call in lifted.calls] == BOTH


def test_lines_and_fragments_of_a_response_are_read_as_they_come() -> None:
    lines = [f"data: {json.dumps(each)}" for each in CHAT] + ["data: [DONE]"]
    fragments = "\n\n".join(lines).encode()
    for answer in (
        iter(lines),
        (line.encode() for line in lines),
        (fragments[at : at + 7] for at in range(0, len(fragments), 7)),
    ):
        assert [call.value for call in lift(answer, MAP).calls] == [{"a": "x"}, {"a": "x"}]


class Events:
    """As the event streams of boto3 are: they can be gone through, and are no iterators."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c0", "name": "one"}}}}
        yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": TEXT}}}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def test_the_stream_in_a_response_of_bedrock_is_read() -> None:
    lifted = lift({"ResponseMetadata": {}, "stream": Events()}, MAP)
    assert [(call.name, call.value) for call in lifted.calls] == [("one", {"a": "x"})]
    broken = [*[*Events()][:2], {"throttlingException": {"message": "Slow down."}}]
    assert lift(broken, MAP).failure == "Slow down."


async def _pieces() -> AsyncIterator[dict[str, Any]]:
    yield CHAT[0]


def test_what_has_to_be_awaited_is_a_type_error_that_says_so() -> None:
    waiting = _pieces().__anext__()
    for answer in (_pieces(), waiting):
        with pytest.raises(TypeError, match="`await` it"):
            lift(answer, MAP)
    waiting.close()


def test_what_langchain_gives_in_parts_is_text_but_for_what_the_model_thinks() -> None:
    parts = [[{"type": "thinking", "text": "Hm. "}, {"type": "text", "text": "Which "}], [{"type": "text", "text": "day"}, "?"]]
    said = lift([*(langchain(None, content=each) for each in parts), langchain(None, chunk_position="last")], MAP)
    assert (said.status, said.text) == ("empty", "Which day?")


@every_case(("told", "shown"), [({"message": "Slow down."}, "Slow down."), ({}, "error")])
def test_a_conversation_of_mistral_fails_for_the_reason_that_it_tells(told: dict[str, str], shown: str) -> None:
    lifted = lift([{"type": "conversation.response.started"}, {"type": "conversation.response.error", "code": 429, **told}], MAP)
    assert (lifted.status, lifted.failure) == ("failed", shown)


def test_a_stream_of_langchain_that_has_no_last_chunk_is_cut_off() -> None:
    assert lift(LANGCHAIN[:-1], MAP).status == "cut"
    assert lift(LANGCHAIN[:2], MAP).status == "cut"
    assert lift([*LANGCHAIN[:1], langchain(None, chunk_position="last")], MAP).status == "cut"


def test_a_text_that_mistral_streams_in_parts_behind_its_thinking_is_whole() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    said = [thinking, [{"type": "text", "text": HALVES[0]}], HALVES[1]]
    pieces: list[Any] = [{"choices": [{"index": 0, "delta": {"content": each}, "finish_reason": None}]} for each in said]
    pieces[-1]["choices"][0]["finish_reason"] = "stop"
    assert lift(pieces, lower(SCHEMA, "mistral-output").map).value == {"a": "x"}


@every_case(
    ("status", "about"),
    [
        ("refused", {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}),
        ("refused", {"prompt_feedback": {"block_reason": "PROHIBITED_CONTENT"}}),
        ("cut", {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
        ("failed", {"status": "failed", "error": {"code": "server_error", "message": "Sorry"}}),
        ("empty", {"status": "completed", "incomplete_details": None, "prompt_feedback": {"block_reason": 0}, "error": None}),
    ],
)
def test_why_a_message_of_langchain_holds_nothing_is_told(status: str, about: Any) -> None:
    said = {"type": "ai", "content": [], "additional_kwargs": {}, "tool_calls": [], "response_metadata": about}
    assert lift(said, MAP).status == status


def test_a_call_that_langchain_could_not_read_is_told_where_it_stands_among_the_parts() -> None:
    call = {"type": "invalid_tool_call", "name": "one", "args": '{"a": 5 5}', "id": "c", "error": "no JSON"}
    said = {"type": "ai", "content": [call], "additional_kwargs": {}, "tool_calls": [], "response_metadata": {}}
    assert lift(said, MAP).status == "invalid"


def test_a_refusal_that_langchain_wraps_and_an_error_of_boto3_are_told() -> None:
    wrapped = {"type": "non_standard", "value": {"type": "refusal", "refusal": "No."}}
    said = {"type": "ai", "content": [wrapped], "additional_kwargs": {}, "tool_calls": [], "response_metadata": {}}
    assert lift(said, MAP).refusal == "No."
    error = {"Error": {"Code": "ThrottlingException", "Message": "slow"}, "ResponseMetadata": {"HTTPStatusCode": 429}}
    assert lift(error, MAP).failure == "slow"


def test_a_refusal_beside_a_message_of_langchain_is_one() -> None:
    said = {"type": "ai", "content": "", "additional_kwargs": {"refusal": "I won't."}, "tool_calls": []}
    assert lift(said, MAP).refusal == "I won't."
    pieces = [langchain(None, additional_kwargs={"refusal": each}) for each in ("I ", "won't.")]
    assert lift(pieces, MAP).refusal == "I won't."


def test_a_call_that_gemini_sends_in_parts_is_cut() -> None:
    record = lower({"type": "object", "properties": {"city": {"type": "string"}}}, "gemini", "plan").map
    begins = {"functionCall": {"name": "plan", "willContinue": True}}
    follows = {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Oslo"}], "willContinue": True}}
    alone = {"function_call": {"name": "plan", "partial_args": [{"json_path": "$.city", "string_value": "Oslo"}]}}
    for parts in ([begins, follows, {"functionCall": {}}], [begins, follows], [alone]):
        whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        pieces = [{"candidates": [{"content": {"parts": [each]}}]} for each in parts]
        for answer in (whole, parts, pieces):
            assert lift(answer, record).status == "cut"


def test_a_stream_without_end_is_refused_and_not_cut_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.providers.lifting.answers.STREAMED_PIECES", 100)
    piece = {"choices": [{"delta": {"content": "a"}}]}
    assert lift(iter([piece] * 100), MAP).status == "cut"
    with pytest.raises(CompileError, match="the stream has over 100 pieces"):
        lift(repeat(piece), MAP)


@every_case("beside", [{}, {"event": "message"}, {"event": "message", "id": None, "retry": None}])
def test_events_whose_data_is_still_a_text_are_the_answer_they_make(beside: dict[str, Any]) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "one", "arguments": HALVES[0]}}
    pieces: list[Any] = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": HALVES[1]}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    events = [{**beside, "data": json.dumps(piece)} for piece in pieces]
    lifted = lift([{**beside, "data": ""}, *events, {**beside, "data": "[DONE]"}], MAP)
    assert (lifted.status, lifted.value) == ("ok", {"a": "x"})
    assert lift([{"data": "[DONE]"}], MAP).status == "invalid"
    assert lift([{"data": "no JSON"}, *events], MAP).status == "invalid"
