"""What an executor is shown of a chunk: its schema without engine properties, with the definitions it refers to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from instrc.flattening.strip import strip
from instrc.ir.steps import Chunk, Step
from instrc.jsonvalue import Json, as_object
from instrc.schema.reached import reached_definitions

_Change: TypeAlias = Callable[[dict[str, Json]], Json]


def schema_without_engine(chunk: Chunk, steps: tuple[Step, ...], definitions: dict[str, Json], *, alone: bool) -> Json:
    """Return the schema of some steps of a chunk, or of one step `alone`."""
    if alone:
        return with_definitions(strip(steps[0].schema, {"engine"}), definitions)
    schema = chunk.schema
    properties = {step.key: step.schema for step in steps}
    if isinstance(schema.get("properties"), dict):
        schema = {**schema, "properties": properties}
        required = schema.get("required")
        if isinstance(required, list) and len(steps) < len(chunk.steps):
            schema["required"] = [key for key in required if key in properties]
    return with_definitions(strip(schema, {"engine"}), definitions)


def replace_property(schema: Json, place: tuple[str, ...], change: _Change) -> Json:
    """Return a schema in which the property that names lead to is changed; the same where they lead nowhere."""
    if not place:
        return change(schema) if isinstance(schema, dict) else schema
    if not isinstance(schema, dict):
        return schema
    name, rest = place[0], place[1:]
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        return {**schema, "properties": {**properties, name: replace_property(properties[name], rest, change)}}
    branches = schema.get("allOf")
    if isinstance(branches, list):
        return {**schema, "allOf": [replace_property(branch, place, change) for branch in branches]}
    return schema


def definitions_of(document: Json) -> dict[str, Json]:
    """Return the definitions of a process."""
    found = document.get("$defs") if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def with_definitions(schema: Json, definitions: dict[str, Json]) -> Json:
    """Return a schema as a document of its own: with those definitions that it needs."""
    if not definitions or not isinstance(schema, dict):
        return schema
    needed = reached_definitions(schema, definitions)
    return {**schema, "$defs": {**needed, **as_object(schema.get("$defs") or {})}} if needed else schema
