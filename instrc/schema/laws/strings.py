r"""Define the laws of the keywords about texts, and the lengths of the texts that a pattern matches.

    extent(r"^\d{5}$")      # Extent(low=5, high=5, first=the digits)

Patterns with anything but letters, classes, groups, alternatives and repetitions have no known extent.
The sets of letters may be too large, but never too small.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from importlib import import_module
from itertools import combinations, product
from math import inf
from operator import or_
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from instrc.schema.kinds import own_kinds
from instrc.schema.laws.law import Answer, KeywordLaws, Schema, same
from instrc.schema.laws.numbers import Range, bound, laws_of_sizes
from instrc.schema.patterns import ATOM, broken, matches
from instrc.text.jsonvalue import Json, as_text, listing

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation

_parser: Final[Any] = import_module("re._parser")  # Python's own, which has no types; Hypothesis reads patterns with it too
EXTENT_LENGTH: Final = 1_000
"""Maximum characters of a pattern whose length is computed."""
_ANY = (1 << 129) - 1
"""A set of letters: one bit for each ASCII character, and one for all others."""
_DIGITS = sum(1 << ord(letter) for letter in "0123456789")
_WORD = _DIGITS | sum(1 << ord(letter) for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_CATEGORIES = {"CATEGORY_DIGIT": _DIGITS, "CATEGORY_WORD": _WORD}
_READ_OTHERWISE = r"\[\^?\]|\{,|\\u[dD][89abAB]"
"""Syntax that Python reads otherwise than ECMA 262."""
_UNKNOWN_TO_PYTHON = r"(\\[^pPc])|\\[pP]\{[^}]*\}|\\c[A-Za-z]|\(\?<[A-Za-z_]\w*>"
"""Other escapes, those for one character of any kind, and the beginning of a named group."""


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
    if len(pattern) > EXTENT_LENGTH or broken(pattern) or re.search(_READ_OTHERWISE, pattern):
        return None
    if any(map(_is_set_of_sets, ATOM.findall(pattern))):
        return None
    known = re.sub(_UNKNOWN_TO_PYTHON, lambda found: found[1] or ("(" if found[0][0] == "(" else r"\W"), pattern)
    try:
        tree = _parser.parse(known)
        part = _sequence(tree)
    except (_HardError, re.error, RecursionError, OverflowError, FutureWarning):
        return None
    if tree.state.flags != re.UNICODE:
        return None
    return Extent(part.low, part.high if part.begins and part.ends else inf, part.first if part.begins else _ANY)


def _is_set_of_sets(atom: str) -> bool:
    """Return whether an atom is a class that some dialects read as several, with operators between them."""
    return atom.startswith("[") and re.search(r"\[|--|&&|~~|\|\|", re.sub(r"\\.", "", atom[1:])) is not None


class _Part(NamedTuple):
    """The texts that a piece of a pattern matches, and whether it is anchored at its beginning and end."""

    low: int
    high: float
    first: int
    begins: bool = False
    ends: bool = False


class _HardError(Exception):
    """A pattern contains an unsupported construct."""


_Node: TypeAlias = tuple[Any, Any]  # the parser has no types
"""The operation of a parsed pattern, and its arguments."""


def _sequence(nodes: Iterable[_Node]) -> _Part:
    low, high, first, begins, ends = 0, 0.0, 0, False, False
    for kind, held in nodes:
        if (kind.name, str(held)) == ("AT", "AT_BEGINNING"):
            if high:  # nothing precedes the start of a string
                raise _HardError
            begins = True
            continue
        if (kind.name, str(held)) == ("AT", "AT_END"):
            ends = True
            continue
        if ends:
            raise _HardError
        piece = _piece(kind.name, held)
        if not low:
            first |= piece.first
        begins = begins or (piece.begins and not high)
        low, high, ends = low + piece.low, high + piece.high, piece.ends
    return _Part(low, high, first if low else _ANY, begins, ends)


def _piece(kind: str, held: Any) -> _Part:  # noqa: ANN401  -- as above
    match kind, held:
        case "LITERAL", code:
            return _Part(1, 1.0, 1 << min(code, 128))
        case "NOT_LITERAL", code:
            return _Part(1, 1.0, _others(1 << min(code, 128)))
        case "ANY", _:
            return _Part(1, 1.0, _ANY)
        case "IN", members:
            return _Part(1, 1.0, _letters(members))
        case "AT", place if place in {_parser.AT_BOUNDARY, _parser.AT_NON_BOUNDARY}:
            return _Part(0, 0.0, 0)
        case "SUBPATTERN", (_, 0, 0, inner):
            return _sequence(inner)
        case "BRANCH", (_, branches):
            parts = [_sequence(branch) for branch in branches]
            first = reduce(or_, (part.first if part.low else _ANY for part in parts))
            anchors = all(part.begins for part in parts), all(part.ends for part in parts)
            return _Part(min(part.low for part in parts), max(part.high for part in parts), first, *anchors)
        case "MAX_REPEAT" | "MIN_REPEAT", (least, most, inner):
            part = _sequence(inner)
            if (least, most) == (1, 1):
                return part
            times = inf if most == _parser.MAXREPEAT else float(most)
            return _Part(part.low * least, part.high * times if part.high else 0.0, part.first, part.begins and least > 0)
    raise _HardError


def _letters(members: Sequence[_Node]) -> int:
    """Return the letters of a class."""
    letters = 0
    for kind, held in members:
        match kind.name, held:
            case "LITERAL", code:
                letters |= 1 << min(code, 128)
            case "RANGE", (low, high):
                letters |= (2 << min(high, 128)) - (1 << min(low, 128))
            case "CATEGORY", category:
                letters |= _CATEGORIES.get(category.name, _ANY)
    return _others(letters) if members[0][0] == _parser.NEGATE else letters


def _others(letters: int) -> int:
    """Return the letters outside of a set, which may be too large only if it has all."""
    return _ANY if letters == _ANY else _ANY & ~letters | 1 << 128


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
    return matches(as_text(schema[keyword]), as_text(value))


LAWS: Final = {
    "minLength": _LEAST,
    "maxLength": _MOST,
    "pattern": KeywordLaws(_pattern_satisfied, same, shape=str),
    "format": KeywordLaws(intersect=same),
}
