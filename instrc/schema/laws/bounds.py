"""Bounds, of numbers and of sizes: the ranges that they leave, and the laws that hold of every bound."""

from __future__ import annotations

from collections.abc import Callable, Sized
from math import inf
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec import Struct

from instrc.jsonvalue import Json
from instrc.schema.kinds import is_number, types_of
from instrc.schema.laws.law import NO_LAW, Answer, KeywordLaws, Kinds, Schema, Verdict

if TYPE_CHECKING:
    from instrc.schema.laws.question import InstanceEvaluation, Relations


_NUMBERS = frozenset({int, float})


class Range(Struct, frozen=True):
    """Numbers from `low` to `high`, each with whether it is left out itself."""

    low: int | float = -inf
    high: int | float = inf
    above_low: bool = False
    below_high: bool = False

    def is_within(self, other: Range) -> bool:
        """Tell whether every number here is in another range."""
        low = self.low > other.low or (self.low == other.low and (self.above_low or not other.above_low))
        high = self.high < other.high or (self.high == other.high and (self.below_high or not other.below_high))
        return self.is_empty() or (low and high)

    def is_empty(self) -> bool:
        """Tell whether no number is in the range."""
        return self.low > self.high or (self.low == self.high and (self.above_low or self.below_high))

    def and_(self, other: Range) -> Range:
        """Return what is in both ranges."""
        low = max(self.low, other.low)
        high = min(self.high, other.high)
        return Range(
            low,
            high,
            any(one.low == low and one.above_low for one in (self, other)),
            any(one.high == high and one.below_high for one in (self, other)),
        )


def bound(schema: Schema, keyword: str) -> int | float | None:
    """Return the number that a keyword holds; `None` if it is not there or holds none."""
    value = schema.get(keyword)
    return value if is_number(value) else None


def greater(left: Json, right: Json) -> Json | Verdict:
    """Keep the greater of two lower bounds."""
    return max(left, right) if is_number(left) and is_number(right) else NO_LAW


def greatest(values: list[Json]) -> Json | Verdict:
    """Keep the greatest of many lower bounds."""
    return max(cast("list[int | float]", values)) if _NUMBERS.issuperset(map(type, values)) else NO_LAW


def lesser(left: Json, right: Json) -> Json | Verdict:
    """Keep the lesser of two upper bounds."""
    return min(left, right) if is_number(left) and is_number(right) else NO_LAW


def least(values: list[Json]) -> Json | Verdict:
    """Keep the least of many upper bounds."""
    return min(cast("list[int | float]", values)) if _NUMBERS.issuperset(map(type, values)) else NO_LAW


def redundant_bound(inclusive: Json, exclusive: Json, *, upper: bool) -> str | None:
    """Say which of an inclusive and an exclusive bound is redundant: `"inclusive"`, `"exclusive"`; `None` if malformed."""
    if not is_number(inclusive) or not is_number(exclusive):
        return None
    stricter = exclusive <= inclusive if upper else exclusive >= inclusive
    return "inclusive" if stricter else "exclusive"


SizeOf: TypeAlias = Callable[[Schema], Range]
"""How long a text, an array or an object may be, as far as a schema says."""


def laws_of_sizes(size_of: SizeOf) -> tuple[KeywordLaws, KeywordLaws]:
    """Return the laws of the lower and of the upper bound of a size."""

    def satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
        if not is_number(schema[keyword]):
            return None
        allowed = size_of({keyword: schema[keyword]})
        return allowed.low <= len(cast("Sized", value)) <= allowed.high

    def implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
        return is_number(right[keyword]) and size_of(left).is_within(size_of({keyword: right[keyword]}))

    return KeywordLaws(satisfied, greater, greatest, implied), KeywordLaws(satisfied, lesser, least, implied)


RANGES: Final = (
    ("minLength", "maxLength", ("string",)),
    ("minItems", "maxItems", ("array",)),
    ("minProperties", "maxProperties", ("object",)),
    ("minimum", "maximum", ("integer", "number")),
    ("minimum", "exclusiveMaximum", ("integer", "number")),
    ("exclusiveMinimum", "maximum", ("integer", "number")),
    ("exclusiveMinimum", "exclusiveMaximum", ("integer", "number")),
    ("minContains", "maxContains", ()),
)
"""Lower bound, upper bound, and the types that they speak about: no others, and an empty range leaves nothing.

`minContains` over `maxContains` leaves nothing only beside `contains`, and is never told by the type alone.
"""
BOUNDS: Final = frozenset({bound for lower, upper, _ in RANGES for bound in (lower, upper)})
_BY_LOWER: Final = {
    lower: [(place, upper) for place, (low, upper, _) in enumerate(RANGES) if low == lower] for lower, _, _ in RANGES
}
"""The upper bounds beside a lower one, with the places of the rows."""


def empty_ranges(schema: Schema) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the bounds of a schema between which there is nothing, and the types that they speak about."""
    found: list[int] = []
    for lower in schema:
        if lower in _BY_LOWER:
            for place, upper in _BY_LOWER[lower]:
                if upper in schema:
                    low, high = schema[lower], schema[upper]
                    if is_number(low) and is_number(high) and (low > high or (low == high and "exclusive" in lower + upper)):
                        found.append(place)
    return [RANGES[place] for place in sorted(found)] if found else []


def empty_range(schema: Schema) -> tuple[str, str] | None:
    """Return the two bounds that leave nothing of the type of a schema, if there are such."""
    names = types_of(schema.get("type"))
    if not names:
        return None
    return next(((lower, upper) for lower, upper, of in empty_ranges(schema) if all(name in of for name in names)), None)
