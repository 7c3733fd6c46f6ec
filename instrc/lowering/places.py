"""Places in a document, written out for the few that are told of."""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from instrc.jsonvalue import Json, Location, pointer
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED

PathChain: TypeAlias = "tuple[PathChain, Location] | None"
"""A path as a chain from its last steps to its first, because few paths are ever written out."""


def pointer_of(path: PathChain) -> str:
    """Return the JSON Pointer of a chain of steps."""
    if path is not None and path[0] is None:
        return pointer(path[1])
    steps: list[Location] = []
    while path is not None:
        path, here = path
        steps.append(here)
    return pointer(chain.from_iterable(reversed(steps)))


def places(root: Json) -> dict[int, PathChain]:
    """Return the paths of all schema objects of a document by identity; the first place of a shared one."""
    found: dict[int, PathChain] = {}
    stack: list[tuple[Json, PathChain]] = [(root, None)]
    while stack:
        node, here = stack.pop()
        if node.__class__ is not dict or id(node) in found:
            continue
        found[id(node)] = here
        for keyword, value in node.items():
            if keyword not in HOLDERS:
                continue
            if value.__class__ is dict and keyword in NAMED:
                stack += [(child, (here, (keyword, name))) for name, child in value.items()]
            elif value.__class__ is list and keyword in MANY:
                stack += [(child, (here, (keyword, index))) for index, child in enumerate(value)]
            else:
                stack.append((value, (here, (keyword,))))
    return found
