"""Merge what several conjuncts say about the values without refusing any: descriptions, titles, encoded content."""

from __future__ import annotations

from typing import cast

from instrc.flattening.conjunction import NO_REMAINDER, Remainder
from instrc.flattening.merge_state import MergeState
from instrc.jsonvalue import Json
from instrc.schema.vocabulary import of_group

_TEXTS = frozenset({str})
OF_CONTENT = of_group("content")
"""They describe one thing together, so the last place that has any of them has all."""


def description(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Join the texts."""
    state.out[keyword] = joined_texts([state.conjuncts[place].view[keyword] for place in places])
    return NO_REMAINDER


def joined_texts(texts: list[Json]) -> Json:
    """Join texts by newlines, equal ones once; what is no text is no description, and the last wins."""
    if not _TEXTS.issuperset(map(type, texts)):
        return texts[-1]
    return "\n".join(filter(None, dict.fromkeys(cast("list[str]", texts))))


def title(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep the outermost title."""
    conjuncts = [state.conjuncts[place] for place in places]
    state.out[keyword] = outermost([each.view[keyword] for each in conjuncts], [each.depth for each in conjuncts])
    return NO_REMAINDER


def outermost(titles: list[Json], depths: list[int]) -> Json:
    """Return the outermost of some titles, the last of several that are equally far out."""
    least = min(depths)
    return next(each for each, depth in zip(reversed(titles), reversed(depths), strict=True) if depth == least)


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
