"""Which definitions a schema needs: those that it refers to, those that these refer to, and so on."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import Json
from instrc.schema.members import definition_path
from instrc.schema.walk import objects_below


def reached_definitions(schema: Json, definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the definitions that a schema needs, in the order in which they are first referred to."""
    found: dict[str, Json] = {}
    if not definitions:
        return found
    stack, seen = [schema], set[int]()
    while stack:
        node = stack.pop()
        if node.__class__ is not dict or id(node) in seen:
            continue
        seen.add(id(node))
        for name in definition_path(node)[:1]:
            if name in definitions and name not in found:
                found[name] = definitions[name]
                stack.append(found[name])
        stack.extend(reversed(objects_below(node)))
    return found
