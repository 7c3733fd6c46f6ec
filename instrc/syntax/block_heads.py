"""The head of a block while it is read: its word, and how to go on at its braces."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from instrc.limits.programs import HEAD_TOKENS
from instrc.problems import blocks
from instrc.syntax.tables import END
from instrc.syntax.view import BLOCK, CLOSING, GIVE_UP, OPENING, Slip, TokenRepair, View, first_on_line

_HEADS = frozenset({"WHEN", "UNTIL", "EACH", "REPEAT", "TRY", "DO"})
EACH_NUMBER = "write `each i in 3 { … }` for three at the same time, `repeat { … } until round is 3` for one after the other"
BEHIND_BRACES = "the condition and the bound stand behind the braces: `repeat { … } until PATH max 3`"
ONE_ELEMENT = "an element has one name, and no number: `each NAME in PATH { … }`"
_IN_BRACES = "what is to run stands in braces, without a colon or a word before them: `{FORM}`"
_FOR_ALL = "it runs for every element: choose in the braces, `each NAME in PATH { when NAME.… { … } }`"
_WORDS = {
    ("when", "in"): "write `PATH @ { enum: […] }` for one of several values",
    ("when", "exists"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "defined"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "contains"): "write `PATH @ { contains: { const: … } }`",
    ("when", "includes"): "write `PATH @ { contains: { const: … } }`",
    ("when", "matches"): 'write `PATH @ { pattern: "…" }`',
    ("when", "equals"): "write `PATH is VALUE`",
    ("when", "are"): "write `PATH is VALUE`",
    ("when", ","): "write one `when` in the other for two conditions, `or` between them for one of two",
    ("when", "["): "a member is read by `.NAME`; for the elements of a list write `each NAME in PATH { when NAME is … { … } }`",
    ("when", "|"): "write `or`: `when PATH is VALUE or PATH is VALUE { … }`",
    ("each", ","): ONE_ELEMENT,
    ("each", "limit"): "write `max`: `each NAME in PATH max 5 { … }`",
    ("each", "@"): "a limit is `max`: `each NAME in PATH max 5 { … }`; a time stands behind the braces: `{ … } @ { within: … }`",
    ("each", "until"): "write `repeat NAME in PATH { … } until PATH` for one element after the other",
    ("each", "while"): "write `repeat NAME in PATH { … } until PATH` for one element after the other",
    ("each", "if"): _FOR_ALL,
    ("each", "where"): _FOR_ALL,
    ("each", "when"): _FOR_ALL,
    ("each", "and"): "a block runs over one list: write an `each` for either, one in the other for all pairs",
    ("each", "|"): "name the joined list before, or write an `each` for either",
    ("repeat", "until"): BEHIND_BRACES,
    ("repeat", "max"): BEHIND_BRACES,
    ("repeat", "while"): BEHIND_BRACES,
}
"""What to write in place of words and signs in the head of a block."""


class Head(NamedTuple):
    """The word that the part of a block begins with, and how far that part has been read."""

    kind: str
    word: str
    first: bool
    """Whether nothing has been read behind it."""
    closed: bool


def head_of(view: View, *, but: int = 0) -> Head | None:
    """Return the head of the innermost block that is being read, without the last tokens."""
    level = 0
    closed = False
    for distance, token in enumerate(islice(reversed(view.read), but, None)):
        if token.kind in CLOSING:
            level += 1
            closed = closed or token.kind == "RBRACE"
        elif token.kind in OPENING:
            if not level:
                return None
            level -= 1
        elif not level and token.kind in {"SEMICOLON", "EQUAL", "VBAR", "COMMA", "COLON", "ELSE"}:
            return None
        elif not level and token.kind in _HEADS:
            return Head(token.kind, view.text(token), first=not distance, closed=closed)
    return None


def to_braces(view: View) -> TokenRepair:
    """Go on at the braces of the block, if they follow on this line, so that what is in them and behind them is read."""
    for count, token in enumerate(view.tokens[view.place : view.place + HEAD_TOKENS]):
        if token.kind == END or (count and first_on_line(view.source, view.tokens, view.place + count)):
            break
        if token.kind == "LBRACE" and count and view.tokens[view.place + count - 1].kind != "AT":
            for put in ((), ("NAME",), ("NULL",), ("IN", "NAME")):
                if view.accepts(*put, "LBRACE"):
                    return TokenRepair(tuple(view.one(kind, "missing") for kind in put), count)
            break
    return GIVE_UP


def incomplete(view: View, word: str, missing: str, advice: str = "") -> Slip:
    """Name a part that is missing at a token, with what is known of this token in a block that begins with a word."""
    token = view.token
    at = view.gap() if token.kind == END else view.span(token)
    advice = advice or _WORDS.get((word, view.text(token)), "")
    number = view.following if token.kind == "LPAR" else token
    if not advice and word in {"each", "repeat"} and number.kind == "NUMBER" and view.before() in {"EACH", "REPEAT"}:
        advice = EACH_NUMBER
    if not advice and missing == "`{`" and token.kind in {"COLON", "NAME", "AUG_URI", "STRING", *BLOCK}:
        advice = _IN_BRACES.replace("{FORM}", blocks.FORMS[word])
    return blocks.IncompleteBlock(at=at, word=word, missing=missing, advice=advice), GIVE_UP if word == "repeat" else to_braces(
        view
    )
