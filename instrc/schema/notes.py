"""What normalising a schema has found: each value that is read otherwise than it is written, with why.

A reader of a keyword returns a `KeywordReading`, and there are three ways to one: `as_written` takes the value from the schema
itself, `read_as` and `left_out` come with their note.  So nothing can be repaired without a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, Location
from instrc.limits.schemas import NOTED_VALUE

Schema: TypeAlias = dict[str, Json]
NoteKind: TypeAlias = Literal[
    "dialect",  # a spelling that an older draft or OpenAPI defines
    "word",  # a word for a type of another language
    "repair",  # a slip, read as what it most likely means
    "left-out",  # a value that says nothing that can be kept
]


@dataclass(frozen=True, slots=True)
class Note:
    """A part of a schema that is not kept as it is written."""

    path: Location
    what: Json
    """The keyword or the value, as written."""
    kind: NoteKind
    reason: str
    """What it is read as; with `left-out` why it cannot be kept."""

    @property
    def message(self) -> str:
        """Say it in a sentence."""
        said = "left out: " if self.kind == "left-out" else "read as "
        return f"`{describe_value(self.what)}` is {said}{self.reason}"


@dataclass(frozen=True, slots=True)
class KeywordReading:
    """The keywords that one keyword is read as, and what is to be told of that."""

    keywords: Schema
    notes: tuple[Note, ...] = ()


def kept_as_written(keyword: str, schema: Schema) -> KeywordReading:
    """Keep a keyword of a schema with its value; containers of schemas are copied, the schemas in them are not."""
    value = schema[keyword]
    copied = value.copy() if value.__class__ is dict or value.__class__ is list else value
    return KeywordReading({keyword: copied})


def read_as(keywords: Schema, path: Location, what: Json, meaning: str, kind: NoteKind = "repair") -> KeywordReading:
    """Read a keyword as others, and say so."""
    return KeywordReading(keywords, (Note(path, what, kind, meaning),))


def left_out(path: Location, what: Json, reason: str) -> KeywordReading:
    """Leave a keyword out, and say why."""
    return KeywordReading({}, (Note(path, what, "left-out", reason),))


def describe_value(value: object) -> str:
    """Return a value in a few words."""
    if isinstance(value, dict | list | tuple):
        return ("{…}" if isinstance(value, dict) else "[…]") if value else "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a long number"
    try:
        text = value if isinstance(value, str) else dumps(value) if isinstance(value, bool | None) else repr(value)
    except Exception:  # noqa: BLE001  -- an object of somebody's, which may refuse to be shown
        text = type(value).__name__
    text = " ".join(text.split())
    return text if len(text) <= NOTED_VALUE else text[: NOTED_VALUE - 1] + "…"
