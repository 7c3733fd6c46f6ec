"""Make names legal for a target, readable, unique, and remembered.

A legal name stays as it is and is never given to another.
Letters of other scripts are transliterated (anyascii), what is left over becomes `_`, and what is cut or taken gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_letters

from instrc.ir.dialect import NameRule
from instrc.jsonvalue import AnyJson as Json
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import held

_FALLBACK = "field"


@lru_cache(maxsize=4096)
def legal(name: str, rule: NameRule, fallback: str = _FALLBACK) -> str:
    """Return the nearest legal spelling of a name: `$metric` is `metric`, `Имя` is `Imya`; uniqueness is not looked at."""
    if rule.allows(name):
        return name
    text = _spelled(name, rule)
    if re.sub(r"[_\W]", "", text) != re.sub(r"[_\W]", "", name) or not text.isascii():
        from anyascii import anyascii  # a table of a megabyte that most schemas never need

        text = _spelled(re.sub(r"[^a-zA-Z0-9_.-]+", "_", anyascii(name)), rule)
    if not text.startswith("_") or not name.startswith("_"):
        text = text.lstrip("_.-:") or fallback
    if not name.endswith("_"):
        text = text.rstrip("_.-:") or fallback
    text = text[: rule.most]
    candidates = (text, f"_{text}", f"{text}_", f"{fallback}_{text}", _spelled(fallback, rule), *ascii_letters)
    return next((shorter for each in candidates if rule.allows(shorter := each[: rule.most])), fallback)


def _spelled(name: str, rule: NameRule) -> str:
    """Write a name with the signs that a rule allows behind the first, those of the other case where only they are."""

    def sign(refused: re.Match[str]) -> str:
        other = refused.group().swapcase()
        return rule.joint if rule.refused.match(other) or len(other) > 1 else other

    return rule.refused.sub(sign, name)


def unique(name: str, taken: Iterable[str], most: int, joint: str = "_") -> str:
    """Return the name, or the name with the first free number behind it, no longer than `most` characters."""
    if name not in taken:
        return name
    number = 2
    while True:
        suffix = f"{joint}{number}"
        candidate = name[: most - len(suffix)] + suffix
        if candidate not in taken:
            return candidate
        number += 1


class KeyNames:
    """The keys of one document under one rule; the same key has the same name everywhere, so combinators stay right."""

    __slots__ = ("_given", "_joint", "_rule", "_taken")

    def __init__(self, rule: NameRule | None, schema: Json) -> None:
        self._rule = rule
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self._joint = "_" if rule is None else rule.joint
        if rule is not None:
            names = property_names(schema)
            self._taken = {name for name in names if rule.allows(name)}
            if len(self._taken) < len(names):
                for name in names:
                    self.sent(name)

    def sent(self, name: str) -> str:
        """Return the name under which a key is sent."""
        rule = self._rule
        if rule is None:
            return name
        given = self._given.get(name)
        if given is None:
            given = name
            if not rule.allows(name):
                given = unique(legal(name, rule), self._taken, rule.most, self._joint)
            elif name in self._given.values():  # a name made here, met again as somebody's own
                given = unique(name, self._taken | set(self._given.values()), rule.most, self._joint)
            self._given[name] = given
            self._taken.add(given)
        return given

    def renamed(self) -> dict[str, str]:
        """Return the keys that are sent under another name, by that name."""
        return {sent: name for name, sent in self._given.items() if sent != name}


def property_names(schema: Json) -> dict[str, None]:
    """Return the names of all properties a schema speaks of, in order of appearance."""
    names: dict[str, None] = {}
    stack = [schema]
    while stack:
        node = stack.pop()
        if node.__class__ is not dict:
            continue
        for keyword in ("properties", "dependentSchemas", "dependentRequired"):
            if (members := node.get(keyword)).__class__ is dict:
                names.update(dict.fromkeys(members))
        if isinstance(required := node.get("required"), list):
            names.update(dict.fromkeys(name for name in required if isinstance(name, str)))
        if isinstance(dependent := node.get("dependentRequired"), dict):
            for needed in dependent.values():
                names.update(dict.fromkeys(needed if isinstance(needed, list) else ()))
        for keyword, value in node.items():
            if keyword in HOLDERS:
                stack.extend(held(keyword, value))
    return names
