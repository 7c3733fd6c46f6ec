"""Slips around braces: an `else` without a block, a name before braces, fields in the braces of a block."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.limits.programs import HEAD_TOKENS
from instrc.problems import blocks, brackets, keywords, notation, words
from instrc.syntax.spelling import NEGATED, duration_behind, is_foreign, misspelt_block
from instrc.syntax.tokens import Token
from instrc.syntax.view import BLOCK, CLOSING, DEFINING, GIVE_UP, OPENING, Slip, View, first_on_line

_BEFORE_STATEMENT = frozenset({"SEMICOLON", "LBRACE", "RBRACE"})


def stray_else(view: View) -> Slip:
    """See to an `else` behind a `;`, or another name before braces: they were read as a name and an object."""
    if view.before() == "ELSE" and view.token.kind == "LPAR":
        return notation.UnexpectedText(
            at=view.span(view.token), what="`(`", expected="`{`: what has failed is `error` there"
        ), GIVE_UP
    if not view.in_braces:
        return None
    opening = view.open[-1][0]
    behind = reversed(view.tokens[: view.place])
    before = next((token for token in behind if token.end <= opening.start), None)
    if before is None:
        return None
    if view.text(before) == "else" and before.kind == "NAME":
        if (word := _negation(view, before)) is not None:
            return words.UnknownOperator(at=view.span(word), text="not", advice=(NEGATED["repeat"],)), GIVE_UP
        again = view.tokens.index(before) - 1
        if again > 0 and view.text(view.tokens[again]) == view.text(view.tokens[again - 1]) != "}":
            return keywords.RepeatedWord(at=view.span(view.tokens[again]), word=view.text(view.tokens[again])), GIVE_UP
        return blocks.StrayElse(at=view.span(before)), GIVE_UP
    if found := _line_of(view, opening):
        return found
    if name := _name_before(view, view.tokens.index(opening)):
        return blocks.BracesAfterName(at=view.span(name), word=view.text(name)), GIVE_UP
    return None


def called_block(view: View) -> Slip:
    """See to a word of other languages before braces, with what it is given: `timeout("PT5M") { … }`, `until c.ok { … }`."""
    name = next((found for opening in _openings(view) if (found := _word_before(view, opening)) is not None), None)
    if name is None:
        return None
    return blocks.BracesAfterName(at=view.span(name), word=view.text(name), duration=duration_behind(view.span(name))), GIVE_UP


def _openings(view: View) -> Iterator[int]:
    """Yield where braces open that the mistake may be about: at it, around it, or behind it on its line."""
    if view.in_braces:
        yield view.tokens.index(view.open[-1][0])
    level = 0
    for place in range(view.place, min(view.place + HEAD_TOKENS, len(view.tokens))):
        kind = view.tokens[place].kind
        if kind == "LBRACE" and level <= 0:
            yield place
            return
        level += (kind in OPENING) - (kind in CLOSING)
        if level < -1 or kind == "SEMICOLON":
            return


def _word_before(view: View, opening: int) -> Token | None:
    """Return the first word of the text before braces on their line, if other languages have this word there."""
    first = opening
    level = 0
    while first and opening - first < HEAD_TOKENS:
        kind = view.tokens[first - 1].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if level < 0 or (not level and kind not in _HEADED):
            break
        first -= 1
    name = view.tokens[first]
    if first and view.tokens[first - 1].kind in BLOCK:
        return None
    headed = opening - first > 1 and name.kind == "NAME" and view.text(name).casefold() in blocks.INSTEAD
    return name if headed and "\n" not in view.source.text[name.end : view.tokens[opening].start] else None


_HEADED = frozenset({"NAME", "DOT", "NUMBER", "STRING", "LPAR"})
"""What stands before braces behind such a word."""


def _name_before(view: View, place: int) -> Token | None:
    """Return the name before braces with which a statement begins, on their line: `loop 3 { … }`, `retry { … }` in a block."""
    last = place - 1
    if last > 0 and view.tokens[last].kind in {"NUMBER", "STRING"}:
        last -= 1
    name = view.tokens[last]
    if last < 0 or name.kind != "NAME" or "\n" in view.source.text[name.end : view.tokens[place].start]:
        return None
    first = last - (view.tokens[last - 1].kind == "NAME")
    begins = view.read[0] == view.tokens[place] or (first > 0 and view.tokens[first - 1].kind in _BEFORE_STATEMENT)
    return name if begins else None


def _negation(view: View, otherwise: Token) -> Token | None:
    """Return the `not` of `until not check.ok else { … }`, which was read as a whole condition."""
    end = view.tokens.index(otherwise)
    line = range(end, max(end - HEAD_TOKENS, 0), -1)
    found = (view.tokens[at] for at in line if view.text(view.tokens[at]) == "not" and view.tokens[at - 1].kind == "UNTIL")
    return next(found, None)


def _line_of(view: View, opening: Token) -> Slip:
    """See to braces on a line that begins with a misspelt word of blocks, or with a word of another language."""
    first = view.tokens.index(opening)
    while first and not first_on_line(view.source, view.tokens, first):
        first -= 1
    token = view.tokens[first]
    word = view.text(token)
    if token.kind != "NAME" or token == opening:
        return None
    if keyword := misspelt_block(word):
        return keywords.MisspeltKeyword(at=view.span(token), word=word, keyword=keyword), GIVE_UP
    return (words.ForeignStatement(at=view.span(token), word=word), GIVE_UP) if is_foreign(word) else None


def inside_block(view: View) -> Slip:
    """See to what stands in the braces of a block: fields without braces of their own, `tool` and `input`."""
    token = view.token
    if not view.in_braces or not (view.accepts("EQUAL") or view.accepts("SEMICOLON") or _begins_body(view)):
        return None
    if token.kind in {"TOOL", "INPUT"} and view.following.kind in {"NAME", "CONST", "LET"}:
        outside = "`const` or a value: `tool` and `input` stand outside of blocks"
        return notation.UnexpectedText(at=view.span(token), what=f"`{view.text(token)}`", expected=outside), GIVE_UP
    if token.kind not in {"COLON", "COMMA"} or (token.kind == "COLON" and view.before() in CLOSING):
        return None
    if token.kind == "COLON" and view.before(2) in DEFINING:
        return None
    if token.kind == "COMMA" and view.before() == "RPAR":
        return brackets.ExtraComma(at=view.span(token), where="body"), GIVE_UP
    opening = view.open[-1][0]
    closing = _closing(view)
    at = view.span(view.read[-1])
    return blocks.MissingBraces(
        at=at, opening=view.span(opening), closing=None if closing is None else view.span(closing)
    ), GIVE_UP


def _begins_body(view: View) -> bool:
    return view.before() == "LBRACE" and view.accepts("CONST")


def _closing(view: View) -> Token | None:
    """Return the brace that closes the innermost open one."""
    level = 0
    for token in view.tokens[view.place : view.place + 500]:
        if token.kind in OPENING:
            level += 1
        elif token.kind in CLOSING:
            if not level:
                return token if token.kind == "RBRACE" else None
            level -= 1
    return None
