"""Join the chunks of a stream into one response, for each protocol as its provider documents it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeAlias

import orjson
from msgspec import Struct, field

from instrc.providers.lifting.parts import content, is_ended
from instrc.providers.lifting.reply import first, says_something
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, listing, mapping, text_or_empty

_Mark: TypeAlias = Callable[[JsonObject], bool]
_Join: TypeAlias = Callable[[list[JsonObject]], JsonObject]
_LAST_WORDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
_OF_A_CHOICE = frozenset({"delta", "text", "content_filter_offsets"})
"""Members of a choice in a chunk; Azure sends its filter results in separate chunks."""
_OF_AN_END = frozenset({"index", "finish_reason", "native_finish_reason", "logprobs", "stop_reason", "matched_stop", "error"})
"""Members of the last chunk of a choice that only says why the answer ended."""
_BESIDE = ("session.", "conversation.", "rate_limits.", "input_audio_buffer.", "output_audio_buffer.", "transcription_session.")
"""Realtime events that may occur between those of a response."""
_ERRORS_OF_BEDROCK = frozenset(
    {"internalServerException", "modelStreamErrorException", "modelTimeoutException", "serviceUnavailableException"}
    | {"throttlingException", "validationException"}
)
_OF_LIVE = ("toolCall", "tool_call", "serverContent", "server_content", "setupComplete", "setup_complete", "usageMetadata")
_OF_CONVERSE = {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}


def error_in(piece: JsonObject) -> JsonObject | None:
    """Return the error that a chunk reports, for providers without an error event, as a response; `None` if there is none."""
    if wrong := piece.keys() & _ERRORS_OF_BEDROCK:
        name = min(wrong)
        return {"error": {"message": mapping(piece[name]).get("message") or name}}
    error = piece.get("error")
    if piece.get("object") != "error" and not (
        error and isinstance(error, dict | str) and not piece.keys() & {"type", "message"}
    ):
        return None
    return {key: piece[key] for key in ("error", "object", "message", "detail") if key in piece}


def join_chat(pieces: list[JsonObject]) -> JsonObject:
    """Join the deltas of Chat Completions."""
    said: JsonObject = {"role": "assistant", "content": ""}
    parts: list[JsonObject] = []
    reason: Json = None
    error: Json = None
    for choice in _choices_of(pieces):
        reason, error = choice.get("finish_reason") or reason, choice.get("error") or error
        delta = mapping(choice.get("delta")) or {"content": choice.get("text")}  # servers that complete texts have no deltas
        for word in ("content", "refusal", "reasoning_content", "reasoning"):
            if more := _words_of(delta.get(word)):
                said[word] = text_or_empty(said.get(word)) + more
        if isinstance(function := delta.get("function_call"), dict):
            parts.append({"index": "function_call", "function": function})
        calls = delta.get("tool_calls")
        listed = [calls] if isinstance(calls, dict) else listing(calls)  # TGI sends one call bare
        parts += [{"index": position, **part} for position, part in enumerate(listed) if isinstance(part, dict)]
    said["tool_calls"] = [*_joined_calls(parts)]
    joined_choice: JsonObject = {"message": said, "finish_reason": reason or "length"}
    return {"choices": [joined_choice | {"error": error} if error else joined_choice]}


def _joined_calls(parts: Iterable[JsonObject]) -> list[JsonObject]:
    """Join fragments of calls, which are identified by `index`, and by `id` for servers with wrong indexes."""
    calls: dict[Hashable, JsonObject] = {}
    joined: list[JsonObject] = []
    for part in parts:
        index = _index(part.get("index"))
        known = calls.get(index)
        own = None if part.get("id") == "null" else part.get("id")  # how Mistral's library writes that there is none
        if known is None or _begins_call(known, part, own):
            known = calls[index] = {"id": own, "type": "function", "function": {}}
            joined.append(known)
        known["id"] = known["id"] or own
        for kind in ("function", "custom"):
            if isinstance(held := part.get(kind), dict):
                known[kind] = _joined(mapping(known.get(kind)), held)
    return joined


def _begins_call(known: JsonObject, part: JsonObject, own: Json) -> bool:
    """Return whether a fragment begins a new call rather than continuing the one known under its index.

    Some servers send several calls under one index without ids, and others send each fragment under a new id.
    """
    function, before = mapping(part.get("function")), mapping(known["function"])
    name, more, held = function.get("name"), function.get("arguments"), before.get("arguments")
    opens = isinstance(more, dict) or text_or_empty(more).lstrip().startswith("{")
    if not own:
        return bool(name) and (before.get("name") not in (None, name) or (opens and _is_whole(held)))
    if not known.get("id") or own == known["id"]:
        return False
    return (bool(name) and (opens or not more)) or (opens and _is_whole(held) and held not in ({}, "{}"))


def _is_whole(arguments: Json) -> bool:
    """Return whether arguments are an object, or the text of one."""
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)  # nothing else tells as fast that a text has no end: each fragment asks
        except orjson.JSONDecodeError:
            return False
    return isinstance(arguments, dict)


def _choices_of(pieces: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the first choice of each chunk; further choices are other answers."""
    for piece in pieces:
        yield from (choice for choice in map(mapping, listing(piece.get("choices"))) if not choice.get("index"))


