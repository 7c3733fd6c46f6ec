"""What the value of each keyword looks like in a schema of 2020-12: one plain check a keyword."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from instrc.jsonvalue import LATEST_DRAFT, Json, as_object
from instrc.schema.kinds import TYPES, is_number
from instrc.schema.patterns import broken
from instrc.schema.vocabulary import COUNTS, KEYWORDS, ValueShape
from instrc.schema.walk import is_schema

_ANCHOR = r"[A-Za-z_][-A-Za-z0-9._]*"
_TEXTS = frozenset({str})
_SCHEMAS = frozenset({dict, bool})
"""The classes of what has the form of a schema."""


def _strings(value: Json) -> bool:
    return value.__class__ is list and _TEXTS.issuperset(map(type, value)) and len(set(value)) == len(value)


def _types(value: Json) -> bool:
    if value.__class__ is list:
        return bool(value) and _strings(value) and TYPES.issuperset(value)
    return value.__class__ is str and value in TYPES


def _some_schemas(value: Json) -> bool:
    return value.__class__ is list and bool(value) and _SCHEMAS.issuperset(map(type, value))


def _named_schemas(value: Json) -> bool:
    return value.__class__ is dict and _SCHEMAS.issuperset(map(type, value.values()))


def _patterns(value: Json) -> bool:
    return _named_schemas(value) and not any(map(broken, as_object(value)))


def _dependencies(value: Json) -> bool:
    return value.__class__ is dict and all(is_schema(item) or _strings(item) for item in value.values())


def _string(value: Json) -> bool:
    return value.__class__ is str


def _boolean(value: Json) -> bool:
    return value.__class__ is bool


def _count(value: Json) -> bool:
    return value.__class__ is int and value >= 0


def _list(value: Json) -> bool:
    return value.__class__ is list


def _anchor(value: Json) -> bool:
    return value.__class__ is str and re.fullmatch(_ANCHOR, value) is not None


_BY_SHAPE: dict[ValueShape, Callable[[Json], bool]] = {
    "schema": is_schema,
    "schemas": _some_schemas,
    "schema or schemas": is_schema,
    "named": _named_schemas,
    "named or names": _dependencies,
    "values": _list,
    "text": _string,
    "pattern": lambda value: value.__class__ is str and not broken(value),
    "number": is_number,
    "step": lambda value: is_number(value) and value > 0,
    "count": _count,
    "flag": _boolean,
    "flags": lambda value: value.__class__ is dict and all(map(_boolean, value.values())),
    "types": _types,
    "names": _strings,
    "names by name": lambda value: value.__class__ is dict and all(map(_strings, value.values())),
}
_OF_TODAY = {name: row for name, row in KEYWORDS.items() if name not in {"example", "additionalItems"}}
"""2020-12 still knows `definitions` and `dependencies`, and refuses what it once called recursive."""
SOUND: dict[str, Callable[[Json], bool]] = {
    **{name: _BY_SHAPE[row.shape] for name, row in _OF_TODAY.items() if row.shape != "value"},
    "$id": lambda value: value.__class__ is str and "#" not in value,
    "$schema": lambda value: value.__class__ is str and value.rstrip("#") == LATEST_DRAFT,
    "$anchor": _anchor,
    "$dynamicAnchor": _anchor,
    "$recursiveRef": lambda _: False,
    "$recursiveAnchor": lambda _: False,
    "patternProperties": _patterns,
}


_SAID = frozenset({"title", "description"})


def all_sound(schemas: Iterable[Json]) -> bool:
    """Tell whether schemas have the form of schemas, and what is in each of their keywords looks as it should."""
    for schema in schemas:
        if schema.__class__ is not dict:
            if schema.__class__ is not bool:
                return False
            continue
        for keyword, value in schema.items():
            if value.__class__ is str and (keyword in _SAID or (keyword == "type" and value in TYPES)):
                continue  # most keywords of most schemas
            sound = SOUND.get(keyword)
            if sound is not None and not sound(value) and not (keyword in COUNTS and _is_whole(value)):
                return False
    return True


def _is_whole(value: Json) -> bool:
    """Tell whether a value is a whole number that is written as `3.0`."""
    return value.__class__ is float and value >= 0 and value.is_integer()
