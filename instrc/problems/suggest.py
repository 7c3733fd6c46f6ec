"""Find the names nearest to a misspelt name.

Names are compared without case and separators, in any script.
Candidates that share pairs of letters with the word are found through an index, so ten thousand names take little time;
the few best are then compared by edits (an extra, missing or wrong letter, or two letters swapped).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import normalize

from instrc.limits.programs import COMPARED_NAME, COMPARED_NAMES, SHORTLIST

FOREIGN_VALUES = {
    **dict.fromkeys(("True", "TRUE"), "true"),
    **dict.fromkeys(("False", "FALSE"), "false"),
    **dict.fromkeys(("None", "nil", "Null", "NULL", "undefined"), "null"),
}
"""How other languages write the three values that have names."""
_CLOSE_ENOUGH = 0.6
"""The least share of equal letters; `Serch` for `Search` is 0.83, `Draft` for `Fetch` 0.2."""
_MUCH_WORSE = 0.25
"""A candidate that is worse than the best one by this much is left out."""
_SUFFIXES = ("activity", "mixin", "user", "human")
_A_SLIP = 2
"""The number of wrong letters in a typing mistake."""
_LETTERS_OF_A_SLIP = 3
"""A word with one wrong letter in so many is still certainly another one, if there is but one that it can be."""


def comparison_key(name: str) -> str:
    """Return a name as it is compared: NFC, without case and without `_` and `-`."""
    if name.isascii():
        return name.lower().replace("_", "").replace("-", "")
    return normalize("NFC", normalize("NFC", name).casefold()).replace("_", "").replace("-", "")


def nearest(word: str, candidates: Iterable[str], limit: int = 3, *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return up to `limit` candidates for a misspelt word, the most likely first; often none, and none of those in `without`."""
    return _nearest(word, candidates if isinstance(candidates, tuple) else tuple(candidates), limit, without)


class NearestNames:
    """The nearest names for all misspelt ones of one file, as long as that does not take too long."""

    __slots__ = ("_left",)

    def __init__(self, compared: int = COMPARED_NAMES) -> None:
        self._left = compared

    @property
    def over(self) -> bool:
        """Whether no further names are looked up."""
        return self._left < 0

    def may_compare(self, names: int) -> bool:
        """Tell whether so many names more may be compared with one, and count them."""
        self._left -= names
        return not self.over

    def nearest(self, word: str, candidates: tuple[str, ...], *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return candidates for a misspelt word, the most likely first; none once too many were compared."""
        return nearest(word, candidates, without=without) if self.may_compare(len(candidates)) else ()


def surely(word: str, names: tuple[str, ...]) -> bool:
    """Tell whether the first of the nearest names is beyond doubt: by far the nearest, or the only one and not far."""
    if not names:
        return False
    key, *keys = (comparison_key(each)[:COMPARED_NAME] for each in (word, *names))
    if len(keys) == 1:
        rest = keys[0].removeprefix(key)
        return rest in _SUFFIXES or _edits(key, keys[0]) * _LETTERS_OF_A_SLIP <= len(key)
    distances = [_edits(key, each) for each in keys]
    return distances[0] <= _A_SLIP and distances[0] < min(distances[1:])


def is_a_slip_of(word: str, name: str) -> bool:
    """Tell whether a word is a name with one letter wrong, missing, doubled or swapped with its neighbour."""
    return abs(len(word) - len(name)) <= 1 and _edits(word, name) <= 1


def did_you_mean(names: tuple[str, ...]) -> str | None:
    """Return the hint that offers the nearest names, if there are any."""
    if not names:
        return None
    *others, last = (f"`{name}`" for name in names)
    return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?"


@lru_cache(maxsize=512)
def _nearest(word: str, candidates: tuple[str, ...], limit: int, without: frozenset[str]) -> tuple[str, ...]:
    keys, postings = _index(candidates)
    key = comparison_key(word)[:COMPARED_NAME]
    pairs = _pairs(key)
    shared: Counter[int] = Counter()
    for pair in pairs:
        shared.update(postings.get(pair, ()))
    if without:
        shared = Counter({position: count for position, count in shared.items() if candidates[position] not in without})
    ranked: list[tuple[float, int]] = []
    by_overlap = sorted(shared.items(), key=lambda item: (-item[1] / (len(pairs) + len(keys[item[0]])), item[0]))
    for position, overlap in by_overlap[:SHORTLIST]:
        score = _likeness(key, keys[position], overlap, len(pairs))
        if score >= _CLOSE_ENOUGH:
            ranked.append((-score, position))
    ranked.sort()
    good = [position for cost, position in ranked if cost <= ranked[0][0] + _MUCH_WORSE]
    return tuple(dict.fromkeys(candidates[position] for position in good))[:limit]


@lru_cache(maxsize=4)
def _index(candidates: tuple[str, ...]) -> tuple[list[str], dict[str, list[int]]]:
    keys = [comparison_key(candidate)[:COMPARED_NAME] for candidate in candidates]
    postings: dict[str, list[int]] = {}
    for position, key in enumerate(keys):
        for pair in _pairs(key):
            postings.setdefault(pair, []).append(position)
    return keys, postings


def _pairs(key: str) -> set[str]:
    """Return the pairs of neighbouring letters; the first and the last letter count as pairs of their own."""
    padded = f"\0{key}\0"
    return {padded[start : start + 2] for start in range(len(padded) - 1)}


def _likeness(word: str, candidate: str, overlap: int, pairs: int) -> float:
    """Return 1.0 for equal names down to 0.0 for names with nothing in common; a suffix that both have does not count."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and candidate.endswith(suffix) and suffix not in (word, candidate):
            word, candidate = word.removesuffix(suffix), candidate.removesuffix(suffix)
            overlap, pairs = len(_pairs(word) & _pairs(candidate)), len(_pairs(word))
    longest = max(len(word), len(candidate), 1)
    score = 1 - _edits(word, candidate) / longest
    shorter, longer = sorted((word, candidate), key=len)
    if len(shorter) >= 3 and longer.startswith(shorter):  # `Fetch` where only `Fetch_Activity` exists
        score = max(score, _CLOSE_ENOUGH)
    words_swapped = 2 * overlap / (pairs + len(_pairs(candidate)))  # `SlotFinder` for `FinderSlot`
    return max(score, words_swapped - 0.05)


def _edits(left: str, right: str) -> int:
    """Count the letters to insert, drop, change or swap with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left):
        earlier, before, row = before, row, [i + 1]
        for j, b in enumerate(right):
            cost = min(before[j + 1] + 1, row[j] + 1, before[j] + (a != b))
            if i and j and a == right[j - 1] and b == left[i - 1]:
                cost = min(cost, earlier[j - 1] + 1)
            row.append(cost)
    return row[-1]
