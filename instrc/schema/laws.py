"""The laws of keywords: what two occurrences of one keyword say together.

Each law is a small function; the table in `vocabulary` says which keyword has which.
A law gets two values and returns the one that means both, or `UNSATISFIABLE` if no instance satisfies both,
or `NO_LAW` if nothing says exactly what both say, so that the second occurrence has to stay a branch of its own.
Keywords that act in groups (properties, items, contains, conditions) are not here but in the modules named after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from math import gcd
from typing import Final, TypeAlias, TypeGuard

from instrc.jsonvalue import Json, as_array, as_object, equal, freeze


class Verdict(Enum):
    """A result of a law that is no JSON value."""

    UNSATISFIABLE = "UNSATISFIABLE"
    NO_LAW = "NO_LAW"

    def __repr__(self) -> str:
        return self.name


UNSATISFIABLE: Final = Verdict.UNSATISFIABLE
NO_LAW: Final = Verdict.NO_LAW
Law: TypeAlias = "Callable[[Json, Json], Json | Verdict]"

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_EXACT = 2**53
"""Up to here all judges calculate with whole numbers alike."""


def is_number(value: Json) -> TypeGuard[int | float]:
    """Tell whether a value is a JSON number (a boolean is none)."""
    return value.__class__ is int or value.__class__ is float


def types_of(value: Json) -> tuple[str, ...] | None:
    """Return the names in a `type`; `None` if it is malformed."""
    if value.__class__ is str:
        return (value,) if value in TYPES else None
    if value.__class__ is not list:
        return None
    names = tuple([name for name in value if name.__class__ is str and name in TYPES])
    return names if len(names) == len(value) else None


def has_type(value: Json, names: tuple[str, ...]) -> bool:
    """Tell whether a value is of one of the types; `1.0` is an integer."""
    if value is None:
        return "null" in names
    if value.__class__ is bool:
        return "boolean" in names
    if value.__class__ is int:
        return "integer" in names or "number" in names
    if value.__class__ is float:
        return "number" in names or ("integer" in names and value.is_integer())
    if value.__class__ is str:
        return "string" in names
    return ("array" if value.__class__ is list else "object") in names


def type_(left: Json, right: Json) -> Json | Verdict:
    """Intersect types, knowing that every integer is a number."""
    a, b = types_of(left), types_of(right)
    if a is None or b is None:
        return NO_LAW
    kept = [
        "integer" if name == "number" and "number" not in b else name
        for name in a
        if name in b or (name == "integer" and "number" in b) or (name == "number" and "integer" in b)
    ]
    kept = list(dict.fromkeys(kept))
    if not kept:
        return UNSATISFIABLE
    if tuple(kept) == a:
        return left
    return kept[0] if len(kept) == 1 else [*kept]


def enum(left: Json, right: Json) -> Json | Verdict:
    """Keep what is in both lists, in the order of the first."""
    if left.__class__ is not list or right.__class__ is not list:
        return NO_LAW
    key_of = EqualityKeys()
    keys = {key_of(value) for value in right}
    kept = [value for value in left if key_of(value) in keys]
    if not kept:
        return UNSATISFIABLE
    return left if len(kept) == len(left) else kept


class EqualityKeys:
    """Gives values keys that are equal exactly if the values are equal as JSON; parts that are shared are read once."""

    __slots__ = ("_known", "_numbers")

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, object]] = {}
        """Keys by the `id` of the value, which is kept alive."""
        self._numbers: dict[object, tuple[str, int]] = {}
        """What stands for a list or an object, by what it holds."""

    def __call__(self, value: Json) -> object:
        """Return the key of a value."""
        known, numbers = self._known, self._numbers
        stack = [value]
        while stack:
            whole = stack[-1]
            if (whole.__class__ is not dict and whole.__class__ is not list) or id(whole) in known:
                stack.pop()
                continue
            parts = whole.values() if whole.__class__ is dict else whole
            open_parts = [part for part in parts if (part.__class__ is dict or part.__class__ is list) and id(part) not in known]
            if open_parts:
                stack += open_parts
                continue
            stack.pop()
            held: object = (
                frozenset([(name, self._part(part)) for name, part in whole.items()])
                if whole.__class__ is dict
                else tuple([self._part(part) for part in whole])
            )
            known[id(whole)] = (whole, numbers.setdefault(held, ("whole", len(numbers))))
        return self._part(value)

    def _part(self, value: Json) -> object:
        found = self._known.get(id(value))
        return freeze(value) if found is None else found[1]


def unique(values: Iterable[Json]) -> list[Json]:
    """Return values without those that equal an earlier one."""
    found: dict[object, Json] = {}
    key_of = EqualityKeys()
    for value in values:
        found.setdefault(key_of(value), value)
    return list(found.values())


def const(left: Json, right: Json) -> Json | Verdict:
    """Keep a constant that is twice the same."""
    return left if equal(left, right) else UNSATISFIABLE


def greater(left: Json, right: Json) -> Json | Verdict:
    """Keep the greater of two lower bounds."""
    if not is_number(left) or not is_number(right):
        return NO_LAW
    return max(left, right)


def lesser(left: Json, right: Json) -> Json | Verdict:
    """Keep the lesser of two upper bounds."""
    if not is_number(left) or not is_number(right):
        return NO_LAW
    return min(left, right)


def multiple_of(left: Json, right: Json) -> Json | Verdict:
    """Find the least common multiple, where binary arithmetic finds the same instances divisible.

    Steps such as 0.1, which no binary float is, are told by each judge in its own way: those stay apart.
    """
    if not is_number(left) or not is_number(right) or left <= 0 or right <= 0:
        return NO_LAW
    if left == right:
        return left
    (a, b), (c, d) = left.as_integer_ratio(), right.as_integer_ratio()
    if max(b, d) > 1024:
        return NO_LAW
    numerator, denominator = a * c // gcd(a, c), gcd(b, d)
    if numerator > _EXACT:
        return NO_LAW
    least: int | float = numerator if denominator == 1 else numerator / denominator  # in lowest terms, as both fractions are
    return left if least == left else right if least == right else least


def unique_items(left: Json, right: Json) -> Json | Verdict:
    """Ask for uniqueness if either does."""
    if left.__class__ is not bool or right.__class__ is not bool:
        return NO_LAW
    return left or right


def same(left: Json, right: Json) -> Json | Verdict:
    """Keep a value that is twice the same; two different ones cannot share a keyword."""
    return left if equal(left, right) else NO_LAW


def required(left: Json, right: Json) -> Json | Verdict:
    """Unite names in order of appearance."""
    if left.__class__ is not list or right.__class__ is not list:
        return NO_LAW
    names = list(dict.fromkeys(_names(left) + _names(right)))
    return left if names == left else names


def required_by_all(lists: list[Json]) -> Json | Verdict:
    """Unite many lists of names at once."""
    if not all(names.__class__ is list for names in lists):
        return NO_LAW
    return _united(lists)


def _united(lists: list[Json]) -> Json:
    return [*dict.fromkeys([name for names in lists for name in as_array(names) if name.__class__ is str])]


def dependent_required(left: Json, right: Json) -> Json | Verdict:
    """Unite the names that each name asks for."""
    return dependent_required_by_all([left, right])


def dependent_required_by_all(maps: list[Json]) -> Json | Verdict:
    """Unite the names that each name asks for in many places at once."""
    if not all(map(_lists_by_name, maps)):
        return NO_LAW
    lists: dict[str, list[Json]] = {}
    for asked in maps:
        for name, names in as_object(asked).items():
            lists.setdefault(name, []).append(names)
    return {name: found[0] if len(found) == 1 else _united(found) for name, found in lists.items()}


def _lists_by_name(value: Json) -> bool:
    return value.__class__ is dict and all(names.__class__ is list for names in value.values())


def _names(value: list[Json]) -> list[Json]:
    return [name for name in value if name.__class__ is str]


def greatest(values: list[Json]) -> Json | Verdict:
    """Keep the greatest of many lower bounds."""
    numbers = [value for value in values if is_number(value)]
    return max(numbers) if len(numbers) == len(values) else NO_LAW


def least(values: list[Json]) -> Json | Verdict:
    """Keep the least of many upper bounds."""
    numbers = [value for value in values if is_number(value)]
    return min(numbers) if len(numbers) == len(values) else NO_LAW


def redundant_bound(lower: Json, exclusive: Json, *, upper: bool) -> str | None:
    """Say which of an inclusive and an exclusive bound is redundant: `"inclusive"`, `"exclusive"`; `None` if malformed."""
    if not is_number(lower) or not is_number(exclusive):
        return None
    stricter = exclusive <= lower if upper else exclusive >= lower
    return "inclusive" if stricter else "exclusive"


ANNOTATIONS_OF_CONTENT = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
"""They describe one thing together, so the last place that has any of them has all."""


def description(values: list[Json]) -> Json:
    """Join texts by newlines, equal ones once."""
    lines: dict[str, None] = {}
    for value in values:
        if value.__class__ is not str:
            return values[-1]
        if value:
            lines[value] = None
    return "\n".join(lines)
