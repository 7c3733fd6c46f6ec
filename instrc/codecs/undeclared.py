"""Find a key of a value that its schema does not speak of: a target with closed objects has no place for it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from instrc.codecs.rename_keys import KeyRenamer, schemas_of_item, schemas_of_key
from instrc.jsonvalue import Json, JsonObject, Location, as_texts, listing, mapping
from instrc.limits.payloads import RENAMED_LEVELS
from instrc.schema.members import required_names

_SPEAKING_OF_OTHERS = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "dependentRequired"}
)
_ELSEWHERE = frozenset({"anyOf", "oneOf", "$ref"})
"""Keywords beside which the alternatives say what there is."""
_UNDECIDED = frozenset({"$ref", "allOf", "if", "dependentSchemas", "const", "enum"})
"""Keywords beside which nothing is said here: what stands there may be sent as a text, which takes any key."""


def undeclared_key(value: Json, schema: Json, *, levels: int | None) -> Location | None:
    """Return the path of the first key that no schema of its place declares or leaves room for; `None` if there is none.

    `levels` is how deep objects are sent as objects.
    """
    return _first(value, [schema], KeyRenamer(schema), (), RENAMED_LEVELS if levels is None else levels)


def _first(value: Json, schemas: list[Json], renamer: KeyRenamer, path: Location, levels: int) -> Location | None:
    if levels <= 0 or not isinstance(value, dict | list):
        return None
    nodes = list(renamer.applying(schemas))
    for key in value if isinstance(value, dict) else ():
        if schemas and all(_is_closed_to(each, key, frozenset()) for each in schemas):
            return (*path, key)
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        found = _first(item, _schemas_below(nodes, step), renamer, (*path, step), levels - 1)
        if found is not None:
            return found
    return None


def _schemas_below(nodes: list[JsonObject], step: str | int) -> list[Json]:
    """Return the schemas of a property or an item, by all alternatives; none if one of them says nothing of it."""
    kind = "object" if isinstance(step, str) else "array"
    found: list[Json] = []
    for node in nodes:
        below = schemas_of_key([node], step) if isinstance(step, str) else schemas_of_item([node], step)
        if said := list(below):
            found += said
        elif _ELSEWHERE.isdisjoint(node) and kind in _types(node, kind):
            return []
    return found


def _types(node: JsonObject, otherwise: str) -> list[str]:
    """Return the types that a schema names, or another one if it names none."""
    types = node.get("type", otherwise)
    return [types] if isinstance(types, str) else as_texts(types)


def _is_closed_to(schema: Json, key: str, known: AbstractSet[str]) -> bool:
    """Tell whether a schema declares other properties only; one that declares none is a map, which takes any."""
    if not isinstance(schema, dict):
        return schema is False
    if "object" not in _types(schema, "object"):
        return True
    if not _UNDECIDED.isdisjoint(schema) or not _SPEAKING_OF_OTHERS.isdisjoint(schema):
        return False
    known = known | mapping(schema.get("properties")).keys() | set(required_names(schema))
    if key in known:
        return False
    union = [*listing(schema.get("anyOf")), *listing(schema.get("oneOf"))]
    return all(_is_closed_to(each, key, known) for each in union) if union else bool(known)
