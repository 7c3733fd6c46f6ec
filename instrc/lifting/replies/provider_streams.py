"""Put together the streams of the providers that have protocols of their own: which pieces are whose, and what they make.

Chat Completions, Anthropic Messages, OpenAI's Responses and Realtime, Gemini and its Live API, Ollama, Bedrock's ConverseStream.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from instrc.jsonvalue import Json, JsonArray, JsonObject, listing, mapping, text_or_empty
from instrc.lifting.replies.frameworks import is_ended
from instrc.lifting.replies.partial_arguments import joined_calls
from instrc.lifting.replies.reply import first

_LAST_WORDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
_OF_A_CHOICE = frozenset({"delta", "content_filter_offsets"})
"""Members of a piece of a choice: Azure tells what it filtered in pieces of its own."""
_BESIDE = ("session.", "conversation.", "rate_limits.", "input_audio_buffer.", "output_audio_buffer.", "transcription_session.")
"""Events of Realtime that stand between those of a response."""
_ERRORS_OF_CONVERSE = frozenset(
    {"internalServerException", "modelStreamErrorException", "serviceUnavailableException"}
    | {"throttlingException", "validationException"}
)
_OF_CONVERSE = _ERRORS_OF_CONVERSE | {
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
}


def _of_chat(piece: JsonObject) -> bool:
    choices = piece.get("choices")
    return isinstance(choices, list) and all(isinstance(choice, dict) and choice.keys() & _OF_A_CHOICE for choice in choices)


def _of_messages(piece: JsonObject) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(("message_", "content_block_", "ping", "error"))


def _of_responses(piece: JsonObject) -> bool:
    kind = piece.get("type")
    return isinstance(kind, str) and kind.startswith(("response.", "ping", "error", *_BESIDE))


def _of_gemini(piece: JsonObject) -> bool:
    return isinstance(piece.get("candidates"), list) or isinstance(first(piece, "promptFeedback", "prompt_feedback"), dict)


def _of_live(piece: JsonObject) -> bool:
    keys = ("toolCall", "tool_call", "serverContent", "server_content", "setupComplete", "setup_complete", "usageMetadata")
    return any(isinstance(piece.get(key), dict) for key in keys)


def _of_converse(piece: JsonObject) -> bool:
    return bool(piece) and piece.keys() <= _OF_CONVERSE


def _of_ollama(piece: JsonObject) -> bool:
    return isinstance(piece.get("done"), bool) and ("message" in piece or "response" in piece)


def _choices_of(pieces: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the first choice of each piece, others are other answers."""
    for piece in pieces:
        yield from (choice for choice in map(mapping, listing(piece.get("choices"))) if choice.get("index", 0) == 0)


def join_chat(pieces: list[JsonObject]) -> JsonObject:
    """Join the deltas of Chat Completions; calls are told apart by `index`, and by `id` where a server counts wrongly."""
    said: JsonObject = {"role": "assistant", "content": "", "tool_calls": []}
    calls: dict[Hashable, JsonObject] = {}
    joined: JsonArray = []
    reason: Json = None
    for choice in _choices_of(pieces):
        reason = choice.get("finish_reason") or reason
        delta = mapping(choice.get("delta"))
        for word in ("content", "refusal"):
            if more := _words_of(delta.get(word)):
                said[word] = text_or_empty(said.get(word)) + more
        if isinstance(function := delta.get("function_call"), dict):
            said["function_call"] = _joined(mapping(said.get("function_call")), function)
        calls_now = delta.get("tool_calls")
        for position, part in enumerate(
            [calls_now] if isinstance(calls_now, dict) else listing(calls_now)
        ):  # TGI sends one call bare
            if not isinstance(part, dict):
                continue
            index = _index(part.get("index", position))
            known = calls.get(index)
            own = None if part.get("id") == "null" else part.get("id")  # as Mistral's library writes that there is none
            if known is None or (own and known.get("id") and own != known["id"]):
                known = calls[index] = {"id": own, "type": "function", "function": {}}
                joined.append(known)
            known["id"] = known["id"] or own
            if isinstance(function := part.get("function"), dict):
                known["function"] = _joined(mapping(known["function"]), function)
    said["tool_calls"] = joined
    return {"choices": [{"message": said, "finish_reason": reason or "length"}]}


def _words_of(content: Json) -> str:
    """Return the text of a delta: Mistral sends it in parts where a model thinks before it."""
    if isinstance(content, str):
        return content
    return "".join(text_or_empty(item.get("text")) for item in map(mapping, listing(content)) if item.get("type") == "text")


def _index(value: Json) -> Hashable:
    """Return what the pieces of one part have in common: a number or a text; all that a provider does not send is alike."""
    return None if isinstance(value, dict | list) else value


def _joined(known: JsonObject, part: JsonObject) -> JsonObject:
    """Return a function with one more fragment: a name comes whole, arguments in fragments of text or whole as an object."""
    joined: JsonObject = dict(known)
    if isinstance(name := part.get("name"), str) and name:
        joined["name"] = name
    arguments = part.get("arguments")
    if isinstance(arguments, str):
        joined["arguments"] = text_or_empty(known.get("arguments")) + arguments
    elif arguments is not None:
        joined["arguments"] = arguments
    return joined


