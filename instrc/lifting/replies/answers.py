"""Find the calls of tools in what a provider returns, whichever envelope it comes in.

Read: OpenAI Chat Completions and Responses, Anthropic Messages, Gemini, Mistral, GigaChat, Ollama, vLLM, MCP, smolagents;
the whole response, its pieces as they were streamed, its message, one call, or the bare arguments; as an object or as JSON text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import parsed, unthought
from instrc.lifting.replies.reply import Found, Reply
from instrc.lifting.replies.responses import is_part, part, response
from instrc.lifting.replies.streams import is_stream, pieces_in, whole

_MOST_NESTED = 50
"""Levels below which no object of a library is looked for."""
_MOST_LEVELS = 3
"""How often a text may hold a text that holds JSON."""


def found(answer: Json, is_bare: Callable[[Json], bool], names: frozenset[str]) -> Reply:
    """Return the calls in an answer.

    `is_bare` says whether an object looks like the arguments themselves; `names` are the names under which tools were sent.
    """
    reply = Reply()
    answer = _plain(answer, 0)
    if isinstance(answer, bytes):
        answer = answer.decode("utf-8", "replace")
    if isinstance(answer, str):
        _from_text(answer, reply, is_bare, names)
    else:
        _value(answer, reply, is_bare, names)
    return reply


def _plain(value: Any, level: int) -> Json:
    """Return what objects of the providers' libraries, models and dataclasses, say as plain JSON."""
    if value is None or isinstance(value, str | bytes | int | float):
        return value.value if isinstance(value, Enum) else value
    if level > _MOST_NESTED:
        return value
    if isinstance(value, list | tuple):
        return [_plain(item, level + 1) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, level + 1) for key, item in value.items()}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=False)
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name), level + 1) for each in fields(value)}
    return value


def _from_text(text: str, reply: Reply, is_bare: Callable[[Json], bool], names: frozenset[str]) -> None:
    said, unended = unthought(text.removeprefix("\ufeff"))
    reply.cut = unended
    if not said.strip():
        return  # arguments may be empty, an answer may not
    call = parsed(None, text)
    for _ in range(_MOST_LEVELS):  # a value that was written as JSON twice
        held = call.arguments if call.unreadable is None else None
        inner = parsed(None, held) if isinstance(held, str) and held.lstrip().startswith(("{", "[")) else None
        if inner is None or inner.unreadable is not None:
            break
        call = inner
    if call.unreadable is None and isinstance(call.arguments, dict | list):
        _value(call.arguments, reply, is_bare, names)
    elif call.unreadable is not None and (pieces := pieces_in(text)) is not None:
        _value(whole(pieces), reply, is_bare, names)
    else:
        reply.calls.append(call)
        reply.cut = reply.cut or call.partial


def _value(answer: Json, reply: Reply, is_bare: Callable[[Json], bool], names: frozenset[str]) -> None:
    if isinstance(answer, list) and answer and all(is_part(item) for item in answer):
        reply.envelope = True
        for item in answer:
            part(item, reply)
    elif isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], dict) and "error" in answer[0]:
        _value(answer[0], reply, is_bare, names)  # Gemini's error, in a stream that has nothing else
    elif is_stream(answer):
        _value(whole(answer), reply, is_bare, names)
    elif isinstance(answer, list) and answer and all(_named_call(item, names) for item in answer):
        reply.envelope = True
        for item in answer:
            part(item, reply)
    elif not isinstance(answer, dict) or is_bare(answer):
        reply.calls.append(Found(None, answer))
    elif response(answer, reply):
        reply.envelope = True
    elif is_part(answer) or _named_call(answer, names):
        reply.envelope = True
        part(answer, reply)
    else:
        reply.calls.append(Found(None, answer))


def _named_call(answer: Json, names: frozenset[str]) -> bool:
    """Say whether an object is a name with arguments: one of our names, or nothing else beside them."""
    if not isinstance(answer, dict):
        return False
    if answer.keys() == {"name", "arguments"} and isinstance(answer["name"], str) and isinstance(answer["arguments"], dict | str):
        return True
    name: Any = answer.get("name")
    return isinstance(name, str) and name in names and bool(answer.keys() & {"arguments", "input", "args", "parameters"})
