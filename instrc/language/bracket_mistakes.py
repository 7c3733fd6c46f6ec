"""Mistakes with brackets, keys and separators: unclosed or unmatched brackets, `,` `|` `:` `=` in the wrong place."""

from __future__ import annotations

from instrc.language.lexer import Token
from instrc.language.tables import CLOSING, CONTEXTUAL, END, OPENING
from instrc.language.view import (
    DEFINING,
    ENDS_VALUE,
    GIVE_UP,
    KEYWORDS,
    SIGNS,
    STARTS_VALUE,
    STATEMENT,
    Slip,
    TokenRepair,
    View,
    begins_statement,
    is_quoted_name,
)
from instrc.problems import calls, habits, punctuation, statements
from instrc.problems.problem import Problem
from instrc.text.limits import BRACKET_DISTANCE, HINTED_PATH
from instrc.text.names import snake


def early_end(view: View) -> Slip:
    """Diagnose a statement that ends, or another one that begins, while this one is incomplete."""
    token = view.token
    begins = begins_statement(view.source, view.tokens, view.place) and view.following.kind != "COLON"
    if token.kind not in {"SEMICOLON", END} and not begins:
        return None
    if not view.open:
        if token.kind == "SEMICOLON":
            return punctuation.ExtraSemicolon(at=view.span(token)), TokenRepair(drop=1)
        return None
    if view.before() in OPENING and not view.accepts(OPENING[view.before()]):
        return _empty_group(view), GIVE_UP
    closed = is_closed(view, stop_at_names=not view.in_braces)
    if token.kind == "SEMICOLON" and closed:
        kind = "COMMA" if view.accepts("COMMA") else "VBAR"
        problem = punctuation.SemicolonInBrackets(at=view.span(token), opening=view.span(view.open[-1][0]))
        return problem, TokenRepair((view.one(kind),), 1) if view.accepts(kind, view.following.kind) else TokenRepair(drop=1)
    if token.kind == "NAME" and closed and view.accepts("COMMA"):
        return punctuation.MissingComma(at=view.span(token)), TokenRepair((view.one("COMMA"),))
    return unclosed(view, _within_block(view))


def _empty_group(view: View) -> Problem:
    opening = view.read[-1]
    return statements.MissingValue(at=view.span(opening), after=f"after `{SIGNS[opening.kind]}`")


def _within_block(view: View) -> int:
    """Return how many brackets to close before the next statement: those inside a block that is closed later, or else all."""
    closing = [OPENING[opening.kind] for opening, _ in reversed(view.open)]
    for count in range(1, len(closing)):
        if closing[count] == "RBRACE" and view.accepts(*closing[:count], view.token.kind):
            return count if view.closing(len(closing) - count) else len(closing)
    return len(closing)


def closing_slip(view: View) -> Slip:
    """Diagnose a closing bracket that is unmatched, mismatched, or too early."""
    token = view.token
    if token.kind not in CLOSING:
        return None
    at = view.span(token)
    if not view.open:
        count = 1
        while count < BRACKET_DISTANCE - 2 and view.tokens[view.place + count].kind in CLOSING:
            count += 1
        end = view.tokens[view.place + count - 1].end
        text = view.text(token) if count == 1 else view.source.text[token.start : min(end, token.start + 20)]
        return punctuation.ExtraClosingBracket(at=view.source.span(token.start, end), text=text), TokenRepair(drop=count)
    top = view.open[-1][0]
    if OPENING[top.kind] == token.kind:
        if token.kind == "RBRACE" and (defined := _defined_last(view)):
            missing = statements.MissingValue(at=at, after="at the end of this block", defined=defined)
            semicolon = () if view.before() == "SEMICOLON" else (view.one("SEMICOLON"),)
            return missing, TokenRepair((*semicolon, view.one("NAME", defined)))
        if view.before() in OPENING:
            return _empty_group(view), TokenRepair((view.one("NAME", "missing"),))
        return None
    due = OPENING[top.kind]
    outer = next((depth for depth, (opening, _) in enumerate(reversed(view.open)) if OPENING[opening.kind] == token.kind), 0)
    swapped = outer == 1 and view.following.kind == due
    if not outer or swapped:
        put = (view.one(due), view.one(token.kind)) if swapped else (view.one(due),)
        problem = punctuation.MismatchedBracket(at=at, opening=view.span(top), closing=SIGNS[due])
        return problem, TokenRepair(put, len(put)) if view.accepts(due) else GIVE_UP
    return unclosed(view, outer)


def _defined_last(view: View) -> str:
    """Return the name defined by the last statement of a block, if its value is complete, or the empty string."""
    ended = view.before() == "SEMICOLON"
    follows = ("NAME", "RBRACE") if ended else ("SEMICOLON", "NAME", "RBRACE")
    if (not ended and view.before() not in ENDS_VALUE) or not view.accepts(*follows):
        return ""
    level = 0
    for place in range(len(view.read) - 1 - ended, 0, -1):
        kind = view.read[place].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if level < 0 or (not level and kind == "SEMICOLON"):
            return ""
        if not level and kind == "EQUAL":
            return view.read[place - 1].value or view.text(view.read[place - 1])
    return ""


