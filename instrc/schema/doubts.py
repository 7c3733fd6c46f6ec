"""Tell quickly whether a schema is one: a table of plain checks over the keywords of JSON Schema 2020-12.

It never lets a place pass that the meta-schema refuses; `wellformed` gives the places that it doubts to the meta-schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject, Location
from instrc.limits.schemas import MANY_AT_ONCE
from instrc.schema.shapes import SOUND
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED
from instrc.schema.walk import is_schema, next_level, objects_below, walk


class Doubt(Struct, frozen=True):
    """A value that may be wrong: of a keyword, or of one member (`step`) of what the keyword holds."""

    node: Location
    keyword: str
    step: str | int | None
    value: Json


def doubtful(schema: Json) -> Iterator[Doubt]:
    """Yield what keeps a schema from being sound beyond doubt, by JSON Schema 2020-12; nothing in most."""
    for path, node in walk(schema):
        yield from _doubts_at(path, node)


def is_sound(schema: Json) -> bool:
    """Tell whether nothing in a schema is doubtful; each part is looked at once, however often it stands in it, or in itself."""
    seen: set[int] = set()
    stack: list[Json] = [schema]
    while stack:
        if len(stack) >= MANY_AT_ONCE:
            fresh = {id(node): node for node in stack if node.__class__ is dict and id(node) not in seen}
            seen |= fresh.keys()
            nodes = list(fresh.values())
            words = frozenset().union(*nodes)
            if not _are_sound(nodes, words):
                return False
            stack = next_level(nodes, words)
            continue
        node = stack.pop()
        if node.__class__ is not dict or id(node) in seen:
            continue
        seen.add(id(node))
        for keyword, value in node.items():
            sound = SOUND.get(keyword)
            if sound is not None and not sound(value):
                return False
        if not HOLDERS.isdisjoint(node):  # most schemas are at the end of their path
            stack += objects_below(node)
    return True


def _are_sound(nodes: list[JsonObject], words: frozenset[str]) -> bool:
    """Tell whether nothing is doubtful in very many schemas themselves; each of their keywords is looked up once for all."""
    return all(all(map(SOUND[keyword], [node[keyword] for node in nodes if keyword in node])) for keyword in words & _JUDGED)


_JUDGED = frozenset(SOUND)


def _doubts_at(path: Location, node: Json) -> Iterator[Doubt]:
    if node.__class__ is not dict:
        return
    for keyword, value in node.items():
        sound = SOUND.get(keyword)
        if sound is None or sound(value):
            continue
        members: list[tuple[str | int, Json]] = []
        if keyword in _MAPS and value.__class__ is dict:
            members = [(name, item) for name, item in value.items() if not is_schema(item)]
        elif keyword in _LISTS and value.__class__ is list:
            members = [(index, item) for index, item in enumerate(value) if not is_schema(item)]
        yield from (Doubt(path, keyword, step, item) for step, item in members)
        if not members:
            yield Doubt(path, keyword, None, value)


_MAPS = NAMED - {"dependencies"}
_LISTS = MANY - {"items"}
