"""Bounds of numbers and of sizes, and the laws of the keywords about numbers."""

from __future__ import annotations

from collections.abc import Callable, Sized
from math import ceil, floor, gcd, inf, lcm
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec import Struct

from instrc.schema.kinds import NUMBERS, as_decimal, is_number, types_of
from instrc.schema.laws.law import NO_LAW, Answer, InstanceEvaluation, KeywordLaws, Kinds, Relations, Schema, Verdict
from instrc.text.jsonvalue import Json, as_number

if TYPE_CHECKING:
    from fractions import Fraction


class Range(Struct, frozen=True):
    """Numbers from `low` to `high`, with flags for excluded ends."""

    low: int | float = -inf
    high: int | float = inf
    above_low: bool = False
    below_high: bool = False

    def is_within(self, other: Range) -> bool:
        """Return whether another range contains this one."""
        low = self.low > other.low or (self.low == other.low and (self.above_low or not other.above_low))
        high = self.high < other.high or (self.high == other.high and (self.below_high or not other.below_high))
        return self.is_empty() or (low and high)

    def is_empty(self) -> bool:
        """Return whether no number is in the range."""
        return self.low > self.high or (self.low == self.high and (self.above_low or self.below_high))

    def and_(self, other: Range) -> Range:
        """Return the intersection of both ranges."""
        low = max(self.low, other.low)
        high = min(self.high, other.high)
        return Range(
            low,
            high,
            any(one.low == low and one.above_low for one in (self, other)),
            any(one.high == high and one.below_high for one in (self, other)),
        )


def bound(schema: Schema, keyword: str) -> int | float | None:
    """Return the number of a keyword, or `None` if it is missing or invalid."""
    value = schema.get(keyword)
    return value if is_number(value) else None


def greater(left: Json, right: Json) -> Json | Verdict:
    """Keep the greater of two lower bounds."""
    return max(left, right) if is_number(left) and is_number(right) else NO_LAW


def lesser(left: Json, right: Json) -> Json | Verdict:
    """Keep the lesser of two upper bounds."""
    return min(left, right) if is_number(left) and is_number(right) else NO_LAW


def redundant_bound(inclusive: Json, exclusive: Json, *, upper: bool) -> str | None:
    """Return which of two bounds is redundant, `"inclusive"` or `"exclusive"`, or `None` if one is malformed."""
    if not is_number(inclusive) or not is_number(exclusive):
        return None
    stricter = exclusive <= inclusive if upper else exclusive >= inclusive
    return "inclusive" if stricter else "exclusive"


SizeOf: TypeAlias = Callable[[Schema], Range]
"""Function that returns the possible length of a text, array or object under a schema."""


def laws_of_sizes(size_of: SizeOf) -> tuple[KeywordLaws, KeywordLaws]:
    """Return the laws of the lower and of the upper bound of a size."""

    def satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
        if not is_number(schema[keyword]):
            return None
        allowed = size_of({keyword: schema[keyword]})
        return allowed.low <= len(cast("Sized", value)) <= allowed.high

    def implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
        return is_number(right[keyword]) and size_of(left).is_within(size_of({keyword: right[keyword]}))

    return KeywordLaws(satisfied, greater, implied=implied), KeywordLaws(satisfied, lesser, implied=implied)


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
"""Lower bound, upper bound and the types to which they apply; an empty range leaves no value of these types.

`minContains` over `maxContains` is contradictory only next to `contains`, and never by the type alone.
"""
BOUNDS: Final = frozenset({bound for lower, upper, _ in RANGES for bound in (lower, upper)})
_BY_LOWER: Final = {
    lower: [(place, upper) for place, (low, upper, _) in enumerate(RANGES) if low == lower] for lower, _, _ in RANGES
}
"""Upper bounds by their lower bound, with the indexes of the rows."""


def empty_ranges(schema: Schema) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the pairs of bounds of a schema that leave nothing between them, with the types that they apply to."""
    result: list[int] = []
    for lower in schema:
        if lower in _BY_LOWER:
            for place, upper in _BY_LOWER[lower]:
                if upper in schema:
                    low, high = schema[lower], schema[upper]
                    if is_number(low) and is_number(high) and (low > high or (low == high and "exclusive" in lower + upper)):
                        result.append(place)
    return [RANGES[place] for place in sorted(result)] if result else []


def empty_range(schema: Schema) -> tuple[str, str] | None:
    """Return two bounds that leave no value of a schema's type, or `None`."""
    names = types_of(schema.get("type"))
    if not names:
        return None
    return next(((lower, upper) for lower, upper, of in empty_ranges(schema) if all(name in of for name in names)), None)


_EXACT = 2**53
_FINEST = 1024
"""Denominator up to which all validators agree on whole numbers and binary fractions."""