def unclosed(view: View, count: int) -> tuple[Problem, TokenRepair]:
    """Close the innermost brackets."""
    inner = [token for token, _ in view.open[: -count - 1 : -1]]
    closing = tuple(view.one(OPENING[token.kind]) for token in inner)
    problem = punctuation.MissingClosingBracket(
        at=view.gap(),
        closing="".join(SIGNS[token.kind] for token in closing[:8]),
        openings=tuple(view.span(token) for token in inner[:8]),
    )
    return problem, TokenRepair(closing) if view.accepts(*(token.kind for token in closing)) else GIVE_UP


def is_closed(view: View, *, stop_at_names: bool) -> bool:
    """Return whether all open brackets are closed before the next statement certainly begins."""
    level = len(view.open)
    for index in range(view.place, min(len(view.tokens), view.place + BRACKET_DISTANCE - 2)):
        kind = view.tokens[index].kind
        if kind in OPENING:
            level += 1
        elif kind in CLOSING:
            level -= 1
            if not level:
                return True
        elif index > view.place and (stop_at_names or kind != "NAME") and begins_statement(view.source, view.tokens, index):
            return False
    return False


def key_slip(view: View) -> Slip:
    """Diagnose a key in braces that is not followed by `:`, and a value without one."""
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
            return punctuation.MissingKey(at=view.span(token)), TokenRepair((view.one("NAME", "missing"), view.one("COLON")))
        return None
    last = view.read[-1]
    if token.kind == "LPAR" and is_quoted_name(view):
        return habits.QuotedReference(at=view.span(last)), GIVE_UP
    if token.kind in {"LPAR", "VBAR", "AT", "DOT"}:
        again = Token(last.kind, last.start, last.end, last.value)
        problem = punctuation.MissingKey(at=view.span(last), shown=_with_key(view, last))
        return problem, TokenRepair((view.one("COLON"), again))
    if token.kind == "EQUAL":
        return punctuation.EqualsForColon(at=view.span(token)), TokenRepair((view.one("COLON"),), 1)
    if last.kind in DEFINING and token.kind in KEYWORDS and view.following.kind == "EQUAL" and view.accepts("NAME"):
        return statements.KeywordAsName(at=view.span(token), word=view.text(token)), TokenRepair(
            (view.one("NAME", view.text(token)),), 1
        )
    if token.kind in {"COMMA", "RBRACE"} and last.kind in KEYWORDS:
        return statements.KeywordAsName(at=view.span(last), word=view.text(last)), TokenRepair(
            (view.one("COLON"), view.one("NAME", "missing"))
        )
    if token.kind in {"COMMA", "RBRACE"}:
        missing = punctuation.MissingColon(at=view.span(last), key=view.text(last))
        return missing, TokenRepair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in STARTS_VALUE and not begins_statement(view.source, view.tokens, view.place):
        alone = last.kind == "NAME" and token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE", "COLON", "NAME"}
        if alone or (last.kind == "NAME" and token.kind == "STRING" and view.following.kind == "COLON"):
            key = view.span(last) if token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE"} else None
            return punctuation.MissingComma(at=view.span(token), key=key), TokenRepair((view.one("COMMA"),))
        missing = punctuation.MissingColon(at=view.span(last), key=view.text(last), has_value=True)
        return missing, TokenRepair((view.one("COLON"),))
    return None


_NAMES = frozenset({"NAME", *CONTEXTUAL})


def _with_key(view: View, last: Token) -> str:
    """Return a path or call with a suitable key, or the empty string for other or long expressions."""
    word = view.text(last)
    if last.kind != "NAME" or view.token.kind not in {"DOT", "LPAR"}:
        return ""
    if view.token.kind == "LPAR":
        return f"{snake(word)}: {word}(…)" if len(word) < HINTED_PATH else ""
    end = view.place
    while end + 1 < len(view.tokens) and view.tokens[end].kind == "DOT" and view.tokens[end + 1].kind in _NAMES:
        end += 2
    path = view.source.text[last.start : view.tokens[end - 1].end]
    if view.tokens[end].kind == "COLON" and len(path) < HINTED_PATH:
        return ": { ".join(path.split(".")) + ": …" + " }" * path.count(".")
    return f"{view.text(view.tokens[end - 1])}: {path}" if end > view.place and len(path) < HINTED_PATH else ""


