"""Mistakes that people make, by what stands where: each has a name, a place and a way to be repaired.

`diagnose` is asked about a token that no rule takes.  It looks first at what stands before (a `|`, a `:`, an `=` that
waits for something), then at the token itself.
"""

from __future__ import annotations

from instrc.durations import from_words
from instrc.problems import brackets, deadlines, keywords, notation, words
from instrc.problems.problem import Problem
from instrc.syntax.beside import value_beside
from instrc.syntax.blocks import block_slip
from instrc.syntax.braces import called_block, inside_block, stray_else
from instrc.syntax.ends import closing_slip, early_end, is_closed, unclosed
from instrc.syntax.foreign import foreign_sign, foreign_statement, index_slip, is_defined
from instrc.syntax.keys import key_slip
from instrc.syntax.missing import missing_behind
from instrc.syntax.otherwise import second_braces
from instrc.syntax.signs import sign_slip
from instrc.syntax.strings import string_slip
from instrc.syntax.tables import END
from instrc.syntax.tokens import Token, is_space_in_number
from instrc.syntax.view import (
    BLOCK,
    CLOSING,
    ENDS_VALUE,
    GIVE_UP,
    KEYWORDS,
    SIGNS,
    STARTS_VALUE,
    STATEMENT,
    Slip,
    TokenRepair,
    View,
    first_on_line,
)


def diagnose(view: View) -> tuple[Problem, TokenRepair]:
    """Name the mistake that the next token shows, and tell how to go on."""
    for rule in (
        _repeated_word,
        _duration_in_words,
        called_block,
        foreign_statement,
        string_slip,
        block_slip,
        second_braces,
        inside_block,
        stray_else,
        index_slip,
        foreign_sign,
        missing_behind,
        key_slip,
        early_end,
        closing_slip,
        sign_slip,
        _keyword,
        _value,
    ):
        if found := rule(view):
            return found
    return _unexpected(view), GIVE_UP


def _repeated_word(view: View) -> Slip:
    """See to a word or a string directly behind its equal: `const const`, `{ text text: x }`."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    word = view.text(token)
    if word != view.text(last) or not (token.kind == "STRING" or word[:1].isalnum() or word[:1] == "_"):
        return None
    return keywords.RepeatedWord(at=view.span(token), word=word), TokenRepair(drop=1)


def _duration_in_words(view: View) -> Slip:
    """See to the unit of a duration that is written as a number and a word: `within: 3 days`."""
    if view.token.kind != "NAME" or view.before() != "NUMBER" or view.before(2) != "COLON":
        return None
    at = view.source.span(view.read[-1].start, view.token.end)
    instead = from_words(at.text)
    return (deadlines.BadDuration(at=at, written=at.text, instead=instead), TokenRepair(drop=1)) if instead else None


def _keyword(view: View) -> Slip:
    """See to a word of the language where a name or nothing is expected."""
    last = view.read[-1] if view.read else None
    if last and last.kind in KEYWORDS and view.before(2) in {"LPAR", "COMMA"} and view.open and not view.accepts("NAME"):
        if view.token.kind in {"COMMA", "RPAR", "VBAR", "AT", "LPAR"}:  # a label it could have been, a value it is not
            return _as_name(view, last), GIVE_UP
        return None
    token = view.token
    if last and last.kind in BLOCK and token.kind in {"EQUAL", "VBAR", "LPAR", "AT", "COMMA", "SEMICOLON", END, *CLOSING}:
        return _as_name(view, last), GIVE_UP
    if token.kind not in KEYWORDS:
        return None
    if view.accepts("NAME"):
        return _as_name(view, token), TokenRepair((view.one("NAME", view.text(token)),), 1)
    if view.open and view.accepts("COMMA") and (view.following.kind == "COLON" or token.kind not in STATEMENT):
        return brackets.MissingComma(at=view.span(token)), TokenRepair((view.one("COMMA"),))
    return None


def _value(view: View) -> Slip:
    """See to a value directly after another."""
    token = view.token
    if token.kind not in STARTS_VALUE | {"AT"} or not view.open:
        return None
    if first_on_line(view.source, view.tokens, view.place) and not is_closed(view, stop_at_names=True):
        return unclosed(view, len(view.open))
    last = view.read[-1] if view.read else token
    if token.kind == "NUMBER" == last.kind and is_space_in_number(view.source.text, last.end, token.start):
        return words.BadNumber(at=view.source.span(last.start, token.end), reason="has a space in it"), TokenRepair(drop=1)
    if slip := value_beside(view):
        return slip
    if view.before() in ENDS_VALUE and view.accepts("COMMA"):
        return _missing_comma(view, last), TokenRepair((view.one("COMMA"),))
    if view.before() in ENDS_VALUE and view.accepts("VBAR", token.kind):
        return _unexpected(view), TokenRepair((view.one("VBAR"),))
    return None


def _missing_comma(view: View, last: Token) -> Problem:
    """Return the problem of two values side by side: the first may be the name of an argument, as in `Send(to people.names)`."""
    labels = last.kind == "NAME" and view.before(2) in {"LPAR", "COMMA"} and view.open[-1][1] and view.following.kind != "COLON"
    key = view.span(last) if labels and not is_defined(view, view.text(last)) else None
    keyed = view.token.kind in {"NAME", "STRING"}
    return brackets.MissingComma(at=view.span(view.token), key=key, sure=keyed or not view.in_braces)


def _unexpected(view: View) -> Problem:
    """Say what was met and what could have stood there."""
    token = view.token
    if token.kind == END:
        what, at = "the end of the file", view.gap()
    else:
        what, at = f"`{view.text(token)[:40]}`", view.span(token)
    kinds = [sign for kind, sign in SIGNS.items() if kind not in {"LPAR", "LSQB", "LBRACE"} and view.accepts(kind)]
    expected = ["a value"] if view.accepts("NUMBER") else ["a name"] if view.accepts("NAME") else []
    expected += [f"`{sign}`" for sign in kinds]
    if view.before() == "DOT":
        expected = ["the name of a member, or no `.` before it"]
    elif token.kind == "DOT" and view.before() in {"RBRACE", "RPAR"}:
        return notation.UnexpectedText(at=at, what=what, expected="a name before it: `const found = …;`, then `found.NAME`")
    if view.accepts(END):
        expected.append("the end of the statement")
    return notation.UnexpectedText(at=at, what=what, expected=" or ".join(expected))


def _as_name(view: View, token: Token) -> Problem:
    return keywords.KeywordAsName(at=view.span(token), word=view.text(token))
