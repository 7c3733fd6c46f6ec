"""Put the pieces of a streamed answer together, as their providers document them, before it is read as a whole one.

Pieces come as a list, as lines of JSON (Ollama), or as server-sent events (all others).
A stream that ends before its provider says so is an answer that was cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from instrc.jsontext import loads
from instrc.jsonvalue import AnyJson as Json
from instrc.lifting.replies import library_streams
from instrc.lifting.replies.frameworks import is_ended
from instrc.lifting.replies.partial_arguments import joined_calls
from instrc.lifting.replies.parts import is_part
from instrc.lifting.replies.reply import first

_Piece = dict[str, Any]
_LAST_WORDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
_BESIDE = ("session.", "conversation.", "rate_limits.", "input_audio_buffer.", "output_audio_buffer.", "transcription_session.")
"""Events of Realtime that stand between those of a response."""
_ERRORS_OF_CONVERSE = frozenset(
    {"internalServerException", "modelStreamErrorException", "serviceUnavailableException"}
    | {"throttlingException", "validationException"}
)
_OF_CONVERSE = _ERRORS_OF_CONVERSE | {
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
}


def pieces_in(text: str) -> list[_Piece] | None:
    """Return the pieces that lines of a text hold; `None` if it is no stream."""
    found: list[_Piece] = []
    events = any(line.startswith("data:") for line in text.split("\n", 3)[:3])
    for raw in text.split("\n"):
        line = raw.strip()
        if events and line.startswith("data:"):
            line = line[5:].strip()
        elif not line or (events and line.startswith(("event:", "id:", "retry:", ":"))):
            continue
        if line == "[DONE]":
            continue
        try:
            piece = loads(line)
        except (ValueError, RecursionError):
            if found and not events:
                break  # cut off within a line
            if not events:
                return None
            continue
        if not isinstance(piece, dict):
            return None
        found.append(piece)
    return found if is_stream(found) or (found and all(map(is_part, found))) else None


def is_stream(pieces: Json) -> bool:
    """Say whether a list holds the pieces of a stream: of one provider, all of them."""
    if not isinstance(pieces, list) or not pieces or not all(isinstance(piece, dict) for piece in pieces):
        return False
    pieces = library_streams.unwrapped(pieces)
    return any(all(map(mark, pieces)) for mark, _ in _KINDS)


def assemble(pieces: list[_Piece]) -> Json:
    """Return the response that the pieces of a stream make, in the provider's own envelope."""
    pieces = library_streams.unwrapped(pieces)
    return next((join(pieces) for mark, join in _KINDS if all(map(mark, pieces))), pieces)


def _of_chat(piece: _Piece) -> bool:
    choices = piece.get("choices")
    return isinstance(choices, list) and all(isinstance(choice, dict) and "delta" in choice for choice in choices)


def _of_messages(piece: _Piece) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(("message_", "content_block_", "ping", "error"))


def _of_responses(piece: _Piece) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(("response.", "ping", "error", *_BESIDE))


def _of_gemini(piece: _Piece) -> bool:
    return isinstance(piece.get("candidates"), list) or isinstance(first(piece, "promptFeedback", "prompt_feedback"), dict)


def _of_live(piece: _Piece) -> bool:
    keys = ("toolCall", "tool_call", "serverContent", "server_content", "setupComplete", "setup_complete", "usageMetadata")
    return any(isinstance(piece.get(key), dict) for key in keys)


def _of_converse(piece: _Piece) -> bool:
    return bool(piece) and piece.keys() <= _OF_CONVERSE


def _of_ollama(piece: _Piece) -> bool:
    return isinstance(piece.get("done"), bool) and ("message" in piece or "response" in piece)


def _choices_of(pieces: list[_Piece]) -> Iterator[_Piece]:
    """Yield the first choice of each piece, others are other answers."""
    for piece in pieces:
        yield from (choice for choice in piece["choices"] if choice.get("index", 0) == 0)


