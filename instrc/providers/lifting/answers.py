"""Find the tool calls in what a provider returns, whatever its envelope."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple, cast

from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.providers.lifting.envelopes import last_words, response, unwrapped
from instrc.providers.lifting.parts import (
    are_parts,
    candidate_of,
    choice_of,
    content,
    is_candidate,
    is_choice,
    is_message,
    is_part,
    part,
)
from instrc.providers.lifting.reply import RawCall, RawReply, first, join_replies, raw_call, strip_reasoning, with_repeated
from instrc.providers.lifting.streams import assemble, pieces_in, repeated_in_lines
from instrc.text.jsonvalue import Json, JsonObject, as_texts, listing, mapping, text_or_empty

TEXTS_IN_TEXTS: Final = 3
"""Maximum nesting of JSON texts in JSON texts."""
PLAIN_LEVELS: Final = 60
"""Maximum nesting at which library objects are converted."""
STREAMED_PIECES: Final = 1_000_000
"""Maximum chunks read from a stream."""


def json_of(value: object) -> Json:
    """Return an object as plain JSON; values that are not JSON are unchanged.

    A stream is read to its end.  Raise `TypeError` for an awaitable.
    """
    if isinstance(value, Awaitable | AsyncIterable):
        message = f"an answer that has to be awaited is given ({type(value).__name__}): `await` it, or collect its pieces, first"
        raise TypeError(message)
    return cast("Json", _json_of(value, 0, {}))  # whoever needs pure JSON asks `json_fault`


def _json_of(value: object, level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return an object as JSON; `known` has the objects met before, by identity, and keeps them, as they may be unhashable."""
    if isinstance(value, Enum):
        result: object = value.value
        return result
    if value is None or isinstance(value, str | bytes | bytearray | int | float):
        return bytes(value) if isinstance(value, bytearray) else value
    if level > PLAIN_LEVELS:
        return value
    if id(value) not in known:
        known[id(value)] = value, value  # what holds itself is left as it is
        known[id(value)] = value, _unfolded(value, level, known)
    return known[id(value)][1]


def _unfolded(value: object, level: int, known: dict[int, tuple[object, object]]) -> object:
    if isinstance(value, list | tuple):
        return [_json_of(item, level + 1, known) for item in value]
    if isinstance(value, Mapping):
        return {key: _json_of(item, level + 1, known) for key, item in value.items()}
    if isinstance(value, type):
        return value
    try:
        if hasattr(value, "model_dump"):
            return _dumped(value.model_dump)
        if isinstance(getattr(value, "status_code", None), int) and isinstance(body := getattr(value, "content", None), bytes):
            return body  # a response of httpx or requests
        if is_dataclass(value):
            return {each.name: _json_of(getattr(value, each.name), level + 1, known) for each in fields(value)}
    except Exception:  # noqa: BLE001  -- an object of somebody's: it may look like a model and be none
        return value
    return _of_stream(value, level, known) if isinstance(value, Iterable) else value


def _dumped(dump: Callable[..., object]) -> object:
    """Dump a model of pydantic, or one like it."""
    try:  # as what its parts are, not as what they are declared to be: a generation of LangChain holds some message
        return dump(mode="json", by_alias=False, warnings=False, serialize_as_any=True)
    except TypeError:  # one that knows fewer options
        return dump(mode="json", by_alias=False)


