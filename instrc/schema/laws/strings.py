r"""Define the laws of the keywords about texts, and the lengths of the texts that a pattern matches.

    extent(r"^\d{5}$")      # Extent(low=5, high=5, first=the digits)

Patterns with anything but letters, classes, groups, alternatives and repetitions have no known extent.
The sets of letters may be too large, but never too small.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from instrc.schema.kinds import own_kinds
from instrc.schema.laws.law import Answer, KeywordLaws, Schema, same
from instrc.schema.laws.numbers import Range, bound, laws_of_sizes
from instrc.schema.patterns import matches
from instrc.text.jsonvalue import Json, as_text, listing

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation

EXTENT_LEVELS: Final = 40
"""Maximum nesting of groups in a pattern whose length is computed."""
EXTENT_LENGTH: Final = 1_000
"""Maximum characters of a pattern whose length is computed."""
_ANY = (1 << 129) - 1
"""A set of letters: one bit for each ASCII character, and one for all others."""
_DIGITS = sum(1 << ord(letter) for letter in "0123456789")
_WORD = _DIGITS | sum(1 << ord(letter) for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_CLASSES = {"d": _DIGITS, "w": _WORD, "D": _ANY, "W": _ANY, "s": _ANY, "S": _ANY}
_REPEATED = re.compile(r"\{(\d{1,6})(,(\d{1,6})?)?\}")
_ONE = re.compile(r"x[0-9A-Fa-f]{2}|u(?![dD][89abAB])[0-9A-Fa-f]{4}|c[A-Za-z]|[pP]\{[^}]*\}|[nrtfv0](?!\d)")


class Extent(NamedTuple):
    """The lengths of the texts that match a pattern, and their possible first letters."""

    low: int
    high: float
    first: int = _ANY

    def disjoint(self, other: Extent) -> bool:
        """Return whether no text matches two patterns."""
        return self.low > other.high or other.low > self.high or (min(self.low, other.low) > 0 and not self.first & other.first)


@lru_cache(maxsize=512)
def extent(pattern: str) -> Extent | None:
    """Return the lengths and first letters of the texts that match a pattern, or `None` if unknown."""
    if len(pattern) > EXTENT_LENGTH:
        return None
    try:
        part, end = _choice(pattern, 0, 0)
    except (_HardError, IndexError):
        return None
    if end < len(pattern):
        return None
    return Extent(part.low, part.high if part.begins and part.ends else math.inf, part.first if part.begins else _ANY)


class _Part(NamedTuple):
    """The texts that a piece of a pattern matches, and whether it is anchored at its beginning and end."""

    low: int
    high: float
    first: int
    begins: bool = False
    ends: bool = False


def _choice(text: str, at: int, depth: int) -> tuple[_Part, int]:
    """Parse the alternatives between `|` signs, up to the end of a group or of the pattern."""
    if depth > EXTENT_LEVELS:
        raise _HardError
    part, at = _sequence(text, at, depth)
    while text[at : at + 1] == "|":
        other, at = _sequence(text, at + 1, depth)
        first = part.first | other.first if part.low and other.low else _ANY
        low, high = min(part.low, other.low), max(part.high, other.high)
        part = _Part(low, high, first, part.begins and other.begins, part.ends and other.ends)
    return part, at


class _HardError(Exception):
    """A pattern contains an unsupported construct."""


def _sequence(text: str, at: int, depth: int) -> tuple[_Part, int]:
    low, high, first, begins, ends = 0, 0.0, 0, False, False
    while at < len(text) and text[at] not in "|)":
        if text[at] == "^":
            if high:  # nothing precedes the start of a string
                raise _HardError
            begins, at = True, at + 1
            continue
        if text[at] == "$":
            ends, at = True, at + 1
            continue
        if ends:
            raise _HardError
        piece, at = _piece(text, at, depth)
        if not low:
            first |= piece.first
        begins = begins or (piece.begins and not high)
        low, high, ends = low + piece.low, high + piece.high, piece.ends
    return _Part(low, high, first if low else _ANY, begins, ends), at


def _piece(text: str, at: int, depth: int) -> tuple[_Part, int]:
    """Parse one letter, class or group, and its repetition."""
    part, at = _atom(text, at, depth)
    least, most = 1, 1.0
    if text[at : at + 1] in {"*", "+", "?"}:
        least, most = {"*": (0, math.inf), "+": (1, math.inf), "?": (0, 1.0)}[text[at]]
        at += 1
    elif found := _REPEATED.match(text, at):
        least = int(found[1])
        most = float(found[3]) if found[3] else math.inf if found[2] else float(least)
        at = found.end()
    if (least, most) != (1, 1.0):
        if text[at : at + 1] == "?":
            at += 1
        part = _Part(part.low * least, part.high * most if part.high else 0.0, part.first, part.begins and least > 0)
    return part, at


def _atom(text: str, at: int, depth: int) -> tuple[_Part, int]:
    letter = text[at]
    match letter:
        case "(":
            return _group(text, at, depth)
        case "[":
            letters, at = _class(text, at + 1)
            return _Part(1, 1.0, letters), at
        case "\\":
            return _escape(text, at + 1)
        case "*" | "+" | "?":
            raise _HardError
        case ".":
            return _Part(1, 1.0, _ANY), at + 1
        case _:
            return _Part(1, 1.0, _bit(letter)), at + 1


def _group(text: str, at: int, depth: int) -> tuple[_Part, int]:
    start = at + 1
    if text.startswith("?", start):
        named = re.match(r"\?(?::|<[A-Za-z_]\w*>)", text[start:])
        if named is None:
            raise _HardError
        start += named.end()
    part, end = _choice(text, start, depth + 1)
    if end == len(text):
        raise _HardError  # the group has no end
    return part, end + 1


def _class(text: str, at: int) -> tuple[int, int]:
    """Parse a class after its `[`; return its letters and the offset after it."""
    negated = text[at] == "^"
    at += negated
    letters = 0
    while text[at] != "]":
        start, at = _member(text, at)
        if text[at] == "-" and text[at + 1] != "]":
            end, at = _member(text, at + 1)
            low, high = start.bit_length() - 1, end.bit_length() - 1
            single = start.bit_count() == end.bit_count() == 1
            letters |= sum(1 << code for code in range(low, high + 1)) if single and high < 128 else _ANY
        else:
            letters |= start
    return (_ANY & ~letters | 1 << 128 if negated and letters != _ANY else _ANY if negated else letters), at + 1


def _member(text: str, at: int) -> tuple[int, int]:
    if text[at] == "[":
        raise _HardError  # classes in classes are another dialect
    if text[at] != "\\":
        return _bit(text[at]), at + 1
    part, at = _escape(text, at + 1)
    return part.first or _ANY, at


def _bit(letter: str) -> int:
    return 1 << min(ord(letter), 128)


def _escape(text: str, at: int) -> tuple[_Part, int]:
    """Parse the escape after a backslash."""
    letter = text[at]
    if letter in _CLASSES:
        return _Part(1, 1.0, _CLASSES[letter]), at + 1
    if letter in "bB":
        return _Part(0, 0.0, 0), at + 1
    if found := _ONE.match(text, at):
        return _Part(1, 1.0, _ANY), found.end()
    if letter.isalnum():
        raise _HardError
    return _Part(1, 1.0, _bit(letter)), at + 1


def length(schema: Schema) -> Range:
    """Return the lengths of a text that a schema allows."""
    high = bound(schema, "maxLength")
    return Range(low=max(bound(schema, "minLength") or 0, 0), high=inf if high is None else high)


def disjoint(left: Schema, right: Schema) -> bool:
    """Return whether no text satisfies two schemas, by its length or its patterns."""
    return length(left).and_(length(right)).is_empty()


def without_texts(schema: Schema) -> tuple[str, ...] | None:
    """Return the mutually exclusive keywords of a string schema: patterns, or a pattern and a length.

    Validators differ in reading patterns, so this is only a hint for the schema's author: `relations` does not rely on it.
    """
    if own_kinds(schema) != {"string"}:
        return None
    if isinstance(own := schema.get("pattern"), str) and own.startswith("/^"):  # nothing precedes the start of a string
        return ("pattern",)

    members = [("", schema), *(("allOf", item) for item in listing(schema.get("allOf")) if isinstance(item, dict))]
    patterns: list[tuple[str, Extent]] = []
    lengths: list[tuple[str, Extent]] = []
    for holder, member in members:
        if isinstance(pattern := member.get("pattern"), str) and (found := extent(pattern)) is not None:
            patterns.append((holder or "pattern", found))
        limits = length(member)
        if limits.low > 0:
            lengths.append((holder or "minLength", Extent(int(limits.low), inf)))
        if limits.high < inf:
            lengths.append((holder or "maxLength", Extent(0, limits.high)))
    for (one, first), (other, second) in (*combinations(patterns, 2), *product(patterns, lengths)):
        if first.disjoint(second):
            return tuple(dict.fromkeys((one, other)))
    return None


_LEAST, _MOST = laws_of_sizes(length)


def _pattern_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    held = schema[keyword]
    return matches(held, as_text(value)) if held.__class__ is str else None


LAWS: Final = {
    "minLength": _LEAST,
    "maxLength": _MOST,
    "pattern": KeywordLaws(_pattern_satisfied, same),
    "format": KeywordLaws(intersect=same),
}
