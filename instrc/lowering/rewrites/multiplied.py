"""Count the branches that unions make together where all of them hold, and leave out those that make too many.

Two unions of 10 branches under one `allOf` have 100 ways to hold: a target that takes one union only gets each of them.
"""

from __future__ import annotations

from math import prod

from instrc.jsonvalue import Json, JsonObject, as_array
from instrc.limits.payloads import COMPARED_VARIANTS


def multiplied(node: JsonObject) -> int:
    """Return how many branches a union has with those beside it."""
    return prod(map(_alternatives, as_array(node.get("allOf", []))), start=_alternatives(node))


def with_fewer(node: JsonObject) -> tuple[JsonObject, list[Json]]:
    """Return a union without those beside it that would multiply its branches to many, and these."""
    many = _alternatives(node)
    kept: list[Json] = []
    dropped: list[Json] = []
    for member in as_array(node.get("allOf", [])):
        factor = _alternatives(member)
        if factor == 1 or many * factor <= COMPARED_VARIANTS:
            many *= factor
            kept.append(member)
        else:
            dropped.append(member)
    fewer: JsonObject = {name: value for name, value in node.items() if name != "allOf"} | ({"allOf": kept} if kept else {})
    return fewer, dropped


def _alternatives(schema: Json) -> int:
    """Return by how much a schema multiplies the branches of a union beside it."""
    lists = [schema[word] for word in ("anyOf", "oneOf") if word in schema] if isinstance(schema, dict) else []
    return prod(len(as_array(each)) for each in lists)
