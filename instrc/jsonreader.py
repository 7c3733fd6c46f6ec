"""Read JSON text with the place of every value: the slow, exact way, taken only to say where something is.

`instrc.jsontext.loads` is the fast way.  This reader is iterative, so depth is no limit,
keeps integers exact, and notices keys written twice, which no fast reader tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import decoder
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from instrc.jsonvalue import (
    LITERALS,
    Json,
    JsonArray,
    JsonObject,
    JsonSyntaxError,
    as_object,
    tokens,
)

_scanstring: Callable[[str, int, bool], tuple[str, int]] = decoder.scanstring  # type: ignore[attr-defined]  # undocumented, stable
_SURROGATE_ESCAPE = r"\\u[dD][89abAB]"
_LONG = 100_000
"""Characters from which on places cost too much where nobody asks for them: about 400 bytes a value."""
_DEEPEST = 200_000
"""Levels of brackets; a text with more is an attack on someone's memory."""


class RepeatedMember(NamedTuple):
    """A key that a JSON text has a second time in one object, and its place there."""

    key: str
    start: int
    end: int

    @property
    def reason(self) -> str:
        """Say what is wrong with the text."""
        return f"the key `{self.key}` is written twice in one object"


class ValueOffsets(Struct, frozen=True):
    """Where a value stands: character offsets of its key (empty for an element of an array) and of itself."""

    key_start: int
    key_end: int
    start: int
    end: int


class JsonText(Struct):
    """A JSON value with the places of its parts, and the keys that were written twice with their places."""

    value: Json
    whole: ValueOffsets
    places: dict[tuple[int, str | int], ValueOffsets]
    """By the offset at which the container begins and the key or index in it, so that depth costs nothing."""
    repeated: list[RepeatedMember] = field(default_factory=list)

    def place(self, pointer: str) -> ValueOffsets:
        """Return where a JSON Pointer leads to, or the innermost part on the way that exists."""
        value, member = self.value, self.whole
        for token in tokens(pointer):
            key: str | int = int(token) if isinstance(value, list) and token.isdecimal() else token
            found = self.places.get((member.start, key))
            if found is None:
                break
            member = found
            value = _part(value, key)
        return member


def parse_json(text: str) -> JsonText:
    """Read a text; `JsonSyntaxError` if it is not JSON."""
    return _TextReader(text).document()


def read_value(text: str) -> Json:
    """Read a text without its places; `JsonSyntaxError` if it is not JSON."""
    if len(text) > _LONG and not re.search(_SURROGATE_ESCAPE, text):
        try:
            value: Json = decoder.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode(text)
        except decoder.JSONDecodeError as error:
            raise JsonSyntaxError(error.pos, _reason(error.msg, ended=error.pos >= len(text))) from None
        except (RecursionError, ValueError):
            pass  # what that reader cannot hold, and mistakes of which it does not tell the place
        else:
            return value
    return parse_json(text).value


def _refuse(word: str) -> Json:
    raise ValueError(word)  # NaN and Infinity are not JSON


def _finite(digits: str) -> float:
    value = float(digits)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(digits)
    return value


def _reason(message: str, *, ended: bool) -> str:
    """Say in our words what the reader of the standard library says."""
    if message.startswith("Extra data"):
        return "text goes on after the value"
    if "string" in message or "control character" in message or "escape" in message:
        return "a string is not closed or has a bad escape"
    if ended:
        return "the text ends before its value does"
    if message.startswith("Expecting property name"):
        return "a key in double quotes is expected"
    if message.startswith("Expecting ':'"):
        return "a ':' is expected after a key"
    return "a ',' or a closing bracket is expected" if message.startswith("Expecting ','") else "a value is expected"


def _part(value: Json, key: str | int) -> Json:
    return value[key] if isinstance(value, list) and isinstance(key, int) else as_object(value)[str(key)]


_Open: TypeAlias = "tuple[JsonArray | JsonObject, str | int, int, int, int]"
"""A container whose bracket has been read: itself, its key in the one around it, their places."""


