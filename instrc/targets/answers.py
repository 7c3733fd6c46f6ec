"""Find the calls of tools in what a provider returns, whichever envelope it comes in.

Read: OpenAI Chat Completions and Responses, Anthropic Messages, Gemini, Mistral, GigaChat, Ollama, vLLM, MCP, smolagents;
the whole response, its message, one call, or the bare arguments, as an object or as JSON text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from instrc.jsonvalue import Json, dumps, loads

_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_REFUSED = frozenset(
    {
        "refusal",
        "content_filter",
        "blacklist",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
    }
)
_THINKING = frozenset({"reasoning", "thinking", "redacted_thinking"})
_PARTS = _THINKING | {"tool_use", "function_call", "refusal", "output_text"}
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)(?:\n?[ \t]*```\s*)?\Z", re.DOTALL)
"""A fence of backticks; one that an answer was cut off in has no end."""
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
"""What reasoning models say first, where the server does not take it out."""


@dataclass(slots=True)
class Found:
    """One call as it was found: its arguments still in the target's words, or the text that should have been JSON."""

    name: str | None
    arguments: Json
    id: str | None = None
    unreadable: str | None = None
    """Why the arguments are no JSON."""
    partial: bool = False
    """Whether the text of the arguments ends before its JSON does."""


@dataclass(slots=True)
class Reply:
    """What an answer holds."""

    calls: list[Found] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    refusal: str | None = None
    cut: bool = False
    malformed: str | None = None
    envelope: bool = False
    """Whether any provider's envelope was recognised."""


def found(answer: Json, is_bare: Callable[[Json], bool], names: frozenset[str]) -> Reply:
    """Return the calls in an answer.

    `is_bare` says whether an object looks like the arguments themselves; `names` are the names under which tools were sent.
    """
    reply = Reply()
    if hasattr(answer, "model_dump"):  # objects of the providers' libraries
        answer = answer.model_dump(mode="json", by_alias=False)
    if isinstance(answer, bytes | str):
        _from_text(answer, reply, is_bare, names)
    else:
        _value(answer, reply, is_bare, names)
    return reply


def _from_text(text: str | bytes, reply: Reply, is_bare: Callable[[Json], bool], names: frozenset[str]) -> None:
    call = parsed(None, text if isinstance(text, str) else text.decode("utf-8", "replace"))
    if call.unreadable is None and isinstance(call.arguments, dict | list):
        _value(call.arguments, reply, is_bare, names)
    else:
        reply.calls.append(call)
        reply.cut = reply.cut or call.partial


def parsed(said: Json, arguments: Json, said_id: Json = None) -> Found:
    """Read arguments that may be an object or JSON text, alone or in a fence of backticks; names may be no text at all."""
    name = said if said is None or isinstance(said, str) else dumps(said, indent=False)
    id_ = said_id if said_id is None or isinstance(said_id, str) else dumps(said_id, indent=False)
    if isinstance(arguments, str):
        text = _THOUGHT.sub("", arguments.removeprefix("\ufeff"))
        if fence := _FENCE.match(text):
            text = fence.group(1)
        if not text.strip():
            return Found(name, {}, id_)
        try:
            return Found(name, loads(text), id_)
        except (ValueError, RecursionError) as error:
            return Found(name, arguments, id_, str(error), partial=_partial(text))
    return Found(name, {} if arguments is None else arguments, id_)


def _partial(text: str) -> bool:
    """Say whether a text begins as JSON does and ends before its brackets are closed."""
    stack = 0
    inside = escaped = False
    text = text.strip()
    if not text.startswith(("{", "[", '"')):
        return False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            stack += 1
        elif character in "}]":
            stack -= 1
    return inside or stack > 0


def _value(answer: Json, reply: Reply, is_bare: Callable[[Json], bool], names: frozenset[str]) -> None:
    if isinstance(answer, list) and answer and all(_is_part(item) for item in answer):
        reply.envelope = True
        for item in answer:
            _part(item, reply)
        return
    if not isinstance(answer, dict) or is_bare(answer):
        reply.calls.append(Found(None, answer))
        return
    if _response(answer, reply):
        reply.envelope = True
        return
    if _is_part(answer) or _named_call(answer, names):
        reply.envelope = True
        _part(answer, reply)
        return
    reply.calls.append(Found(None, answer))


def _named_call(answer: dict[str, Json], names: frozenset[str]) -> bool:
    """Say whether an object is a name with arguments: one of our names, or nothing else beside them."""
    if answer.keys() == {"name", "arguments"} and isinstance(answer["name"], str) and isinstance(answer["arguments"], dict | str):
        return True
    name = answer.get("name")
    return isinstance(name, str) and name in names and bool(answer.keys() & {"arguments", "input", "args"})


