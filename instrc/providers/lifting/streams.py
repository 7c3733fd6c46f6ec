"""Read streamed answers: find their chunks, unwrap them, and join them into one response."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.providers.lifting.parts import is_part
from instrc.providers.lifting.stream_joins import error_in, join_of
from instrc.text.jsontext import repeated_keys, value_in
from instrc.text.jsonvalue import Json, JsonObject, mapping

_ABOUT = frozenset(
    {"id", "object", "created", "model", "usage", "provider", "service_tier", "system_fingerprint", "obfuscation", "timings"}
    | {"usageMetadata", "usage_metadata", "modelVersion", "model_version", "responseId", "response_id", "createTime"}
)
"""Members of a chunk that describe the answer and are not part of it."""
_PINGS = ("ping", "keepalive")
"""Types of events that only keep a connection open: of Anthropic, of OpenAI's Responses."""
_FIELDS = ("event:", "id:", "retry:", ":")
"""Beginnings of the lines of a server-sent event that are not data; hosts comment while they wait."""
_OF_EVENTS = frozenset({"event", "data", "id", "retry"})
"""Members of a server-sent event, as httpx-sse and Mistral's library return it."""
_SIGNS = frozenset({"", "[DONE]"})
"""Texts without content: a keep-alive, and the end marker of an OpenAI stream."""


def unwrapped(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return the chunks as sent by the provider, without the wrappers of its library."""
    if all("data" in piece and piece.keys() <= _OF_EVENTS for piece in pieces):
        return _data_of(pieces)
    kinds = {kind for piece in pieces if isinstance(kind := piece.get("type"), str)}
    if any(isinstance(mapping(piece.get("chunk")).get("bytes"), str | bytes) for piece in pieces):  # Bedrock's `invoke_model…`
        return [_held(mapping(piece["chunk"]).get("bytes")) if "chunk" in piece else piece for piece in pieces]
    if "chunk" in kinds and any(isinstance(piece.get("chunk"), dict) for piece in pieces):
        return [mapping(piece["chunk"]) for piece in pieces if isinstance(piece.get("chunk"), dict)]  # `chat.completions.stream`
    if "message_start" in kinds:  # new types may be added, and `messages.stream` of Anthropic's library repeats events in others
        return [piece for piece in pieces if not isinstance(piece.get("type"), str) or join_of([piece])]
    return pieces


def _data_of(events: list[JsonObject]) -> list[JsonObject]:
    """Return the data of events: an object, or the text of one; the events themselves if one has other data."""
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


def _held(text: Json) -> JsonObject:
    """Return the object in a text or in bytes, or an empty one."""
    return mapping(value_in(text)) if isinstance(text, str | bytes) else {}


def pieces_in(text: str) -> list[JsonObject] | None:
    """Return the chunks in the lines of a text up to a damaged one, none if that is the first; `None` if it is not a stream."""
    result: list[JsonObject] = []
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    events = next((line for line in lines if line.strip() and not line.startswith(_FIELDS)), "").startswith("data:")
    for raw in _data_in(lines) if events else lines:
        line = raw.strip()
        if line in _SIGNS:
            continue
        piece = value_in(line)
        if isinstance(piece, dict):
            result.append(piece)
        elif piece is None and (line.startswith("{") if events else result):
            if not result:
                return []
            break  # cut off within a line, or a fragment of the answer is lost
        elif piece is not None or not events:
            return None
    said = [piece for piece in _telling(unwrapped(result)) if error_in(piece) is None]
    known = join_of(said) is not None or (result and (not said or all(map(is_part, result)))) or (events and len(result) == 1)
    return result if known else None


def _data_in(lines: list[str]) -> Iterator[str]:
    """Yield the data of events: the lines of one event joined, unless each of them is JSON."""
    held: list[str] = []
    for raw in [*lines, ""]:
        line = raw.strip()
        if line.startswith("data:"):
            held.append(line[5:].strip())
        elif not line.startswith(_FIELDS):
            joined = "\n".join(held)
            yield from [joined] if _held(joined) else held
            held = []
            yield line


def _telling(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return chunks without those that are unrelated to the answer, or all of them if none is related."""
    telling = (piece for piece in pieces if piece.get("type") not in _PINGS)
    return [piece for piece in telling if any(item and key not in _ABOUT for key, item in piece.items())] or pieces


def repeated_in_lines(text: str) -> tuple[str, ...]:
    """Return the duplicate keys of objects in the lines of a stream."""
    result: dict[str, None] = {}
    for raw in text.split("\n"):
        line = raw.strip().removeprefix("data:").strip()
        result |= dict.fromkeys(repeated_keys(line, held) if (held := _held(line)) else ())
    return tuple(result)


def assemble(pieces: list[JsonObject]) -> JsonObject | None:
    """Return the joined response of a stream in the provider's own envelope, or `None` if the chunks are not a stream."""
    pieces = _telling(unwrapped(pieces))
    if broken := next(filter(None, map(error_in, pieces)), None):
        said = [piece for piece in pieces if error_in(piece) is None]
        return broken if join_of(said) or not said else None
    join = join_of(pieces)
    return None if join is None else join(pieces)
