"""Merge a conjunction: decide what may be merged, and have it done."""

from __future__ import annotations

from instrc.flattening.conjunction import STRIPPED, Conjunct, Expansion, Finalization, Merging, PendingPart
from instrc.flattening.expand import expand
from instrc.flattening.merge_keywords import merge_keywords
from instrc.flattening.merge_state import MergeState
from instrc.flattening.run import Flattening
from instrc.jsonvalue import Json, JsonArray
from instrc.schema.resources import Term


def merge(run: Flattening, terms: list[Term], expansion: Expansion) -> Merging | None:
    """Return the frame of a conjunction of several conjuncts, or `None` if nothing satisfies it."""
    fold: frozenset[str] = frozenset()
    opened: frozenset[int] = frozenset()
    while True:
        groups = group(expansion)
        single: frozenset[str] = frozenset()
        if "anyOf" in groups or "oneOf" in groups:
            single = frozenset(
                keyword for keyword in ("anyOf", "oneOf") if _some_single(keyword, expansion.conjuncts, groups.get(keyword))
            )
        if not single <= fold:
            fold |= single
        elif (unit := _to_open(run, expansion)) is not None:
            opened |= {unit}
        else:
            break
        again = expand(run, terms, fold=fold, opened=opened)
        if again is None:
            return None
        again.shares |= expansion.shares
        expansion = again
    state = MergeState(run, expansion.conjuncts, groups)
    remainders = merge_keywords(state)
    if remainders is None:
        return None
    frame = state.frame
    units: JsonArray = [None] * len(expansion.units)
    frame.pending += [PendingPart(units, number, [term]) for number, term in enumerate(expansion.units)]
    frame.todo = Finalization.of(remainders, state.watched, units, shares=expansion.shares)
    frame.idle = not frame.todo.anything()
    return frame


def _to_open(run: Flattening, expansion: Expansion) -> int | None:
    """Return a unit that has to be opened, if any."""
    if not expansion.units:
        return None
    from instrc.flattening.unevaluated import to_open  # few conjunctions have units

    return to_open(run.store, expansion)


def group(expansion: Expansion) -> dict[str, list[int]]:
    """Return the places of the conjuncts that have each keyword, keywords by first appearance."""
    groups: dict[str, list[int]] = {}
    for written in expansion.written:
        place = written.place
        for keyword in written.keywords:
            if keyword in groups:
                groups[keyword].append(place)
            elif keyword not in STRIPPED:
                groups[keyword] = [place]
    return groups


def _some_single(keyword: str, conjuncts: list[Conjunct], places: list[int] | None) -> bool:
    """Tell whether one of several `anyOf` or `oneOf` has a single branch, which may as well be merged."""
    if places is None or len(places) < 2:
        return False
    return any(_is_single(conjuncts[place].view[keyword]) for place in places)


def _is_single(value: Json) -> bool:
    return value.__class__ is list and len(value) == 1
