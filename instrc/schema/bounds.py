"""The ranges that a schema sets: for numbers, and for the sizes of texts, arrays and objects."""

from __future__ import annotations

from math import ceil, floor, inf, isfinite

from msgspec import Struct

from instrc.jsonvalue import Json
from instrc.schema.laws import is_number


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

    def holds_no_multiple(self, step: Json, *, integers: bool) -> bool:
        """Tell whether no number in the range is a multiple of a step, as all judges count."""
        if not is_number(step) or step <= 0 or not isfinite(step):
            return False
        counter, divisor = step.as_integer_ratio()
        if divisor > _FINEST or counter > _EXACT:
            return False
        if integers:
            divisor = 1  # an integer that is a multiple of 3/2 is one of 3
        elif divisor == 1:
            return True  # what is no integer is no multiple of one
        if not -_EXACT <= self.low <= self.high <= _EXACT:
            return False
        (low, below), (high, above) = self.low.as_integer_ratio(), self.high.as_integer_ratio()
        times = -(-low * divisor // (below * counter))  # the first multiple that is not below the range
        times += self.above_low and times * counter * below == low * divisor
        first, last = times * counter * above, high * divisor
        return first > last or (self.below_high and first == last)


_EXACT = 2**53
_FINEST = 1024
"""Up to here all judges calculate alike with whole numbers and with halves, quarters and so on."""


def numbers(schema: dict[str, Json], *, integers: bool) -> Range:
    """Return the range of the numbers that a schema allows, as far as its own bounds say; of integers with their own ends."""
    low = bound(schema, "minimum")
    high = bound(schema, "maximum")
    found = Range() if low is None else Range(low=low)
    found = found if high is None else found.and_(Range(high=high))
    if (low := bound(schema, "exclusiveMinimum")) is not None:
        found = found.and_(Range(low=low, above_low=True))
    if (high := bound(schema, "exclusiveMaximum")) is not None:
        found = found.and_(Range(high=high, below_high=True))
    return _of_integers(found) if integers else found


def _of_integers(found: Range) -> Range:
    low, high = found.low, found.high
    if low != -inf:
        low = floor(low) + 1 if found.above_low else ceil(low)
    if high != inf:
        high = ceil(high) - 1 if found.below_high else floor(high)
    return Range(low, high)


def size(schema: dict[str, Json], kind: str) -> Range:
    """Return how long a text, an array or an object may be, as far as a schema says."""
    least, most = _SIZES[kind]
    low = max(bound(schema, least) or 0, _least(schema, kind))
    high = bound(schema, most)
    return Range(low=low, high=min(inf if high is None else high, _most(schema, kind)))


_SIZES = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems"), "object": ("minProperties", "maxProperties")}


def _least(schema: dict[str, Json], kind: str) -> int:
    names = schema.get("required") if kind == "object" else None
    return len({name for name in names if name.__class__ is str}) if names.__class__ is list else 0


def _most(schema: dict[str, Json], kind: str) -> int | float:
    if kind == "array" and schema.get("items") is False:
        prefix = schema.get("prefixItems", [])
        return len(prefix) if prefix.__class__ is list else inf
    if kind == "object" and schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        properties = schema.get("properties", {})
        return sum(child is not False for child in properties.values()) if properties.__class__ is dict else inf
    return inf


def bound(schema: dict[str, Json], keyword: str) -> int | float | None:
    """Return the number that a keyword holds; `None` if it is not there or holds none."""
    value = schema.get(keyword)
    return value if is_number(value) else None
