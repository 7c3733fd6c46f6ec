"""Schemas of objects in few words."""

from __future__ import annotations

from typing import Any


def an_object(**properties: Any) -> Any:
    """Return the schema of an object that must have these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def closed(**properties: Any) -> Any:
    """Return the schema of an object that must have these properties, and may have no others."""
    return {**an_object(**properties), "additionalProperties": False}
