"""The constraints of a schema with their places, for what is told of a schema as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json, pointer
from instrc.schema.vocabulary import NO_ASSERTIONS
from instrc.schema.walk import walk


def constraints(schema: Json, *, falsity: bool = False) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and their places; with `falsity` schemas that are `false`, too, under that word."""
    for path, node in walk(schema):
        if falsity and node is False:
            yield pointer(path), "false", False
        if node.__class__ is dict:
            place = pointer(path)
            yield from ((place, keyword, value) for keyword, value in node.items() if keyword not in NO_ASSERTIONS)


def mentions(schema: Json, keyword: str) -> bool:
    """Say whether a keyword stands anywhere in a schema."""
    return any(node.__class__ is dict and keyword in node for _, node in walk(schema))
