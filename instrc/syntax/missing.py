"""What is missing behind a sign or a word that announces something: a stage, a value, a name, a text after `@`."""

from __future__ import annotations

from instrc.limits.programs import DECORATOR_TOKENS
from instrc.problems import habits, keywords, notation, statements, words
from instrc.syntax.tables import END
from instrc.syntax.tokens import Token
from instrc.syntax.view import (
    DEFINING,
    GIVE_UP,
    KEYWORDS,
    OPENING,
    SIGNS,
    STARTS_VALUE,
    STATEMENT,
    Slip,
    TokenRepair,
    View,
    begins_statement,
    first_on_line,
)

_NAMES = frozenset({"NAME", "LBRACE", "LSQB"})
_VALUE_ONLY = "a value: write the statement before this one, or in braces, `do { const a = A(b); a }`"


def missing_behind(view: View) -> Slip:
    """Look for a sign or word before the token that announces something."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    if last.kind == "VBAR" and token.kind == "VBAR" and last.end == token.start:
        span = view.source.span(last.start, token.end)
        advice = "write one `|` to lead to the next stage; in a condition write `or`"
        return words.UnknownOperator(at=span, text="||", advice=(advice,), put="|"), TokenRepair(drop=1)
    if last.kind == "AT":
        return _after_at(view, last)
    if token.kind in KEYWORDS and not begins_statement(view.source, view.tokens, view.place):
        return None
    if last.kind == "EQUAL" or (last.kind == "COLON" and token.kind != "COLON"):
        return _without_value(view, last)
    if last.kind == "VBAR" and token.kind not in {"ARROW", "OPERATOR"}:
        return _without_value(view, last)
    if last.kind in DEFINING and view.open and view.before(2) in {"LPAR", "COMMA"} and token.kind in _NAMES:
        return notation.UnexpectedText(at=view.span(last), what=f"`{view.text(last)}`", expected=_VALUE_ONLY), GIVE_UP
    in_block = view.in_braces and (last.kind == "NAME" or view.accepts("NAME", "EQUAL"))
    if last.kind in STATEMENT and (in_block or (not view.open and not view.after_key)):
        return _after_defining_word(view, last)
    if last.kind == "NAME" and view.before(2) in DEFINING and (in_block or not view.open):
        return _after_defined_name(view, last)
    return None


def _after_at(view: View, last: Token) -> Slip:
    """See to an `@` with neither a text nor braces behind it: `@ name`, `Draft@2`, `@tool` before a function."""
    at, token = view.span(last), view.token
    described = next((each for each in (token, view.following) if each.kind == "NAME"), None)
    if described is not None and first_on_line(view.source, view.tokens, view.place - 1) and (found := _decorated(view)):
        return found
    if view.before(2) in {"", "VBAR", "EQUAL", *OPENING} and described is not None:
        return notation.BadAnnotation(at=at, described=view.text(described)), GIVE_UP
    if token.kind == "NAME" and view.following.kind not in {"LPAR", "COLON"}:
        return notation.BadAnnotation(at=at), TokenRepair((view.one("STRING", ""),), 1)
    version = token.kind == "NUMBER" and token.start == last.end
    dropped = 1 if token.kind in {"NUMBER", "AUG_URI"} else 0
    return notation.BadAnnotation(at=at, version=version), TokenRepair((view.one("STRING", ""),), dropped)


def _without_value(view: View, last: Token) -> Slip:
    """See to `|`, `=` or `:` with no value behind it: a stage or a value is missing."""
    at, token = view.span(last), view.token
    if token.kind == "VBAR":
        return statements.MissingStage(at=view.span(token), side="before"), TokenRepair(drop=1)
    missing = (view.one("NAME", "missing"),)
    if last.kind == "VBAR":
        return statements.MissingStage(at=at, side="after"), TokenRepair(missing)
    repair = TokenRepair(missing, 1 if token.kind == "EQUAL" else 0)
    return statements.MissingValue(at=at, after=f"after `{SIGNS[last.kind]}`"), repair


def _decorated(view: View) -> Slip:
    """See to `@tool` on a line of its own before a function: the function is the mistake."""
    for index in range(view.place, min(view.place + DECORATOR_TOKENS, len(view.tokens) - 1)):
        token = view.tokens[index]
        if index > view.place and first_on_line(view.source, view.tokens, index) and view.text(token) in _DECORATED:
            return words.ForeignStatement(at=view.span(token), word=view.text(token)), TokenRepair(drop=index - view.place)
    return None


_DECORATED = frozenset({"def", "async", "class", "export", "function"})


def _after_defining_word(view: View, last: Token) -> Slip:
    """Tell in `const = A`, `tool;`, `input(x)` whether the word is used as a name or the name is missing."""
    word = view.text(last)
    token = view.token
    used_as_name = token.kind in {"LPAR", "VBAR"} or (token.kind == "EQUAL" and last.kind == "INPUT")
    if used_as_name:
        declares = word == "input" and token.kind == "LPAR"
        return keywords.KeywordAsName(at=view.span(last), word=word, declares=declares), GIVE_UP
    quoted = view.text(token)[1:-1] if token.kind == "STRING" else ""
    parts = token.kind in {"LBRACE", "LSQB"}
    return statements.MissingName(at=view.span(last), word=word, parts=parts, quoted=quoted), GIVE_UP


def _after_defined_name(view: View, last: Token) -> Slip:
    """See to `const a: A`, `const a A`, `const f(x) = A`."""
    token = view.token
    word = view.text(last)
    if token.kind == "COLON":
        if view.following.kind == "NAME" and view.tokens[min(view.place + 2, len(view.tokens) - 1)].kind == "EQUAL":
            return statements.WrongEquals(at=view.span(token), text=":", typed=view.text(view.following)), TokenRepair(drop=2)
        return statements.WrongEquals(at=view.span(token), text=":"), TokenRepair((view.one("EQUAL"),), 1)
    if token.kind == "LBRACE":
        return statements.MissingEquals(at=view.span(token), word=word), GIVE_UP
    if token.kind == "NAME" and view.following.kind == "EQUAL" and not first_on_line(view.source, view.tokens, view.place):
        return words.ForeignStatement(at=view.span(last), word=word), GIVE_UP  # `let mut x = …`, `const string x = …`
    if token.kind in STARTS_VALUE and token.kind != "LPAR":
        return statements.MissingEquals(at=view.span(token), word=word), TokenRepair((view.one("EQUAL"),))
    if token.kind in {"SEMICOLON", END} or begins_statement(view.source, view.tokens, view.place):
        return statements.MissingEquals(at=view.gap(), word=word), TokenRepair((view.one("EQUAL"), view.one("NAME", "missing")))
    if token.kind == "LPAR":
        if _has_parameters(view):
            return habits.Parameters(at=view.span(token), word=word), GIVE_UP
        return statements.MissingEquals(at=view.span(token), word=word, called=True), GIVE_UP
    if token.kind == "AT":
        return notation.UnexpectedText(at=view.span(token), what="`@`", expected="`=`: an `@` follows the value"), GIVE_UP
    return None


def _has_parameters(view: View) -> bool:
    """Tell whether brackets of names follow, and `=` behind them."""
    index = view.place + 1
    while index < len(view.tokens) - 1 and view.tokens[index].kind in {"NAME", "COMMA", "COLON"}:
        index += 1
    return view.tokens[index].kind == "RPAR" and view.tokens[min(index + 1, len(view.tokens) - 1)].kind in {
        "EQUAL",
        "COLON",
        "ARROW",
    }
