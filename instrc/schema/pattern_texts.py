r"""Find texts that a regular expression matches.

A text is written character by character, from characters that the pattern names: one that no match can begin with is given up
at once, since the `regex` library tells of a text whether a match may begin with it.

    next(matching_texts(r"^[A-Z]{2}-\d{4}$"))    # "AZ-2094"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from instrc.limits.schemas import PATTERN_CHARACTERS, PATTERN_TEXT
from instrc.schema.expressions import beginnings, search

_CHARACTER = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\[pP]\{[^}]*\}|\(\?P?<\w+>|([0-9A-Za-z])")
"""A character as `ecmascript.translate` writes it; properties and names of groups are read over."""
_ORDINARY = "aA0b1B -.@/:_,яαאا世"
"""Characters of the classes that a pattern may ask for."""


def matching_texts(pattern: str, least: int = 0, most: int | None = None) -> Iterator[str]:
    """Yield different texts of `least` to `most` characters in which a pattern is found; none where the search is too long.

    The first one is short, but not always the shortest.  With `expressions.time_limit` around it no pattern takes long.
    """
    may_begin = beginnings(pattern)
    if may_begin is None or least > PATTERN_TEXT:
        return
    longest = PATTERN_TEXT if most is None else min(most, PATTERN_TEXT)
    signs = _characters(pattern)
    left = PATTERN_CHARACTERS
    waiting = [iter([""])]
    while waiting and left > 0:
        text = next(waiting[-1], None)
        if text is None:
            waiting.pop()
            continue
        left -= len(text) + 1
        begins = may_begin(text)
        if begins is None:
            return
        if not begins:
            continue
        if len(text) >= least and search(pattern, text) is True:
            yield text
        if len(text) < longest:
            waiting.append(_longer(text, signs))


def _longer(text: str, signs: list[str]) -> Iterator[str]:
    """Yield a text with one more character, those first that it has the fewest of: a repeated part comes to its end like that."""
    return (text + sign for sign in sorted(signs, key=text.count))


def _characters(pattern: str) -> list[str]:
    """Return characters to write texts with, the likeliest first: letters and digits, then what it names."""
    from instrc.schema.ecmascript import translate

    named: dict[str, None] = {}
    for found in _CHARACTER.finditer(translate(pattern).regex):
        if code := found[1] or found[2] or found[3]:
            named[chr(int(code, 16))] = None
        elif found[4]:
            named[found[4]] = None
    return list(dict.fromkeys(sorted([*named, *_ORDINARY], key=_likeliness)))


def _likeliness(sign: str) -> tuple[bool, bool, bool]:
    return not sign.isprintable(), not sign.isascii(), not sign.isalnum()