def _agreed(value: Json) -> Fraction | None:
    """Return a number that is the same in all validators, as a text and in binary, or `None`."""
    if not is_number(value) or not -_EXACT <= value <= _EXACT:
        return None
    number = as_decimal(value)
    return number if number == value and number.denominator <= _FINEST else None


def number_range(schema: Schema, *, integers: bool) -> Range:
    """Return the range of numbers that a schema's own bounds allow; for integers, with integer ends."""
    low = bound(schema, "minimum")
    high = bound(schema, "maximum")
    result = Range() if low is None else Range(low=low)
    result = result if high is None else result.and_(Range(high=high))
    if (low := bound(schema, "exclusiveMinimum")) is not None:
        result = result.and_(Range(low=low, above_low=True))
    if (high := bound(schema, "exclusiveMaximum")) is not None:
        result = result.and_(Range(high=high, below_high=True))
    return _of_integers(result) if integers else result


def _of_integers(found: Range) -> Range:
    low, high = found.low, found.high
    if abs(low) != inf:
        low = floor(low) + 1 if found.above_low else ceil(low)
    if abs(high) != inf:
        high = ceil(high) - 1 if found.below_high else floor(high)
    return Range(low, high)


def disjoint(left: Schema, right: Schema, *, integers: bool) -> bool:
    """Return whether no integer, or no number, satisfies the numeric keywords of two schemas.

    The ranges do not overlap, or their overlap contains no multiple of a step.
    """
    within = number_range(left, integers=integers).and_(number_range(right, integers=integers))
    if within.is_empty():
        return True
    steps = [schema["multipleOf"] for schema in (left, right) if "multipleOf" in schema]
    return any(holds_no_multiple(within, step, integers=integers) for step in steps)


def holds_no_multiple(within: Range, step: Json, *, integers: bool) -> bool:
    """Return whether a range contains no multiple of a step, by the arithmetic of all validators."""
    agreed = _agreed(step)
    if agreed is None or agreed <= 0:
        return False
    counter, divisor = agreed.as_integer_ratio()
    if integers:
        divisor = 1  # an integer that is a multiple of 3/2 is one of 3
    elif divisor == 1:
        return True  # a non-integer is not a multiple of an integer
    if not -_EXACT <= within.low <= within.high <= _EXACT:
        return False
    (low, below), (high, above) = within.low.as_integer_ratio(), within.high.as_integer_ratio()
    times = -(-low * divisor // (below * counter))  # the first multiple that is not below the range
    times += within.above_low and times * counter * below == low * divisor
    first, last = times * counter * above, high * divisor
    return first > last or (within.below_high and first == last)


def _bound_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    number, held = as_number(value), schema[keyword]
    if not is_number(held):
        return None
    match keyword:
        case "minimum":
            return number >= held
        case "maximum":
            return number <= held
        case "exclusiveMinimum":
            return number > held
    return number < held


def _bound_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value):
        return False
    asked: Schema = {keyword: value}
    return all(
        number_range(left, integers=kind == "integer").is_within(number_range(asked, integers=False)) for kind in kinds & NUMBERS
    )


_LOWER = KeywordLaws(_bound_satisfied, greater, implied=_bound_implied)
_UPPER = KeywordLaws(_bound_satisfied, lesser, implied=_bound_implied)


def _multiple_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    number, step = _agreed(value), _agreed(schema[keyword])
    return None if number is None or step is None or step <= 0 else number % step == 0


def _multiple_of(left: Json, right: Json) -> Json | Verdict:
    """Return the least common multiple, if binary arithmetic finds the same instances divisible.

    Steps such as 0.1, which have no exact binary float, are judged differently by each library, so they stay separate.
    """
    if not is_number(left) or not is_number(right) or left <= 0 or right <= 0:
        return NO_LAW
    if left == right:
        return left
    common: int | float
    if isinstance(left, int) and isinstance(right, int):  # fractions take ten times as long
        common = lcm(left, right)
        if common > _EXACT:
            return NO_LAW
    else:
        one, other = _agreed(left), _agreed(right)
        if one is None or other is None:
            return NO_LAW
        numerator, denominator = lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator)
        common = numerator if denominator == 1 else numerator / denominator
        agreed = _agreed(common)
        if agreed is None or agreed.as_integer_ratio() != (numerator, denominator):  # in lowest terms, as both fractions are
            return NO_LAW
    return left if common == left else right if common == right else common


def _multiple_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value):
        return False
    if "fraction" not in kinds and value == 1:
        return True
    own = left.get(keyword)
    return is_number(own) and _multiple_of(own, value) == own


LAWS: Final = {
    "minimum": _LOWER,
    "exclusiveMinimum": _LOWER,
    "maximum": _UPPER,
    "exclusiveMaximum": _UPPER,
    "multipleOf": KeywordLaws(_multiple_satisfied, _multiple_of, implied=_multiple_implied),
}
