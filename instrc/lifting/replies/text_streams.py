"""Put together the streams of servers that complete texts, and of clouds whose pieces repeat what came before.

Shapes are those of Hugging Face's TGI, llama.cpp's `/completion`, SGLang's `/generate`, watsonx, Cohere's first API, DashScope,
and Mistral's conversations, as their documentation is known to show them; TGI's and watsonx' were looked up 2026-11-22.
None was compared with a live stream.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from instrc.jsonvalue import Json, JsonArray, JsonObject, listing, mapping, text_or_empty


def _whole(texts: list[str]) -> str:
    """Return the text that pieces make: the last one, if each begins with the one before it, else all of them in a row."""
    return texts[-1] if all(later.startswith(earlier) for earlier, later in pairwise(texts)) else "".join(texts)


def _of_inference(piece: JsonObject) -> bool:
    return isinstance(token := piece.get("token"), dict) and "text" in token and "generated_text" in piece


def _inference(pieces: list[JsonObject]) -> JsonObject:
    """Join the tokens of TGI; the last piece has the whole text and the reason for its end."""
    last = pieces[-1]
    if isinstance(text := last.get("generated_text"), str):
        return {"generated_text": text, "details": last.get("details")}
    tokens = [mapping(piece["token"]) for piece in pieces]
    said = "".join(text_or_empty(token.get("text")) for token in tokens if token.get("special") is not True)
    return {"generated_text": said, "details": {"finish_reason": "length"}}


def _of_llama(piece: JsonObject) -> bool:
    return isinstance(piece.get("stop"), bool) and isinstance(piece.get("content"), str)


def _llama(pieces: list[JsonObject]) -> JsonObject:
    last = pieces[-1]
    cut = last["stop"] is False or last.get("stopped_limit") is True
    said = "".join(text_or_empty(piece["content"]) for piece in pieces)
    return {
        "content": said,
        "stop_type": "limit" if cut else last.get("stop_type"),
        "tokens_predicted": last.get("tokens_predicted"),
    }


def _of_sglang(piece: JsonObject) -> bool:
    return isinstance(piece.get("meta_info"), dict) and isinstance(piece.get("text"), str)


def _sglang(pieces: list[JsonObject]) -> JsonObject:
    about = mapping(pieces[-1]["meta_info"])
    reason = about.get("finish_reason") or {"type": "length"}
    return {"text": _whole([text_or_empty(piece["text"]) for piece in pieces]), "meta_info": {**about, "finish_reason": reason}}


def _of_watsonx(piece: JsonObject) -> bool:
    results = listing(piece.get("results"))
    return bool(results) and all({"generated_text", "stop_reason"} <= mapping(each).keys() for each in results)


def _watsonx(pieces: list[JsonObject]) -> JsonObject:
    results = [mapping(listing(piece["results"])[0]) for piece in pieces]
    said = "".join(text_or_empty(each["generated_text"]) for each in results)
    return {"results": [{"generated_text": said, "stop_reason": results[-1]["stop_reason"]}]}


def _of_first_cohere(piece: JsonObject) -> bool:
    return isinstance(piece.get("event_type"), str)


def _first_cohere(pieces: list[JsonObject]) -> JsonObject:
    """Return the response that the last event of Cohere's first API carries, or what was said before it."""
    if isinstance(response := pieces[-1].get("response"), dict):
        return {"generation_id": None, "finish_reason": pieces[-1].get("finish_reason"), **response}
    calls = [call for piece in pieces for call in listing(piece.get("tool_calls"))]
    said = "".join(text_or_empty(piece.get("text")) for piece in pieces if piece["event_type"] == "text-generation")
    return {"text": said, "generation_id": None, "finish_reason": "MAX_TOKENS", **({"tool_calls": calls} if calls else {})}


def _of_dashscope(piece: JsonObject) -> bool:
    return isinstance(piece.get("output"), dict) and "request_id" in piece


def _dashscope(pieces: list[JsonObject]) -> JsonObject:
    """Join the pieces of DashScope: each holds the whole answer until then, or (with `incremental_output`) what is new."""
    outputs = [mapping(piece["output"]) for piece in pieces]
    choices = [mapping(next(iter(listing(output.get("choices"))), None)) or {"message": output} for output in outputs]
    said = [mapping(choice.get("message")) for choice in choices]
    reason = choices[-1].get("finish_reason") or outputs[-1].get("finish_reason")
    names: dict[Json, JsonObject] = {}
    fragments: dict[Json, list[str]] = {}
    for call in (mapping(call) for message in said for call in listing(message.get("tool_calls"))):
        place, function = call.get("index", 0), mapping(call.get("function"))
        place = place if isinstance(place, int) else 0
        known = names.setdefault(place, {"type": "function_call", "id": None, "name": None})
        known["id"], known["name"] = known["id"] or call.get("id"), known["name"] or function.get("name")
        fragments.setdefault(place, []).append(text_or_empty(function.get("arguments")))
    calls: JsonArray = [{**known, "arguments": _whole(fragments[place])} for place, known in names.items()]
    content = _whole([text_or_empty(message.get("content", message.get("text"))) for message in said])
    message: JsonObject = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": "length" if reason in {None, "null"} else reason}]}


_CONVERSED = ("conversation.response.", "message.output.", "function.call.", "tool.execution.", "agent.handoff.")


def _of_conversation(piece: JsonObject) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(_CONVERSED)


def _conversation(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of a conversation of Mistral: calls by their id, words in their order."""
    calls: dict[str, JsonObject] = {}
    words: list[str] = []
    for piece in pieces:
        kind, said = piece["type"], piece.get("content")
        if kind == "conversation.response.error":
            return {"error": {"message": piece.get("message") or "error"}}
        if kind == "function.call.delta":
            known = calls.setdefault(text_or_empty(piece.get("tool_call_id")), {"type": "function.call", "arguments": ""})
            known["name"], known["tool_call_id"] = known.get("name") or piece.get("name"), piece.get("tool_call_id")
            known["arguments"] = text_or_empty(known["arguments"]) + text_or_empty(piece.get("arguments"))
        elif kind == "message.output.delta":
            words.append(text_or_empty(said) or text_or_empty(mapping(said).get("text")))
    content: JsonArray = [{"type": "text", "text": "".join(words)}] if any(words) else []
    ended = pieces[-1]["type"] == "conversation.response.done"
    return {"role": "assistant", "content": [*content, *calls.values()], "stop_reason": None if ended else "max_tokens"}


KINDS: tuple[tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], JsonObject]], ...] = (
    (_of_inference, _inference),
    (_of_llama, _llama),
    (_of_sglang, _sglang),
    (_of_watsonx, _watsonx),
    (_of_first_cohere, _first_cohere),
    (_of_dashscope, _dashscope),
    (_of_conversation, _conversation),
)
