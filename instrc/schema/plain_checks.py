"""Quick checks without the library: whether a schema is one, and whether a value satisfies a plain schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from instrc.schema.kinds import TYPES, is_number
from instrc.schema.patterns import broken
from instrc.schema.vocabulary import COUNTS, KEYWORDS, MANY, NAMED, ValueShape
from instrc.schema.walk import is_schema, nodes, walk
from instrc.text.jsonvalue import LATEST_DRAFT, Json, Location, as_object

SCHEMAS_PLAIN_LEVELS: Final = 20
"""Maximum nesting of a schema that is checked without a validator."""
_ANCHOR = r"[A-Za-z_][-A-Za-z0-9._]*"
_TEXTS = frozenset({str})
_SCHEMAS = frozenset({dict, bool})
"""Python classes of schemas."""


def _some_schemas(value: Json) -> bool:
    return value.__class__ is list and bool(value) and _SCHEMAS.issuperset(map(type, value))


def _named_schemas(value: Json) -> bool:
    return value.__class__ is dict and _SCHEMAS.issuperset(map(type, value.values()))


def _dependencies(value: Json) -> bool:
    return value.__class__ is dict and all(is_schema(item) or _strings(item) for item in value.values())


def _list(value: Json) -> bool:
    return value.__class__ is list


def _string(value: Json) -> bool:
    return value.__class__ is str


def _count(value: Json) -> bool:
    return value.__class__ is int and value >= 0


def _boolean(value: Json) -> bool:
    return value.__class__ is bool


def _types(value: Json) -> bool:
    if value.__class__ is list:
        return bool(value) and _strings(value) and TYPES.issuperset(value)
    return value.__class__ is str and value in TYPES


def _strings(value: Json) -> bool:
    return value.__class__ is list and _TEXTS.issuperset(map(type, value)) and len(set(value)) == len(value)


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
"""Keywords of 2020-12, which still allows `definitions` and `dependencies` but not the old recursive keywords."""


def _anchor(value: Json) -> bool:
    return value.__class__ is str and re.fullmatch(_ANCHOR, value) is not None


def _patterns(value: Json) -> bool:
    return _named_schemas(value) and not any(map(broken, as_object(value)))


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
    """Return whether values have the form of schemas, and each of their keywords has a plausible value."""
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
    """Return whether a value is a whole number that is written as `3.0`."""
    return value.__class__ is float and value >= 0 and value.is_integer()


class Doubt(Struct, frozen=True):
    """A value that may be invalid: of a keyword, or of one member (`step`) of the keyword's value."""

    node: Location
    keyword: str
    step: str | int | None
    value: Json


def doubtful(schema: Json) -> Iterator[Doubt]:
    """Yield the doubts about a schema, by JSON Schema 2020-12; mostly none."""
    for path, node in walk(schema):
        yield from _doubts_at(path, node)


_MAPS = NAMED - {"dependencies"}
_LISTS = MANY - {"items"}


def _doubts_at(path: Location, node: Json) -> Iterator[Doubt]:
    if node.__class__ is not dict:
        return
    for keyword, value in node.items():
        sound = SOUND.get(keyword)
        if sound is None or sound(value):
            continue
        members: list[tuple[str | int, Json]] = []
        if keyword in _MAPS and value.__class__ is dict:
            members = [(name, item) for name, item in value.items() if not is_schema(item)]
        elif keyword in _LISTS and value.__class__ is list:
            members = [(index, item) for index, item in enumerate(value) if not is_schema(item)]
        yield from (Doubt(path, keyword, step, item) for step, item in members)
        if not members:
            yield Doubt(path, keyword, None, value)


def is_sound(schema: Json) -> bool:
    """Return whether a schema is certainly well-formed; shared and cyclic parts are visited once."""
    for node in nodes(schema):
        for keyword, value in node.items():
            sound = SOUND.get(keyword)
            if sound is not None and not sound(value):
                return False
    return True


_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_SAYS_NOTHING = ("title", "description", "default", "examples", "$comment", "$defs")
_KNOWN = frozenset({"type", "enum", "const", "properties", "required", "additionalProperties", "items", *_SAYS_NOTHING})


def satisfies_plainly(value: Json, schema: Json, levels: int = SCHEMAS_PLAIN_LEVELS) -> bool:
    """Return whether a value certainly satisfies a schema; `False` means unknown."""
    if not isinstance(schema, dict):
        return schema is True
    if levels <= 0 or not _KNOWN.issuperset(schema):
        return False
    kind = schema.get("type")
    if kind is not None and not (isinstance(kind, str) and value.__class__ in _CLASSES.get(kind, ())):
        return False
    if ("enum" in schema or "const" in schema) and not _is_named(value, schema):
        return False
    if isinstance(value, dict):
        return _has_members(value, schema, levels - 1)
    return not isinstance(value, list) or "items" not in schema or _has_items(value, schema["items"], levels - 1)


def _is_named(value: Json, schema: dict[str, Json]) -> bool:
    """Look at `enum` and `const`, of texts only: numbers and booleans are equal in ways of their own."""
    choices = schema.get("enum", [value])
    return isinstance(value, str) and isinstance(choices, list) and value in choices and schema.get("const", value) == value


def _has_members(value: dict[str, Json], schema: dict[str, Json], levels: int) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    extra = schema.get("additionalProperties", True)
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    if extra is not True and not (extra is False and value.keys() <= properties.keys()):
        return False
    for name in required:
        if not isinstance(name, str) or name not in value:
            return False
    for name, inner in properties.items():  # noqa: SIM110  -- `all` costs twice as much for the few that there are
        if name in value and not satisfies_plainly(value[name], inner, levels):
            return False
    return True


def _has_items(value: list[Json], items: Json, levels: int) -> bool:
    return all(satisfies_plainly(item, items, levels) for item in value)
