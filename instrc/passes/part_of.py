"""A part of a schema as a schema by itself."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.naming import free_name
from instrc.schema.walk import map_schemas, refers


def part_of(schema: JsonObject, part: Json) -> Json:
    """Return a part of a schema with the definitions that it refers to, the whole schema among them."""
    if not isinstance(part, dict) or not refers(part) or "$defs" in part:
        return part
    definitions = as_object(schema.get("$defs", {}))
    whole = free_name("whole", definitions.__contains__)
    used = False

    def rename(node: Json) -> Json:
        nonlocal used
        if not isinstance(node, dict) or node.get("$ref") != "#":
            return node
        used = True
        return {**node, "$ref": f"#/$defs/{whole}"}

    made = as_object(map_schemas(part, rename))
    definitions = {name: map_schemas(definition, rename) for name, definition in definitions.items()}
    if used:
        definitions[whole] = map_schemas({keyword: value for keyword, value in schema.items() if keyword != "$defs"}, rename)
    return {**made, "$defs": definitions}
