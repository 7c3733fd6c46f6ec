"""Make names legal for a target, readable, unique, and remembered.

A legal name stays as it is and is never given to another.
Letters of other scripts are transliterated (anyascii), what is left over becomes `_`, and what is cut or taken gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from string import ascii_letters

from msgspec import Struct

from instrc.ir.dialect import NameRule

_FALLBACK = "field"
_TRIED_IN_TURN = 20
"""Numbers behind a name that are tried one by one; among thousands of the same name a free one is looked for by halves."""


@lru_cache(maxsize=4096)
def legal(name: str, rule: NameRule, fallback: str = _FALLBACK) -> str:
    """Return the nearest legal spelling of a name: `$metric` is `metric`, `Имя` is `Imya`; uniqueness is not looked at."""
    if rule.allows(name):
        return name
    text = _legal_spelling(name, rule)
    if re.sub(r"[_\W]", "", text) != re.sub(r"[_\W]", "", name) or not text.isascii():
        from anyascii import anyascii  # a table of a megabyte that most schemas never need

        latin = re.sub("[\"']", "", anyascii(name))  # `ь` and `ъ` are quotation marks there: no letters, and no ends of words
        text = _legal_spelling(re.sub(r"[^a-zA-Z0-9_.-]+", "_", latin), rule)
    if not text.startswith("_") or not name.startswith("_"):
        text = text.lstrip("_.-:") or fallback
    if not name.endswith("_"):
        text = text.rstrip("_.-:") or fallback
    text = text[: rule.most]
    candidates = (text, f"_{text}", f"{text}_", f"{fallback}_{text}", _legal_spelling(fallback, rule), *ascii_letters)
    return next((shorter for each in candidates if rule.allows(shorter := each[: rule.most])), fallback)


def _legal_spelling(name: str, rule: NameRule) -> str:
    """Write a name with the signs that a rule allows behind the first, those of the other case where only they are."""

    def sign(refused: re.Match[str]) -> str:
        other = refused.group().swapcase()
        return rule.joint if rule.refused.match(other) or len(other) > 1 else other

    return rule.refused.sub(sign, name)


def unique_name(name: str, taken: Iterable[str], most: int, joint: str = "_") -> str:
    """Return the name, or the name with a free number behind it (a low one), no longer than `most` characters."""
    if name not in taken:
        return name

    def numbered(number: int) -> str:
        suffix = f"{joint}{number}"
        return name[: most - len(suffix)] + suffix

    for number in range(2, _TRIED_IN_TURN):
        if numbered(number) not in taken:
            return numbered(number)
    below, free = _TRIED_IN_TURN - 1, _TRIED_IN_TURN
    while numbered(free) in taken:
        below, free = free, 2 * free
    while free - below > 1:
        middle = (below + free) // 2
        below, free = (middle, free) if numbered(middle) in taken else (below, middle)
    return numbered(free)


class KeyNames(Struct, frozen=True, eq=False, gc=False):
    """The keys of one document under one rule; the same key has the same name everywhere, so combinators stay right."""

    rule: NameRule | None
    known: Collection[str]
    """The names of the document's properties that are sent as they are."""
    changed: Mapping[str, str]
    """What is sent for the names that change."""
    taken: Collection[str]
    """All that is sent for names of the document."""

    def sent(self, name: str) -> str:
        """Return the name under which a key is sent."""
        if self.rule is None or name in self.known:
            return name
        if name in self.changed:
            return self.changed[name]
        return unique_name(legal(name, self.rule), self.taken, self.rule.most, self.rule.joint)  # a name that a rewrite has made

    def renamed(self) -> dict[str, str]:
        """Return the keys that are sent under another name, by that name."""
        return {sent: name for name, sent in self.changed.items()} if self.changed else {}


def key_names(rule: NameRule | None, names: Mapping[str, None]) -> KeyNames:
    """Return how the keys of a document are sent under a rule; `names` are all of them, in order of appearance."""
    if rule is None or rule.allows_all(names):
        return KeyNames(rule, names.keys(), {}, names.keys())
    legal_ones = frozenset(name for name in names if rule.allows(name))
    changed: dict[str, str] = {}
    taken = set(legal_ones)
    for name in names:
        if name not in legal_ones:
            changed[name] = unique_name(legal(name, rule), taken, rule.most, rule.joint)
            taken.add(changed[name])
    return KeyNames(rule, legal_ones, changed, taken)
