"""Sources, spans in them, and the safe display of foreign text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False):
    """A half-open range of characters in one source.

    Every token has several, so they are cheap to create and untracked by the garbage collector.
    """

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the range."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line of the first character, from 1."""
        return self.source.locate(self.start)[0]

    @property
    def column(self) -> int:
        """The column of the first character, from 1."""
        return self.source.locate(self.start)[1]

    def to(self, other: Span) -> Span:
        """Return the range from the start of this one to the end of another in the same source."""
        return Span(self.source, self.start, other.end)


class Source:
    """A text with its display name (a path as the user wrote it, or `<stdin>`)."""

    __slots__ = ("_line_starts", "name", "text")
    name: str
    text: str

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._line_starts: list[int] | None = None

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    def span(self, start: int, end: int) -> Span:
        """Return the range from `start` up to but not including `end`, offsets in characters from 0."""
        return Span(self, start, end)

    def whole(self) -> Span:
        """Return the range of the first character: the place of problems that concern the whole file."""
        return Span(self, 0, min(1, len(self.text)))

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset in characters, both counted from 1."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line without its line break; the first line is 1."""
        starts = self._starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            self._line_starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        return self._line_starts


CONFLICT_MARK: Final = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
"""Conflict marker left by a version control system in a merged file."""