def _is_part(item: Json) -> bool:
    """Say whether an object is one part of a message: a call, a text, a refusal."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if isinstance(kind, str) and kind in _PARTS:
        return True
    if item.get("type") == "message" and isinstance(item.get("content"), list):
        return True
    if item.get("type") == "text" and isinstance(item.get("text"), str):
        return True
    inner = item.get("function")
    if isinstance(inner, dict) and "name" in inner and "arguments" in inner:
        return True
    return any(isinstance(item.get(key), dict) and "name" in item[key] for key in ("functionCall", "function_call"))


def _part(item: dict[str, Any], reply: Reply) -> None:
    """Take one part of a message in."""
    kind = item.get("type") if isinstance(item.get("type"), str) else None
    call = item.get("functionCall") or item.get("function_call")
    inner = item.get("function")
    if isinstance(call, dict):
        reply.calls.append(parsed(call.get("name"), call.get("args", call.get("arguments")), call.get("id")))
    elif isinstance(inner, dict):
        reply.calls.append(parsed(inner.get("name"), inner.get("arguments"), item.get("id")))
    elif kind in {"tool_use", "function_call"}:
        arguments = item.get("input") if "input" in item else item.get("arguments")
        reply.calls.append(parsed(item.get("name"), arguments, item.get("call_id") or item.get("id")))
    elif kind == "refusal":
        reply.refusal = str(item.get("refusal") or "")
    elif kind == "message":
        for inner_part in item.get("content") or ():
            if isinstance(inner_part, dict):
                _part(inner_part, reply)
    elif kind in _THINKING or item.get("thought") is True:
        return
    elif isinstance(item.get("text"), str):
        reply.texts.append(item["text"])
    elif item.keys() & {"arguments", "input", "args"} and "name" in item:
        reply.calls.append(parsed(item["name"], item.get("arguments", item.get("input", item.get("args")))))


def _response(answer: dict[str, Any], reply: Reply) -> bool:
    """Take a whole response, or its message, in; `False` if it is neither."""
    if isinstance(choices := answer.get("choices"), list) and all(isinstance(choice, dict) for choice in choices):
        for choice in choices[:1]:
            _reason(choice.get("finish_reason"), reply)
            message = choice.get("message")
            if isinstance(message, dict):
                _message(message, reply)
            elif isinstance(text := choice.get("text"), str):  # plain completions
                reply.texts.append(text)
        return True
    if isinstance(candidates := answer.get("candidates"), list):
        for candidate in candidates[:1]:
            if isinstance(candidate, dict):
                _reason(candidate.get("finishReason", candidate.get("finish_reason")), reply)
                _message(candidate.get("content") or {}, reply)
        _blocked(answer, reply)
        return True
    if isinstance(answer.get("promptFeedback", answer.get("prompt_feedback")), dict):
        _blocked(answer, reply)
        return True
    if isinstance(output := answer.get("output"), list) and (answer.get("object") == "response" or all(map(_is_part, output))):
        for item in output:
            if isinstance(item, dict):
                _part(item, reply)
        details = answer.get("incomplete_details")
        _reason(details.get("reason") if isinstance(details, dict) else None, reply)
        return True
    if answer.get("method") == "tools/call" and isinstance(params := answer.get("params"), dict):
        reply.calls.append(parsed(params.get("name"), params.get("arguments")))
        return True
    if isinstance(message := answer.get("message"), dict) and ("role" in message or "tool_calls" in message):
        _reason(answer.get("done_reason"), reply)
        _message(message, reply)
        return True
    if isinstance(text := answer.get("response"), str) and "done" in answer:  # Ollama without a chat
        _reason(answer.get("done_reason"), reply)
        reply.texts.append(text)
        return True
    if isinstance(messages := answer.get("messages"), list) and messages and all(isinstance(item, dict) for item in messages):
        _reason(answer.get("finish_reason"), reply)
        for item in messages:
            _message(item, reply)
        return True
    if isinstance(answer.get("tool_calls"), list) or "stop_reason" in answer or answer.get("role") in ("assistant", "model"):
        _reason(answer.get("stop_reason"), reply)
        _message(answer, reply)
        return True
    if isinstance(parts := answer.get("parts"), list) and all(isinstance(part, dict) for part in parts):
        _message(answer, reply)
        return True
    if "structuredContent" in answer:
        reply.calls.append(Found(None, answer["structuredContent"]))
        return True
    return False


def _message(message: Json, reply: Reply) -> None:
    """Take a message in: calls, parts, text, refusal."""
    if not isinstance(message, dict):
        return
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        reply.refusal = message["refusal"]
    for call in message.get("tool_calls") or ():
        if isinstance(call, dict):
            _part(call, reply)
    if isinstance(call := message.get("function_call"), dict):
        reply.calls.append(parsed(call.get("name"), call.get("arguments")))
    content = message.get("content", message.get("parts"))
    if isinstance(content, str) and content.strip():
        reply.texts.append(content)
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict):
                _part(part, reply)


def _reason(reason: Json, reply: Reply) -> None:
    """Read why a model stopped."""
    if not isinstance(reason, str):
        return
    reason = reason.rsplit(".", 1)[-1]  # `FinishReason.SAFETY`, as some libraries print it
    if reason in _CUT:
        reply.cut = True
    elif reason in _REFUSED:
        reply.refusal = reply.refusal or reason
    elif reason in _MALFORMED:
        reply.malformed = reason


def _blocked(answer: dict[str, Any], reply: Reply) -> None:
    feedback = answer.get("promptFeedback", answer.get("prompt_feedback"))
    if isinstance(feedback, dict) and (reason := feedback.get("blockReason", feedback.get("block_reason"))):
        reply.refusal = reply.refusal or str(reason)
