"""Text to words: the tokens of a source, all found at once, each with one letter for its kind.

What stands between two signs is so written as a short text, as `CN=N(N);` is for `const a = Draft(b);`,
and what the automaton does with equal ones is looked up by it (`instrc.syntax.recipes`).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from operator import sub

import msgspec

from instrc.syntax.tables import END, Tables, tables
from instrc.syntax.tokens import is_name

COMMENT = "/"
"""The letter of a comment."""
SIGNS = {"LPAR": 1, "LSQB": 1, "LBRACE": 1, "RPAR": -1, "RSQB": -1, "RBRACE": -1}
SIGNS |= dict.fromkeys(("SEMICOLON", "EQUAL", "VBAR", "AT", "COMMA", "COLON", "DOT"), 0)
"""Tokens whose text says nothing more than their kind, with the levels of nesting they open."""
_FIRST = {'"': "STRING", "'": "STRING", "/": "COMMENT", "$": "METRIC", **dict.fromkeys("-0123456789", "NUMBER")}
"""Kinds that are told by how they begin."""
_SMALL = "abcdefghijklmnopqrstuvwxyz"  # to import `string` compiles the pattern of its templates


class Words(msgspec.Struct, frozen=True, gc=False):
    """The words of a part of a source."""

    letters: str
    """Their kinds."""
    written: list[str]
    starts: list[int]
    ends: list[int]
    """Where the word before the first one ends, then where each of them does."""

    @property
    def runs(self) -> list[str]:
        """The letters as they are taken at once: up to a sign behind which something new begins, a comment alone."""
        letters = self.letters.replace(COMMENT, f" {COMMENT} ")
        for sign in ";,|{})":
            letters = letters.replace(sign, f"{sign} ")
        return letters.replace(") ;", ");").replace(") ,", "),").split()


@cache
def letters() -> dict[str, str]:
    """Return the letter of each kind of token: a sign is its own."""
    automaton = tables()
    signs = {kind: written for written, kind in automaton.fixed.items() if kind in SIGNS}
    others = sorted({*automaton.fixed.values(), *automaton.patterns, END} - signs.keys() - {"COMMENT"})
    return {**signs, **dict(zip(others, _SMALL + _SMALL.upper(), strict=False)), "COMMENT": COMMENT, "STRAY": "?"}


class _Letters(dict[str, str]):
    """The letter of the kind of each word as it is written."""

    def __init__(self, automaton: Tables) -> None:
        self._patterns = automaton.patterns
        self._of = letters()
        self._name = self._of["NAME"]
        super().__init__({written: self._of[kind] for written, kind in automaton.fixed.items()})

    def __missing__(self, written: str) -> str:
        letter = self[written] = self._name if written.isidentifier() else self._of[self._kind(written)]
        return letter

    def _kind(self, written: str) -> str:
        """Return the kind of what is neither a word of the language nor a usual name."""
        if not written:
            return END
        kind = _FIRST.get(written[0])
        if kind is None:
            if is_name(written):
                return "NAME"
            kind = "AUG_URI"
        return kind if re.fullmatch(self._patterns[kind], written) else "STRAY"


class Reader:
    """The words of one text."""

    def __init__(self, automaton: Tables, text: str) -> None:
        self._text = text
        self._position = 0
        self._pattern = re.compile(automaton.words)
        self._number = automaton.patterns["NUMBER"]
        self._letters = _Letters(automaton)

    def rest(self, position: int) -> Words:
        """Return all words from an offset on."""
        return self._words(self._pattern.findall(self._text, position), position, position)

    def name(self, words: Words, number: int) -> Words:
        """Return one of some words as a name: `aug` alone of what looks like a reference; the next word is what follows it."""
        start = words.starts[number]
        self._position = start + len("aug")
        return Words(letters()["NAME"], [self._text[start : self._position]], [start], [words.ends[number], self._position])

    def next(self, end: int) -> Words:
        """Return the next word; what has been read before it ends at `end`."""
        found = self._pattern.match(self._text, self._position).group()  # type: ignore[union-attr]  # it matches everywhere
        words = self._words([found], self._position, end)
        self._position += len(found)
        return words

    def _words(self, found: list[str], position: int, end: int) -> Words:
        """Return words that are found one behind the other, with the white space before each."""
        written = list(map(str.lstrip, found))
        ends = list(accumulate(map(len, found), initial=position))
        starts = list(map(sub, ends[1:], map(len, written)))
        ends[0] = end
        kinds = "".join(map(self._letters.__getitem__, written))
        last = kinds.rstrip(letters()[END])
        if last.endswith(letters()["NUMBER"]) and not re.compile(self._number).match(self._text, starts[len(last) - 1]):
            kinds = last[:-1] + letters()["STRAY"]  # as in `find-2`: what follows a word directly is no number
        return Words(kinds, written, starts, ends)
