"""Tell whether the branches of `oneOf` exclude each other, so that `anyOf` says the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of
from instrc.lowering.variants import listed_values
from instrc.lowering.walk import Walk


def exclusive(lowerer: Walk, schemas: list[Json]) -> bool:
    """Say whether no value satisfies two of the schemas, as far as types and constants tell."""
    if len(schemas) > 60:
        return False
    return all(_disjoint(lowerer, left, right, 0) for left, right in combinations(schemas, 2))


def _disjoint(lowerer: Walk, left: Json, right: Json, depth: int) -> bool:
    if left is False or right is False:
        return True
    if not isinstance(left, dict) or not isinstance(right, dict) or depth > 4:
        return False
    left, right = _seen_through(lowerer, left), _seen_through(lowerer, right)
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    mine, theirs = _kinds(left), _kinds(right)
    if mine is not None and theirs is not None and not mine & theirs:
        return True
    my_values, their_values = _listed(left), _listed(right)
    if my_values is not None and their_values is not None:
        return not my_values & their_values
    if mine == {"object"} and theirs == {"object"}:
        needed = set(left.get("required") or ()) & set(right.get("required") or ())
        here, there = left.get("properties") or {}, right.get("properties") or {}
        return any(name in here and name in there and _disjoint(lowerer, here[name], there[name], depth + 1) for name in needed)
    return False


def _seen_through(lowerer: Walk, schema: Json) -> Json:
    for _ in range(5):
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        schema = lowerer.target(schema["$ref"])
    return schema


def _kinds(schema: dict[str, Any]) -> set[str] | None:
    listed = _listed(schema)
    if listed is not None:
        return {kind_of(value) for value in listed_values(schema)} | (
            {"number"} if any(kind_of(value) == "integer" for value in listed_values(schema)) else set()
        )
    types = schema.get("type")
    if types is None:
        return None
    kinds = {types} if isinstance(types, str) else set(types)
    return kinds | {"integer"} if "number" in kinds else kinds


def _listed(schema: dict[str, Any]) -> set[Any] | None:
    return {freeze(value) for value in listed_values(schema)} if schema.keys() & {"const", "enum"} else None