def _words_of(content: Json) -> str:
    """Return the text of a delta: Mistral sends it in parts if a model thinks before it, and LangChain for some models."""
    if isinstance(content, str):
        return content
    return "".join(map(_text_of, listing(content)))


def _joined(known: JsonObject, part: JsonObject) -> JsonObject:
    """Return a function with one more fragment: names come whole, arguments in text fragments or whole as an object."""
    joined: JsonObject = dict(known)
    if isinstance(name := part.get("name"), str) and name:
        joined["name"] = name
    for member in ("arguments", "input"):  # a tool that takes a text has an input
        more = part.get(member)
        if more is not None:
            joined[member] = text_or_empty(known.get(member)) + more if isinstance(more, str) else more
    return joined


def _index(value: Json) -> Hashable:
    """Return the identity shared by the chunks of one part: a number or text; a missing one is always the same."""
    return None if isinstance(value, dict | list) else value


_GROWING = {"output_text": "text", "text": "text", "refusal": "refusal"}
"""Members of message parts that grow, by their name in event types."""
_GROWING_CALLS = {
    "function_call_arguments": ("function_call", "arguments"),
    "custom_tool_call_input": ("custom_tool_call", "input"),
}
"""Types of items and their growing members, by their name in event types."""
_CALLS = frozenset(kind for kind, _ in _GROWING_CALLS.values())
_OF_SMOLAGENTS = frozenset({"content", "tool_calls", "token_usage"})


def join_of(pieces: list[JsonObject]) -> _Join | None:
    """Return the function that joins chunks, determined by their common provider, or `None`."""
    return next((join for mark, join in _KINDS if all(map(mark, pieces))), None) if pieces else None


def _of_chat(piece: JsonObject) -> bool:
    choices = piece.get("choices")
    return isinstance(choices, list) and all(
        isinstance(choice, dict) and (choice.keys() & _OF_A_CHOICE or choice.keys() <= _OF_AN_END) for choice in choices
    )


def _gemini(pieces: list[JsonObject]) -> JsonObject:
    """Join the candidates of Gemini: each chunk has further parts, the last one the stop reason."""
    parts: JsonArray = []
    ended: JsonObject = {}
    joined: JsonObject = {}
    for piece in pieces:
        if first(feedback := mapping(first(piece, "promptFeedback", "prompt_feedback")), "blockReason", "block_reason"):
            joined["promptFeedback"] = feedback
        for candidate in listing(piece.get("candidates")):
            if isinstance(candidate, dict) and not candidate.get("index"):  # further candidates are other answers
                parts += listing(mapping(candidate.get("content")).get("parts"))
                if reason := first(candidate, "finishReason", "finish_reason"):
                    ended["finishReason"] = reason
                if why := first(candidate, "finishMessage", "finish_message"):
                    ended["finishMessage"] = why
    if "finishReason" not in ended and "promptFeedback" not in joined:
        ended["finishReason"] = "MAX_TOKENS"
    said = _texts_joined(parts)
    return {"candidates": [{"content": {"role": "model", "parts": said}, **ended}], **joined}


def _ollama(pieces: list[JsonObject]) -> JsonObject:
    """Join the lines of Ollama: text in fragments, whole calls, and the reason in the last line."""
    reason: Json = pieces[-1].get("done_reason") if pieces[-1].get("done") else "length"
    messages = [message for piece in pieces if isinstance(message := piece.get("message"), dict)]
    if not messages:
        return {"done_reason": reason, "done": True, "response": "".join(str(piece.get("response") or "") for piece in pieces)}
    said: JsonObject = {
        word: "".join(text_or_empty(message.get(word)) for message in messages) for word in ("content", "thinking")
    }
    calls: JsonArray = [call for message in messages for call in listing(message.get("tool_calls"))]
    return {"done_reason": reason, "message": {"role": "assistant", **said, "tool_calls": calls}}


