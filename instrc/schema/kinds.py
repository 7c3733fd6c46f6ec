"""The kinds of values, and the equality of values that share parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeGuard

from instrc.text.jsonvalue import Json, freeze, kind_of, listing

if TYPE_CHECKING:
    from fractions import Fraction

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
ALL: Final = frozenset({"null", "boolean", "string", "array", "object", "integer", "fraction"})
NUMBERS: Final = frozenset({"integer", "fraction"})
_OF_TYPE: dict[str, frozenset[str]] = {name: frozenset({name}) for name in ALL - {"fraction"}} | {"number": NUMBERS}


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a JSON number, excluding booleans."""
    return value.__class__ is int or value.__class__ is float


def as_decimal(number: float) -> Fraction:
    """Return the exact value of the text of a number in JSON."""
    from fractions import Fraction  # few schemas have a `multipleOf`

    return Fraction(number if isinstance(number, int) else repr(number))


def types_of(value: Json) -> tuple[str, ...] | None:
    """Return the names in a `type`, or `None` if it is malformed."""
    if value.__class__ is str:
        return (value,) if value in TYPES else None
    if value.__class__ is not list:
        return None
    names = tuple([name for name in value if name.__class__ is str and name in TYPES])
    return names if len(names) == len(value) else None


def has_type(value: Json, names: tuple[str, ...]) -> bool:
    """Return whether a value has one of the types; `1.0` is an integer."""
    kind = kind_of_value(value)
    return kind in names or (kind in NUMBERS and "number" in names)


def kind_of_value(value: Json) -> str:
    """Return the type of a value; `1.0` is an integer."""
    kind = kind_of(value)
    return "fraction" if kind == "number" else kind


def kinds_of_types(value: Json) -> frozenset[str]:
    """Return the types that the value of a `type` allows; all of them if it is malformed."""
    names = types_of(value)
    return ALL if names is None else frozenset().union(*(_OF_TYPE[name] for name in names))


def kinds_spoken_of(types: frozenset[str]) -> frozenset[str]:
    """Return the types of values that a keyword applies to, by the vocabulary; none given means all."""
    return frozenset().union(*(_OF_TYPE[name] for name in types)) if types else ALL


def own_kinds(schema: dict[str, Json]) -> frozenset[str]:
    """Return the kinds that `type`, `const` and `enum` of a schema allow."""
    kinds = kinds_of_types(schema["type"]) if "type" in schema else ALL
    values = listed_values(schema)
    return kinds if values is None else kinds & frozenset(map(kind_of_value, values))


def listed_values(schema: dict[str, Json]) -> list[Json] | None:
    """Return a list that contains all values that a schema allows, or `None` if there is none."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def mentioned_values(schema: dict[str, Json]) -> list[Json]:
    """Return the values in `enum` and in `const`."""
    return [*listing(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]


class EqualityKeys:
    """Maps values to keys that are equal exactly if the values are; shared parts are processed once."""

    __slots__ = ("_known", "_numbers")

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, object]] = {}
        """Keys by the `id` of the value, which is kept alive."""
        self._numbers: dict[object, tuple[str, int]] = {}
        """Names and numbers of lists and objects, by their contents."""

    def __call__(self, value: Json) -> object:
        """Return the key of a value."""
        if value.__class__ is str:  # most are
            return value
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
            held: object = (
                frozenset([(name, self._part(part)) for name, part in whole.items()])
                if whole.__class__ is dict
                else tuple([self._part(part) for part in whole])
            )
            known[id(whole)] = (whole, numbers.setdefault(held, ("whole", len(numbers))))
        return self._part(value)

    def _part(self, value: Json) -> object:
        result = self._known.get(id(value))
        return freeze(value) if result is None else result[1]


def unique(values: Iterable[Json]) -> list[Json]:
    """Return values without duplicates."""
    result: dict[object, Json] = {}
    key_of = EqualityKeys()
    for value in values:
        result.setdefault(key_of(value), value)
    return list(result.values())
