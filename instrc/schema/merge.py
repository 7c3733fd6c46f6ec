"""Merge a conjunction: decide what may be merged, and have it done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.jsonvalue import Json
from instrc.schema.expand import expand
from instrc.schema.merger import Merger
from instrc.schema.pieces import STRIPPED, Expansion, Frame, Piece, Term
from instrc.schema.unevaluated import to_open

if TYPE_CHECKING:
    from instrc.schema.fold import Folder  # it calls us with itself


def merge(folder: Folder, terms: list[Term], expansion: Expansion) -> Frame | None:
    """Return the frame of a conjunction of several pieces, or `None` if nothing satisfies it."""
    fold: frozenset[str] = frozenset()
    opened: frozenset[int] = frozenset()
    while True:
        groups = group(expansion)
        single: frozenset[str] = frozenset()
        if "anyOf" in groups or "oneOf" in groups:
            single = frozenset(
                keyword for keyword in ("anyOf", "oneOf") if _some_single(keyword, expansion.pieces, groups.get(keyword))
            )
        if not single <= fold:
            fold |= single
        elif expansion.units and (unit := to_open(folder, expansion)) is not None:
            opened |= {unit}
        else:
            break
        again = expand(folder, terms, fold=fold, opened=opened)
        if again is None:
            return None
        expansion = again
    merger = Merger(folder, expansion.pieces, groups)
    if not merger.merge():
        return None
    for term in expansion.units:
        units = merger.settle.units
        merger.frame.pending.append((units, len(units), [term]))
        units.append(None)
    merger.frame.idle = not merger.settle.anything()
    return merger.frame


def group(expansion: Expansion) -> dict[str, list[int]]:
    """Return the places of the pieces that have each keyword, keywords by first appearance."""
    groups: dict[str, list[int]] = {}
    for place, keywords in expansion.written:
        for keyword in keywords:
            if keyword in groups:
                groups[keyword].append(place)
            elif keyword not in STRIPPED:
                groups[keyword] = [place]
    return groups


def _some_single(keyword: str, pieces: list[Piece], places: list[int] | None) -> bool:
    """Tell whether one of several `anyOf` or `oneOf` has a single branch, which may as well be merged."""
    if places is None or len(places) < 2:
        return False
    return any(_is_single(pieces[place].view[keyword]) for place in places)


def _is_single(value: Json) -> bool:
    return value.__class__ is list and len(value) == 1
