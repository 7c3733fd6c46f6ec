"""Look for the properties of a name anywhere in a document, for references such as `aug:mail#subject`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from instrc.jsonvalue import Json, Location, pointer
from instrc.schema.resources import Resource
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED


class NamedProperties(Struct, frozen=True):
    """The properties of one name in a document, and what else in it has a name."""

    found: list[tuple[str, Json, Resource]]
    """Where each is, its schema, and the resource that this lies in."""
    properties: dict[str, None]
    """The names of all properties."""
    definitions: dict[str, str]
    """The definitions by name, each as a reference to it is written: a name alone finds properties only."""


def properties_named(name: str, root: Json, start: Resource, nested: Mapping[int, Resource]) -> NamedProperties:
    """Return the properties of a name.

    `start` is the resource of the root, `nested` are those below it by the `id` of their own roots.
    """
    all_named = NamedProperties([], {}, {})
    stack: list[tuple[Json, Location, Resource]] = [(root, (), start)]
    while stack:
        node, path, within = stack.pop()
        within = nested.get(id(node), within)
        below: list[tuple[Json, Location, Resource]] = []
        for keyword, value in node.items() if node.__class__ is dict else ():
            if keyword not in HOLDERS:
                continue
            if value.__class__ is dict and keyword in NAMED:
                for key, child in value.items():
                    place = (*path, keyword, key)
                    if keyword == "properties":
                        all_named.properties[key] = None
                        if key == name:
                            all_named.found.append((pointer(place), child, nested.get(id(child), within)))
                    elif keyword in {"$defs", "definitions"}:
                        all_named.definitions[key] = f"#{pointer(place)}"
                    below.append((child, place, within))
            elif value.__class__ is dict:
                below.append((value, (*path, keyword), within))
            elif value.__class__ is list and keyword in MANY:
                below.extend((child, (*path, keyword, index), within) for index, child in enumerate(value))
        stack.extend(reversed(below))
    return all_named
