"""What tools are read from: a value with the place of every part, and the notes taken while it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import NoReturn, Protocol, TypeGuard

from instrc.jsonkeys import repeated_members
from instrc.jsonplaces import JsonPlaces
from instrc.jsonreader import RepeatedMember
from instrc.jsontext import is_writable, loads
from instrc.jsonvalue import Json, JsonArray, JsonObject, JsonSyntaxError, Location, is_deeper, pointer, put
from instrc.limits.incoming import GIVEN_LEVELS, GIVEN_PARTS
from instrc.problems.files import InvalidJson, TooLarge
from instrc.problems.importing import LeftOut, ReadOtherwise
from instrc.problems.problem import CompileError, Problem
from instrc.schema.notes import describe_value
from instrc.source import Source, Span


class Neighbours(Protocol):
    """The files beside a source."""

    def given(self, name: str) -> Given:
        """Return what a file holds; a `CompileError` says why it cannot be read."""
        ...


class File(str):
    """The first step of a path into another file: its name, as seen from the folder of the source."""

    __slots__ = ()


class Given:
    """A value with places: a JSON text, one with a value a line (JSON Lines), or a value of Python, which has no places."""

    neighbours: Neighbours | None = None
    """Where files beside the source are read from; `None` where there are none."""

    def __init__(self, value: Json, source: Source | None = None, lines: Sequence[tuple[int, str]] | None = None) -> None:
        self.value = value
        self.problems: list[Problem] = []
        self._source = source
        self._lines = lines
        self._texts: dict[int, JsonPlaces] = {}

    def locate(self, path: Location) -> Span | None:
        """Return the place of a part, or of the innermost part on the way that exists."""
        if path and path[0].__class__ is File and self.neighbours is not None:
            return self.neighbours.given(str(path[0])).locate(path[1:])
        if self._source is None:
            return None
        if self._lines is None:
            return self._place(-1, 0, self._source.text, path)
        if not path or not isinstance(path[0], int) or path[0] >= len(self._lines):
            return self._source.whole()
        return self._place(path[0], *self._lines[path[0]], path[1:])

    def left_out(self, path: Location, what: object, reason: str) -> None:
        """Note that a part has no place in a vibe."""
        self.problems.append(LeftOut(at=self.locate(path), what=describe_value(what), reason=reason))

    def read_as(self, path: Location, what: object, meaning: str) -> None:
        """Note that a part is read as something else than what is written."""
        self.problems.append(ReadOtherwise(at=self.locate(path), what=describe_value(what), meaning=meaning))

    def _place(self, key: int, offset: int, text: str, path: Location) -> Span:
        if key not in self._texts:
            self._texts[key] = JsonPlaces(text)
        member = self._texts[key].place(pointer(path))
        assert self._source is not None
        return self._source.span(offset + member.start, offset + member.end)


def of_text(source: Source) -> Given:
    """Read a JSON text or JSON Lines; a `CompileError` says where it is neither.

    Lines that are broken are noted, if others are not.
    """
    try:
        given = Given(loads(source.text), source)
    except JsonSyntaxError as error:
        by_line = _lines(source)
        if by_line is not None and not is_deeper(by_line.value, GIVEN_LEVELS):
            return by_line
        raise CompileError([_broken(source, error.offset, error.reason)]) from None
    if repeated := repeated_members(source.text, given.value):
        raise CompileError(_repeated(source, each) for each in repeated)
    if is_deeper(given.value, GIVEN_LEVELS):
        raise CompileError([TooLarge(at=source.whole(), what="this file", limit=GIVEN_LEVELS, unit="levels")])
    return given


def _lines(source: Source) -> Given | None:
    """Read one value a line; `None` if the first line with anything on it is not one, or is the only one."""
    values: list[Json] = []
    lines: list[tuple[int, str]] = []
    problems: list[Problem] = []
    offset = 0
    for line in source.text.split("\n"):
        if line.strip():
            try:
                values.append(loads(line))
                problems += (_repeated(source, each, offset) for each in repeated_members(line, values[-1]))
                lines.append((offset, line))
            except JsonSyntaxError as error:
                if not values:
                    return None
                problems.append(_broken(source, offset + error.offset, error.reason))
        offset += len(line) + 1
    if len(values) < 2 or len(problems) > len(values):
        return None
    given = Given(values, source, lines)
    given.problems += problems
    return given


def _repeated(source: Source, member: RepeatedMember, offset: int = 0) -> InvalidJson:
    return InvalidJson(at=source.span(offset + member.start, offset + member.end), reason=member.reason)


def _broken(source: Source, offset: int, reason: str) -> InvalidJson:
    start = min(offset, max(len(source.text) - 1, 0))
    return InvalidJson(at=source.span(start, min(start + 1, len(source.text))), reason=reason)


def of_value(value: object, key_of: Callable[[object], object] = lambda key: key) -> Given:
    """Take a value of Python that is plain JSON; a `CompileError` says that it is not.

    It is copied, so that parts it shares with itself are parts of their own; `key_of` makes texts of other keys.
    """
    root: list[Json] = [None]
    stack: list[tuple[object, JsonArray | JsonObject, str | int, int]] = [(value, root, 0, 0)]
    count = 0
    while stack:
        item, holder, key, level = stack.pop()
        count += 1
        kind = item.__class__
        if level > GIVEN_LEVELS:
            _refuse(f"it nests deeper than {GIVEN_LEVELS:,} levels, or holds itself")
        if isinstance(item, dict) and kind is dict:
            made: JsonObject = {}
            for written, part in item.items():
                name = key_of(written)
                if not isinstance(name, str) or name.__class__ is not str or not is_writable(name):
                    _refuse(f"{describe_value(name)} is not a key")
                made[name] = None
                stack.append((part, made, name, level + 1))
            put(holder, key, made)
        elif isinstance(item, list | tuple) and kind in {list, tuple}:
            listed: JsonArray = [None] * len(item)
            stack.extend((part, listed, index, level + 1) for index, part in enumerate(item))
            put(holder, key, listed)
        elif _is_scalar(item):
            put(holder, key, item)
        else:
            _refuse(f"{describe_value(item)} is not a value of JSON")
        if count + len(stack) > GIVEN_PARTS:
            _refuse(f"it has over {GIVEN_PARTS:,} parts, or holds itself")
    return Given(root[0])


def _is_scalar(item: object) -> TypeGuard[bool | float | str | None]:
    """Tell whether a value is one of JSON that has no parts: of a class derived from these it is not."""
    match item:
        case None | True | False:
            return True
        case int():
            return item.__class__ is int
        case float():
            return item.__class__ is float and isfinite(item)
        case str():
            return item.__class__ is str and is_writable(item)
        case _:
            return False


def _refuse(reason: str) -> NoReturn:
    raise CompileError([InvalidJson(reason=reason)])
