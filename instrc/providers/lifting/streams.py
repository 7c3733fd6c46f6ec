"""Read streamed answers: find their chunks, unwrap them, and join them into one response."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from instrc.providers.lifting.parts import is_part
from instrc.providers.lifting.stream_joins import join_of
from instrc.text.jsontext import loads, repeated_keys
from instrc.text.jsonvalue import Json, JsonObject, mapping

_ABOUT = frozenset(
    {"id", "object", "created", "model", "usage", "provider", "service_tier", "system_fingerprint", "obfuscation", "timings"}
    | {"usageMetadata", "usage_metadata", "modelVersion", "model_version", "responseId", "response_id", "createTime"}
)
"""Members of a chunk that describe the answer and are not part of it."""
_BESIDE_MESSAGES = frozenset({"text", "input_json", "thinking", "signature", "citation", "compaction"})
"""Events that Anthropic's `messages.stream` derives from others, so that they repeat those."""
_OF_EVENTS = frozenset({"event", "data", "id", "retry"})
"""Members of a server-sent event, as httpx-sse and Mistral's library return it."""
_SIGNS = frozenset({"", "[DONE]"})
"""Texts without content: a keep-alive, and the end marker of an OpenAI stream."""


def unwrapped(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return the chunks as sent by the provider, without the wrappers of its library."""
    if all("data" in piece and piece.keys() <= _OF_EVENTS for piece in pieces):
        return _data_of(pieces)
    kinds = {kind for piece in pieces if isinstance(kind := piece.get("type"), str)}
    if all(isinstance(mapping(piece.get("chunk")).get("bytes"), str | bytes) for piece in pieces):
        return [_held(mapping(piece["chunk"])["bytes"]) for piece in pieces]  # Bedrock's `invoke_model_with_response_stream`
    if "chunk" in kinds and any(isinstance(piece.get("chunk"), dict) for piece in pieces):
        return [mapping(piece["chunk"]) for piece in pieces if isinstance(piece.get("chunk"), dict)]  # `chat.completions.stream`
    if "message_start" in kinds:
        return [piece for piece in pieces if not (isinstance(kind := piece.get("type"), str) and kind in _BESIDE_MESSAGES)]
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
    try:
        return mapping(loads(text)) if isinstance(text, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}


def pieces_in(text: str) -> list[JsonObject] | None:
    """Return the chunks in the lines of a text, or `None` if it is not a stream."""
    result: list[JsonObject] = []
    begun = (line for line in text.split("\n") if line.strip() and not line.startswith(":"))  # OpenRouter comments while it waits
    events = any(line.startswith("data:") for line in islice(begun, 3))
    for raw in _data_in(text) if events else text.split("\n"):
        line = raw.strip()
        if line in _SIGNS:
            continue
        try:
            piece = loads(line)
        except (ValueError, RecursionError):
            if result and not events:
                break  # cut off within a line
            if not events:
                return None
            continue
        if not isinstance(piece, dict):
            return None
        result.append(piece)
    said = [piece for piece in _telling(unwrapped(result)) if not _is_an_error(piece)]
    known = join_of(said) is not None or (result and (not said or all(map(is_part, result))))
    return result if known else None


def _data_in(text: str) -> Iterator[str]:
    """Yield the data of events: the lines of one event joined, unless each of them is JSON."""
    held: list[str] = []
    for raw in [*text.split("\n"), ""]:
        line = raw.strip()
        if line.startswith("data:"):
            held.append(line[5:].strip())
        elif not line.startswith(("event:", "id:", "retry:", ":")):
            joined = "\n".join(held)
            yield from [joined] if _held(joined) else held
            held = []
            yield line


def _telling(pieces: list[JsonObject]) -> list[JsonObject]:
    """Return chunks without those that are unrelated to the answer, or all of them if none is related."""
    result = [piece for piece in pieces if any(item and key not in _ABOUT for key, item in piece.items())]
    return result or pieces


def _is_an_error(piece: JsonObject) -> bool:
    """Return whether a chunk reports an error, for providers without an error event."""
    error = piece.get("error")
    return piece.get("object") == "error" or (
        bool(error) and isinstance(error, dict | str) and not piece.keys() & {"type", "message"}
    )


def repeated_in_lines(text: str) -> tuple[str, ...]:
    """Return the duplicate keys of objects in the lines of a stream."""
    result: dict[str, None] = {}
    for raw in text.split("\n"):
        line = raw.strip().removeprefix("data:").strip()
        try:
            result |= dict.fromkeys(repeated_keys(line, loads(line)))
        except (ValueError, RecursionError):
            continue
    return tuple(result)


def assemble(pieces: list[JsonObject]) -> JsonObject | None:
    """Return the joined response of a stream in the provider's own envelope, or `None` if the chunks are not a stream."""
    pieces = _telling(unwrapped(pieces))
    if wrong := [piece for piece in pieces if _is_an_error(piece)]:
        said = [piece for piece in pieces if piece not in wrong]
        broken: JsonObject = {key: wrong[0][key] for key in ("error", "object", "message", "detail") if key in wrong[0]}
        return broken if join_of(said) or not said else None
    join = join_of(pieces)
    return None if join is None else join(pieces)
