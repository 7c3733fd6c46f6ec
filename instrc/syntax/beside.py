"""Slips of two values beside each other in brackets, where people know words that this language has elsewhere or not at all."""

from __future__ import annotations

from instrc.problems import blocks, deadlines, habits, notation, words
from instrc.problems.problem import Problem
from instrc.source import Span
from instrc.syntax.spelling import is_foreign
from instrc.syntax.tokens import Token
from instrc.syntax.view import BLOCK, CLOSING, ENDS_VALUE, GIVE_UP, OPENING, Slip, View

_DEADLINES = frozenset({"within", "deadline", "timeout", "delay"})
_BEFORE_BLOCK = frozenset({"COMMA", "SEMICOLON", "COLON", "EQUAL", "VBAR"})
_OF_BLOCKS = frozenset({"max", "keep", "limit", "until", "while", "times"})


def value_beside(view: View) -> Slip:
    """See to a word or a value directly behind a value in brackets, as `habits` sees to them in statements."""
    token, following = view.token, view.following
    if view.before() not in ENDS_VALUE:
        return None
    last, word = view.read[-1], view.text(token)
    at = view.span(token)
    if word == "else" and last.kind == "RBRACE" and following.kind in {"LBRACE", "WHEN"}:
        return blocks.StrayElse(at=at), GIVE_UP
    if word == "max" and following.kind == "NUMBER" and last.kind == "RPAR":
        bound = f"`@ {{ maxItems: {view.text(following)} }}`, which bounds a plan"
        return notation.UnexpectedText(at=at, what="`max`", expected=bound), GIVE_UP
    if word in _DEADLINES and following.kind in {"STRING", "NUMBER"}:
        return deadlines.MisplacedDeadline(at=at, word=word, place="words"), GIVE_UP
    if last.kind == "RBRACE" and following.kind == "LBRACE" and word.casefold() in blocks.INSTEAD and _block_before(view):
        return blocks.BracesAfterName(at=at, word=word), GIVE_UP
    if word in _OF_BLOCKS and last.kind == "RBRACE" and (block := _block_before(view)):
        return blocks.StrayWord(at=at, word=word, block=block), GIVE_UP
    if token.kind == "NAME" and is_foreign(word):
        return words.ForeignStatement(at=at, word=word), GIVE_UP
    return _behind_name(view, last) if last.kind == "NAME" else None


def _behind_name(view: View, name: Token) -> Slip:
    """See to what people write behind a name without brackets: `parallel { … }`, `all [A, B]`, `Fail "late"`, `retry 3 { … }`."""
    token, following, at = view.token, view.following, view.span(view.token)
    word = view.text(name)
    if word == "Fail" and token.kind == "STRING":
        return unbracketed_reason(at), GIVE_UP
    if (
        token.kind == "LBRACE"
        and (word.casefold() in blocks.INSTEAD or word[:1].isupper())
        and "\n" not in view.source.text[name.end : token.start]
    ):
        return blocks.BracesAfterName(at=view.span(name), word=word), GIVE_UP
    if token.kind == "LSQB" and following.kind == "NAME" and (end := _closing(view)) is not None:
        return habits.ListOfSteps(at=view.source.span(token.start, end.end)), GIVE_UP
    if following.kind == "LBRACE" and token.kind in {"NAME", "NUMBER", "STRING"}:
        headed = token if token.kind == "NAME" else name
        return blocks.BracesAfterName(at=view.span(headed), word=view.text(headed)), GIVE_UP
    return None


def unbracketed_reason(at: Span) -> Problem:
    """Return the problem of a reason that stands behind `Fail` without brackets."""
    return notation.UnexpectedText(at=at, what=f"`{at.text[:40]}`", expected='brackets: `Fail(message: "…")`')


def _block_before(view: View) -> str:
    """Return the word of the block whose braces have just been closed, or nothing."""
    level = 0
    for place in range(len(view.read) - 1, -1, -1):
        token = view.read[place]
        level += (token.kind in CLOSING) - (token.kind in OPENING)
        if not level and token.kind in BLOCK:
            return view.text(token)
        if level < 0 or (not level and token.kind in _BEFORE_BLOCK):
            return ""
    return ""


def _closing(view: View) -> Token | None:
    """Return what closes the bracket that cannot be read; `None` if nothing near does."""
    level = 0
    for token in view.tokens[view.place : view.place + 500]:
        level += (token.kind in OPENING) - (token.kind in CLOSING)
        if not level:
            return token
    return None