def sign_slip(view: View) -> Slip:
    """Diagnose a sign of the language in the wrong place."""
    token = view.token
    at = view.span(token)
    before = view.before()
    after_nothing = not view.read or before in OPENING or before in {"COMMA", "SEMICOLON"}
    match token.kind:
        case "COMMA":
            return _comma(view, after_nothing=after_nothing)
        case "VBAR" if after_nothing:
            return statements.MissingStage(at=at, side="before"), TokenRepair(drop=1)
        case "EQUAL" | "COLON" if not view.open and before == "NAME" and view.before(2) == "INPUT":
            written = '@ { default: "…" }' if token.kind == "EQUAL" else '@ { type: "string" }'
            sign = view.text(token)
            expected = f"`@`: the default and type of an input are given by a schema, as in `{written}`"
            return punctuation.UnexpectedText(at=at, what=f"`{sign}`", expected=expected), GIVE_UP
        case "AT" if not view.open and view.read and view.read[0].kind == "INPUT" and before in {"STRING", "RBRACE"}:
            expected = 'one `@`: with other keywords, the description is a keyword too: `@ { description: "…", type: "string" }`'
            return punctuation.UnexpectedText(at=at, what="this `@`", expected=expected), GIVE_UP
        case "COLON":
            return _colon(view)
        case "EQUAL" if view.open:
            put = "COLON" if view.accepts("COLON") else "COMMA"
            return punctuation.EqualsForColon(at=at), TokenRepair((view.one(put),), 1) if view.accepts(put) else GIVE_UP
        case "EQUAL" if before == "EQUAL" or after_nothing:
            return punctuation.UnexpectedText(at=at, what="`=`", expected="a name before it"), GIVE_UP
        case "EQUAL" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            return statements.EqualsAfterValue(at=at), GIVE_UP
        case "LPAR" if is_quoted_name(view):
            return habits.QuotedReference(at=view.span(view.read[-1])), GIVE_UP
        case "LPAR" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            put = "COMMA" if view.open and view.accepts("COMMA") else "SEMICOLON"
            return calls.BracketAfterValue(at=at), TokenRepair((view.one(put),)) if view.accepts(put) else GIVE_UP
    return None


def _comma(view: View, *, after_nothing: bool) -> Slip:
    """Diagnose a comma outside brackets, after nothing, or in a group: `p, q = A`, `A, B`, `(, a)`, `(A, B)`."""
    at = view.span(view.token)
    if not view.open:
        if _several_names(view) or (view.before() == "NAME" and view.before(2) in STATEMENT):
            return punctuation.ExtraComma(at=at, where="names"), GIVE_UP
        put = (view.one("SEMICOLON"),) if view.accepts("SEMICOLON") else ()
        return punctuation.ExtraComma(at=at, where=_place_behind_block(view)), TokenRepair(put, 1)
    if after_nothing:
        return punctuation.ExtraComma(at=at), TokenRepair(drop=1)
    if (arrow := _arrow_behind(view)) is not None:
        return statements.ForeignStatement(at=view.span(arrow), word="=>"), GIVE_UP
    if view.open[-1][0].kind == "LPAR" and not view.open[-1][1]:
        put = (view.one("VBAR"),) if view.accepts("VBAR", view.following.kind) else ()
        return punctuation.ExtraComma(at=at, where="group"), TokenRepair(put, 1)
    return None


def _several_names(view: View) -> bool:
    """Return whether names separated by commas precede an `=`: `p, q = …`, `const p = A, q = …`."""
    if not view.read:
        return False
    names = len(view.read) == 1 or (view.read[0].kind in STATEMENT and view.tokens[view.place + 1].kind == "NAME")
    return names and view.ahead(view.behind_names(0, "COMMA")).kind == "EQUAL"


def _place_behind_block(view: View) -> str:
    """Return the place of a comma outside brackets: in the bounds or condition after a `repeat`, or in a statement."""
    if view.text(view.following) in {"max", "keep"}:
        return "bounds"
    until = next((token.kind for token in reversed(view.read) if token.kind in {"UNTIL", "RBRACE", "MAX", "KEEP"}), "")
    return "condition" if until == "UNTIL" else "statement"


def _arrow_behind(view: View) -> Token | None:
    """Return the `=>` after brackets that contain only names: `(x, y) => Draft(x)`."""
    end = view.behind_names(0, "COMMA")
    behind = view.ahead(end + 1)
    return behind if view.ahead(end).kind == "RPAR" and view.text(behind) == "=>" else None


def _colon(view: View) -> Slip:
    token = view.token
    at = view.span(token)
    last = view.read[-1] if view.read else None
    if last and last.kind == "NAME" and view.text(last) == "aug" and last.end == token.start:
        return statements.EmptyUri(at=view.source.span(last.start, token.end)), TokenRepair(drop=1)
    if view.accepts("EQUAL"):
        return view.colon_for_equals()
    separator = next((kind for kind in ("COMMA", "VBAR") if view.accepts(kind, view.following.kind)), None)
    return punctuation.StrayColon(at=at), TokenRepair((view.one(separator),), 1) if separator and view.open else GIVE_UP
