"""Read one part of a message: a call, a text, a refusal, a thought."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.lifting.reply import RawCall, RawReply, first, join_replies, raw_call, stop_reply
from instrc.text.jsonvalue import Json, JsonObject, text_or_empty


def continues_later(call: JsonObject) -> bool:
    """Return whether Gemini sends a call in parts, of which none is its arguments."""
    return first(call, "willContinue", "will_continue") is True or first(call, "partialArgs", "partial_args") is not None


_THINKING = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})
_CALLS = frozenset(
    {"tool_use", "function_call", "function.call", "custom_tool_call", "tool_call", "tool-call", "invalid_tool_call"}
)
"""Types of parts that request a call from the client; `server_tool_use`, `mcp_call` and similar run at the provider."""
_TEXTS = frozenset({"text", "output_text"})
_MESSAGES = frozenset({"message", "message.output"})
_OF_RESPONSES = frozenset({"message", "function_call", "custom_tool_call"})
"""Types of items that have a status of their own."""
_OF_OTHERS = frozenset({"refusal", "output_text", "server_tool_use", "mcp_tool_use", "mcp_call", "builtin-tool-call"})
_PARTS = _THINKING | _CALLS | _OF_OTHERS
_HOLDERS = ("functionCall", "function_call", "toolUse", "custom")
"""Members below which Gemini, GigaChat, Bedrock and OpenAI (a tool that takes a text) have the call."""
_OF_PROVIDER = "server_tool_use"
"""Bedrock's type name for a tool that the provider runs."""
_OF_GEMINI = frozenset(
    {"text", "thought", "thought_signature", "thoughtSignature", "function_call", "functionCall", "function_response"}
    | {"functionResponse", "inline_data", "inlineData", "file_data", "fileData", "executable_code", "executableCode"}
    | {"code_execution_result", "codeExecutionResult", "video_metadata", "videoMetadata", "media_resolution", "mediaResolution"}
    | {"tool_call", "toolCall", "tool_response", "toolResponse", "part_metadata", "partMetadata", "audio_transcription"}
)
_ARGUMENTS = ("arguments", "input", "args", "parameters")
_NAMES = ("name", "tool_name", "toolName")
_IDS = ("call_id", "tool_call_id", "toolUseId", "toolCallId", "id")


def kind_of_part(item: dict[str, Json]) -> str | None:
    """Return the declared type of a part, or `None` if it has none."""
    kind = first(item, "type", "part_kind")
    return kind if isinstance(kind, str) else None


def is_part(item: Json) -> bool:
    """Return whether an object is one part of a message: a call, a text, a refusal."""
    if not isinstance(item, dict):
        return False
    kind = kind_of_part(item)
    if kind == "function":
        inner = item.get("function")
        return isinstance(inner, dict) and "name" in inner and "arguments" in inner
    if kind is not None:
        return (
            kind in _PARTS
            or (kind == "custom" and isinstance(item.get("custom"), dict))
            or (kind in _MESSAGES and isinstance(item.get("content"), list | str))
            or (kind == "text" and isinstance(first(item, "text", "content"), str))
        )
    inner = item.get("function")
    if isinstance(inner, dict) and "name" in inner and "arguments" in inner:
        return True
    if {"toolUseId", "name", "input"} <= item.keys():  # the content of `toolUse` in Bedrock's Converse
        return True
    return any(isinstance(held := item.get(key), dict) and held.keys() & {"name", "tool_name"} for key in _HOLDERS)


def are_parts(items: list[JsonObject]) -> bool:
    """Return whether objects are the parts of one message: calls and texts, possibly with parts of unknown types."""
    if all(is_part(item) or _is_silent(item) for item in items) and any(map(is_part, items)):
        return True
    if all({key for key, held in item.items() if held is not None} <= _OF_GEMINI for item in items):
        return any(is_part(item) or isinstance(item.get("text"), str) for item in items)
    known = all(kind_of_part(item) is not None or is_part(item) or item.keys() == {"text"} for item in items)
    return known and any(map(_asks, items))


def _is_silent(item: JsonObject) -> bool:
    """Return whether a part is a blank text."""
    return kind_of_part(item) in _TEXTS and first(item, "text", "content") is None


def _asks(item: JsonObject) -> bool:
    """Return whether a part is a call."""
    return is_part(item) and bool(part(item).calls)


def contain_call(items: Json) -> bool:
    """Return whether a value is a list of parts, at least one of which is a call."""
    parts = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return isinstance(items, list) and bool(parts) and len(parts) == len(items) and are_parts(parts) and any(map(_asks, parts))


def part(item: dict[str, Json], *, calls: bool = True) -> RawReply:
    """Return the content of a part of a message; with `calls` false its calls are dropped, as they are listed elsewhere."""
    return _held_by(item, calls=calls) | RawReply(cut=item.get("status") == "incomplete" and kind_of_part(item) in _OF_RESPONSES)


