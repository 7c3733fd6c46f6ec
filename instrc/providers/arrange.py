"""Order the keys of a value as in its schema, the way a model writes them."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.providers.key_renaming import RENAMED_LEVELS, likeness, schemas_of_item, schemas_of_key
from instrc.schema.walk import dereferenced, local_target, reached
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping


def arranged(value: Json, root: Json) -> Json:
    """Return a value with its keys in the order of a schema's properties; undeclared keys come last."""
    return _arranged(value, [root], root, 0)


def _arranged(value: Json, schemas: list[Json], root: Json, level: int) -> Json:
    """Return the value with its keys in the order of the schemas of its place."""
    if level > RENAMED_LEVELS or not isinstance(value, dict | list):
        return value
    nodes = list(reached(reversed(schemas), lambda node: _beside(node, value, root)))
    if isinstance(value, list):
        return [_arranged(item, list(schemas_of_item(nodes, index)), root, level + 1) for index, item in enumerate(value)]
    declared = (name for node in nodes for name in mapping(node.get("properties")) if name in value)
    ordered = dict.fromkeys((*declared, *value))
    return {key: _arranged(value[key], list(schemas_of_key(nodes, key)), root, level + 1) for key in ordered}


def _beside(node: JsonObject, value: Json, root: Json) -> Iterator[Json]:
    """Yield the schemas that apply to a value beside one, of unions the likeliest alternatives."""
    for keyword in ("anyOf", "oneOf"):
        like = [(likeness(dereferenced(item, root), value), item) for item in listing(node.get(keyword))]
        most = max((rank for rank, _ in like), default=None)
        yield from (item for rank, item in reversed(like) if rank == most)
    yield from listing(node.get("allOf"))
    yield local_target(root, node.get("$ref"))
