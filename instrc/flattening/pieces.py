"""Read what the schemas of a conjunction say: the schemas themselves, and the branches of their `allOf`."""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from instrc.jsonvalue import Json, JsonArray, JsonObject
from instrc.limits.schemas import MANY_TERMS
from instrc.schema.resources import DynamicScope, Term

_DICTS = frozenset({dict})


class Pieces(Struct, frozen=True, eq=False, gc=False):
    """What the schemas of a conjunction say, in written order: a schema that says more after its `allOf` has two pieces."""

    said: list[JsonObject]
    key: tuple[int, ...]
    """The `id`s of the schemas that say something."""
    unordered: frozenset[object]
    """The same, in no order."""
    branches: JsonArray
    """The pieces that are branches of an `allOf`."""


def refers(node: Json) -> bool:
    """Tell at a glance that a schema which stands alone is not plain: most of those refer to something first of all."""
    if node.__class__ is not dict or "allOf" not in node or "$ref" in node:
        return True
    branches = node["allOf"]
    return branches.__class__ is list and bool(branches) and branches[0].__class__ is dict and "$ref" in branches[0]


def pieces_of(terms: list[Term], home: DynamicScope) -> Pieces | None:
    """Return what some schemas, and the branches of their `allOf`, say; nothing if one of them is no object."""
    branches: JsonArray = []
    said = [node for node, scope in terms if node.__class__ is dict and node and "allOf" not in node and scope is home]
    if 1 < len(said) == len(terms):
        return of_several(said, list(map(id, said)), branches)
    marks: list[int] = []
    said = []
    for node, scope in terms:
        if node is True:
            continue
        if node.__class__ is not dict or scope is not home:
            return None
        if "allOf" not in node:
            if node:
                said.append(node)
                marks.append(id(node))
            continue
        below = node["allOf"]
        if below.__class__ is not list:
            return None
        before, after = _around(node)
        if before:
            said.append(before)
        if before or after:
            marks.append(id(node))
        if len(below) >= MANY_TERMS and set(map(type, below)) == _DICTS and all(below):
            objects = cast("list[JsonObject]", below)
        else:
            objects = [branch for branch in below if branch.__class__ is dict and branch]
            if len(objects) < len(below) and any(branch.__class__ is not dict and branch is not True for branch in below):
                return None
        said += objects
        marks += map(id, objects)
        branches += objects
        if after:
            said.append(after)
    return of_several(said, marks, branches) if len(marks) > 1 else None


def of_several(said: list[JsonObject], marks: list[int], branches: JsonArray) -> Pieces | None:
    """Return what several schemas say; nothing if one of them is met twice."""
    unordered = frozenset[object](marks)
    return Pieces(said, tuple(marks), unordered, branches) if len(unordered) == len(marks) else None


def _around(node: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return what a schema says before its `allOf`, and after it."""
    own = node.copy()
    del own["allOf"]
    if next(reversed(node)) == "allOf":
        return own, {}
    if next(iter(node)) == "allOf":
        return {}, own
    keywords = list(node)
    place = keywords.index("allOf")
    return {keyword: own[keyword] for keyword in keywords[:place]}, {keyword: own[keyword] for keyword in keywords[place + 1 :]}
