"""Take out of a payload's schema what decides nothing: maps repeat it, at each level of nested unions."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject
from instrc.schema.walk import rebuild

_SAID = frozenset({"title", "description", "default", "propertyOrdering"})


def without_annotations(schema: Json) -> Json:
    """Return a schema without titles, descriptions and other words that no value is judged by."""
    return rebuild(schema, _plain)


def _plain(node: Json) -> Json:
    if not isinstance(node, dict) or _SAID.isdisjoint(node):
        return node
    plain: JsonObject = {keyword: value for keyword, value in node.items() if keyword not in _SAID}
    return plain
