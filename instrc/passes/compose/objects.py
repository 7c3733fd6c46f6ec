"""Tell whether a schema is about objects: a tool is called with one, and a mixin stands its fields beside theirs."""

from __future__ import annotations

from instrc.jsonvalue import Json, listing, mapping
from instrc.limits.programs import OBJECT_SCHEMAS
from instrc.schema.kinds import own_kinds
from instrc.schema.members import definition_named_by


def admits_objects(schema: Json) -> bool:
    """Tell whether some object may satisfy a flat schema, as far as `type`, `const` and `enum` say."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    waiting: list[Json] = [schema]  # each must admit objects
    seen: set[int] = set()
    while waiting and len(seen) < OBJECT_SCHEMAS:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not _says_object(node):
            return False
        if not isinstance(node, dict):
            continue
        waiting.extend(listing(node.get("allOf")))
        for keyword in ("anyOf", "oneOf"):
            choices = listing(node.get(keyword))
            if len(choices) == 1:
                waiting.extend(choices)
            elif choices and not any(map(_says_object, choices)):
                return False
        if name := definition_named_by(node):
            waiting.append(mapping(definitions).get(name, True))
    return True


def _says_object(schema: Json) -> bool:
    """Tell whether a schema by itself lets objects pass."""
    return "object" in own_kinds(schema) if isinstance(schema, dict) else schema is not False
