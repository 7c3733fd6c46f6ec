"""Values of an agent's code as JSON, with a size limit: shared parts are small in the worker and large when written."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from instrc.runtime.boundary import LEVELS
from instrc.text.jsonvalue import Json
from instrc.text.limits import INTEGER_DIGITS

SANDBOX_VALUES: Final = 200_000
"""Maximum number of nested values in a value passed to or from the sandbox."""
SANDBOX_CHARACTERS: Final = 16 * 1024 * 1024
"""Maximum characters of all its texts."""
_BRACKETS: Final[dict[type, Sequence[str]]] = {list: "[]", dict: "{}", set: "{}", tuple: "()", frozenset: ("frozenset({", "})")}
_PART = 65_536
_NAME = 100
"""Maximum characters shown of the name of a class or field: each instance has it."""


def plain(value: object) -> Json:
    """Return a value as JSON if possible, or else as printed by Python; raise `ValueError` if it is too large."""
    return _Plain().read(value, LEVELS)


def show(value: object, write: Callable[[str], object], leaf: Callable[[object], str] = str) -> None:
    """Write a value that `plain` accepts as Python prints it, in parts: the whole text may be far longer than the value."""
    inner: object = str(value) if isinstance(value, BaseException) else getattr(value, "attributes", None)
    if isinstance(value, tuple) and (fields := getattr(value, "_fields", None)):
        inner = {name[:_NAME]: item for name, item in zip(fields, value, strict=True)}
    if isinstance(value, str | bytes):
        for start in range(0, len(value) or 1, _PART):
            write(leaf(value[start : start + _PART]))
    elif inner is not None:
        write(f"{str(getattr(value, 'name', type(value).__name__))[:_NAME]}(")
        show(inner, write, repr)
        write(")")
    elif isinstance(value, list | dict | set | frozenset | tuple) and value:
        write(_BRACKETS[type(value)][0])
        for number, item in enumerate(value.items() if isinstance(value, dict) else value):
            for place, part in enumerate(item if isinstance(value, dict) else [item]):
                write(": " if place else ", " * bool(number))
                show(part, write, repr)
        write("," * (isinstance(value, tuple) and len(value) == 1) + _BRACKETS[type(value)][1])
    else:
        write(leaf(value))


def whole(text: str) -> str:
    """Return a text without lone surrogates, which JSON cannot hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Printed:
    """A text printed in pieces, of which only the beginning and end are kept if it is long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._head = self._tail = ""
        self._omitted = 0

    def __call__(self, _stream: str, text: str) -> None:
        """Append a text."""
        room = max(self._most // 2 - len(self._head), 0)
        self._head, rest = self._head + text[:room], self._tail + text[room:]
        omitted = max(len(rest) - (self._most - self._most // 2), 0)
        self._omitted, self._tail = self._omitted + omitted, rest[omitted:]

    def __str__(self) -> str:
        """Return the text kept."""
        note = f"\n[{self._omitted:,} characters are omitted]\n" if self._omitted else ""
        return whole(f"{self._head}{note}{self._tail}")


class _Plain:
    def __init__(self) -> None:
        self._values = SANDBOX_VALUES
        self._characters = SANDBOX_CHARACTERS

    def read(self, value: object, levels: int) -> Json:
        self._values -= 1
        if self._values < 0 or levels < 0:
            raise ValueError(f"a value of the code has over {SANDBOX_VALUES:,} parts, or over {LEVELS} levels")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self._integer(value)
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, list | tuple | set | frozenset | deque):
            return [self.read(item, levels - 1) for item in value]
        if not isinstance(value, dict):
            attributes = getattr(value, "attributes", None)  # of an instance of a class of the code
            if not isinstance(attributes, dict):
                return self._text(str(value))
            value = attributes
        result = {self._text(str(self.read(key, levels - 1))): self.read(item, levels - 1) for key, item in value.items()}
        if len(result) < len(value):
            raise ValueError("several keys of a dictionary of the code are the same text in JSON")
        return result

    def _integer(self, value: int) -> int:
        if value.bit_length() > INTEGER_DIGITS * 3.32:  # bits of a digit
            raise ValueError(f"an integer of the code has over {INTEGER_DIGITS:,} digits")
        self._count(value.bit_length() // 3)
        return value

    def _text(self, text: str) -> str:
        self._count(len(text))
        return whole(text)

    def _count(self, characters: int) -> None:
        self._characters -= characters
        if self._characters < 0:
            raise ValueError(f"a value of the code has over {SANDBOX_CHARACTERS:,} characters")
