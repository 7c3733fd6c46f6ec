"""Where in a schema object further schemas stand (JSON Schema 2020-12 and the older spellings of it)."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json

ONE = frozenset(
    {
        "items",
        "additionalProperties",
        "propertyNames",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
        "additionalItems",
    }
)
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "example"}
    | {"$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$defs", "definitions"}
    | {"contentEncoding", "contentMediaType", "contentSchema"}
)
"""Keywords that never make an instance invalid."""

_INTERESTING = ONE | MANY | NAMED


def subschemas(node: dict[str, Json]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the schemas directly below a schema object, each with its path from there."""
    for keyword, value in node.items():
        if keyword not in _INTERESTING:
            continue
        if isinstance(value, dict):
            if keyword in NAMED:
                for name, child in value.items():
                    yield (keyword, name), child
            elif keyword in ONE:
                yield (keyword,), value
        elif isinstance(value, list) and (keyword in MANY or keyword == "items"):
            for index, child in enumerate(value):
                yield (keyword, index), child
        elif isinstance(value, bool) and keyword in ONE:
            yield (keyword,), value
