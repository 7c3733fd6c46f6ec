"""Find properties that an annotation adds though a property of nearly this name is there."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json, mapping, pointer
from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key, is_a_slip_of
from instrc.source import Span
from instrc.syntax.places import place_in


def similar_properties(schema: Json, annotation: Json, at: Span) -> Iterator[Problem]:
    """Yield the new properties of an annotation at a place that are called like one of a schema, but for case, `_` and `-`.

    A name that begins with `_` has a meaning of its own, so one wrong letter in such a name is told as well.
    """
    if not isinstance(schema, dict) or not isinstance(annotation, dict):
        return
    there = mapping(schema.get("properties"))
    for name in mapping(annotation.get("properties")):
        if name in there:
            continue
        close = tuple(each for each in there if _is_meant(name, each))
        if close:
            from instrc.problems.schemas import SimilarProperty  # only where there is one

            place = place_in(at, pointer(("properties", name)), key=True) if "{" in at.text else at
            yield SimilarProperty(at=place, word=name, nearest=close)


def _is_meant(word: str, name: str) -> bool:
    return comparison_key(word) == comparison_key(name) or (
        name.startswith("_") and is_a_slip_of(comparison_key(word), comparison_key(name))
    )
