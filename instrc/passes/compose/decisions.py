"""Tell a decision of a person from what else a person is asked for."""

from __future__ import annotations

from instrc.jsonvalue import Json, as_texts


def only_decides(schema: Json | None) -> bool:
    """Tell whether an answer is a decision and at most a remark, so that it does not hold what was shown."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties:
        return False
    decisions = [each for each in properties.values() if isinstance(each, dict) and _decides(each)]
    others = [each for each in properties.values() if not (isinstance(each, dict) and _decides(each))]
    return bool(decisions) and all(isinstance(each, dict) and "string" in _types(each) for each in others) and len(others) <= 1


def is_decision(schema: Json | None, name: str) -> bool:
    """Tell whether a property of an answer is a decision."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    found = properties.get(name) if isinstance(properties, dict) else None
    return isinstance(found, dict) and _decides(found)


def _decides(schema: dict[str, Json]) -> bool:
    return "enum" in schema or "const" in schema or "boolean" in _types(schema)


def _types(schema: dict[str, Json]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else as_texts(types)
