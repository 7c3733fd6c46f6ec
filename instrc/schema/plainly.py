"""Values that satisfy a plain schema as one can see at once, without the library: most of what is validated is such."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.limits.schemas import PLAIN_LEVELS

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


def satisfies_plainly(value: Json, schema: Json, levels: int = PLAIN_LEVELS) -> bool:
    """Tell whether a value certainly satisfies a schema; `False` says nothing."""
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
