"""What the engine properties of a process say: paths, and values made of paths and constants.

True of this form: a path has at least one segment; nothing in a value names code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, as_text

_SEGMENT = r'("(?:[^"\\]|\\.)*")(?=\.|$)|([^."][^.]*)(?=\.|$)|(?=\.|$)'  # compiled when it is needed


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One name of a path; what is not `quoted` may be a part of a key that holds dots."""

    name: str
    quoted: bool = False


class Read(msgspec.Struct, frozen=True, gc=False):
    """A path: a step, an input or a name of a block, then members; `step1_page."b c"`."""

    segments: tuple[Segment, ...]
    optional: bool = False
    """An argument that is left out where the path leads to `null`."""

    @property
    def text(self) -> str:
        """The path as it is written."""
        segments = self.segments
        if len(segments) == 1 and not segments[0].quoted:
            return segments[0].name
        return ".".join([dumps(each.name, indent=False) if each.quoted else each.name for each in segments])

    @property
    def first(self) -> str:
        """What the path begins with."""
        return self.segments[0].name

    def below(self, other: Read) -> bool:
        """Tell whether this path leads to the same place as another, or further into it."""
        return self.segments[: len(other.segments)] == other.segments

    @classmethod
    def parse(cls, text: str, *, optional: bool = False) -> Read:
        """Read a path; what is no sequence of names and JSON strings is taken apart at its dots."""
        found: list[Segment] = []
        at = 0
        segment = re.compile(_SEGMENT)
        while match := segment.match(text, at):
            try:
                found.append(Segment(as_text(loads(match[1])), quoted=True) if match[1] else Segment(match[2] or ""))
            except ValueError:
                break
            at = match.end() + 1
            if match.end() == len(text):
                return cls(tuple(found), optional)
        return cls(tuple(Segment(name) for name in text.split(".")), optional)


class Constant(msgspec.Struct, frozen=True, gc=False):
    """A value that the program gives."""

    value: Json


class Listed(msgspec.Struct, frozen=True, gc=False):
    """A list of values, in order."""

    items: tuple[Value, ...]


class Named(msgspec.Struct, frozen=True, gc=False):
    """An object of values."""

    members: Mapping[str, Value] = msgspec.field(default_factory=dict)


Value: TypeAlias = Read | Constant | Listed | Named
"""What fills an argument, or what a block gives."""


def value_of(written: Json) -> Value:
    """Read a value: a text is a path, `{ "const": … }` a constant, a list and an object hold values; anything else is itself."""
    match written:
        case str():
            return Read.parse(written)
        case {"const": value, **others} if not others:
            return Constant(value)
        case {"path": str(path), "optional": True, **others} if not others:
            return Read.parse(path, optional=True)
        case {"path": str(path), "optional": False, **others} if not others:
            return Read.parse(path)
        case dict():
            return Named({name: value_of(each) for name, each in written.items()})
        case list():
            return Listed(tuple(value_of(each) for each in written))
        case _:
            return Constant(written)


def is_value(written: Json) -> bool:
    """Tell whether `value_of` reads nothing but paths and constants that are written as such."""
    waiting = [written]
    while waiting:
        match waiting.pop():
            case str() as path:
                if not path:
                    return False
            case {"const": _, **others} | {"path": str(), "optional": bool(), **others} if not others:
                pass
            case dict() as members:
                waiting.extend(members.values())
            case list() as items:
                waiting.extend(items)
            case _:
                return False
    return True


def written_value(value: Value) -> Json:
    """Return a value as it is written; `value_of` reads it back."""
    match value:
        case Read(optional=False):
            return value.text
        case Read():
            return {"path": value.text, "optional": True}
        case Constant(constant):
            return {"const": constant}
        case Named(members):
            return {name: written_value(member) for name, member in members.items()}
        case Listed(items):
            return [written_value(item) for item in items]


def reads_of(value: Value | None) -> Iterator[Read]:
    """Yield the paths in a value, in order."""
    waiting: list[Value | None] = [value]
    while waiting:
        match waiting.pop():
            case Read() as read:
                yield read
            case Listed(items):
                waiting.extend(reversed(items))
            case Named(members):
                waiting.extend(reversed(list(members.values())))
            case Constant() | None:
                pass


def map_reads(value: Value, change: Callable[[Read], Read]) -> Value:
    """Return a value with each of its paths changed."""
    match value:
        case Read():
            return change(value)
        case Listed(items):
            return Listed(tuple(map_reads(item, change) for item in items))
        case Named(members):
            return Named({name: map_reads(member, change) for name, member in members.items()})
        case Constant():
            return value
