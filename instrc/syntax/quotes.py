"""Quotes that begin and end strings elsewhere, and where a string ends that has no end on its line."""

from __future__ import annotations

import re

from instrc.limits.programs import STRING_LINES

DOUBLE = "“”„‟«»〝〞「」『』＂"
_LIKE_SINGLE = "‘’‚‛‹›＇"
QUOTES = frozenset(DOUBLE + _LIKE_SINGLE)
"""Typographic quotes."""
DOUBLE_END = re.compile(rf'[^{DOUBLE}"\r\n]*[{DOUBLE}"]')
DOUBLE_SMART = re.compile(rf"[^{DOUBLE}\r\n]*[{DOUBLE}]")
SINGLE_SMART = re.compile(rf"[^{_LIKE_SINGLE}\r\n]*[{_LIKE_SINGLE}]")
SINGLE_END = re.compile(rf"[^{_LIKE_SINGLE}'\r\n]*[{_LIKE_SINGLE}']")
_LINE_END = re.compile(r"[\r\n]|\Z")


def line_end_of(text: str, position: int) -> int:
    """Return where the line ends that a position is on."""
    return _LINE_END.search(text, position).start()  # type: ignore[union-attr]  # the text has an end


def later_end(text: str, quote: str, line_end: int) -> int | None:
    """Return the end of a string that goes on over lines; a later quote ends one if it has no partner on its own line."""
    for _ in range(STRING_LINES):
        start = line_end + (2 if text.startswith("\r\n", line_end) else 1)
        line_end = line_end_of(text, start) if start < len(text) else start
        line = text[start:line_end]
        if quote in line:
            return start + line.index(quote) + 1 if line.count(quote) % 2 else None
        if not line.strip():
            return None
    return None
