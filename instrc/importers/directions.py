"""Properties that only answers have (`readOnly`), or only requests (`writeOnly`): OpenAPI leaves them out of the other one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from instrc.jsonvalue import Json
from instrc.schema.members import conjuncts
from instrc.schema.walk import map_schemas

READ, WRITE = "readOnly", "writeOnly"


class Marks:
    """What the definitions of one document say about the properties that have a mark.

    `definitions` are what `#/$defs/…` leads to, before anything is left out of them.
    """

    def __init__(self, definitions: Mapping[str, Json], mark: str) -> None:
        self.definitions = definitions
        self.mark = mark

    def without(self, schema: Json) -> Json:
        """Return a schema without the properties that have the mark, which nothing requires then."""
        return map_schemas(map_schemas(schema, self._unrequire), self._remove)

    def are_on(self, schema: Json) -> bool:
        """Tell whether a schema has the mark, or something that it consists of."""
        return isinstance(schema, dict) and any(part.get(self.mark) is True for part in conjuncts(schema, self.definitions))

    def _unrequire(self, node: Json) -> Json:
        """Return one schema that requires no marked property, neither itself nor in its `allOf`."""
        if not isinstance(node, dict) or not ("required" in node or "allOf" in node):
            return node
        gone = {name for part in conjuncts(node, self.definitions) for name in self._marked(part)}
        if not gone:
            return node
        made = _not_required(node, gone)
        if isinstance(branches := made.get("allOf"), list):
            made["allOf"] = [_not_required(each, gone) if isinstance(each, dict) else each for each in branches]
        return made

    def _remove(self, node: Json) -> Json:
        """Return one schema without its own marked properties."""
        gone = set(self._marked(node)) if isinstance(node, dict) else set()
        if not gone or not isinstance(node, dict) or not isinstance(properties := node.get("properties"), dict):
            return node
        return {**node, "properties": {name: each for name, each in properties.items() if name not in gone}}

    def _marked(self, node: dict[str, Json]) -> Iterator[str]:
        properties = node.get("properties")
        for name, each in properties.items() if isinstance(properties, dict) else ():
            if self.are_on(each):
                yield name


def _not_required(node: dict[str, Json], gone: set[str]) -> dict[str, Json]:
    """Return a copy of a schema that does not require what is gone."""
    required = node.get("required")
    if not isinstance(required, list):
        return dict(node)
    kept = [name for name in required if name not in gone]
    return {key: kept if key == "required" else value for key, value in node.items() if key != "required" or kept}
