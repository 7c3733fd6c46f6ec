"""Braces behind the braces of a block: what other languages write with `else`, or with nothing."""

from __future__ import annotations

from instrc.limits.programs import BODY_TOKENS, HEAD_TOKENS
from instrc.problems import blocks
from instrc.syntax.view import BLOCK, CLOSING, GIVE_UP, OPENING, Slip, View

_WITH_ELSE = frozenset({"WHEN", "TRY"})


def second_braces(view: View) -> Slip:
    """See to the second braces of a block, read as an object: `when c.ok { Send } { Ask(c) }`, `do { Send } { Ask(c) }`."""
    if not view.in_braces:
        return None
    second = view.tokens.index(view.open[-1][0])
    if not second or view.tokens[second - 1].kind != "RBRACE":
        return None
    word = _word_of_block(view, second - 1)
    if word is None:
        return None
    problem = blocks.MissingElse if view.tokens[word].kind in _WITH_ELSE else blocks.StrayBraces
    return problem(at=view.span(view.tokens[second]), word=view.text(view.tokens[word])), GIVE_UP


def _word_of_block(view: View, closing: int) -> int | None:
    """Return where the word stands that begins the block, or its `else`, which the brace at `closing` ends."""
    place = _opening_of(view, closing)
    if place is None:
        return None
    level = 0
    for at in range(place - 1, max(place - HEAD_TOKENS, -1), -1):
        kind = view.tokens[at].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if level < 0 or kind == "SEMICOLON":
            return None
        if not level and (kind in BLOCK or kind == "ELSE"):
            return at
    return None


def _opening_of(view: View, closing: int) -> int | None:
    """Return where the brace stands that the one at `closing` closes."""
    level = 0
    for at in range(closing, max(closing - BODY_TOKENS, -1), -1):
        kind = view.tokens[at].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if not level:
            return at
    return None