def _chat(pieces: list[_Piece]) -> Json:
    """Join the deltas of Chat Completions; calls are told apart by `index`, and by `id` where a server counts wrongly."""
    said: _Piece = {"role": "assistant", "content": "", "tool_calls": []}
    calls: dict[Any, _Piece] = {}
    reason = None
    for choice in _choices_of(pieces):
        reason = choice.get("finish_reason") or reason
        delta = _object(choice.get("delta"))
        if isinstance(delta.get("content"), str):
            said["content"] += delta["content"]
        if isinstance(delta.get("refusal"), str):
            said["refusal"] = (said.get("refusal") or "") + delta["refusal"]
        if isinstance(delta.get("function_call"), dict):
            _join(said.setdefault("function_call", {}), delta["function_call"])
        for position, part in enumerate(delta.get("tool_calls") or ()):
            if not isinstance(part, dict):
                continue
            index = part.get("index", position)
            known = calls.get(index)
            own = None if part.get("id") == "null" else part.get("id")  # as Mistral's library writes that there is none
            if known is None or (own and known.get("id") and own != known["id"]):
                known = calls[index] = {"id": own, "type": "function", "function": {}}
                said["tool_calls"].append(known)
            known["id"] = known["id"] or own
            if isinstance(part.get("function"), dict):
                _join(known["function"], part["function"])
    return {"choices": [{"message": said, "finish_reason": reason or "length"}]}


def _object(value: Json) -> _Piece:
    return value if isinstance(value, dict) else {}


def _join(known: _Piece, part: _Piece) -> None:
    """Add a fragment of a function: a name comes whole, arguments in fragments of text or whole as an object."""
    if isinstance(part.get("name"), str) and part["name"]:
        known["name"] = part["name"]
    arguments = part.get("arguments")
    if isinstance(arguments, str):
        known["arguments"] = (known["arguments"] if isinstance(known.get("arguments"), str) else "") + arguments
    elif arguments is not None:
        known["arguments"] = arguments


def _messages(pieces: list[_Piece]) -> Json:
    """Join the events of Anthropic Messages."""
    said: _Piece = {"role": "assistant", "content": [], "stop_reason": None}
    blocks: dict[Any, _Piece] = {}
    for piece in pieces:
        delta = _object(piece.get("delta"))
        block = blocks.get(piece.get("index"))
        if piece["type"] == "error":
            return {"type": "error", "error": piece.get("error") or {}}
        if piece["type"] == "content_block_start" and isinstance(piece.get("content_block"), dict):
            block = dict(piece["content_block"])
            blocks[piece.get("index")] = block
            said["content"].append(block)
        elif block is not None and isinstance(delta.get("text"), str):
            block["text"] = str(block.get("text") or "") + delta["text"]
        elif block is not None and isinstance(delta.get("partial_json"), str):
            block["input"] = (block["input"] if isinstance(block.get("input"), str) else "") + delta["partial_json"]
        elif piece["type"] == "message_delta":
            said["stop_reason"] = delta.get("stop_reason") or said["stop_reason"]
    said["stop_reason"] = said["stop_reason"] or "max_tokens"
    return said


def _responses(pieces: list[_Piece]) -> Json:
    """Take the response that the last event of OpenAI's Responses carries, or the items that were done before it."""
    for piece in reversed(pieces):
        if piece["type"] in _LAST_WORDS and isinstance(piece.get("response"), dict):
            return piece["response"]
        if piece["type"] == "error":
            error = piece.get("error")
            return {"error": error if isinstance(error, dict) else {"message": piece.get("message") or "error"}}
    items: dict[Any, _Piece] = {}
    for piece in pieces:
        place = piece.get("output_index")
        if piece["type"] in {"response.output_item.added", "response.output_item.done"} and isinstance(piece.get("item"), dict):
            items[place] = dict(piece["item"])
        elif piece["type"] == "response.function_call_arguments.delta" and place in items and isinstance(piece.get("delta"), str):
            items[place]["arguments"] = str(items[place].get("arguments") or "") + piece["delta"]
    status = "completed" if len(pieces) == 1 and is_ended(pieces[0]) else "incomplete"
    return {"object": "response", "status": status, "output": list(items.values())}


