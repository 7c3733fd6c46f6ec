"""Carry a schema over as it is, with new keys where a target's alphabet asks for them."""

from __future__ import annotations

from instrc.codecs.carry import Carrier
from instrc.jsonvalue import Json, JsonObject, as_texts
from instrc.lowering.names import KeyNames
from instrc.schema.walk import rebuild


def rename_properties(schema: Json, keys: KeyNames) -> Json:
    """Return a schema whose property names are those that are sent."""
    carrier = Carrier(schema, keys.sent)

    def with_values(node: Json) -> Json:
        """Rename the keys in the values that a schema lists, while its properties still have the names they are declared by."""
        if not isinstance(node, dict):
            return node
        new: JsonObject = dict(node)
        for keyword, value in node.items():
            if keyword in {"const", "default", "example"}:
                new[keyword] = carrier.carry(value, [node])
            elif keyword in {"enum", "examples"} and isinstance(value, list):
                new[keyword] = [carrier.carry(item, [node]) for item in value]
        return new

    def with_names(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        new: JsonObject = {keyword: node[keyword] for keyword in node if keyword != "propertyNames"}  # it looks at names
        for keyword, value in new.items():
            if keyword in {"properties", "dependentSchemas"} and isinstance(value, dict):
                new[keyword] = {keys.sent(name): child for name, child in value.items()}
            elif keyword == "required" and isinstance(value, list):
                new[keyword] = [keys.sent(name) for name in as_texts(value)]
            elif keyword == "dependentRequired" and isinstance(value, dict):
                new[keyword] = {
                    keys.sent(name): [keys.sent(needed) for needed in as_texts(needs)] for name, needs in value.items()
                }
        return new

    return rebuild(rebuild(schema, with_values), with_names)
