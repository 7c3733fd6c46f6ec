"""The laws of the keywords about texts: `minLength`, `maxLength`, `pattern`, `format`."""

from __future__ import annotations

from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING, Final

from instrc.jsonvalue import Json, as_text, listing
from instrc.schema.kinds import own_kinds
from instrc.schema.laws.bounds import Range, bound, laws_of_sizes
from instrc.schema.laws.law import Answer, KeywordLaws, Schema, same
from instrc.schema.name_patterns import matches

if TYPE_CHECKING:
    from instrc.schema.extents import Extent
    from instrc.schema.laws.question import InstanceEvaluation


def length(schema: Schema) -> Range:
    """Return how long a text may be, as far as a schema says."""
    high = bound(schema, "maxLength")
    return Range(low=max(bound(schema, "minLength") or 0, 0), high=inf if high is None else high)


def disjoint(left: Schema, right: Schema) -> bool:
    """Tell whether no text satisfies two schemas by their own keywords: it would be too long or too short."""
    return length(left).and_(length(right)).is_empty()


def without_texts(schema: Schema) -> tuple[str, ...] | None:
    """Return the keywords of a schema of texts that exclude each other: patterns, or a pattern and a length.

    Validators differ in how they read patterns, so this is for whoever wrote the schema: `relations` does not count on it.
    """
    if own_kinds(schema) != {"string"}:
        return None
    if isinstance(own := schema.get("pattern"), str) and own.startswith("/^"):  # nothing stands before the beginning of a text
        return ("pattern",)
    from instrc.schema.extents import Extent, extent  # few schemas have patterns

    members = [("", schema), *(("allOf", each) for each in listing(schema.get("allOf")) if isinstance(each, dict))]
    patterns: list[tuple[str, Extent]] = []
    lengths: list[tuple[str, Extent]] = []
    for holder, member in members:
        if isinstance(pattern := member.get("pattern"), str) and (found := extent(pattern)) is not None:
            patterns.append((holder or "pattern", found))
        limits = length(member)
        if limits.low > 0:
            lengths.append((holder or "minLength", Extent(int(limits.low), inf)))
        if limits.high < inf:
            lengths.append((holder or "maxLength", Extent(0, limits.high)))
    for (one, first), (other, second) in (*combinations(patterns, 2), *product(patterns, lengths)):
        if first.disjoint(second):
            return tuple(dict.fromkeys((one, other)))
    return None


def _pattern_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    held = schema[keyword]
    return matches(held, as_text(value)) if held.__class__ is str else None


_LEAST, _MOST = laws_of_sizes(length)
LAWS: Final = {
    "minLength": _LEAST,
    "maxLength": _MOST,
    "pattern": KeywordLaws(_pattern_satisfied, same),
    "format": KeywordLaws(intersect=same),
}