def _of_stream(stream: Iterable[object], level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return the pieces of a stream, or the text that its lines or fragments make; raise `CompileError` if it does not end."""
    pieces = list(islice(stream, STREAMED_PIECES + 1))
    if len(pieces) > STREAMED_PIECES:
        raise CompileError([TooLarge(what="the stream", limit=STREAMED_PIECES, unit="pieces")])
    if pieces and all(isinstance(piece, str | bytes) for piece in pieces):
        texts = [piece.decode("utf-8", "replace") if isinstance(piece, bytes) else str(piece) for piece in pieces]
        lines = "\n".join(texts)
        return lines if pieces_in(lines) is not None else "".join(texts)
    return [_json_of(piece, level + 1, known) for piece in pieces]


OwnershipOf = Callable[[Json], "Ownership"]


class Ownership(NamedTuple):
    """Which keys of an object are those of a tool's arguments."""

    all: bool
    """Whether the tool owns all keys, so that the object may be the arguments themselves."""
    any: bool


class Readings(NamedTuple):
    """The ways in which an answer can be read."""

    first: RawReply
    other: RawReply | None = None
    """Second reading: bare arguments read as an envelope, or a list; `None` for a certain envelope."""
    equal: bool = False
    """Whether the other reading is as likely as the first; otherwise it is used only if the first fails."""


def readings(answer: object, owns: OwnershipOf, names: frozenset[str]) -> Readings:
    """Return the content of an answer, in one or two readings.

    `owns` has the keys of an object that are those of the arguments; `names` are the names under which tools were sent.
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
        return _told(_of_value(call.arguments, owns, names, call), call.repeated)
    if call.unreadable is not None and (pieces := pieces_in(text)) is not None:
        return _told(_of_value([*pieces], owns, names), repeated_in_lines(text))
    return Readings(RawReply((call,), cut=unended or call.partial))


def _told(read: Readings, repeated: tuple[str, ...]) -> Readings:
    """Return readings whose calls list the keys that the text of the answer has twice in one object."""
    if not repeated:
        return read
    one, other = (item and replace(item, calls=with_repeated(item.calls, repeated)) for item in (read.first, read.other))
    return read._replace(first=one or read.first, other=other)


def _of_value(answer: Json, owns: OwnershipOf, names: frozenset[str], text: RawCall | None = None) -> Readings:
    """Return the content of a value; `text` is its source, if it came as one."""
    bare = RawReply((RawCall(None, answer) if text is None else text,))
    if isinstance(answer, list):
        result = _of_list(answer, names)
        if result is not None:
            return Readings(replace(result, envelope=True))
        fragments = as_texts(answer) if all(isinstance(item, str) for item in answer) else []
        return Readings(bare, _of_text("".join(fragments), owns, names).first if fragments else None)
    if not isinstance(answer, dict):
        return Readings(bare)
    if "ResponseMetadata" in answer and isinstance(stream := answer.get("stream"), list):  # Bedrock's ConverseStream
        return _of_value(stream, owns, names)
    inner = unwrapped(answer)
    result = response(inner)
    if result is None and (is_part(inner) or _is_named_call(inner, names)):
        result = content([inner])
    if result is None and (joined := assemble([inner])) is not None:
        result = response(joined)
    if result is None:
        return Readings(bare)
    result = replace(result, envelope=True)
    certain = _is_certain(inner) and (inner is answer or "error" not in inner)
    if owns(answer).all and not certain:
        return Readings(bare, result, equal=True)
    return Readings(result)


def _is_certain(answer: JsonObject) -> bool:
    """Return whether a recognised object is a response beyond doubt: no arguments have such members inside of each other."""
    choice, candidate = (mapping(next(iter(listing(answer.get(key))), None)) for key in ("choices", "candidates"))
    error, kind, role = mapping(answer.get("error")), text_or_empty(answer.get("object")), answer.get("role")
    counts = (mapping(answer.get(key)) for key in ("usage", "usageMetadata", "usage_metadata", "meta"))
    output = answer.get("output", answer.get("outputs"))
    return (
        bool(choice.keys() & {"message", "delta", "error"} or candidate.keys() & {"content", "finishReason", "finish_reason"})
        or kind.startswith(("chat.completion", "text_completion", "response", "realtime.response", "error", "conversation"))
        or bool(error.keys() & {"message", "code", "type"})
        or any("token" in key.casefold() for count in counts for key in count)
        or bool(mapping(first(answer, "promptFeedback", "prompt_feedback")).keys() & {"blockReason", "block_reason"})
        or (isinstance(answer.get("done"), bool) and bool(answer.keys() & {"message", "response"}))
        or isinstance(mapping(output).get("message"), dict)
        or (bool(listing(output)) and all(map(is_part, listing(output))))
        or (role == "assistant" and (answer.get("type") == "message" or "stop_reason" in answer))
    )


def _of_list(answer: list[Json], names: frozenset[str]) -> RawReply | None:
    """Return the content of a list: parts, a stream, choices, calls by name, one response, or `None` if it is a value itself."""
    lines = [item for item in answer if isinstance(item, str)]
    if lines and len(lines) == len(answer):
        pieces = pieces_in("\n".join(lines))
        return None if pieces is None else _of_list([*pieces], names)
    sent = [item for item in answer if isinstance(item, dict)]
    if not answer or len(sent) < len(answer):
        return None
    items = [unwrapped(item) for item in sent]
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
    """Return whether an object is a name with arguments: one of our names, or nothing else beside them."""
    if not isinstance(answer, dict):
        return False
    if answer.keys() == {"name", "arguments"} and isinstance(answer["name"], str) and isinstance(answer["arguments"], dict | str):
        return True
    name = answer.get("name")
    return isinstance(name, str) and name in names and bool(answer.keys() & {"arguments", "input", "args", "parameters"})
