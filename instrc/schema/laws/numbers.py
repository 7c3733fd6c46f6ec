"""The laws of the keywords about numbers: `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`."""

from __future__ import annotations

from math import ceil, floor, gcd, inf, isfinite
from typing import TYPE_CHECKING, Final

from instrc.jsonvalue import Json, as_number
from instrc.schema.kinds import NUMBERS, is_number
from instrc.schema.laws.bounds import Range, bound, greater, greatest, least, lesser
from instrc.schema.laws.law import NO_LAW, Answer, KeywordLaws, Kinds, Schema, Verdict

if TYPE_CHECKING:
    from instrc.schema.laws.question import InstanceEvaluation, Relations

_EXACT = 2**53
_FINEST = 1024
"""Up to here all judges calculate alike with whole numbers and with halves, quarters and so on."""


def number_range(schema: Schema, *, integers: bool) -> Range:
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


def disjoint(left: Schema, right: Schema, *, integers: bool) -> bool:
    """Tell whether no integer, or no other number, satisfies two schemas by their own keywords about numbers.

    None is in the ranges of both, or none of these is a multiple of a step.
    """
    within = number_range(left, integers=integers).and_(number_range(right, integers=integers))
    if within.is_empty():
        return True
    steps = [schema["multipleOf"] for schema in (left, right) if "multipleOf" in schema]
    return any(holds_no_multiple(within, step, integers=integers) for step in steps)


def holds_no_multiple(within: Range, step: Json, *, integers: bool) -> bool:
    """Tell whether no number in a range is a multiple of a step, as all judges count."""
    if not is_number(step) or step <= 0 or not isfinite(step):
        return False
    counter, divisor = step.as_integer_ratio()
    if divisor > _FINEST or counter > _EXACT:
        return False
    if integers:
        divisor = 1  # an integer that is a multiple of 3/2 is one of 3
    elif divisor == 1:
        return True  # what is no integer is no multiple of one
    if not -_EXACT <= within.low <= within.high <= _EXACT:
        return False
    (low, below), (high, above) = within.low.as_integer_ratio(), within.high.as_integer_ratio()
    times = -(-low * divisor // (below * counter))  # the first multiple that is not below the range
    times += within.above_low and times * counter * below == low * divisor
    first, last = times * counter * above, high * divisor
    return first > last or (within.below_high and first == last)


def _bound_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value):
        return False
    asked: Schema = {keyword: value}
    return all(
        number_range(left, integers=kind == "integer").is_within(number_range(asked, integers=False)) for kind in kinds & NUMBERS
    )


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


def _multiple_of(left: Json, right: Json) -> Json | Verdict:
    """Find the least common multiple, where binary arithmetic finds the same instances divisible.

    Steps such as 0.1, which no binary float is, are told by each judge in its own way: those stay apart.
    """
    if not is_number(left) or not is_number(right) or left <= 0 or right <= 0:
        return NO_LAW
    if left == right:
        return left
    (a, b), (c, d) = left.as_integer_ratio(), right.as_integer_ratio()
    if max(b, d) > _FINEST:
        return NO_LAW
    numerator, denominator = a * c // gcd(a, c), gcd(b, d)
    if numerator > _EXACT:
        return NO_LAW
    common: int | float = numerator if denominator == 1 else numerator / denominator  # in lowest terms, as both fractions are
    return left if common == left else right if common == right else common


def _multiple_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value):
        return False
    if "fraction" not in kinds and value == 1:
        return True
    own = left.get(keyword)
    return is_number(own) and _multiple_of(own, value) == own


def _multiple_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    number, step = as_number(value), schema[keyword]
    if not is_number(step) or step <= 0 or abs(number) > _EXACT or step > _EXACT:
        return None
    (a, b), (c, d) = number.as_integer_ratio(), step.as_integer_ratio()
    return None if max(b, d) > _FINEST else (a * d) % (b * c) == 0


_LOWER = KeywordLaws(_bound_satisfied, greater, greatest, _bound_implied)
_UPPER = KeywordLaws(_bound_satisfied, lesser, least, _bound_implied)
LAWS: Final = {
    "minimum": _LOWER,
    "exclusiveMinimum": _LOWER,
    "maximum": _UPPER,
    "exclusiveMaximum": _UPPER,
    "multipleOf": KeywordLaws(_multiple_satisfied, _multiple_of, implied=_multiple_implied),
}
