"""Places in a document, written out for the few that are told of."""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from instrc.jsonvalue import Json, Location, pointer
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import subschemas

PathChain: TypeAlias = "tuple[PathChain, Location] | None"
"""A path as a chain from its last steps to its first, because few paths are ever written out."""


def pointer_of(path: PathChain) -> str:
    """Return the JSON Pointer of a chain of steps."""
    steps: list[Location] = []
    while path is not None:
        path, here = path
        steps.append(here)
    return pointer(steps[0] if len(steps) == 1 else chain.from_iterable(reversed(steps)))


def places(root: Json) -> dict[int, PathChain]:
    """Return the paths of all schema objects of a document by identity; the first place of a shared one."""
    found: dict[int, PathChain] = {}
    stack: list[tuple[Json, PathChain]] = [(root, None)]
    while stack:
        node, here = stack.pop()
        if node.__class__ is not dict or id(node) in found:
            continue
        found[id(node)] = here
        if not HOLDERS.isdisjoint(node):
            stack += [(child, (here, path)) for path, child in subschemas(node)]
    return found
