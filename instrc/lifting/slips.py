"""The slips that models are known for: at which places of a wrong value one is likely, and what the value is without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonObject, Location, pointer
from instrc.lifting.copied import remove_member, rename_member, replace_at
from instrc.lifting.replies.loose import loose_json
from instrc.lifting.violations import LeafViolation, Wrongness
from instrc.problems.suggest import comparison_key

_WORDS: dict[str, Json] = {"True": True, "False": False, "TRUE": True, "FALSE": False, "None": None}
"""As Python and tables write them, and models that were taught in it."""
_NOTHING = frozenset({"null", "None", "NULL", "undefined"})
_OF_TYPE = frozenset({"type", "enum", "const"})
_OF_KEYS = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
_SEVERAL = re.compile(r"[,;\n|]|\A\s*[\[{(]|\A\s*\Z")
"""A text that may be several words, or none."""
_WORD = re.compile(r"[^\W\d_][\w -]*")

RepairKind = Literal[
    "null-left-out",
    "text-read",
    "case",
    "spelling",
    "key",
    "listed",
    "unlisted",
    "as-text",
    "repeated-key",
    "loose-json",
    "tool-name",
    "unwrapped",
]
"""`null-left-out`: null, or its name, where a property may be left out; `text-read`: a text that holds JSON, read;
`case`, `spelling`: a listed word in another case, or with other spaces and dashes; `key`: a key in another case or spelling;
`listed`, `unlisted`: one value where a list of it belongs, and the other way round; `as-text`: a number for a listed text;
`repeated-key`: one object has a key twice, and the last one counts; `loose-json`: the text is JSON but for slips of writing;
`tool-name`: a tool by another spelling of its name; `unwrapped`: the arguments stand one level too deep."""


class Repair(NamedTuple):
    """One thing that was read otherwise than it was written."""

    instance: str
    """Where in the value, as a JSON Pointer; empty where the value was read anew as a whole."""
    what: RepairKind
    key: str | None = None
    """With `repeated-key`, `key`, `unwrapped`, `tool-name`: the key or name as the model wrote it."""

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        told: JsonObject = {"instance": self.instance, "what": self.what}
        return told if self.key is None else {**told, "key": self.key}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place at which a value might be repaired."""

    path: Location
    what: RepairKind
    listed: tuple[str, ...] = ()
    certain: bool = False
    name: str = ""
    """The key that was meant."""

    def applied(self, value: Json) -> Json:
        """Return a copy of a value with this place repaired."""
        match self.what:
            case "null-left-out":
                return remove_member(value, self.path)
            case "case" | "spelling":
                return replace_at(value, self.path, lambda word: listed_word(word, self.listed, self.what) or word)
            case "key":
                return rename_member(value, self.path, self.name)
            case "listed":
                return replace_at(value, self.path, lambda item: [item])
            case "unlisted":
                return replace_at(value, self.path, lambda items: items[0] if isinstance(items, list) and items else items)
            case "as-text":
                return replace_at(value, self.path, str)
            case _:
                return replace_at(value, self.path, parse_text)

    @property
    def told(self) -> Repair:
        """What is said of it."""
        if self.what == "key":
            return Repair(pointer((*self.path[:-1], self.name)), self.what, str(self.path[-1]))
        return Repair(pointer(self.path), self.what)


def repairable_places(wrongness: Wrongness) -> list[Candidate]:
    """Return the places at which a value might be repaired, once each for every way."""
    found: dict[tuple[Location, RepairKind, str], Candidate] = {}
    for leaf in wrongness.leaves:
        for path, what, name in (*_ways(leaf), *_keys(leaf)):
            known = found.get((path, what, name))
            listed = leaf.listed if known is None else (*known.listed, *leaf.listed)
            certain = leaf.certain or (known is not None and known.certain)
            found[path, what, name] = Candidate(path, what, listed, certain, name)
    return list(found.values())


def _ways(leaf: LeafViolation) -> Iterator[tuple[Location, RepairKind, str]]:
    """Yield the ways in which what is wrong at one place might be repaired, the likeliest first."""
    value, path = leaf.value, leaf.path
    is_member = bool(path) and isinstance(path[-1], str)
    if is_member and value is None:
        yield path, "null-left-out", ""
    if isinstance(value, str):
        if (what := next((way for way in _SPELLINGS if listed_word(value, leaf.listed, way) is not None), None)) is not None:
            yield path, what, ""
        if leaf.keyword in _OF_TYPE and not isinstance(parse_text(value), str):
            yield path, "text-read", ""
        if is_member and leaf.keyword in _OF_TYPE and value in _NOTHING:
            yield path, "null-left-out", ""
    if leaf.keyword == "type" and path:
        one = value is not None and not isinstance(value, list) and not (isinstance(value, str) and _SEVERAL.search(value))
        if "array" in leaf.types and leaf.items and one:
            yield path, "listed", ""
        elif "array" not in leaf.types and isinstance(value, list) and len(value) == 1 and _is_alone(value[0], leaf):
            yield path, "unlisted", ""
    if isinstance(value, int) and not isinstance(value, bool) and str(value) in leaf.listed:
        yield path, "as-text", ""


def _is_alone(item: Json, leaf: LeafViolation) -> bool:
    """Return whether the only item of a list may be the value itself: an object with unknown keys may be an entry of a map."""
    return not isinstance(item, dict) or (bool(item) and item.keys() <= leaf.keys)


def _keys(leaf: LeafViolation) -> Iterator[tuple[Location, RepairKind, str]]:
    """Yield the unknown keys of an object that are another spelling of one that it has not."""
    if leaf.keyword not in _OF_KEYS or not isinstance(leaf.value, dict) or leaf.value.keys() <= leaf.keys:
        return
    missing: dict[str, list[str]] = {}
    for key in leaf.keys:
        if key not in leaf.value:
            missing.setdefault(_spelt(key), []).append(key)
    written: dict[str, list[str]] = {}
    for key in leaf.value:
        if key not in leaf.keys:
            written.setdefault(_spelt(key), []).append(key)
    for spelt, keys in written.items():
        names = missing.get(spelt, ())
        if len(keys) == 1 and len(names) == 1:
            yield (*leaf.path, keys[0]), "key", names[0]


_SPELLINGS: tuple[Literal["case", "spelling"], ...] = ("case", "spelling")


def _spelt(word: str) -> str:
    return comparison_key(word.strip().replace(" ", "_"))


def listed_word(word: Json, listed: tuple[str, ...], what: str = "case") -> str | None:
    """Return the only listed word that differs from a word in case alone; `None` if there is none or several.

    With `spelling`, spaces, dashes and underlines do not count either, in words that begin with a letter.
    """
    if not isinstance(word, str) or word in listed:
        return None
    if what == "case":
        fitting = {each for each in listed if each.casefold() == word.casefold()}
    else:
        words = [each for each in listed if _WORD.fullmatch(each)] if _WORD.fullmatch(word.strip()) else []
        fitting = {each for each in words if _spelt(each) == _spelt(word)}
    return fitting.pop() if len(fitting) == 1 else None


def parse_text(text: Json) -> Json:
    """Return the JSON value that a text holds; the text itself if it holds none."""
    if not isinstance(text, str):
        return text
    if text in _WORDS:
        return _WORDS[text]
    try:
        return loads(text)
    except (ValueError, RecursionError):
        repaired = loose_json(text)
        return text if repaired is None else loads(repaired)
