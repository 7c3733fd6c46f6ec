"""Make foreign text safe to display: control characters steer terminals, and some reorder the text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final
from unicodedata import category, east_asian_width


def visible(text: str) -> str:
    """Return a line with visible characters only: symbols for control characters, `\ufffd` for lone surrogates."""
    return re.sub(HIDDEN, "\ufffd", text.translate(_signs()))


HIDDEN: Final = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Invisible characters that do nothing or reorder the text, so that a reader sees a different text than the compiler;
those that join letters and signs belong to the spelling and are not listed."""


@cache  # it has two thousand entries, and most runs of the command line show nothing
def _signs(kept: str = "") -> dict[int, str]:
    controls = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in kept}
    return controls | {0x7F: "\u2421"} | dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000)), "\ufffd")


def visible_lines(text: str) -> str:
    """Return a text with visible characters only, keeping its line breaks and tabs."""
    return re.sub(HIDDEN, "\ufffd", text.translate(_signs("\t\n")))


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters: the rest of a longer one is replaced by `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def columns(text: str) -> int:
    """Return the display width of a text in columns: wide characters count two, combining and invisible ones none."""
    kinds = ((category(letter), east_asian_width(letter)) for letter in text)
    return sum(0 if kind in {"Mn", "Me", "Cf"} else 2 if width in {"W", "F"} else 1 for kind, width in kinds)
