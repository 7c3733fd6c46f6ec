"""Pairs of bounds, and when there is nothing between them."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json
from instrc.schema.laws import is_number, types_of

RANGES = (
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
_LOWER = frozenset(lower for lower, _, _ in RANGES)


def empty_ranges(schema: dict[str, Json]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the bounds of a schema between which there is nothing, and the types that they speak about."""
    if _LOWER.isdisjoint(schema):
        return
    for lower, upper, of in RANGES:
        if lower in schema and upper in schema:
            low, high = schema[lower], schema[upper]
            if is_number(low) and is_number(high) and (low > high or (low == high and "exclusive" in lower + upper)):
                yield lower, upper, of


def empty_range(schema: dict[str, Json]) -> tuple[str, str] | None:
    """Return the two bounds that leave nothing of the type of a schema, if there are such."""
    names = types_of(schema.get("type"))
    if not names:
        return None
    return next(((lower, upper) for lower, upper, of in empty_ranges(schema) if all(name in of for name in names)), None)
