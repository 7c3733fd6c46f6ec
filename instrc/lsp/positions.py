"""Places as editors count them: lines from 0, columns in the units of the encoding that was agreed on, mostly UTF-16."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from lsprotocol import types

from instrc.source import Source, Span

T = TypeVar("T")
_LINE_END = re.compile(r"\r\n|\n|\r")
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    return path if "://" in path else Path(path).absolute().as_uri()


class Lines:
    r"""The lines of one text; `\r` alone ends one too, as the protocol has it."""

    def __init__(self, source: Source, encoding: str = "utf-16") -> None:
        self.source = source
        self.encoding = encoding
        self._plain = encoding == "utf-32" or source.text.isascii()
        """Whether each character is one unit."""
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(source.text))]

    def position(self, offset: int) -> types.Position:
        """Return the place of an offset."""
        return types.Position(*self.place(offset))

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset."""
        offset = max(0, min(offset, len(self.source.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return line, offset - start if self._plain else self.units(self.source.text[start:offset])

    def stretches(self, ranges: Iterable[tuple[int, int, T]]) -> Iterator[tuple[int, int, int, T]]:
        """Yield the line, the column and the length of ranges in order of their places, one over several lines on each."""
        text, starts = self.source.text, [*self._starts, len(self.source.text) + 1]
        line = 0
        for place, end, what in ranges:
            start = place
            while start < end:
                while starts[line + 1] <= start:
                    line += 1
                following = starts[line + 1]
                stop = end if end < following else _LINE_END.search(text, start).start()  # type: ignore[union-attr]  # one ends it
                if stop > start:
                    first = starts[line]
                    if self._plain:
                        yield line, start - first, stop - start, what
                    else:
                        yield line, self.units(text[first:start]), self.units(text[start:stop]), what
                start = following

    def line(self, offset: int) -> int:
        """Return the line of an offset."""
        return bisect_right(self._starts, offset) - 1

    def range(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.position(span.start), self.position(max(span.start, span.end)))

    def offset(self, position: types.Position) -> int:
        """Return the offset of a place; one behind the end of its line is the end of the line."""
        text = self.source.text
        if position.line >= len(self._starts):
            return len(text)
        start = self._starts[max(0, position.line)]
        end = self._starts[position.line + 1] if position.line + 1 < len(self._starts) else len(text)
        line = text[start:end].rstrip("\r\n")
        if self.encoding == "utf-32" or line.isascii():
            return start + min(max(0, position.character), len(line))
        left = max(0, position.character)
        for index, letter in enumerate(line):
            if left <= 0:
                return start + index
            left -= self.units(letter)
        return start + len(line)

    def units(self, text: str) -> int:
        """Return how long a text without line ends is."""
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + len(_BEYOND_16_BITS.findall(text))


def applied(text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str) -> str:
    """Return a text after the changes of an editor, one after the other; lines end where the protocol says, and nowhere else."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            lines = Lines(Source("", text), encoding)
            start, end = lines.offset(change.range.start), lines.offset(change.range.end)
            text = text[:start] + change.text + text[max(start, end) :]
        else:
            text = change.text
    return text
