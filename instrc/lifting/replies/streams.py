"""Put the pieces of a streamed answer together, as their providers document them, before it is read as a whole one.

Pieces come as a list, as lines of JSON (Ollama), or as server-sent events (all others).
A stream that ends before its provider says so is an answer that was cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from instrc.jsontext import loads
from instrc.jsonvalue import JsonObject
from instrc.lifting.replies import library_streams, provider_streams, text_streams
from instrc.lifting.replies.parts import is_part


def pieces_in(text: str) -> list[JsonObject] | None:
    """Return the pieces that lines of a text hold; `None` if it is no stream."""
    found: list[JsonObject] = []
    begun = (line for line in text.split("\n") if line.strip() and not line.startswith(":"))  # OpenRouter comments while it waits
    events = any(line.startswith("data:") for line in islice(begun, 3))
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
    return found if _is_stream(found) or (found and all(map(is_part, found))) else None


def assemble(pieces: list[JsonObject]) -> JsonObject | None:
    """Return the response that the pieces of a stream make, in the provider's own envelope; `None` if they are no stream."""
    pieces = library_streams.unwrapped(pieces)
    if len(pieces) > 1 and (wrong := next((piece for piece in pieces if _is_an_error(piece)), None)) is not None:
        return {"error": wrong["error"]} if _join_of([piece for piece in pieces if piece is not wrong]) else None
    join = _join_of(pieces)
    return None if join is None else join(pieces)


def _is_an_error(piece: JsonObject) -> bool:
    """Say whether a piece tells that the stream broke off, where its provider has no event for that."""
    return isinstance(piece.get("error"), dict | str) and not piece.keys() & {"type", "choices", "candidates", "message"}


def _is_stream(pieces: list[JsonObject]) -> bool:
    """Say whether these are the pieces of a stream: of one provider, all of them."""
    return _join_of(library_streams.unwrapped(pieces)) is not None


def _join_of(pieces: list[JsonObject]) -> Callable[[list[JsonObject]], JsonObject] | None:
    """Return what joins the pieces of the provider that all of them are from; `None` if there is none."""
    return next((join for mark, join in _KINDS if all(map(mark, pieces))), None) if pieces else None


_KINDS: tuple[tuple[Callable[[JsonObject], bool], Callable[[list[JsonObject]], JsonObject]], ...] = (
    *provider_streams.KINDS,
    *text_streams.KINDS,
    provider_streams.RESPONSES,
    *library_streams.KINDS,
)