class _TextReader:
    """One pass over a text with an explicit stack of open containers."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.space = re.compile(r"[ \t\n\r]*").match  # compiled when a text is read
        self.number = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?").match
        self.stack: list[_Open] = []
        self.places: dict[tuple[int, str | int], ValueOffsets] = {}
        self.repeated: list[RepeatedMember] = []

    def document(self) -> JsonText:
        key: str | int = ""
        key_start = key_end = -1
        while True:
            start = self._skip()
            opened = self._opened()
            value: Json = self._scalar() if opened is None else opened
            if opened is not None:
                if len(self.stack) >= _DEEPEST:
                    raise JsonSyntaxError(start, f"brackets are nested more than {_DEEPEST:,} levels deep")
                self.stack.append((opened, key, key_start, key_end, start))
                closing = "}" if isinstance(opened, dict) else "]"
                if self._peek(self._skip()) != closing:
                    key, key_start, key_end = self._key()
                    continue
                self.position += 1
                value, key, key_start, key_end, start = self.stack.pop()
            while True:  # a value is complete; so may be the containers around it
                if not self.stack:
                    return self._finish(value, ValueOffsets(start, self.position, start, self.position))
                self._attach(key, value, ValueOffsets(key_start, key_end, start, self.position))
                if self._more():
                    key, key_start, key_end = self._key()
                    break
                value, key, key_start, key_end, start = self.stack.pop()

    def _finish(self, value: Json, place: ValueOffsets) -> JsonText:
        if self._skip() < len(self.text):
            raise JsonSyntaxError(self.position, "text goes on after the value")
        return JsonText(value, place, self.places, self.repeated)

    def _attach(self, key: str | int, value: Json, place: ValueOffsets) -> None:
        container, *_, start = self.stack[-1]
        self.places[start, key] = place
        if isinstance(container, dict):
            container[str(key)] = value
        else:
            container.append(value)

    def _key(self) -> tuple[str | int, int, int]:
        """Read a key and its colon, or count an element; return it with its place."""
        container = self.stack[-1][0]
        start = self._skip()
        if isinstance(container, list):
            return len(container), start, start
        if self._peek(start) != '"':
            raise JsonSyntaxError(start, "a key in double quotes is expected")
        key = self._string()
        end = self.position
        if self._peek(self._skip()) != ":":
            raise JsonSyntaxError(self.position, "a ':' is expected after a key")
        self.position += 1
        if key in container:
            self.repeated.append(RepeatedMember(key, start, end))
        return key, start, end

    def _more(self) -> bool:
        """Step over a comma (more follows) or the closing bracket (no more)."""
        character = self._peek(self._skip())
        closing = "}" if isinstance(self.stack[-1][0], dict) else "]"
        if character not in {",", closing}:
            raise JsonSyntaxError(self.position, f"a ',' or '{closing}' is expected")
        self.position += 1
        return character == ","

    def _opened(self) -> JsonArray | JsonObject | None:
        """Step over the opening bracket of a container, and return that container."""
        character = self._peek(self.position)
        if character not in {"{", "["}:
            return None
        self.position += 1
        return {} if character == "{" else []

    def _scalar(self) -> Json:
        if self._peek(self.position) == '"':
            return self._string()
        if number := self.number(self.text, self.position):
            return self._number(number)
        for word, value in LITERALS.items():
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return value
        ended = self.position >= len(self.text)
        raise JsonSyntaxError(self.position, "the text ends before its value does" if ended else "a value is expected")

    def _number(self, number: re.Match[str]) -> Json:
        self.position = number.end()
        if number.group(1) is None and number.group(2) is None:
            sign = -1 if number.group().startswith("-") else 1
            digits = number.group().removeprefix("-")
            value = 0
            for start in range(0, len(digits), 4000):  # int() refuses more digits at once
                part = digits[start : start + 4000]
                value = value * 10 ** len(part) + int(part)
            return sign * value
        result = float(number.group())
        if result in {float("inf"), float("-inf")}:
            raise JsonSyntaxError(number.start(), "the number is too large")
        return result

    def _string(self) -> str:
        start = self.position
        try:
            value, self.position = _scanstring(self.text, start + 1, True)  # noqa: FBT003  -- positional in the stdlib
        except ValueError as error:
            raise JsonSyntaxError(getattr(error, "pos", start), "a string is not closed or has a bad escape") from None
        if not value.isascii() and re.search("[\ud800-\udfff]", value):
            raise JsonSyntaxError(start, "a string holds half of a surrogate pair")
        return value

    def _skip(self) -> int:
        space = self.space(self.text, self.position)
        if space:
            self.position = space.end()
        return self.position

    def _peek(self, position: int) -> str:
        return self.text[position : position + 1]
