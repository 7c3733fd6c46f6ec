"""Make foreign text safe to display: control characters steer terminals, and some reorder the text."""

from __future__ import annotations

from functools import cache
from unicodedata import category, east_asian_width


def visible(text: str) -> str:
    """Return a line with visible characters only: symbols for control characters, `\ufffd` for lone surrogates."""
    return text.translate(_signs())


_HIDDEN = (*(0x061C, 0x200B, 0x200E, 0x200F), *range(0x2028, 0x202F), *range(0x2060, 0x2070), *(0xFEFF, 0xFFFE, 0xFFFF))
"""Invisible characters that do nothing or reorder the text, so that a reader sees a different text than the compiler;
those that join letters and signs belong to the spelling and are not listed."""


@cache  # it has two thousand entries, and most runs of the command line show nothing
def _signs(kept: str = "") -> dict[int, str]:
    controls = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in kept}
    return controls | {0x7F: "\u2421"} | dict.fromkeys((*range(0x80, 0xA0), *_HIDDEN, *range(0xD800, 0xE000)), "\ufffd")


def visible_lines(text: str) -> str:
    """Return a text with visible characters only, keeping its line breaks and tabs."""
    return text.translate(_signs("\t\n"))


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters: the rest of a longer one is replaced by `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def columns(text: str) -> int:
    """Return the display width of a text in columns: wide characters count two, combining and invisible ones none."""
    kinds = ((category(letter), east_asian_width(letter)) for letter in text)
    return sum(0 if kind in {"Mn", "Me", "Cf"} else 2 if width in {"W", "F"} else 1 for kind, width in kinds)
