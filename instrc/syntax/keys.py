"""Slips in braces: a key without its value or its `:`, a value without its key."""

from __future__ import annotations

from instrc.limits.programs import HINTED_PATH
from instrc.naming import snake
from instrc.problems import brackets, habits, keys, keywords, notation
from instrc.syntax.tokens import Token
from instrc.syntax.view import (
    DEFINING,
    GIVE_UP,
    KEYWORDS,
    STARTS_VALUE,
    Slip,
    TokenRepair,
    View,
    begins_statement,
    is_quoted_name,
)


def key_slip(view: View) -> Slip:
    """See to a key in braces that something else than `:` follows, and to a value without one."""
    if not view.in_braces:
        return None
    token = view.token
    outer, inner = view.open[-2:] if len(view.open) > 1 else (view.open[0], view.open[-1])
    touching = outer[0].kind == "LBRACE" and outer[0].end == inner[0].start
    if touching and (not view.after_key or token.kind in {"LPAR", "VBAR", "AT", "DOT"}):
        return habits.DoubledBraces(at=view.span(inner[0])), GIVE_UP
    if not view.after_key:
        expects_key = view.before() in {"LBRACE", "COMMA"}
        if token.kind == "LBRACE" and view.before() == "LBRACE":
            return habits.DoubledBraces(at=view.span(token)), GIVE_UP
        if expects_key and token.kind in STARTS_VALUE | {"AT"}:
            return keys.MissingKey(at=view.span(token)), TokenRepair((view.one("NAME", "missing"), view.one("COLON")))
        return None
    last = view.read[-1]
    if token.kind == "LPAR" and is_quoted_name(view):
        return habits.QuotedReference(at=view.span(last)), GIVE_UP
    if token.kind in {"LPAR", "VBAR", "AT", "DOT"}:
        again = Token(last.kind, last.start, last.end, last.value)
        problem = keys.MissingKey(at=view.span(last), shown=_with_key(view, last))
        return problem, TokenRepair((view.one("COLON"), again))
    if token.kind == "EQUAL":
        return notation.EqualsForColon(at=view.span(token)), TokenRepair((view.one("COLON"),), 1)
    if last.kind in DEFINING and token.kind in KEYWORDS and view.following.kind == "EQUAL" and view.accepts("NAME"):
        return keywords.KeywordAsName(at=view.span(token), word=view.text(token)), TokenRepair(
            (view.one("NAME", view.text(token)),), 1
        )
    if token.kind in {"COMMA", "RBRACE"} and last.kind in KEYWORDS:
        return keywords.KeywordAsName(at=view.span(last), word=view.text(last)), TokenRepair(
            (view.one("COLON"), view.one("NAME", "missing"))
        )
    if token.kind in {"COMMA", "RBRACE"}:
        missing = keys.MissingColon(at=view.span(last), key=view.text(last))
        return missing, TokenRepair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in STARTS_VALUE and not begins_statement(view.source, view.tokens, view.place):
        alone = last.kind == "NAME" and token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE", "COLON", "NAME"}
        if alone or (last.kind == "NAME" and token.kind == "STRING" and view.following.kind == "COLON"):
            key = view.span(last) if token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE"} else None
            return brackets.MissingComma(at=view.span(token), key=key), TokenRepair((view.one("COMMA"),))
        missing = keys.MissingColon(at=view.span(last), key=view.text(last), has_value=True)
        return missing, TokenRepair((view.one("COLON"),))
    return None


def _with_key(view: View, last: Token) -> str:
    """Return a path or a call with a key that fits it; nothing for what is neither, or too long to show."""
    word = view.text(last)
    if last.kind != "NAME" or view.token.kind not in {"DOT", "LPAR"}:
        return ""
    if view.token.kind == "LPAR":
        return f"{snake(word)}: {word}(…)" if len(word) < HINTED_PATH else ""
    end = view.place
    while end + 1 < len(view.tokens) and view.tokens[end].kind == "DOT" and view.tokens[end + 1].kind == "NAME":
        end += 2
    path = view.source.text[last.start : view.tokens[end - 1].end]
    return f"{view.text(view.tokens[end - 1])}: {path}" if end > view.place and len(path) < HINTED_PATH else ""
