"""Merge what several conjuncts say about the values without refusing any: descriptions, titles, encoded content."""

from __future__ import annotations

from instrc.flattening.conjunction import NO_REMAINDER, Remainder
from instrc.flattening.merge_state import MergeState
from instrc.schema.vocabulary import of_group

OF_CONTENT = of_group("content")
"""They describe one thing together, so the last place that has any of them has all."""


def description(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Join texts by newlines, equal ones once; what is no text is no description, and the last wins."""
    lines: dict[str, None] = {}
    for place in places:
        text = state.conjuncts[place].view[keyword]
        if text.__class__ is not str:
            state.out[keyword] = state.conjuncts[places[-1]].view[keyword]
            return NO_REMAINDER
        if text:
            lines[text] = None
    state.out[keyword] = "\n".join(lines)
    return NO_REMAINDER


def title(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep the outermost title, the last of several that are equally far out."""
    conjuncts = state.conjuncts
    outermost = min(conjuncts[place].depth for place in places)
    state.out[keyword] = next(conjuncts[place].view[keyword] for place in reversed(places) if conjuncts[place].depth == outermost)
    return NO_REMAINDER


def encoded_content(state: MergeState, keyword: str, _places: list[int]) -> Remainder:
    """Take what is said about encoded content, once, from the last place that says any of it."""
    if keyword != next(first for first in state.groups if first in OF_CONTENT):
        return NO_REMAINDER
    last = max(place for keyword in OF_CONTENT for place in state.groups.get(keyword, ()))
    conjunct = state.conjuncts[last]
    for word, value in conjunct.view.items():
        if word == "contentSchema":
            state.place_child(state.out, word, [(value, conjunct.scope)])
        elif word in OF_CONTENT:
            state.out[word] = value
    return NO_REMAINDER
