"""Fold two schemas that both hold into one.

Flattening leaves `allOf` only where keywords clash; here they are folded as far as a target's vocabulary can say it.
All targets but those that keep a schema as it is need this, for `allOf`, for siblings of `$ref` and of `anyOf`:
OpenAI refuses the first two, xgrammar ignores them, Gemini and GigaChat know none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instrc.codecs.patterns import matches
from instrc.codecs.positions import ANNOTATIONS
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import equal, freeze
from instrc.schema.laws import NO_LAW, multiple_of

Schema = dict[str, Any]

_ABSENT = object()


def both(left: Json, right: Json) -> Json:
    """Return one schema for `left` and `right` together; what cannot be folded stays in its `allOf`."""
    if left is False or right is False:
        return False
    if left is True or not left:
        return right
    if right is True or not right:
        return left
    if ("const" in left or "const" in right) and (left.keys() & _LITERALS and right.keys() & _LITERALS):
        left, right = _as_enum(left), _as_enum(right)
    merged: Schema = dict(left)
    rest: Schema = {}
    if not _fold_objects(merged, left, right):
        return {**left, "allOf": [*left.get("allOf", ()), right]}
    _fold_arrays(merged, left, right)
    clashing = {
        name
        for head, group in _GROUPS.items()
        if head in left and head in right and not all(equal(left.get(name), right.get(name)) for name in group)
        for name in group
    }
    for keyword, value in right.items():
        if keyword in _FOLDED_TOGETHER:
            continue
        if keyword in clashing:
            rest[keyword] = value
            continue
        if keyword not in merged:
            merged[keyword] = value
        elif keyword in ANNOTATIONS or equal(merged[keyword], value):
            continue
        elif (fold := _FOLDS.get(keyword)) and (folded := fold(merged[keyword], value)) is not NO_LAW:
            merged[keyword] = folded
        elif keyword == "allOf":
            merged["allOf"] = [*merged["allOf"], *value]
        else:
            rest[keyword] = value
    if merged.get("type") == []:
        return False
    if rest:
        merged["allOf"] = [*merged.get("allOf", ()), rest]
    return merged


def _as_enum(schema: Schema) -> Schema:
    if "const" not in schema:
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "const"}
    return {**rest, "enum": _values(rest["enum"], [schema["const"]]) if "enum" in rest else [schema["const"]]}


def _types(left: Json, right: Json) -> Json:
    def spread(types: Json) -> list[str]:
        return [types] if isinstance(types, str) else list(types)

    mine, theirs = spread(left), spread(right)
    kept = []
    for name in mine:
        if name in theirs or (name == "integer" and "number" in theirs):
            kept.append(name)
        elif name == "number" and "integer" in theirs:
            kept.append("integer")
    return kept[0] if len(kept) == 1 else list(dict.fromkeys(kept))


def _values(left: list[Json], right: list[Json]) -> list[Json]:
    allowed = {freeze(value) for value in right}
    return [value for value in left if freeze(value) in allowed]


def _named(left: Schema, right: Schema) -> Schema:
    return {**left, **{name: _together(left[name], child) if name in left else child for name, child in right.items()}}


def _needs(left: Schema, right: Schema) -> Schema:
    return {**left, **{name: _names(left.get(name, []), needed) for name, needed in right.items()}}


def _names(left: list[str], right: list[str]) -> list[str]:
    return list(dict.fromkeys([*left, *right]))


def _together(left: Json, right: Json) -> Json:
    """Return two schemas as one, not folded before somebody looks at it."""
    if left is True or equal(left, right):
        return right
    if right is True:
        return left
    return False if left is False or right is False else {"allOf": [left, right]}


_FOLDS: dict[str, Callable[[Any, Any], Json]] = {
    "type": _types,
    "enum": _values,
    "minimum": max,
    "exclusiveMinimum": max,
    "minLength": max,
    "minItems": max,
    "minProperties": max,
    "maximum": min,
    "exclusiveMaximum": min,
    "maxLength": min,
    "maxItems": min,
    "maxProperties": min,
    "multipleOf": multiple_of,
    "uniqueItems": lambda left, right: left or right,
    "required": _names,
    "not": lambda left, right: {"anyOf": [left, right]},
    "propertyNames": _together,
    "dependentRequired": _needs,
    "dependentSchemas": _named,
    "unevaluatedProperties": _together,
    "unevaluatedItems": _together,
}

_LITERALS = frozenset({"const", "enum"})
_GROUPS = {
    "contains": ("contains", "minContains", "maxContains"),
    "if": ("if", "then", "else"),
}
"""Keywords that mean something together only: they are folded or left out as one."""

_FOLDED_TOGETHER = frozenset({"properties", "patternProperties", "additionalProperties", "prefixItems", "items"})


def _fold_objects(merged: Schema, left: Schema, right: Schema) -> bool:
    """Fold the keywords that speak of properties; `False` if patterns of keys make that impossible."""
    mine, theirs = left.get("properties", {}), right.get("properties", {})
    my_rest, their_rest = left.get("additionalProperties", _ABSENT), right.get("additionalProperties", _ABSENT)
    my_patterns, their_patterns = left.get("patternProperties", {}), right.get("patternProperties", {})
    if my_patterns.keys() != their_patterns.keys() and (my_rest not in (_ABSENT, True) or their_rest not in (_ABSENT, True)):
        return False
    properties: Schema = {}
    for name in _names(list(mine), list(theirs)):
        here = mine[name] if name in mine else _undeclared(name, my_rest, my_patterns)
        there = theirs[name] if name in theirs else _undeclared(name, their_rest, their_patterns)
        properties[name] = _together(here, there)
    if properties or "properties" in left or "properties" in right:
        merged["properties"] = properties
    if my_patterns or their_patterns:
        merged["patternProperties"] = _named(my_patterns, their_patterns)
    if my_rest is not _ABSENT or their_rest is not _ABSENT:
        merged["additionalProperties"] = _together(
            True if my_rest is _ABSENT else my_rest, True if their_rest is _ABSENT else their_rest
        )
    return True


def _undeclared(name: str, rest: Json, patterns: Schema) -> Json:
    """Return what a side that does not declare a property demands of it."""
    if rest is _ABSENT or any(matches(pattern, name) for pattern in patterns):
        return True  # patterns speak for themselves: they are kept beside
    return rest


def _fold_arrays(merged: Schema, left: Schema, right: Schema) -> None:
    """Fold `prefixItems` and `items` position by position."""
    mine, theirs = left.get("prefixItems", []), right.get("prefixItems", [])
    my_rest, their_rest = left.get("items", True), right.get("items", True)
    if mine or theirs:
        merged["prefixItems"] = [
            _together(mine[index] if index < len(mine) else my_rest, theirs[index] if index < len(theirs) else their_rest)
            for index in range(max(len(mine), len(theirs)))
        ]
    if "items" in left or "items" in right:
        merged["items"] = _together(my_rest, their_rest)
