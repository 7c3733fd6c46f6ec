"""Statements that end with brackets still open, and brackets that close the wrong thing, or nothing."""

from __future__ import annotations

from instrc.limits.programs import BRACKET_DISTANCE
from instrc.problems import brackets, statements
from instrc.problems.problem import Problem
from instrc.syntax.tables import END
from instrc.syntax.view import CLOSING, ENDS_VALUE, GIVE_UP, OPENING, SIGNS, Slip, TokenRepair, View, begins_statement


def early_end(view: View) -> Slip:
    """See to a statement that ends, or another that begins, where this one is not complete."""
    token = view.token
    begins = begins_statement(view.source, view.tokens, view.place) and view.following.kind != "COLON"
    if token.kind not in {"SEMICOLON", END} and not begins:
        return None
    if not view.open:
        if token.kind == "SEMICOLON":
            return brackets.ExtraSemicolon(at=view.span(token)), TokenRepair(drop=1)
        return None
    if view.before() in OPENING and not view.accepts(OPENING[view.before()]):
        return _empty_group(view), GIVE_UP
    closed = is_closed(view, stop_at_names=not view.in_braces)
    if token.kind == "SEMICOLON" and closed:
        kind = "COMMA" if view.accepts("COMMA") else "VBAR"
        problem = brackets.SemicolonInBrackets(at=view.span(token), opening=view.span(view.open[-1][0]))
        return problem, TokenRepair((view.one(kind),), 1) if view.accepts(kind, view.following.kind) else TokenRepair(drop=1)
    if token.kind == "NAME" and closed and view.accepts("COMMA"):
        return brackets.MissingComma(at=view.span(token)), TokenRepair((view.one("COMMA"),))
    return unclosed(view, _within_block(view))


def _within_block(view: View) -> int:
    """Return how many brackets to close before the next statement: those inside of a block that is closed later, else all."""
    closing = [OPENING[opening.kind] for opening, _ in reversed(view.open)]
    for count in range(1, len(closing)):
        if closing[count] == "RBRACE" and view.accepts(*closing[:count], view.token.kind):
            return count if _is_closed_later(view, len(closing) - count) else len(closing)
    return len(closing)


def _is_closed_later(view: View, level: int) -> bool:
    """Tell whether what follows closes as many brackets more than it opens."""
    for token in view.tokens[view.place : view.place + BRACKET_DISTANCE - 2]:
        level += (token.kind in OPENING) - (token.kind in CLOSING)
        if not level:
            return True
    return False


def closing_slip(view: View) -> Slip:
    """See to a closing bracket that closes nothing, or the wrong thing, or too early."""
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
        return brackets.ExtraClosingBracket(at=view.source.span(token.start, end), text=text), TokenRepair(drop=count)
    top = view.open[-1][0]
    if OPENING[top.kind] == token.kind:
        if token.kind == "RBRACE" and (defined := _defined_last(view)):
            missing = statements.MissingValue(at=at, after="at the end of this block", defined=defined)
            semicolon = () if view.before() == "SEMICOLON" else (view.one("SEMICOLON"),)
            return missing, TokenRepair((*semicolon, view.one("NAME", defined)))
        if view.before() in OPENING:
            return _empty_group(view), TokenRepair((view.one("NAME", "missing"),))
        if view.before() == "COMMA" and view.read[-2:-1] and view.accepts("NAME"):
            return brackets.ExtraComma(at=view.span(view.read[-1])), TokenRepair((view.one("NAME", "missing"),))
        return None
    due = OPENING[top.kind]
    outer = next((depth for depth, (opening, _) in enumerate(reversed(view.open)) if OPENING[opening.kind] == token.kind), 0)
    swapped = outer == 1 and view.following.kind == due
    if not outer or swapped:
        put = (view.one(due), view.one(token.kind)) if swapped else (view.one(due),)
        problem = brackets.MismatchedBracket(at=at, opening=view.span(top), closing=SIGNS[due])
        return problem, TokenRepair(put, len(put)) if view.accepts(due) else GIVE_UP
    return unclosed(view, outer)


def unclosed(view: View, count: int) -> tuple[Problem, TokenRepair]:
    """Close the innermost brackets."""
    inner = [token for token, _ in view.open[: -count - 1 : -1]]
    closing = tuple(view.one(OPENING[token.kind]) for token in inner)
    problem = brackets.MissingClosingBracket(
        at=view.gap(),
        closing="".join(SIGNS[token.kind] for token in closing[:8]),
        openings=tuple(view.span(token) for token in inner[:8]),
    )
    return problem, TokenRepair(closing) if view.accepts(*(token.kind for token in closing)) else GIVE_UP


def is_closed(view: View, *, stop_at_names: bool) -> bool:
    """Tell whether all open brackets are closed before the next statement surely begins."""
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


def _defined_last(view: View) -> str:
    """Return the name that the last statement of a block defines, where its value is complete; else nothing."""
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


def _empty_group(view: View) -> Problem:
    opening = view.read[-1]
    return statements.MissingValue(at=view.span(opening), after=f"after `{SIGNS[opening.kind]}`")
