"""Carry a schema over as it is, with new keys where a target's alphabet asks for them."""

from __future__ import annotations

from typing import Any

from instrc.codecs.carry import Carrier
from instrc.codecs.positions import mapped
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.names import KeyNames


def renamed(schema: Json, keys: KeyNames) -> Json:
    """Return a schema whose property names are those that are sent."""

    def change(node: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        changed = {keyword: value for keyword, value in new.items() if keyword != "propertyNames"}  # it would look at other names
        for keyword, value in changed.items():
            if keyword in {"properties", "dependentSchemas"} and isinstance(value, dict):
                changed[keyword] = {keys.sent(name): child for name, child in value.items()}
            elif keyword == "required" and isinstance(value, list):
                changed[keyword] = [keys.sent(name) for name in value]
            elif keyword == "dependentRequired" and isinstance(value, dict):
                changed[keyword] = {keys.sent(name): [keys.sent(needed) for needed in needs] for name, needs in value.items()}
            elif keyword in {"const", "default", "example"}:
                changed[keyword] = Carrier(schema, keys.sent).carry(value, [node])
            elif keyword in {"enum", "examples"} and isinstance(value, list):
                changed[keyword] = [Carrier(schema, keys.sent).carry(item, [node]) for item in value]
        return changed

    return mapped(schema, change)
