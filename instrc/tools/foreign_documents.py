"""Recognise JSON documents that are not JSON Schemas, and name the command for each."""

from __future__ import annotations

from msgspec import Struct

from instrc.schema.kinds import TYPES
from instrc.schema.vocabulary import JSON_SCHEMA, KNOWN
from instrc.schema.walk import is_schema
from instrc.text.jsonvalue import Json
from instrc.tools import definitions

_SAYING = JSON_SCHEMA - {"title", "description", "id", "default", "examples", "format", "type", "pattern", "items", "required"}
"""Keywords that are rarely used as property names."""
_OF_SCHEMAS = _SAYING | {"$schema"}
_MARKS = frozenset({*definitions.AS_SENT, "toolConfig", "openapi", "swagger", "tools", "schema", "tool", "codec", "program"})
"""Keys without which a document with schema keywords can only be a schema."""


_WORKFLOWS = {"n8n": {"nodes", "connections"}, "AWS Step Functions": {"StartAt", "States"}}


class Foreign(Struct, frozen=True):
    """The name of a kind of document, as the object of a sentence, and the command to use."""

    kind: str
    way_out: str
    importer: str | None = None
    """Kind of import that reads it, if it is a single tool."""


def foreign(document: Json, file: str) -> Foreign | None:
    """Return the kind of a document that is certainly not a JSON Schema; `file` is its name in the suggested command."""
    if not isinstance(document, dict):
        return None
    if _MARKS.isdisjoint(document) and not _OF_SCHEMAS.isdisjoint(document):
        return None  # as most are
    if (tool := definitions.of_provider(document)) is not None:
        kind, importer = tool
        return Foreign(kind, f"`instrc import {importer} {file} -o schemas/` makes a vibe of it", importer)
    if isinstance(document.get("schema"), dict):
        return None  # a record
    if isinstance(document.get("tool"), dict) and "activity" in document and "arguments" in document:
        return Foreign("a compiled direct call", "keep the program that it was compiled from, not its artefact")
    if isinstance(document.get("codec"), dict | list) and "target" in document:
        return Foreign("the map of a lowered tool", "give it to `instrc lift --map`; a vibe is the schema itself")
    for name, marks in _WORKFLOWS.items():
        if document.keys() >= marks:
            return Foreign(f"a workflow of {name}", "write it as a program, in a file that ends in `.aug`")
    if _is_map_of_properties(document):
        return Foreign("a map of properties", 'write `{ "type": "object", "properties": { … } }` around it')
    if isinstance(document.get("program"), str | list | dict) and not document.keys() & JSON_SCHEMA - {"title", "description"}:
        return Foreign("a program written as JSON", "write programs as text, in a file that ends in `.aug`")
    return None


def _is_map_of_properties(document: dict[str, Json]) -> bool:
    """Return whether each key is a name and each value a schema: `{ "city": { "type": "string" } }`."""
    if not document or not _OF_SCHEMAS.isdisjoint(document):
        return False
    return all(isinstance(value, dict) and _looks_like_a_schema(value) for value in document.values())


def _looks_like_a_schema(value: dict[str, Json]) -> bool:
    said = value.get("type")
    typed = (isinstance(said, str) and said in TYPES) or (isinstance(said, list) and bool(said))
    parts = ("properties", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "items")
    return is_schema(value) and value.keys() <= KNOWN and (typed or any(part in value for part in parts))
