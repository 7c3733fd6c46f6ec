"""Two calls that a stream sends at one index and without ids are two, in the shape of each protocol that has indexes."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from every_case import every_case

from instrc import lift, lower_all

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
EMPTY: Any = {"type": "object", "properties": {}, "additionalProperties": False}
MAP = lower_all([("one", SCHEMA), ("two", SCHEMA), ("ping", EMPTY)], "openai").map
X, Y = '{"a": "x"}', '{"a": "y"}'
Calls = list[tuple[str | None, Any]]


def _chunks(*deltas: dict[str, Any], reason: str = "tool_calls") -> list[Any]:
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return [*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), ended]


def _functions(calls: Calls) -> list[dict[str, Any]]:
    return [{"arguments": arguments} | ({"name": name} if name else {}) for name, arguments in calls]


def _chat(calls: Calls, **more: Any) -> list[Any]:
    return _chunks(*({"tool_calls": [{"index": 0, **more, "function": function}]} for function in _functions(calls)))


def _langchain(calls: Calls) -> list[Any]:
    about: dict[str, Any] = {"type": "AIMessageChunk", "content": "", "additional_kwargs": {}, "response_metadata": {}}
    listed = [[{"type": "tool_call_chunk", "index": 0, "id": None, "name": name, "args": args}] for name, args in calls]
    return [
        *({**about, "tool_call_chunks": each} for each in listed),
        {**about, "tool_call_chunks": [], "chunk_position": "last"},
    ]


def _bedrock(calls: Calls) -> list[Any]:
    result: list[Any] = [{"messageStart": {"role": "assistant"}}]
    for name, arguments in calls:
        if name is not None:
            begun = {"toolUse": {"toolUseId": f"t{len(result)}", "name": name}}
            result.append({"contentBlockStart": {"start": begun, "contentBlockIndex": 0}})
        result.append({"contentBlockDelta": {"delta": {"toolUse": {"input": arguments}}, "contentBlockIndex": 0}})
    return [*result, {"messageStop": {"stopReason": "tool_use"}}]


def _anthropic(calls: Calls) -> list[Any]:
    result: list[Any] = [{"type": "message_start", "message": {"role": "assistant", "content": []}}]
    for name, arguments in calls:
        if name is not None:
            block = {"type": "tool_use", "name": name, "input": {}}
            result.append({"type": "content_block_start", "index": 0, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": arguments}
        result.append({"type": "content_block_delta", "index": 0, "delta": delta})
    return [*result, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def _conversation(calls: Calls) -> list[Any]:
    last = ""
    said = [(last := name or last, arguments) for name, arguments in calls]
    events = ({"type": "function.call.delta", "name": name, "tool_call_id": "null", "arguments": text} for name, text in said)
    return [{"type": "conversation.response.started"}, *events, {"type": "conversation.response.done"}]


def _responses(calls: Calls) -> list[Any]:
    result: list[Any] = [{"type": "response.created", "response": {"object": "response", "output": []}}]
    for place, (name, arguments) in enumerate(calls):
        item = {"type": "function_call", "name": name, "arguments": ""}
        if name is not None:
            result.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        result.append({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": arguments})
        if place + 1 == len(calls) or calls[place + 1][0] is not None:
            result.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    return [*result, {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}]


def _responses_ends(calls: Calls) -> list[Any]:
    """Return events of ends alone."""
    kind = "response.function_call_arguments.done"
    done = [{"type": kind, "output_index": 0, "name": name, "arguments": arguments} for name, arguments in calls]
    last = {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}
    return [{"type": "response.created", "response": {"output": []}}, *done, last]


STREAMS: dict[str, Callable[[Calls], list[Any]]] = {
    "chat": _chat,
    "chat, null for ids": lambda calls: _chat(calls, id=None),
    "chat, ids of Mistral's library": lambda calls: _chat(calls, id="null"),
    "chat, no index": lambda calls: _chunks(*({"tool_calls": [{"function": each}]} for each in _functions(calls))),
    "chat, one delta": lambda calls: _chunks({"tool_calls": [{"index": 0, "function": each} for each in _functions(calls)]}),
    "chat, bare": lambda calls: _chunks(*({"tool_calls": {"index": 0, "function": each}} for each in _functions(calls))),
    "function_call": lambda calls: _chunks(*({"function_call": each} for each in _functions(calls)), reason="function_call"),
    "smolagents": lambda calls: [
        {"content": None, "tool_calls": [{"index": 0, "function": each}], "token_usage": None} for each in _functions(calls)
    ],
    "langchain": _langchain,
    "bedrock": _bedrock,
    "anthropic": _anthropic,
    "mistral conversation": _conversation,
    "responses": _responses,
    "responses, ends alone": _responses_ends,
}
WHOLE: list[Calls] = [[("one", X), ("two", Y)], [("one", X), ("one", Y)], [("one", X), ("one", X)], [("ping", "{}"), ("one", X)]]
FRAGMENTS: list[Calls] = [
    [("one", X[:5]), (None, X[5:]), ("two", Y[:5]), (None, Y[5:])],
    [("one", X[:5]), (None, X[5:]), ("one", Y[:5]), (None, Y[5:])],
    [("one", ""), (None, X), ("two", ""), (None, Y)],
]


def _read(pieces: list[Any]) -> tuple[str, list[tuple[str | None, Any]]]:
    found = lift(pieces, MAP)
    return found.status, [(call.name, call.value) for call in found.calls]


@every_case("protocol", STREAMS)
def test_whole_calls_at_one_index_without_ids_are_each_a_call(protocol: str) -> None:
    for calls in WHOLE:
        if protocol == "responses, ends alone" and calls[0][0] == calls[1][0]:
            continue  # a repeated end
        values: Any = {X: {"a": "x"}, Y: {"a": "y"}, "{}": {}}
        assert _read(STREAMS[protocol](calls)) == ("ok", [(name, values[text]) for name, text in calls]), calls


@every_case("protocol", [name for name in STREAMS if name != "responses, ends alone"])
def test_calls_in_fragments_at_one_index_are_never_mixed(protocol: str) -> None:
    for calls in FRAGMENTS:
        status, read = _read(STREAMS[protocol](calls))
        assert (status, [value for _, value in read]) == ("ok", [{"a": "x"}, {"a": "y"}]), calls


def test_one_call_whose_fragments_repeat_its_name_or_have_other_ids_is_one() -> None:
    halves = X[:5], X[5:]
    for calls in ([("one", halves[0]), ("one", halves[1])], [("one", X), ("one", "")], [("one", ""), ("one", X)]):
        assert _read(_chat([*calls])) == ("ok", [("one", {"a": "x"})])
    ids = [{"index": 0, "id": f"c{place}", "function": {"name": "one", "arguments": text}} for place, text in enumerate(halves)]
    ids[1]["function"] = {"arguments": halves[1]}
    assert _read(_chunks(*({"tool_calls": [each]} for each in ids))) == ("ok", [("one", {"a": "x"})])


def test_a_name_of_a_fragment_that_is_no_text_does_not_end_the_reading() -> None:
    odd: Any
    for odd in ({}, [], 3, {"a": []}, True):
        assert _read(_chat([("one", X), (odd, Y)]))[0] in {"ok", "invalid"}


IDS = ["", "fc_0", None]
"""What servers have for the id of an item: none, or the same for each."""


@every_case("own", IDS)
@every_case("events", [False, True])
def test_calls_of_a_stream_with_one_call_id_are_each_a_call(own: Any, events: bool) -> None:  # noqa: FBT001  -- a case
    kind, item = "response.output_item", {"type": "function_call", "id": own, "call_id": "call_0", "name": "one"}
    items = [{**item, "arguments": arguments} for arguments in (X, Y)]
    parts: list[Any] = []
    for place, each in enumerate(items if events else ()):
        parts.append({"type": f"{kind}.added", "output_index": place, "item": {**each, "arguments": ""}})
        parts.append({"type": f"{kind}.done", "output_index": place, "item": each})
    ended = {"object": "response", "status": "completed", "output": [] if events else items}
    lifted = lift([{"type": "response.created", "response": {}}, *parts, {"type": "response.completed", "response": ended}], MAP)
    assert (lifted.status, lifted.values) == ("ok", [{"a": "x"}, {"a": "y"}])
    assert [[repair.what for repair in call.repairs] for call in lifted.calls] == [[], ["repeated-id"]]


def test_fragments_with_ids_of_their_own_take_time_that_grows_with_them() -> None:
    begun, halves = process_time(), [f'{{"a": ["{"x" * 400_000}', *["x"] * 3000, '"]}']
    parts = [{"index": 0, "id": f"c{place}", "function": {"arguments": text}} for place, text in enumerate(halves)]
    parts[0]["function"] = {"name": "one", "arguments": halves[0]}
    lifted = lift(_chunks(*({"tool_calls": [part]} for part in parts)), MAP)
    assert [call.value for call in lifted.calls] == [{"a": ["x" * 403_000]}]
    assert process_time() - begun < 2
