"""Merge a conjunction: decide what may be merged, and have it done."""

from __future__ import annotations

from instrc.flattening.conjunction import NOTHING, SHARED, Conjunct, Expansion, Finalization, Merging, PendingPart
from instrc.flattening.expand import expand
from instrc.flattening.merge_keywords import merge_keywords
from instrc.flattening.merge_state import MergeState
from instrc.flattening.run import Flattening
from instrc.jsonvalue import Json, JsonArray
from instrc.schema.resources import Term


def merge(run: Flattening, terms: list[Term], expansion: Expansion) -> Merging | None:
    """Return the frame of a conjunction of several conjuncts, or `None` if nothing satisfies it."""
    if expansion.units or "anyOf" in expansion.groups or "oneOf" in expansion.groups:
        opened = _opened(run, terms, expansion)
        if opened is None:
            return None
        expansion = opened
    frame = MergeState(run, expansion)
    remainders = merge_keywords(frame)
    if remainders is None:
        return None
    if not remainders and not expansion.units:
        frame.todo = SHARED if expansion.shares else NOTHING
        return frame
    units: JsonArray = [None] * len(expansion.units)
    frame.pending += [PendingPart(units, number, [term]) for number, term in enumerate(expansion.units)]
    frame.todo = Finalization.of(remainders, frame.watched, units, shares=expansion.shares)
    frame.idle = not frame.todo.anything()
    return frame


def _opened(run: Flattening, terms: list[Term], expansion: Expansion) -> Expansion | None:
    """Expand a conjunction further where a choice has a single branch, or a schema with `unevaluated…` may be merged."""
    fold: frozenset[str] = frozenset()
    opened: frozenset[int] = frozenset()
    while True:
        groups = expansion.groups
        single = frozenset(
            keyword for keyword in ("anyOf", "oneOf") if _some_single(keyword, expansion.conjuncts, groups.get(keyword))
        )
        if not single <= fold:
            fold |= single
        elif (unit := _to_open(run, expansion)) is not None:
            opened |= {unit}
        else:
            return expansion
        again = expand(run, terms, fold=fold, opened=opened)
        if again is None:
            return None
        again.shares |= expansion.shares
        expansion = again


def _to_open(run: Flattening, expansion: Expansion) -> int | None:
    """Return a unit that has to be opened, if any."""
    if not expansion.units:
        return None
    from instrc.flattening.unevaluated import to_open  # few conjunctions have units

    return to_open(run.store, expansion)


def _some_single(keyword: str, conjuncts: list[Conjunct], places: list[int] | None) -> bool:
    """Tell whether one of several `anyOf` or `oneOf` has a single branch, which may as well be merged."""
    if places is None or len(places) < 2:
        return False
    return any(_is_single(conjuncts[place].view[keyword]) for place in places)


def _is_single(value: Json) -> bool:
    return value.__class__ is list and len(value) == 1