def _gemini(pieces: list[_Piece]) -> Json:
    """Join the candidates of Gemini: each piece brings further parts, the last one says why it ended."""
    parts: list[Json] = []
    said: _Piece = {"content": {"role": "model", "parts": parts}}
    joined: _Piece = {"candidates": [said]}
    for piece in pieces:
        if isinstance(feedback := first(piece, "promptFeedback", "prompt_feedback"), dict):
            joined["promptFeedback"] = feedback
        for candidate in (piece.get("candidates") or ())[:1]:
            if isinstance(candidate, dict):
                content = candidate.get("content")
                parts += (content.get("parts") or ()) if isinstance(content, dict) else ()
                reason, why = (
                    first(candidate, "finishReason", "finish_reason"),
                    first(candidate, "finishMessage", "finish_message"),
                )
                said |= ({"finishReason": reason} if reason else {}) | ({"finishMessage": why} if why else {})
    parts[:] = joined_calls(parts)
    if "finishReason" not in said and "promptFeedback" not in joined:
        said["finishReason"] = "MAX_TOKENS"
    return joined


def _ollama(pieces: list[_Piece]) -> Json:
    """Join the lines of Ollama: text in fragments, calls whole, and the reason with the last."""
    ended: _Piece = {"done_reason": pieces[-1].get("done_reason") if pieces[-1]["done"] else "length"}
    if not any(isinstance(piece.get("message"), dict) for piece in pieces):
        return {**ended, "done": True, "response": "".join(str(piece.get("response") or "") for piece in pieces)}
    messages = [piece["message"] for piece in pieces if isinstance(piece.get("message"), dict)]
    content = "".join(said["content"] for said in messages if isinstance(said.get("content"), str))
    calls = [call for said in messages for call in (said.get("tool_calls") or ())]
    return {**ended, "message": {"role": "assistant", "content": content, "tool_calls": calls}}


def _live(pieces: list[_Piece]) -> Json:
    """Join the messages of Gemini's Live API: calls come whole, text in parts, and a turn says when it is complete."""
    parts: list[Json] = []
    ended = False
    for piece in pieces:
        calls = _object(first(piece, "toolCall", "tool_call"))
        listed = first(calls, "functionCalls", "function_calls")
        parts += [{"functionCall": call} for call in (listed if isinstance(listed, list) else ())]
        content = _object(first(piece, "serverContent", "server_content"))
        turn = _object(first(content, "modelTurn", "model_turn")).get("parts")
        parts += turn if isinstance(turn, list) else []
        ended = ended or bool(calls) or bool(first(content, "turnComplete", "turn_complete", "generationComplete"))
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP" if ended else "MAX_TOKENS"}]}


def _converse(pieces: list[_Piece]) -> Json:
    """Join the events of Bedrock's ConverseStream."""
    blocks: dict[Any, _Piece] = {}
    reason = None
    for piece in pieces:
        if wrong := piece.keys() & _ERRORS_OF_CONVERSE:
            name = min(wrong)
            return {"error": {"message": _object(piece[name]).get("message") or name}}
        start, change = _object(piece.get("contentBlockStart")), _object(piece.get("contentBlockDelta"))
        if use := _object(_object(start.get("start")).get("toolUse")):
            blocks[start.get("contentBlockIndex")] = {"toolUse": {**use, "input": ""}}
        delta = _object(change.get("delta"))
        block = blocks.setdefault(change.get("contentBlockIndex"), {}) if delta else {}
        if isinstance(delta.get("text"), str):
            block["text"] = str(block.get("text") or "") + delta["text"]
        more = _object(delta.get("toolUse")).get("input")
        if isinstance(more, str) and isinstance(block.get("toolUse"), dict):
            block["toolUse"]["input"] += more
        reason = _object(piece.get("messageStop")).get("stopReason") or reason
    return {"output": {"message": {"role": "assistant", "content": list(blocks.values())}}, "stopReason": reason or "max_tokens"}


_KINDS: tuple[tuple[Callable[[_Piece], bool], Callable[[list[_Piece]], Json]], ...] = (
    (_of_chat, _chat),
    (_of_gemini, _gemini),
    (_of_ollama, _ollama),
    (_of_live, _live),
    (_of_converse, _converse),
    (_of_messages, _messages),
    (_of_responses, _responses),
    (library_streams.is_smolagents, lambda pieces: _chat(library_streams.in_choices(pieces))),
    *library_streams.KINDS,
)
