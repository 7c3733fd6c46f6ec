"""Order the keys of a value as in its schema, the way a model writes them."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.providers.key_renaming import RENAMED_LEVELS, likeness, schemas_of_item, schemas_of_key
from instrc.schema.walk import dereferenced, local_target
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping


class Arranger:
    """Sorts keys in the order of a schema's properties; undeclared keys come last."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def arranged(self, value: Json, schemas: list[Json], level: int = 0) -> Json:
        """Return the value with its keys in the order of the schemas of its place."""
        if level > RENAMED_LEVELS or not isinstance(value, dict | list):
            return value
        nodes = list(self._applying(schemas, value))
        if isinstance(value, list):
            return [self.arranged(item, list(schemas_of_item(nodes, index)), level + 1) for index, item in enumerate(value)]
        declared = (name for node in nodes for name in mapping(node.get("properties")) if name in value)
        ordered = dict.fromkeys((*declared, *value))
        return {
            key: self.arranged(value[key], list(schemas_of_key(nodes, key)), level + 1)
            if isinstance(value[key], dict | list)
            else value[key]
            for key in ordered
        }

    def _applying(self, schemas: list[Json], value: Json) -> Iterator[JsonObject]:
        """Yield the schemas of a place, for unions those of the likeliest alternatives."""
        stack: list[Json] = list(reversed(schemas))
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            for keyword in ("anyOf", "oneOf"):
                like = [(likeness(dereferenced(item, self._root), value), item) for item in listing(node.get(keyword))]
                most = max((rank for rank, _ in like), default=None)
                stack += [item for rank, item in reversed(like) if rank == most]
            stack += [*listing(node.get("allOf")), local_target(self._root, node.get("$ref"))]