def _held_by(item: dict[str, Json], *, calls: bool) -> RawReply:
    if item.get("type") == "non_standard" and isinstance(inner := item.get("value"), dict):  # has no type in LangChain
        item = inner
    kind = kind_of_part(item)
    held = next((held for key in _HOLDERS if isinstance(held := item.get(key), dict)), None)
    inner = item.get("function")
    if held is not None and held.get("type") == _OF_PROVIDER:
        return RawReply()
    if held is not None:
        return _call(held, first(held, *_IDS) or first(item, *_IDS), wanted=calls, custom=held is item.get("custom"))
    if isinstance(inner, dict):
        return _call(inner, first(item, *_IDS), wanted=calls)
    if kind in _CALLS:
        return _call(item, first(item, *_IDS), wanted=calls, custom=kind == "custom_tool_call")
    if kind == "refusal":
        return RawReply(refusal=str(item.get("refusal") or ""))
    if kind in _MESSAGES:
        return stop_reply(item.get("stop_reason")) | content(item.get("content"), calls=calls)
    if kind in _THINKING or item.get("thought") is True:
        return RawReply()
    text = first(item, "text", "content") if kind is not None else item.get("text")
    if isinstance(text, str) and (kind is None or kind in _TEXTS):
        return RawReply(texts=(text,))
    if kind in (None, "function") and any(key in item for key in _NAMES) and any(key in item for key in _ARGUMENTS):
        return _call(item, first(item, *_IDS), wanted=calls)
    return RawReply()


def _call(item: dict[str, Json], call_id: Json, *, wanted: bool, custom: bool = False) -> RawReply:
    if not wanted:
        return RawReply()
    said = first(item, *_ARGUMENTS)
    result = raw_call(first(item, *_NAMES), said, call_id)
    if custom and isinstance(said, str):
        result = RawCall(result.name, {"input": said}, result.id)  # a tool that takes a text is lowered as one with this property
    return RawReply(calls=(replace(result, partial=True) if continues_later(item) else result,))


def content(parts: Json, *, calls: bool = True) -> RawReply:
    """Return the content of a message's `content`: a text, or parts."""
    if isinstance(parts, str):
        return RawReply(texts=(parts,)) if parts.strip() else RawReply()
    if isinstance(parts, dict):  # a single part, as in MCP sampling
        return part(parts, calls=calls)
    if not isinstance(parts, list):
        return RawReply()
    whole: list[JsonObject]  # LangChain allows bare strings in a list
    whole = [item if isinstance(item, dict) else {"text": item} for item in parts]
    return join_replies(part(item, calls=calls) for item in whole)


def message(said: Json) -> RawReply:
    """Return the content of a message: calls, parts, text, refusal."""
    if not isinstance(said, dict):
        return RawReply()
    refusal = said.get("refusal")
    result = RawReply(refusal=refusal) if isinstance(refusal, str) and refusal else RawReply()
    listed = first(said, "tool_calls", "toolCalls")
    result |= join_replies(part(call) for call in (listed if isinstance(listed, list) else ()) if isinstance(call, dict))
    if isinstance(call := said.get("function_call"), dict):
        result |= part({"function_call": call})
    parts = next((said[key] for key in ("content", "parts") if key in said), None)
    result |= RawReply(thoughts=text_or_empty(first(said, "reasoning_content", "reasoning", "thinking")))
    return result | content(parts, calls=not result.calls)  # a framework leaves them there in the provider's own form as well


def is_choice(item: Json) -> bool:
    """Return whether an object is a choice of Chat Completions."""
    return isinstance(item, dict) and isinstance(item.get("message"), dict) and "finish_reason" in item


def choice_of(choice: JsonObject) -> RawReply:
    """Return the content of a choice."""
    result = stop_reply(choice.get("finish_reason"))
    if isinstance(said := choice.get("message"), dict):
        return result | message(said)
    text = choice.get("text")  # plain completions
    return result | RawReply(texts=(text,)) if isinstance(text, str) else result


def is_candidate(item: Json) -> bool:
    """Return whether an object is a Gemini candidate."""
    return isinstance(item, dict) and isinstance(said := item.get("content"), dict) and isinstance(said.get("parts"), list)


def candidate_of(candidate: JsonObject) -> RawReply:
    """Return the content of a candidate."""
    why = first(candidate, "finishMessage", "finish_message")
    end = stop_reply(first(candidate, "finishReason", "finish_reason"))
    if end.malformed and isinstance(why, str):
        end = RawReply(malformed=f"{end.malformed}: {why}")
    return end | message(candidate.get("content") or {})


_SPEAKERS = ("human", "ai", "tool", "system", "AIMessageChunk")


def is_message(item: Json) -> bool:
    """Return whether an object is a message of a conversation, of any role."""
    if not isinstance(item, dict) or not item.keys() & {"content", "parts", "tool_calls"}:
        return False
    return any(isinstance(item.get(key), str) for key in ("role", "kind")) or item.get("type") in _SPEAKERS


def is_ended(answer: Json) -> bool:
    """Return whether an event carries a complete item."""
    return isinstance(answer, dict) and isinstance(answer.get("type"), str) and event_of(answer) is not None


def event_of(answer: JsonObject) -> RawReply | None:
    """Read one event of OpenAI's Responses or Realtime that ends a call, an item or a response."""
    match answer.get("type"):
        case "response.function_call_arguments.done":
            return RawReply((raw_call(answer.get("name"), answer.get("arguments"), first(answer, "call_id", "item_id")),))
        case "response.output_item.done" | "conversation.item.created" | "conversation.item.done":
            return part(item) if isinstance(item := answer.get("item"), dict) else None
        case _:
            return None
