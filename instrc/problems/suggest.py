"""Find the names nearest to a misspelt name.

Names are compared without case and separators, in any script.
Candidates that share letter pairs with the word are looked up in an index, so ten thousand names take little time;
the best few are then compared by edit distance (an extra, missing or wrong letter, or two letters swapped).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, cast
from unicodedata import normalize

from instrc.problems.problem import Edit, Fix, Problem, filled
from instrc.text.limits import COMPARED_NAMES
from instrc.text.source import Span

COMPARED_NAME: Final = 200
"""Maximum characters of a name that are compared: real names are short, and hostile ones must not cost a second."""
SHORTLIST: Final = 24
"""Maximum names that are compared letter by letter."""


FOREIGN_VALUES = {
    **dict.fromkeys(("True", "TRUE"), "true"),
    **dict.fromkeys(("False", "FALSE"), "false"),
    **dict.fromkeys(("None", "nil", "Null", "NULL", "undefined"), "null"),
}
"""Spellings of `true`, `false` and `null` in other languages."""
_CLOSE_ENOUGH = 0.6
"""Minimum share of equal letters: `Serch` for `Search` has 0.83, `Draft` for `Fetch` 0.2."""
_MUCH_WORSE = 0.25
"""Distance from the best candidate at which another one is left out."""
_SUFFIXES = ("activity", "mixin", "user", "human")
_A_SLIP = 2
"""Maximum wrong letters in a typing mistake."""
_LETTERS_OF_A_SLIP = 3
"""Minimum characters of a word for each wrong letter, where only one name is a candidate."""


def comparison_key(name: str) -> str:
    """Return the key by which names are compared: NFC, without case, `_` and `-`."""
    if name.isascii():
        return name.lower().replace("_", "").replace("-", "")
    return normalize("NFC", normalize("NFC", name).casefold()).replace("_", "").replace("-", "")


def nearest(word: str, candidates: Iterable[str], limit: int = 3, *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return up to `limit` candidates for a misspelt word, the most likely first; often none, and none from `without`."""
    return _nearest(word, tuple(candidates), limit, without)


@lru_cache(maxsize=512)  # a thousand plans have the same few mistakes
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


