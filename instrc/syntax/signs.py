"""Separators and other signs of the language in the wrong place: `,` `|` `:` `=` `(`."""

from __future__ import annotations

from instrc.problems import brackets, habits, misplaced, notation, statements, words
from instrc.syntax.tokens import Token
from instrc.syntax.view import ENDS_VALUE, GIVE_UP, OPENING, STATEMENT, Slip, TokenRepair, View, is_quoted_name


def sign_slip(view: View) -> Slip:
    """See to a sign of the language in the wrong place."""
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
            expected = f"`@`: an input says its default and type by a schema, as in `{written}`"
            return notation.UnexpectedText(at=at, what=f"`{sign}`", expected=expected), GIVE_UP
        case "AT" if not view.open and view.read and view.read[0].kind == "INPUT" and before in {"STRING", "RBRACE"}:
            expected = 'one `@`: beside keywords the description is one of them, `@ { description: "…", type: "string" }`'
            return notation.UnexpectedText(at=at, what="this `@`", expected=expected), GIVE_UP
        case "COLON":
            return _colon(view)
        case "EQUAL" if view.open:
            put = "COLON" if view.accepts("COLON") else "COMMA"
            return notation.EqualsForColon(at=at), TokenRepair((view.one(put),), 1) if view.accepts(put) else GIVE_UP
        case "EQUAL" if before == "EQUAL" or after_nothing:
            return notation.UnexpectedText(at=at, what="`=`", expected="a name before it"), GIVE_UP
        case "EQUAL" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            return statements.EqualsAfterValue(at=at), GIVE_UP
        case "LPAR" if is_quoted_name(view):
            return habits.QuotedReference(at=view.span(view.read[-1])), GIVE_UP
        case "LPAR" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            put = "COMMA" if view.open and view.accepts("COMMA") else "SEMICOLON"
            return misplaced.BracketAfterValue(at=at), TokenRepair((view.one(put),)) if view.accepts(put) else GIVE_UP
    return None


def _comma(view: View, *, after_nothing: bool) -> Slip:
    """See to a comma outside of brackets, after nothing, or in a group: `p, q = A`, `A, B`, `(, a)`, `(A, B)`."""
    at = view.span(view.token)
    if not view.open:
        if _several_names(view) or (view.before() == "NAME" and view.before(2) in STATEMENT):
            return brackets.ExtraComma(at=at, where="names"), GIVE_UP
        put = (view.one("SEMICOLON"),) if view.accepts("SEMICOLON") else ()
        return brackets.ExtraComma(at=at, where=_place_behind_block(view)), TokenRepair(put, 1)
    if after_nothing:
        return brackets.ExtraComma(at=at), TokenRepair(drop=1)
    if (arrow := _arrow_behind(view)) is not None:
        return words.ForeignStatement(at=view.span(arrow), word="=>"), GIVE_UP
    if view.open[-1][0].kind == "LPAR" and not view.open[-1][1]:
        put = (view.one("VBAR"),) if view.accepts("VBAR", view.following.kind) else ()
        return brackets.ExtraComma(at=at, where="group"), TokenRepair(put, 1)
    return None


def _place_behind_block(view: View) -> str:
    """Return what a comma outside of brackets stands in: the bounds or the condition behind a `repeat`, or a statement."""
    if view.text(view.following) in {"max", "keep"}:
        return "bounds"
    until = next((token.kind for token in reversed(view.read) if token.kind in {"UNTIL", "RBRACE", "MAX", "KEEP"}), "")
    return "condition" if until == "UNTIL" else "statement"


def _several_names(view: View) -> bool:
    """Tell whether names with commas between them stand before an `=`: `p, q = …`, `const p = A, q = …`."""
    index = view.place
    while index < len(view.tokens) - 1 and view.tokens[index].kind in {"NAME", "COMMA"}:
        index += 1
    if not view.read:
        return False
    names = len(view.read) == 1 or (view.read[0].kind in STATEMENT and view.tokens[view.place + 1].kind == "NAME")
    return names and view.tokens[index].kind == "EQUAL"


def _arrow_behind(view: View) -> Token | None:
    """Return the `=>` behind brackets that hold names only: `(x, y) => Draft(x)`."""
    index = view.place
    while index < len(view.tokens) - 1 and view.tokens[index].kind in {"NAME", "COMMA"}:
        index += 1
    behind = view.tokens[min(index + 1, len(view.tokens) - 1)]
    return behind if view.tokens[index].kind == "RPAR" and view.text(behind) == "=>" else None


def _colon(view: View) -> Slip:
    token = view.token
    at = view.span(token)
    last = view.read[-1] if view.read else None
    if last and last.kind == "NAME" and view.text(last) == "aug" and last.end == token.start:
        return words.EmptyUri(at=view.source.span(last.start, token.end)), TokenRepair(drop=1)
    if view.accepts("EQUAL"):
        if view.following.kind == "NAME" and view.tokens[min(view.place + 2, len(view.tokens) - 1)].kind == "EQUAL":
            return statements.WrongEquals(at=at, text=":", typed=view.text(view.following)), TokenRepair(drop=2)
        return statements.WrongEquals(at=at, text=":"), TokenRepair((view.one("EQUAL"),), 1)
    separator = next((kind for kind in ("COMMA", "VBAR") if view.accepts(kind, view.following.kind)), None)
    return notation.StrayColon(at=at), TokenRepair((view.one(separator),), 1) if separator and view.open else GIVE_UP