def _messages(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of Anthropic Messages."""
    content: JsonArray = []
    blocks: dict[Hashable, JsonObject] = {}
    reason: Json = None
    for piece in pieces:
        kind, delta, index = piece.get("type"), mapping(piece.get("delta")), _index(piece.get("index"))
        block = blocks.get(index)
        if kind == "error":
            return {"type": "error", "error": piece.get("error") or {}}
        if kind == "content_block_start" and isinstance(begun := piece.get("content_block"), dict):
            blocks[index] = dict(begun)
            content.append(blocks[index])
        elif block is not None and isinstance(more := delta.get("text"), str):
            block["text"] = str(block.get("text") or "") + more
        elif block is not None and isinstance(more := delta.get("partial_json"), str):
            block["input"] = text_or_empty(block.get("input")) + more
        elif kind == "message_delta":
            reason = delta.get("stop_reason") or reason
    return {"role": "assistant", "content": content, "stop_reason": reason or "max_tokens"}


def _responses(pieces: list[JsonObject]) -> JsonObject:
    """Take the response that the last event of OpenAI's Responses carries, or the items that were done before it."""
    for piece in reversed(pieces):
        response, error = piece.get("response"), piece.get("error")
        if piece.get("type") in _LAST_WORDS and isinstance(response, dict):
            return response
        if piece.get("type") == "error":
            return {"error": error if isinstance(error, dict) else {"message": piece.get("message") or "error"}}
    items: dict[Hashable, JsonObject] = {}
    for piece in pieces:
        kind, place, item = piece.get("type"), _index(piece.get("output_index")), piece.get("item")
        known, more = items.get(place), piece.get("delta")
        if kind in {"response.output_item.added", "response.output_item.done"} and isinstance(item, dict):
            items[place] = dict(item)
        elif kind == "response.function_call_arguments.delta" and known is not None and isinstance(more, str):
            known["arguments"] = str(known.get("arguments") or "") + more
    status = "completed" if len(pieces) == 1 and is_ended(pieces[0]) else "incomplete"
    return {"object": "response", "status": status, "output": [*items.values()]}


def _gemini(pieces: list[JsonObject]) -> JsonObject:
    """Join the candidates of Gemini: each piece brings further parts, the last one says why it ended."""
    parts: JsonArray = []
    ended: JsonObject = {}
    joined: JsonObject = {}
    for piece in pieces:
        if isinstance(feedback := first(piece, "promptFeedback", "prompt_feedback"), dict):
            joined["promptFeedback"] = feedback
        for candidate in listing(piece.get("candidates"))[:1]:
            if isinstance(candidate, dict):
                parts += listing(mapping(candidate.get("content")).get("parts"))
                if reason := first(candidate, "finishReason", "finish_reason"):
                    ended["finishReason"] = reason
                if why := first(candidate, "finishMessage", "finish_message"):
                    ended["finishMessage"] = why
    if "finishReason" not in ended and "promptFeedback" not in joined:
        ended["finishReason"] = "MAX_TOKENS"
    return {"candidates": [{"content": {"role": "model", "parts": joined_calls(parts)}, **ended}], **joined}


def _ollama(pieces: list[JsonObject]) -> JsonObject:
    """Join the lines of Ollama: text in fragments, calls whole, and the reason with the last."""
    reason: Json = pieces[-1].get("done_reason") if pieces[-1].get("done") else "length"
    messages = [message for piece in pieces if isinstance(message := piece.get("message"), dict)]
    if not messages:
        return {"done_reason": reason, "done": True, "response": "".join(str(piece.get("response") or "") for piece in pieces)}
    content = "".join(text_or_empty(message.get("content")) for message in messages)
    calls: JsonArray = [call for message in messages for call in listing(message.get("tool_calls"))]
    return {"done_reason": reason, "message": {"role": "assistant", "content": content, "tool_calls": calls}}


def _live(pieces: list[JsonObject]) -> JsonObject:
    """Join the messages of Gemini's Live API: calls come whole, text in parts, and a turn says when it is complete."""
    parts: JsonArray = []
    ended = False
    for piece in pieces:
        calls = mapping(first(piece, "toolCall", "tool_call"))
        parts += [{"functionCall": call} for call in listing(first(calls, "functionCalls", "function_calls"))]
        content = mapping(first(piece, "serverContent", "server_content"))
        parts += listing(mapping(first(content, "modelTurn", "model_turn")).get("parts"))
        ended = ended or bool(calls) or bool(first(content, "turnComplete", "turn_complete", "generationComplete"))
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP" if ended else "MAX_TOKENS"}]}


def _converse(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of Bedrock's ConverseStream."""
    blocks: dict[Hashable, JsonObject] = {}
    reason: Json = None
    for piece in pieces:
        if wrong := piece.keys() & _ERRORS_OF_CONVERSE:
            name = min(wrong)
            return {"error": {"message": mapping(piece[name]).get("message") or name}}
        start, change = mapping(piece.get("contentBlockStart")), mapping(piece.get("contentBlockDelta"))
        if use := mapping(mapping(start.get("start")).get("toolUse")):
            blocks[_index(start.get("contentBlockIndex"))] = {"toolUse": {**use, "input": ""}}
        if delta := mapping(change.get("delta")):
            block = blocks.setdefault(_index(change.get("contentBlockIndex")), {})
            if isinstance(text := delta.get("text"), str):
                block["text"] = str(block.get("text") or "") + text
            more, use = mapping(delta.get("toolUse")).get("input"), mapping(block.get("toolUse"))
            if isinstance(more, str) and use:
                use["input"] = text_or_empty(use.get("input")) + more
        reason = mapping(piece.get("messageStop")).get("stopReason") or reason
    content: JsonArray = [*blocks.values()]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason or "max_tokens"}


KINDS: tuple[tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], JsonObject]], ...] = (
    (_of_chat, join_chat),
    (_of_gemini, _gemini),
    (_of_ollama, _ollama),
    (_of_live, _live),
    (_of_converse, _converse),
    (_of_messages, _messages),
)
RESPONSES: tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], JsonObject]] = (_of_responses, _responses)
"""Looked for behind `text_streams`: the events of Mistral's conversations begin as some of Realtime do."""