class NearestNames:
    """Similar names for all misspelt ones of a file, within a limit on comparisons."""

    __slots__ = ("_left",)

    def __init__(self, compared: int = COMPARED_NAMES) -> None:
        self._left = compared

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        return self._left < 0

    def may_compare(self, names: int) -> bool:
        """Count the comparisons of a name with so many others; return whether they are still allowed."""
        self._left -= names
        return not self.over

    def nearest(self, word: str, candidates: tuple[str, ...], *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return candidates for a misspelt word, the most likely first; none once the limit is reached."""
        return nearest(word, candidates, without=without) if self.may_compare(len(candidates)) else ()


def surely(word: str, names: tuple[str, ...]) -> bool:
    """Return whether the first of the similar names is beyond doubt: by far the nearest, or the only one and not far."""
    if not names:
        return False
    key, *keys = (comparison_key(each)[:COMPARED_NAME] for each in (word, *names))
    if len(keys) == 1:
        rest = keys[0].removeprefix(key)
        return rest in _SUFFIXES or _edits(key, keys[0]) * _LETTERS_OF_A_SLIP <= len(key)
    distances = [_edits(key, each) for each in keys]
    return distances[0] <= _A_SLIP and distances[0] < min(distances[1:])


def is_a_slip_of(word: str, name: str) -> bool:
    """Return whether a word differs from a name by one letter that is wrong, missing, doubled or swapped with its neighbour."""
    return abs(len(word) - len(name)) <= 1 and _edits(word, name) <= 1


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
    """Return the similarity from 1.0 (equal) to 0.0 (nothing in common); a common suffix does not count."""
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
    """Return the number of letters to insert, drop, change or swap with their neighbour (optimal string alignment)."""
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


_CYRILLIC = "аАвВеЕкКМНоОрРсСтТуУхХіІјЈѕЅԁԛԝһ"
_LATIN_FOR_CYRILLIC = "aAbBeEkKMHoOpPcCtTyYxXiIjJsSdqwh"
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανοιυρ"
_LATIN_FOR_GREEK = "ABEZHIKMNOPTYXavoiup"
_LATIN = dict(zip(_CYRILLIC + _GREEK, _LATIN_FOR_CYRILLIC + _LATIN_FOR_GREEK, strict=True))
_OTHER = dict(zip(_LATIN_FOR_CYRILLIC, _CYRILLIC, strict=True))


def strange_letter(word: str) -> str | None:
    """Describe a letter that only resembles the script of the other letters, or return `None`."""
    known = [script for letter in word if (script := _script(letter))]
    if len(set(known)) < 2:
        return None
    most = max(set(known), key=known.count)
    twins = _LATIN if most == "Latin" else _OTHER
    for part in word.split("_"):
        strange = [letter for letter in part if _script(letter) not in {"", most}]
        if len({_script(letter) for letter in part} - {""}) == 1 and not all(letter in twins for letter in strange):
            continue  # a whole word of another script, as in `Составить_User`
        for letter in strange:
            if letter in twins:
                return f"`{letter}` in it is {_script(letter)} (U+{ord(letter):04X}) and only looks like `{twins[letter]}`"
    return None


def twin(word: str) -> str | None:
    """Return the Latin word that a word resembles letter by letter, or `None` if it is Latin or has unmistakable letters."""
    latin = "".join(_LATIN.get(letter, letter) for letter in word)
    return latin if latin != word and latin.isascii() else None


_TYPED = dict(zip("йцукенгшщзфывапролдячсмить", "qwertyuiopasdfghjklzxcvbnm", strict=True))
"""Keys of the Russian keyboard layout with their letters in the Latin layout."""


def typed_on_latin(word: str) -> str | None:
    """Return the word that the same keys type in the Latin layout, or `None` if it has letters on no such key."""
    latin = [_TYPED.get(letter) or (_TYPED.get(letter.lower(), "").upper()) for letter in word if letter not in "_0123456789"]
    if not latin or not all(latin):
        return None
    return "".join(_TYPED.get(letter) or _TYPED.get(letter.lower(), "").upper() or letter for letter in word)


def _script(letter: str) -> str:
    return next(
        (script for script in ("Latin", "Cyrillic", "Greek") if unicodedata.name(letter, "").startswith(script.upper())), ""
    )


def types_in_words(names: tuple[str, ...]) -> str:
    """Return types as the object of a sentence: `an array`, `a number or a string`."""
    shown = ["null" if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names]
    return " or ".join(shown)


def one_of(names: tuple[str, ...]) -> str:
    """Return names as a choice: `` `a` or `b` ``."""
    return " or ".join(f"`{name}`" for name in names)


OF_RUNS = frozenset({"model", "temperature", "retries", "retry", "max_tokens", "maxTokens", "provider", "seed", "top_p"})
"""Options that other systems write into a step and that belong to a run here."""
CHOSEN_FOR_RUNS = (
    "models, retries and the like are chosen when a program is run, not in the program: remove it"
    ' (a step may have an `"x-temperature"`, which the model is not shown)'
)
_QUOTES = frozenset({'"', "'"})
_TOUCHING: Final = r"[\w\"'-]"
"""A character that a word may not touch."""


def replacement(at: Span | None, text: str, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the fix that replaces the text at a place; an empty text removes it."""
    if at is None:
        return ()
    if text == ":":  # similar to the key
        at = at.source.span(_close(at), at.end)
    elif text[:1].isalpha() and not at.text[:1].isalpha():  # a word for a sign stands apart from its neighbours
        around = at.source.text[at.start - 1 : at.start], at.source.text[at.end : at.end + 1]
        before, after = (" " if re.match(_TOUCHING, each) else "" for each in around)
        text = f"{before}{text}{after}"
    title = f"replace by `{text.strip()}`" if text.strip() else f"remove `{at.text[:20]}`"
    return (Fix(title, (Edit(at, text),), safe),)


def insertion(at: Span | None, text: str, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the fix that inserts a text directly before a place; a comma is inserted directly after the word before it."""
    if at is None:
        return ()
    place = at.start
    if text == "," and _close(at) < place:
        place = _close(at)
    elif text == ",":
        text = ", "
    return (Fix(f"insert `{text.strip()}`", (Edit(Span(at.source, place, place), text),), safe),)


def fixed_by(edit: Callable[..., tuple[Fix, ...]], template: str, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the property `fixes` for a `replacement` or an `insertion` at a problem; none if the facts in the text are empty."""

    def fixes(problem: Problem) -> tuple[Fix, ...]:
        text = filled(template, problem)
        return edit(problem.at, text, safe=safe) if text or not template else ()

    return cast("tuple[Fix, ...]", property(fixes))


def _close(at: Span) -> int:
    """Return the end of the word before a place; the place itself if a comment is between them."""
    before = at.source.text[: at.start].rstrip()
    line = before[before.rfind("\n") + 1 :]
    return at.start if "//" in line or "*/" in line else len(before)


def renamings(at: Span | None, word: str, names: tuple[str, ...]) -> tuple[Fix, ...]:
    """Return the fixes that replace a word, quoted or not, by another name; a fix is safe if the name is beyond doubt."""
    if at is None or not names:
        return ()
    quote = at.text[:1] if at.text[:1] in _QUOTES and at.text[-1:] == at.text[:1] else ""
    if at.text != f"{quote}{word}{quote}":
        return ()
    sure = surely(word, names)
    return tuple(
        Fix(f"replace by `{name}`", (Edit(at, f"{quote}{name}{quote}"),), sure and not number)
        for number, name in enumerate(names)
    )


def apart(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes without those that overlap an earlier one."""
    kept: list[Fix] = []
    for fix in fixes:
        if not any(_touch(edit, other) for edit in fix.edits for each in kept for other in each.edits):
            kept.append(fix)
    return kept


def applied(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Return a text with the edits of fixes applied, and their number; of two overlapping ones, only the first is applied."""
    kept = apart(fixes)
    for edit in sorted((edit for fix in kept for edit in fix.edits), key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text, len(kept)


def _touch(one: Edit, other: Edit) -> bool:
    if one.span.start == other.span.start:
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end


class MisspeltWord(Problem):
    """A word that is probably a misspelling of another one."""

    word: str

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return renamings(self.at, self.word, self.nearest)
