"""The kinds of values: the types of JSON Schema, with numbers divided into integers and fractions, so that none overlap."""

from __future__ import annotations

from typing import Final, TypeGuard

from instrc.jsonvalue import Json

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
ALL: Final = frozenset({"null", "boolean", "string", "array", "object", "integer", "fraction"})
NUMBERS: Final = frozenset({"integer", "fraction"})
_OF_TYPE: dict[str, frozenset[str]] = {name: frozenset({name}) for name in ALL - {"fraction"}} | {"number": NUMBERS}


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


def kind_of_value(value: Json) -> str:
    """Return the kind of a value; `1.0` is an integer."""
    if value.__class__ is float:
        return "integer" if value.is_integer() else "fraction"
    return "null" if value is None else _KINDS.get(value.__class__, "object")


_KINDS: dict[type, str] = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}


def kinds_of_types(value: Json) -> frozenset[str]:
    """Return the kinds that the value of a `type` allows; all of them if it is malformed."""
    names = types_of(value)
    return ALL if names is None else frozenset().union(*(_OF_TYPE[name] for name in names))


def kinds_spoken_of(types: frozenset[str]) -> frozenset[str]:
    """Return the kinds that a keyword speaks of, by the types that the vocabulary gives it; none given means all."""
    return frozenset().union(*(_OF_TYPE[name] for name in types)) if types else ALL


def own_kinds(schema: dict[str, Json]) -> frozenset[str]:
    """Return the kinds that `type`, `const` and `enum` of a schema allow."""
    kinds = kinds_of_types(schema["type"]) if "type" in schema else ALL
    values = listed_values(schema)
    return kinds if values is None else kinds & frozenset(map(kind_of_value, values))


def listed_values(schema: dict[str, Json]) -> list[Json] | None:
    """Return the values that a schema allows at most; `None` if it does not list them."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None
