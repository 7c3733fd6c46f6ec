"""Which field of a form a JSON Schema is: a text, a number, a choice, a list, an object, or a union of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from instrc.schema.kinds import types_of
from instrc.schema.walk import local_target
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping

FieldKind: TypeAlias = Literal["object", "list", "choice", "line", "text", "date", "number", "any", "json", "union", "fixed"]
LEVELS: Final = 12
"""Fields inside one another; what is deeper is a field for JSON."""


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A schema, read as a field."""

    kind: FieldKind
    schema: JsonObject
    nullable: bool = False
    options: tuple[Json, ...] = ()
    branches: tuple[Json, ...] = ()
    inside: frozenset[str] = frozenset()
    """The references that have led here."""


_NESTED: Final = 2
"""Unions in one another whose alternatives are one list."""
_ALTERNATIVES: Final = 100


def shape_of(schema: Json, root: Json, inside: frozenset[str] = frozenset(), nested: int = 0) -> FieldShape:
    """Return the field for a schema; `nested` counts the unions around it."""
    read, inside = _reads(schema, root, inside)
    if read is None:
        return FieldShape("json", mapping(schema), inside=inside)
    if isinstance(listed := read.get("enum"), list):
        return FieldShape("choice", read, options=tuple(listed), inside=inside)
    if "const" in read:
        return FieldShape("choice", read, options=(read["const"],), inside=inside)
    named = [word for word in _UNIONS if word in read]
    types = types_of(read.get("type")) or _guessed(read)
    nullable = "null" in types
    types = tuple(each for each in types if each != "null")
    if len(named) == 1 and read.keys() - {named[0], "type", "discriminator"} <= _ABOUT and nested < _NESTED:
        return _union(read, listing(read[named[0]]), root, inside, nested)
    if len(types) > 1:
        each = tuple({**read, "type": each, "title": "", "description": ""} for each in types)
        return FieldShape("union", read, nullable, branches=each, inside=inside)
    if not types and read.keys() <= _ABOUT:
        return FieldShape("any", read, inside=inside)
    if not types:
        return FieldShape("choice" if nullable else "json", read, nullable, (None,) if nullable else (), inside=inside)
    kind = _kind(read, types[0])
    values = (True, False, None) if nullable else (True, False)
    return FieldShape(kind, read, nullable, values if kind == "choice" else (), inside=inside)


_UNIONS: Final = ("anyOf", "oneOf")
_ABOUT: Final = frozenset({"title", "description", "default", "examples", "$comment", "$schema", "$defs", "$id", "deprecated"})
_CONDITIONS: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas")
"""Where a schema says more of the same value."""
_OPEN: Final = ("patternProperties", "$dynamicRef", "$ref")
"""What has no fields of its own."""
_LINES: Final = frozenset(
    {"date-time", "time", "duration", "email", "idn-email", "uri", "iri", "uuid", "hostname", "ipv4", "ipv6"}
)


def _reads(schema: Json, root: Json, inside: frozenset[str]) -> tuple[JsonObject | None, frozenset[str]]:
    """Return a schema without references at its top, or `None` if they are circular, or it has keywords that no field shows."""
    for _ in range(LEVELS):
        if not isinstance(schema, dict):
            break
        both, reference = schema.get("allOf"), schema.get("$ref")
        if isinstance(both, list) and len(both) == 1 and schema.keys() - {"allOf"} <= _ABOUT:
            target = both[0]
        elif isinstance(reference, str) and schema.keys() - {"$ref"} <= _ABOUT:
            target = local_target(root, reference)
            if reference in inside or target is None:
                break
            inside |= {reference}
        else:
            return schema, inside
        told: JsonObject = {key: schema[key] for key in ("title", "description") if key in schema}
        schema = {**target, **told} if isinstance(target, dict) else None
    return None, inside


SHORT: Final = 120
"""A text of at most so many characters has one line."""


def _guessed(schema: JsonObject) -> tuple[str, ...]:
    """Return the type of a schema without `type`, by its other keywords."""
    return ("object",) if "properties" in schema else ("array",) if "items" in schema or "prefixItems" in schema else ()


def _kind(schema: JsonObject, named: str) -> FieldKind:
    if any(word in schema for word in _OPEN) or not _names_beside(schema) <= mapping(schema.get("properties")).keys():
        return "json"
    match named:
        case "object":
            return "object" if mapping(schema.get("properties")) or schema.get("additionalProperties") is False else "json"
        case "array":
            items = schema.get("items", True)
            return "list" if items not in (True, {}) or "prefixItems" in schema else "json"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "choice"
        case "string":
            return _kind_of_text(schema)
    return "json"


def _kind_of_text(schema: JsonObject) -> FieldKind:
    most, form = schema.get("maxLength"), schema.get("format")
    if form == "date":
        return "date"
    short = isinstance(most, int) and most <= SHORT
    return "line" if short or form in _LINES or "pattern" in schema else "text"


def _names_beside(schema: JsonObject) -> set[str]:
    """Return the properties named by conditions of an object: a form without them could not submit them."""
    found: set[str] = set()
    waiting = [schema[word] for word in _CONDITIONS if word in schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            found |= mapping(each.get("properties")).keys()
            found |= {"$ref"} if "$ref" in each or "patternProperties" in each else set()
            waiting += [each[word] for word in _CONDITIONS if word in each and word != "dependentSchemas"]
    return found


def _union(schema: JsonObject, listed: list[Json], root: Json, inside: frozenset[str], nested: int) -> FieldShape:
    """Return alternatives, with nested ones spliced in, and without null."""
    found: list[Json] = []
    nullable = False
    for branch in listed:
        shape = shape_of(branch, root, inside, nested + 1)
        nullable = nullable or shape.nullable or (shape.kind == "choice" and None in shape.options and len(shape.options) == 1)
        if shape.kind == "json" and any(word in shape.schema for word in _UNIONS):
            return FieldShape("json", schema, inside=inside)  # too deep
        if shape.kind == "union":
            found += shape.branches
        elif shape.options != (None,):
            found.append(branch)
    if len(found) == 1:
        only = shape_of(found[0], root, inside)
        told: JsonObject = {key: schema[key] for key in ("title", "description") if key in schema}
        options = (*only.options, None) if only.kind == "choice" and nullable and None not in only.options else only.options
        return FieldShape(only.kind, {**only.schema, **told}, nullable, options, only.branches, only.inside)
    kind: FieldKind = "union" if 0 < len(found) <= _ALTERNATIVES else "json"
    return FieldShape(kind, schema, nullable, branches=tuple(found), inside=inside)


def fixed_values(schema: JsonObject, root: Json) -> dict[str, Json]:
    """Return the properties that distinguish an alternative: choosing it sets them to their only value."""
    required = listing(schema.get("required"))
    read = {name: shape_of(part, root) for name, part in mapping(schema.get("properties")).items() if name in required}
    return {name: shape.schema["const"] for name, shape in read.items() if "const" in shape.schema}
