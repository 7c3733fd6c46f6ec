"""Find the calls of tools in what a provider returns, whichever envelope it comes in.

Read: OpenAI Chat Completions, Responses, Realtime and Assistants, Anthropic Messages, Gemini and its Live API, Bedrock Converse,
Mistral, GigaChat, Ollama, vLLM, Cohere, MCP, servers that complete texts, smolagents, LangChain, pydantic-ai, LlamaIndex,
Haystack, AutoGen, the OpenAI Agents SDK; the whole response, its pieces as they were streamed, its message, a conversation that
ends with it, a line of a batch, one call, or the bare arguments; as an object or as JSON text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.library_streams import messages_of, states_joined
from instrc.lifting.replies.parts import are_parts, content, is_part, part
from instrc.lifting.replies.provider_objects import json_of
from instrc.lifting.replies.reasoning import strip_reasoning
from instrc.lifting.replies.reply import RawCall, RawReply, join_replies
from instrc.lifting.replies.responses import (
    candidate_of,
    choice_of,
    is_candidate,
    is_choice,
    is_message,
    last_words,
    response,
)
from instrc.lifting.replies.streams import assemble, pieces_in
from instrc.lifting.replies.wrappers import unwrapped
from instrc.limits.payloads import TEXTS_IN_TEXTS

OwnershipOf = Callable[[Json], "Ownership"]


class Ownership(NamedTuple):
    """Which keys of an object are those of a tool's arguments."""

    all: bool
    """All of them, so that the object may be the arguments themselves."""
    any: bool


class Readings(NamedTuple):
    """The ways in which an answer can be read."""

    first: RawReply
    other: RawReply | None = None
    """Another reading: as bare arguments, or as an envelope."""
    equal: bool = False
    """Whether the other is as likely as the first; else it counts only where the first does not hold."""


def readings(answer: object, owns: OwnershipOf, names: frozenset[str]) -> Readings:
    """Return what an answer holds, in one or two readings.

    `owns` says which keys of an object are those of the arguments; `names` are the names under which tools were sent.
    """
    value = json_of(answer)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return _of_text(value, owns, names) if isinstance(value, str) else _of_value(value, owns, names)


def _of_text(text: str, owns: OwnershipOf, names: frozenset[str]) -> Readings:
    said, unended = strip_reasoning(text.removeprefix("\ufeff"))
    if not said.strip():
        return Readings(RawReply(cut=unended))  # arguments may be empty, an answer may not
    call = raw_call(None, text)
    for _ in range(TEXTS_IN_TEXTS):  # a value that was written as JSON twice
        held = call.arguments if call.unreadable is None else None
        inner = raw_call(None, held) if isinstance(held, str) and held.lstrip().startswith(("{", "[")) else None
        if inner is None or inner.unreadable is not None:
            break
        call = inner
    if call.unreadable is None and isinstance(call.arguments, dict | list):
        return _of_value(call.arguments, owns, names, call)
    if call.unreadable is not None and (pieces := pieces_in(text)) is not None:
        return _of_value([*pieces], owns, names)
    return Readings(RawReply((call,), cut=unended or call.partial))


def _of_value(answer: Json, owns: OwnershipOf, names: frozenset[str], text: RawCall | None = None) -> Readings:
    """Return what a value holds; `text` is how it was read, if it came as one."""
    bare = RawReply((RawCall(None, answer) if text is None else text,))
    if isinstance(answer, list):
        found = _of_list(answer, names)
        return Readings(bare) if found is None else Readings(replace(found, envelope=True), bare)
    if not isinstance(answer, dict):
        return Readings(bare)
    if "ResponseMetadata" in answer and isinstance(stream := answer.get("stream"), list):  # Bedrock's ConverseStream
        return _of_value(stream, owns, names)
    inner = unwrapped(answer)
    found = response(inner)
    if found is None and (is_part(inner) or _is_named_call(inner, names)):
        found = content([inner])
    if found is None and (joined := assemble([inner])) is not None:
        found = response(joined)
    if found is None:
        return Readings(bare)
    ours = owns(answer)
    found = replace(found, envelope=True)
    if ours.all:
        return Readings(bare, found, equal=True)
    return Readings(found, bare if ours.any else None)


def _of_list(answer: list[Json], names: frozenset[str]) -> RawReply | None:
    """Return what a list holds: parts, a stream, choices, calls by name, one response; `None` if it is a value itself."""
    lines = [item for item in answer if isinstance(item, str)]
    if lines and len(lines) == len(answer):
        pieces = pieces_in("\n".join(lines))
        return None if pieces is None else _of_list([*pieces], names)
    if (inner := messages_of(answer)) is not None:
        return _of_list(inner, names)
    sent = [item for item in answer if isinstance(item, dict)]
    if not answer or len(sent) < len(answer):
        return None
    items = [unwrapped(item) for item in sent]
    if items != sent and (joined := assemble(sent)) is not None:  # the pieces of a cloud that wraps each of them
        return response(joined)
    if len(items) > 1 and (messages := states_joined(items)) is not None:
        return _of_list(messages, names)
    if are_parts(items):
        return content([*items])
    if (joined := assemble(items)) is not None:
        return response(joined)
    if all(map(is_choice, items)):
        return choice_of(items[0])
    if all(map(is_candidate, items)):
        return candidate_of(items[0])
    if all(map(is_message, items)):
        return last_words(items)
    if all(_is_named_call(item, names) for item in items):
        return join_replies(map(part, items))
    return response(items[0]) if len(items) == 1 else None


def _is_named_call(answer: Json, names: frozenset[str]) -> bool:
    """Say whether an object is a name with arguments: one of our names, or nothing else beside them."""
    if not isinstance(answer, dict):
        return False
    if answer.keys() == {"name", "arguments"} and isinstance(answer["name"], str) and isinstance(answer["arguments"], dict | str):
        return True
    name = answer.get("name")
    return isinstance(name, str) and name in names and bool(answer.keys() & {"arguments", "input", "args", "parameters"})
