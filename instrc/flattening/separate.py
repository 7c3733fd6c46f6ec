"""Keywords that say several things only side by side: alternatives, conditions, `contains`; each stays in a branch of its own."""

from __future__ import annotations

from itertools import product
from math import prod

from instrc.flattening.conjunction import NO_REMAINDER, Remainder
from instrc.flattening.merge_state import MergeState
from instrc.jsonvalue import Json, JsonObject
from instrc.schema.walk import TRIVIAL


def keep_separate(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep the first occurrence of a keyword here and each further one in a branch of its own."""
    containers: list[JsonObject] = [state.out, *({} for _ in places[1:])]
    for container, place in zip(containers, places, strict=True):
        state.carry(container, keyword, state.conjuncts[place])
    return Remainder({keyword: containers[1:]}) if len(places) > 1 else NO_REMAINDER


def keep_alternatives_separate(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep `anyOf` and `oneOf` apart; multiply `anyOf` out if asked to."""
    limit = state.run.options.distribute
    values = [state.conjuncts[place].view[keyword] for place in places]
    lists = [value for value in values if isinstance(value, list)]
    multiplied = keyword == "anyOf" and limit and len(places) > 1 and len(lists) == len(places)
    if multiplied and prod(map(len, lists)) <= limit:
        pairs = [[(schema, state.conjuncts[place].scope) for schema in value] for place, value in zip(places, lists, strict=True)]
        branches: list[Json] = []
        for chosen in product(*pairs):
            state.place_branch(branches, list(chosen))
        state.out[keyword] = branches
        return Remainder(shares=True)
    return keep_separate(state, keyword, places)


def conditions(state: MergeState, _keyword: str, places: list[int]) -> Remainder:
    """Keep each `if` with its own `then` and `else`; one without both says nothing."""
    from instrc.flattening.evaluated import marks_nothing  # few schemas have conditions

    containers = [state.out]  # the last one is for the next
    for place in places:
        conjunct = state.conjuncts[place]
        follow = [word for word in ("then", "else") if word in conjunct.view and conjunct.view[word] not in TRIVIAL]
        seen = state.watched.properties or state.watched.items
        if not follow and (not seen or marks_nothing(conjunct.view["if"])):
            continue
        for word in conjunct.view:
            if word == "if" or word in {"then", "else"}:
                state.place_child(containers[-1], word, [(conjunct.view[word], conjunct.scope)])
        containers.append({})
    return Remainder({"if": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER


def contains(state: MergeState, _keyword: str, places: list[int]) -> Remainder:
    """Keep each `contains` with its own bounds; one that may be absent says nothing."""
    containers = [state.out]
    for place in places:
        conjunct = state.conjuncts[place]
        view = conjunct.view
        least = view.get("minContains")
        if least == 0 and least is not False and "maxContains" not in view and not state.watched.items:
            continue
        for word in view:
            if word == "contains":
                state.place_child(containers[-1], word, [(view[word], conjunct.scope)])
            elif word in {"minContains", "maxContains"}:
                containers[-1][word] = view[word]
        containers.append({})
    return Remainder({"contains": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER
