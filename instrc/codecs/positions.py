"""Where in a schema object further schemas stand (JSON Schema 2020-12 and the older spellings of it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import pointer

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

CONJUNCTIONS = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
BY_KIND: dict[str, frozenset[str]] = {
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"}
        | {"maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"}
    ),
    "array": frozenset(
        {
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        }
    ),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
KNOWN = frozenset({"type", "enum", "const"}) | CONJUNCTIONS | ANNOTATIONS | frozenset().union(*BY_KIND.values())


Steps: TypeAlias = tuple[Any, tuple[str | int, ...]] | None
"""A path as a chain from its last steps to its first, because few paths are ever written out."""


def written(path: Steps) -> str:
    """Return the JSON Pointer of a chain of steps."""
    parts: list[str] = []
    while path is not None:
        parts.append(pointer(path[1]))
        path = path[0]
    return "".join(reversed(parts))


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


def constraints(schema: Json, *, falsity: bool = False) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and their places; with `falsity` schemas that are `false`, too, under that word."""
    stack: list[tuple[str, Json]] = [("", schema)]
    while stack:
        place, node = stack.pop()
        if falsity and node is False:
            yield place, "false", False
        if isinstance(node, dict):
            yield from ((place, keyword, value) for keyword, value in node.items() if keyword not in ANNOTATIONS)
            stack.extend((place + pointer(path), child) for path, child in subschemas(node))


def mapped(root: Json, change: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]) -> Json:
    """Return a schema with each schema object in it changed, from the inside out, however deep; what stays the same is shared.

    `change` is given a schema object as it was, and with the schemas in it changed already.
    """
    done: dict[int, Json] = {}
    stack: list[tuple[Json, bool]] = [(root, False)]
    while stack:
        node, entered = stack.pop()
        if not isinstance(node, dict) or id(node) in done:
            continue
        if entered:
            done[id(node)] = change(node, _with(node, done))
        else:
            stack.append((node, True))
            stack.extend((child, False) for _, child in subschemas(node))
    return done.get(id(root), root)


def _with(node: dict[str, Any], done: dict[int, Json]) -> dict[str, Any]:
    """Return a schema object with the schemas in it replaced, the same object if none is."""
    result = node
    for keyword in node.keys() & _INTERESTING:
        value = node[keyword]
        if isinstance(value, list) or (isinstance(value, dict) and keyword in NAMED):
            pairs: list[tuple[Any, Json]] = list(enumerate(value) if isinstance(value, list) else value.items())
            fresh = {key: done.get(id(child), child) for key, child in pairs}
            if any(fresh[key] is not child for key, child in pairs):
                result = {**result, keyword: list(fresh.values()) if isinstance(value, list) else fresh}
        elif (new := done.get(id(value), value)) is not value:
            result = {**result, keyword: new}
    return result


def mentions(schema: Json, keyword: str) -> bool:
    """Say whether a keyword stands anywhere in a schema."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if keyword in node:
                return True
            stack.extend(child for _, child in subschemas(node))
    return False
