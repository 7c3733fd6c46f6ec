"""Turn the objects of providers' libraries into plain JSON: models, dataclasses, mappings, enumerations."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import islice
from typing import cast

from instrc.jsonvalue import Json
from instrc.limits.payloads import PLAIN_LEVELS, STREAMED_PIECES
from instrc.problems.files import TooLarge
from instrc.problems.problem import CompileError


def json_of(value: object) -> Json:
    """Return what an object says as plain JSON; what cannot be said so is left as it is.

    A stream is read to its end.  What still has to be awaited is a `TypeError`.
    """
    if isinstance(value, Awaitable | AsyncIterable):
        message = f"an answer that has to be awaited is given ({type(value).__name__}): `await` it, or collect its pieces, first"
        raise TypeError(message)
    return cast("Json", _json_of(value, 0, {}))  # whoever needs pure JSON asks `json_fault`


def _json_of(value: object, level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return an object as JSON; `known` has what was met, by its identity, and keeps it, as objects need not be hashable."""
    if isinstance(value, Enum):
        found: object = value.value
        return found
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
        if callable(write := getattr(value, "toDict", None)):  # a prediction of DSPy
            return _json_of(write(), level + 1, known)
        if is_dataclass(value):
            return {each.name: _json_of(getattr(value, each.name), level + 1, known) for each in fields(value)}
    except Exception:  # noqa: BLE001  -- an object of somebody's: it may look like a model and be none
        return value
    return _of_stream(value, level, known) if isinstance(value, Iterable) else value


def _of_stream(stream: Iterable[object], level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return the pieces of a stream, or the text that its lines or fragments make; `CompileError` if it does not end."""
    pieces = list(islice(stream, STREAMED_PIECES + 1))
    if len(pieces) > STREAMED_PIECES:
        raise CompileError([TooLarge(what="the stream", limit=STREAMED_PIECES, unit="pieces")])
    if pieces and all(isinstance(piece, str | bytes) for piece in pieces):
        texts = [piece.decode("utf-8", "replace") if isinstance(piece, bytes) else str(piece) for piece in pieces]
        return ("" if any("\n" in text for text in texts) else "\n").join(texts)
    return [_json_of(piece, level + 1, known) for piece in pieces]


def _dumped(dump: Callable[..., object]) -> object:
    """Return what a model of pydantic, or one that is like it, says of itself."""
    try:  # as what its parts are, not as what they are declared to be: a generation of LangChain holds some message
        return dump(mode="json", by_alias=False, warnings=False, serialize_as_any=True)
    except TypeError:  # one that knows fewer options
        return dump(mode="json", by_alias=False)
