"""Put together the streams that libraries and frameworks make of those of providers: their events, chunks and deltas.

Shapes are those of openai 3.52, anthropic 2.12, mistralai 3.7, boto3 1.44, cohere 7.3, langchain-core 1.7, pydantic-ai 2.68,
smolagents 1.26 and llama-index-core 0.14, as their libraries declare them (looked up 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonObject, listing, mapping
from instrc.lifting.replies.provider_streams import join_chat

_BESIDE_MESSAGES = frozenset({"text", "input_json", "thinking", "signature", "citation", "compaction"})
"""Events that Anthropic's `messages.stream` makes of others: they say again what these say."""
_OF_EVENTS = frozenset({"event", "data", "id", "retry"})
"""What a server-sent event has, as readers of the protocol give it: httpx-sse, Mistral's library, that of OpenAI's Assistants."""
_EVENTS_OF_COHERE = ("message-", "content-", "tool-plan-", "tool-call-", "citation-", "debug")
_SIGNS = frozenset({"", "[DONE]"})
"""Texts that carry nothing: a sign of life, the end of a stream of OpenAI."""
_OF_SMOLAGENTS = frozenset({"content", "tool_calls", "token_usage"})


def unwrapped(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return the pieces as the provider sent them, without what its library puts around and beside them."""
    if all("data" in piece and piece.keys() <= _OF_EVENTS for piece in pieces):
        return _data_of(pieces)
    kinds = {kind for piece in pieces if isinstance(kind := piece.get("type"), str)}
    if all(isinstance(mapping(piece.get("chunk")).get("bytes"), str | bytes) for piece in pieces):
        return [_held(mapping(piece["chunk"])["bytes"]) for piece in pieces]  # Bedrock's `invoke_model_with_response_stream`
    if "chunk" in kinds and any(isinstance(piece.get("chunk"), dict) for piece in pieces):
        return [mapping(piece["chunk"]) for piece in pieces if isinstance(piece.get("chunk"), dict)]  # `chat.completions.stream`
    if "message_start" in kinds:
        return [piece for piece in pieces if not (isinstance(kind := piece.get("type"), str) and kind in _BESIDE_MESSAGES)]
    return pieces


def _data_of(events: list[JsonObject]) -> list[JsonObject]:
    """Return what events carry: an object, or the text of one; the events themselves if one of them carries something else."""
    carried: list[JsonObject] = []
    for event in events:
        data = event["data"]
        if isinstance(data, str) and data.strip() in _SIGNS:
            continue
        held = data if isinstance(data, dict) else _held(data)
        if not held:
            return events
        carried.append(held)
    return carried


def messages_of(answer: list[Json]) -> list[Json] | None:
    """Return the messages in the lists that frameworks stream; `None` if it is no such list.

    LangGraph's `messages` come in pairs with what it knows about them; Qwen-Agent sends all messages until then, each time.
    """
    if _is_pair(answer):
        return answer[:1]
    pairs = [item for item in answer if isinstance(item, list)]
    if not pairs or len(pairs) < len(answer):
        return None
    if all(map(_is_pair, pairs)):
        return [pair[0] for pair in pairs]
    whole = all(isinstance(said, dict) and {"role", "content"} <= said.keys() for pair in pairs for said in pair)
    return pairs[-1] if whole else None


def states_joined(states: list[JsonObject]) -> list[Json] | None:
    """Return the messages in what a graph of LangGraph streams: of its last state or of all updates; `None` if it is not one."""
    listed = [messages for state in states if isinstance(messages := state.get("messages"), list)]
    if not listed or len(listed) < len(states):
        return None
    grows = all(later[: len(earlier)] == earlier for earlier, later in pairwise(listed))
    return listed[-1] if grows else [message for messages in listed for message in messages]


def _is_pair(item: list[Json]) -> bool:
    return len(item) == 2 and all(isinstance(part, dict) for part in item) and "langgraph_node" in mapping(item[1])


def _held(text: Json) -> JsonObject:
    """Return the object that a text or its bytes hold; an empty one if they hold none."""
    try:
        return mapping(loads(text)) if isinstance(text, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}


def _of_cohere(piece: JsonObject) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(_EVENTS_OF_COHERE)


def _cohere(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of Cohere's second API: calls and texts by their index."""
    calls: dict[Json, JsonObject] = {}
    texts: list[str] = []
    reason: Json = None
    for piece in pieces:
        delta, kind = mapping(piece.get("delta")), piece["type"]
        said = mapping(delta.get("message"))
        index = place if isinstance(place := piece.get("index"), int) else len(calls)
        if kind == "tool-call-start":
            calls[index] = dict(mapping(said.get("tool_calls")))
        elif kind == "tool-call-delta" and index in calls:
            more = mapping(mapping(said.get("tool_calls")).get("function")).get("arguments")
            known = mapping(calls[index].get("function"))
            calls[index]["function"] = {**known, "arguments": f"{known.get('arguments') or ''}{more or ''}"}
        elif kind in {"content-start", "content-delta"}:
            more = mapping(said.get("content")).get("text")
            texts.append(more if isinstance(more, str) else "")
        reason = delta.get("finish_reason") or reason
    message: JsonObject = {"role": "assistant", "content": "".join(texts), "tool_calls": [*calls.values()]}
    return {"message": message, "finish_reason": reason or "MAX_TOKENS"}


def _of_langchain(piece: JsonObject) -> bool:
    return piece.get("type") == "AIMessageChunk"


def _langchain(pieces: list[JsonObject]) -> JsonObject:
    """Join the chunks of LangChain: calls by their index, words by their order; the last chunk says that it is the last."""
    calls: dict[Json, JsonObject] = {}
    texts: list[str] = []
    beside: JsonObject = {}
    about: JsonObject = {}
    for piece in pieces:
        said = piece.get("content")
        texts += [said] if isinstance(said, str) else [_text_of(part) for part in listing(said)]
        for call in map(mapping, listing(piece.get("tool_call_chunks"))):
            index = call.get("index") if call.get("index") is not None else call.get("id")
            known = calls.setdefault(index if isinstance(index, int | str) else len(calls), {"name": "", "args": "", "id": None})
            for key in ("name", "args"):
                known[key] = f"{known[key]}{call.get(key) or ''}"
            known["id"] = known["id"] or call.get("id")
        about |= mapping(piece.get("response_metadata"))
        if isinstance(refusal := mapping(piece.get("additional_kwargs")).get("refusal"), str):
            beside["refusal"] = f"{beside.get('refusal', '')}{refusal}"
    if not about and all("chunk_position" in piece and piece["chunk_position"] is None for piece in pieces) and len(pieces) > 1:
        about = {"finish_reason": "length"}
    listed: Json = [{"type": "tool_call", **call} for call in calls.values()]
    return {
        "type": "ai",
        "content": "".join(texts),
        "tool_calls": listed,
        "additional_kwargs": beside,
        "response_metadata": about,
    }


def _text_of(part: Json) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _of_pydantic_ai(piece: JsonObject) -> bool:
    return isinstance(piece.get("event_kind"), str)


def _pydantic_ai(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of pydantic-ai: a part begins, grows, and is told once more where it ends."""
    parts: list[Json] = []
    places: dict[Json, int] = {}
    for piece in pieces:
        index, kind, part = piece.get("index"), piece["event_kind"], piece.get("part")
        if not isinstance(index, int):
            continue
        if kind == "part_start" and isinstance(part, dict):
            places[index] = len(parts)
            parts.append(dict(part))
        elif kind == "part_end" and isinstance(part, dict) and index in places:
            parts[places[index]] = part
        elif kind == "part_delta" and index in places:
            _grow(mapping(parts[places[index]]), mapping(piece.get("delta")))
    return {"kind": "response", "parts": parts}


def _grow(part: JsonObject, delta: JsonObject) -> None:
    for key, more in (("tool_name", delta.get("tool_name_delta")), ("content", delta.get("content_delta"))):
        if isinstance(more, str):
            part[key] = f"{part.get(key) or ''}{more}"
    known, more = part.get("args"), delta.get("args_delta")
    if isinstance(more, str):
        part["args"] = f"{known if isinstance(known, str) else ''}{more}"
    elif isinstance(more, dict):
        part["args"] = {**mapping(known), **more}
    part["tool_call_id"] = part.get("tool_call_id") or delta.get("tool_call_id")


def _of_smolagents(piece: JsonObject) -> bool:
    """Say whether a piece is a `ChatMessageStreamDelta` of smolagents: a delta of Chat Completions without its envelope."""
    return {"content", "tool_calls"} <= piece.keys() <= _OF_SMOLAGENTS


def _smolagents(pieces: list[JsonObject]) -> JsonObject:
    """Join deltas as those of Chat Completions, whose envelope they lack; smolagents says no reason for the end."""
    chunks: list[JsonObject] = [{"choices": [{"index": 0, "delta": piece}]} for piece in pieces]
    return join_chat([*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}])


def _of_llama_index(piece: JsonObject) -> bool:
    said = piece.get("message")
    chat = isinstance(said, dict) and isinstance(said.get("blocks"), list)
    return "delta" in piece and "raw" in piece and (chat or isinstance(piece.get("text"), str))


def _llama_index(pieces: list[JsonObject]) -> JsonObject:
    """Return the last response of LlamaIndex: each holds all that came before it."""
    return pieces[-1]


def _of_assistants(piece: JsonObject) -> bool:
    return isinstance(kind := piece.get("object"), str) and kind.startswith("thread.")


def _assistants(pieces: list[JsonObject]) -> JsonObject:
    """Return the run of OpenAI's Assistants as its last event tells it; one that still goes on was cut off."""
    run = next((piece for piece in reversed(pieces) if piece["object"] == "thread.run"), {})
    ended = run.get("status") not in {None, "queued", "in_progress"}
    return run if ended else {"object": "thread.run", "incomplete_details": {"reason": "not_finished"}}


KINDS: tuple[tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], JsonObject]], ...] = (
    (_of_smolagents, _smolagents),
    (_of_cohere, _cohere),
    (_of_langchain, _langchain),
    (_of_pydantic_ai, _pydantic_ai),
    (_of_llama_index, _llama_index),
    (_of_assistants, _assistants),
)
