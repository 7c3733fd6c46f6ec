"""Strings that touch something else: quotes inside of quotes, prefixes, three quotes in a row."""

from __future__ import annotations

from instrc.limits.programs import STRING_PREFIX
from instrc.problems import habits, strings
from instrc.syntax.view import GIVE_UP, Slip, View


def string_slip(view: View) -> Slip:
    """Name and repair a string in brackets that touches a name or another string."""
    if not view.open or not view.read or view.read[-1].end != view.token.start:
        return None
    last, token = view.read[-1], view.token
    if last.kind == "STRING" and last.value is None and token.kind in {"STRING", "NAME"}:
        if token.kind == "STRING" and last.end - last.start == 2:
            return strings.TripledQuotes(at=view.span(last)), GIVE_UP
        return habits.NestedQuotes(at=view.source.span(last.end - 1, last.end)), GIVE_UP
    if last.kind == "NAME" and token.kind == "STRING" and last.end - last.start <= STRING_PREFIX:
        at = view.source.span(last.start, token.end)
        return strings.PrefixedString(at=at, prefix=view.text(last)), GIVE_UP
    return None