def _live(pieces: list[JsonObject]) -> JsonObject:
    """Join the messages of Gemini's Live API: whole calls, text in parts, and a mark at the end of a turn."""
    chunks: list[JsonObject] = []
    for piece in pieces:
        calls = mapping(first(piece, "toolCall", "tool_call"))
        parts: JsonArray = [{"functionCall": call} for call in listing(first(calls, "functionCalls", "function_calls"))]
        content = mapping(first(piece, "serverContent", "server_content"))
        parts += listing(mapping(first(content, "modelTurn", "model_turn")).get("parts"))
        ended = calls or first(content, "turnComplete", "turn_complete", "generationComplete")
        chunks.append({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP" if ended else None}]})
    return _gemini(chunks)


def _converse(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of Bedrock's ConverseStream."""
    content: JsonArray = []
    blocks: dict[Hashable, JsonObject] = {}
    reason: Json = None
    for piece in pieces:
        start, change = mapping(piece.get("contentBlockStart")), mapping(piece.get("contentBlockDelta"))
        if use := mapping(mapping(start.get("start")).get("toolUse")):
            block = blocks[_index(start.get("contentBlockIndex"))] = {"toolUse": {**use, "input": ""}}
            content.append(block)
        if delta := mapping(change.get("delta")):
            index = _index(change.get("contentBlockIndex"))
            if index not in blocks:
                content.append(blocks.setdefault(index, {}))
            block = blocks[index]
            if isinstance(text := delta.get("text"), str):
                block["text"] = str(block.get("text") or "") + text
            more, use = mapping(delta.get("toolUse")).get("input"), mapping(block.get("toolUse"))
            if isinstance(more, str) and use:
                use["input"] = text_or_empty(use.get("input")) + more
        reason = mapping(piece.get("messageStop")).get("stopReason") or reason
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason or "max_tokens"}


def _typed(*beginnings: str) -> _Mark:
    """Return a test for events whose type begins with one of several prefixes."""
    return lambda piece: isinstance(kind := piece.get("type"), str) and kind.startswith(beginnings)


def _messages(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of Anthropic Messages."""
    content: JsonArray = []
    blocks: dict[Hashable, JsonObject] = {}
    reason: Json = None
    for piece in pieces:
        kind, delta, index = piece.get("type"), mapping(piece.get("delta")), _index(piece.get("index"))
        block = blocks.get(index)
        if kind == "error":
            return {"type": "error", "error": _reported(piece)}
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


def _llama(pieces: list[JsonObject]) -> JsonObject:
    last = pieces[-1]
    cut = last["stop"] is False or last.get("stopped_limit") is True
    said = "".join(text_or_empty(piece["content"]) for piece in pieces)
    kind = "limit" if cut else last.get("stop_type")
    return {"content": said, "stop_type": kind, "tokens_predicted": last.get("tokens_predicted")}


def _conversation(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of a Mistral conversation: calls by id, texts in order."""
    parts: list[JsonObject] = []
    words: list[str] = []
    for piece in pieces:
        kind, said = piece["type"], piece.get("content")
        if kind == "conversation.response.error":
            return {"error": {"message": piece.get("message") or "error"}}
        if kind == "function.call.delta":
            function: JsonObject = {"name": piece.get("name"), "arguments": piece.get("arguments")}
            parts.append({"index": piece.get("tool_call_id"), "id": piece.get("tool_call_id"), "function": function})
        elif kind == "message.output.delta":
            words.append(text_or_empty(said) or text_or_empty(mapping(said).get("text")))
    content: JsonArray = [{"type": "text", "text": "".join(words)}] if any(words) else []
    content += [
        {"type": "function.call", "tool_call_id": call["id"], **mapping(call["function"])} for call in _joined_calls(parts)
    ]
    ended = pieces[-1]["type"] == "conversation.response.done"
    return {"role": "assistant", "content": content, "stop_reason": None if ended else "max_tokens"}


def _reported(event: JsonObject) -> Json:
    """Return the error that an event reports, under `error` or in its own members."""
    own: JsonObject = {"message": event.get("message") or event.get("code") or "error", "code": event.get("code")}
    return event.get("error") or own


def _responses(pieces: list[JsonObject]) -> JsonObject:
    """Return the response in the last event of OpenAI's Responses, or the joined items before it if it is empty."""
    collected: JsonArray = [*_collected_items(pieces)]
    for piece in reversed(pieces):
        response = piece.get("response")
        if piece.get("type") in _LAST_WORDS and isinstance(response, dict):
            reported = says_something(content(response.get("output")))
            output = _once_each(listing(response.get("output"))) if reported else collected
            return {"object": "response", **response, "output": output}
        if piece.get("type") in {"error", "response.error"}:
            return {"error": _reported(piece)}
    words = [kind for piece in pieces if (kind := piece.get("type")) in _LAST_WORDS]
    ended = "response.completed" if len(pieces) == 1 and is_ended(pieces[0]) else words[-1] if words else ""
    status = {"response.completed": "completed", "response.done": "completed", "response.failed": "failed"}.get(
        str(ended), "incomplete"
    )
    return {"object": "response", "status": status, "output": collected}


def _smolagents(pieces: list[JsonObject]) -> JsonObject:
    """Join deltas like those of Chat Completions without an envelope; smolagents reports no stop reason."""
    chunks: list[JsonObject] = [{"choices": [{"index": 0, "delta": piece}]} for piece in pieces]
    return join_chat([*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}])


def _langchain(pieces: list[JsonObject]) -> JsonObject:
    """Join the chunks of LangChain: calls by index, text in order; the last chunk is marked."""
    parts: list[JsonObject] = []
    texts: list[str] = []
    beside: JsonObject = {}
    about: JsonObject = {}
    for piece in pieces:
        texts.append(_words_of(piece.get("content")))
        for call in map(mapping, listing(piece.get("tool_call_chunks"))):
            index, own = call.get("index"), call.get("id")
            function: JsonObject = {"name": call.get("name"), "arguments": call.get("args")}
            parts.append({"index": own if index is None else index, "id": own, "function": function})
        about |= mapping(piece.get("response_metadata"))
        if isinstance(refusal := mapping(piece.get("additional_kwargs")).get("refusal"), str):
            beside["refusal"] = f"{beside.get('refusal', '')}{refusal}"
    if not about and all("chunk_position" in piece and piece["chunk_position"] is None for piece in pieces) and len(pieces) > 1:
        about = {"finish_reason": "length"}
    return {
        "type": "ai",
        "content": "".join(texts),
        "tool_calls": [*_joined_calls(parts)],
        "additional_kwargs": beside,
        "response_metadata": about,
    }


def _pydantic_ai(pieces: list[JsonObject]) -> JsonObject:
    """Join the events of pydantic-ai: a part starts, grows, and is repeated at its end."""
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


_KINDS: tuple[tuple[_Mark, _Join], ...] = (
    (_of_chat, join_chat),
    (
        lambda piece: (
            isinstance(piece.get("candidates"), list) or isinstance(first(piece, "promptFeedback", "prompt_feedback"), dict)
        ),
        _gemini,
    ),
    (lambda piece: isinstance(piece.get("done"), bool) and ("message" in piece or "response" in piece), _ollama),
    (lambda piece: any(isinstance(piece.get(key), dict) for key in _OF_LIVE), _live),
    (lambda piece: bool(piece) and piece.keys() <= _OF_CONVERSE, _converse),
    (_typed("message_", "content_block_", "ping", "error"), _messages),
    (lambda piece: isinstance(piece.get("stop"), bool) and isinstance(piece.get("content"), str), _llama),
    (_typed("conversation.response.", "message.output.", "function.call.", "tool.execution.", "agent.handoff."), _conversation),
    (
        _typed("response.", "ping", "error", *_BESIDE),
        _responses,
    ),  # events of Mistral's conversations begin as some of Realtime do
    (lambda piece: {"content", "tool_calls"} <= piece.keys() <= _OF_SMOLAGENTS, _smolagents),
    (lambda piece: piece.get("type") == "AIMessageChunk", _langchain),
    (lambda piece: isinstance(piece.get("event_kind"), str), _pydantic_ai),
)
"""Tests for the chunks of each protocol, with the function that joins them."""


def _texts_joined(parts: JsonArray) -> JsonArray:
    """Return parts with adjacent text fragments joined: each chunk of a Gemini stream has its own part."""
    built: JsonArray = []
    for part in map(mapping, parts):
        last = mapping(built[-1]) if built else {}
        if (
            isinstance(text := part.get("text"), str)
            and isinstance(before := last.get("text"), str)
            and _thinks(part) is _thinks(last)
        ):
            built[-1] = {**last, **part, "text": before + text}
        else:
            built.append(part)
    return built


def _thinks(part: JsonObject) -> bool:
    return part.get("thought") is True


def _collected_items(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return the items of a Responses stream without duplicates: other vendors' servers repeat them, and number them wrongly."""
    items: list[_Item] = []
    called: dict[tuple[str, Json], _Item] = {}
    placed: dict[Hashable, list[_Item]] = {}

    def known(said: JsonObject, piece: JsonObject, *, begins: bool = False) -> _Item:
        ids = [(key, own) for key in ("id", "call_id") if (own := said.get(key)) and isinstance(own, str | int)]
        recent = placed.setdefault(_index(piece.get("output_index")), [])
        anew = begins and said.get("type") in _CALLS  # some servers give the next call the id of one that has ended
        result = next((called[name] for name in ids if name in called and not (anew and called[name].ended)), None)
        result = result or next((item for item in recent[: -_RECENT - 1 : -1] if item.is_at(said, begins=begins)), None)
        if result is None:
            result = _Item(dict(said))
            items.append(result)
            recent.append(result)
        called.update(dict.fromkeys(ids, result))
        return result

    for piece in pieces:
        family, _, event = text_or_empty(piece.get("type")).removeprefix("response.").partition(".")
        item, more = piece.get("item"), piece.get("delta")
        about: JsonObject = {key: piece[key] for key in ("call_id", "name") if isinstance(piece.get(key), str)}
        about["id"] = piece.get("item_id")
        if family == "output_item" and isinstance(item, dict):
            one = known(item, piece, begins=event == "added")
            one.grow(item)
            one.ended = event == "done"
        elif family in _GROWING_CALLS:
            kind, member = _GROWING_CALLS[family]
            one = known({**about, "type": kind}, piece)
            _add(one.said, member, more if event == "delta" else None, piece.get(member))
        elif family in _GROWING and event in {"delta", "done"}:
            one = known({**about, "type": "message"}, piece)
            index, member = _index(piece.get("content_index")), _GROWING[family]
            if index not in one.parts:
                one.parts[index] = {"type": "refusal" if family == "refusal" else "output_text"}
                one.content.append(one.parts[index])
            _add(one.parts[index], member, more if event == "delta" else None, piece.get(member))
            if one.parts[index].get(member) or "content" not in one.said:
                one.said["content"] = one.content
    return [item.said for item in items]


_RECENT = 32
"""Maximum items of one index that are examined for an event without an id."""


class _Item(Struct):
    """An item of a Responses stream, as it grows."""

    said: JsonObject
    ended: bool = False
    content: JsonArray = field(default_factory=list)
    parts: dict[Hashable, JsonObject] = field(default_factory=dict)
    """Parts of a message that grew from fragments, by number."""

    def is_called(self, said: JsonObject) -> bool | None:
        """Return whether an event belongs to this item by its ids, or `None` if ids are missing."""
        reported = [(mine, theirs) for key in ("id", "call_id") if (mine := self.said.get(key)) and (theirs := said.get(key))]
        return any(mine == theirs for mine, theirs in reported) if reported else None

    def is_at(self, said: JsonObject, *, begins: bool) -> bool:
        """Return whether an event with the same index belongs to this item by its type, if ids do not identify it."""
        if self.is_called(said) is False:
            other = begins or self.ended
        else:
            names = {name for item in (said, self.said) if isinstance(name := item.get("name"), str) and name}
            other = (begins and self.ended) or len(names) > 1
        return self.said.get("type") == said.get("type") and not other

    def grow(self, said: JsonObject) -> None:
        """Update the item with an event of the whole; empty members remove nothing."""
        for key, held in said.items():
            told = says_something(content(held)) if key == "content" else held
            if told or key not in self.said:
                self.said[key] = held


def _add(said: JsonObject, member: str, more: Json, whole: Json) -> None:
    """Append a fragment to a member, or replace the member by the whole value of an event."""
    if isinstance(more, str):
        said[member] = text_or_empty(said.get(member)) + more
    elif isinstance(whole, str) and whole:
        said[member] = whole


def _once_each(items: JsonArray) -> JsonArray:
    """Return items without duplicates of the same id, or the same call: the last one is kept, in the place of the first."""
    result: dict[Hashable, Json] = {}
    for place, item in enumerate(items):
        name = first(mapping(item), "call_id", "id")
        kind, *call = map(_index, map(mapping(item).get, ("type", "name", "arguments", "input")))
        result[(kind, name, *call) if name and isinstance(name, str) and isinstance(kind, str) else place] = item
    return [*result.values()]


def _text_of(part: Json) -> str:
    if isinstance(part, str):
        return part
    return text_or_empty(mapping(part).get("text")) if mapping(part).get("type") == "text" else ""


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
