"""Map a JSON Schema to a form field: a text, a number, a choice, a list, an object, or a union of these."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from instrc.schema.kinds import types_of
from instrc.schema.validation import accepts
from instrc.schema.walk import local_target, without
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping

GroupKind: TypeAlias = Literal["object", "list", "checks", "union"]
FieldKind: TypeAlias = Literal[
    GroupKind, "choice", "line", "text", "date", "moment", "number", "file", "any", "json", "rest", "fixed"
]
"""Kind of field; `checks` selects several of a set of values, `rest` holds an object's remaining members."""
LEVELS: Final = 12
"""Maximum nesting of fields; deeper values become a field for JSON."""


class FieldShape(Struct, frozen=True):
    """A schema, read as a field."""

    kind: FieldKind
    schema: JsonObject
    nullable: bool = False
    options: tuple[Json, ...] = ()
    labels: tuple[str, ...] = ()
    """Titles of the options, if they have any."""
    branches: tuple[Json, ...] = ()
    inside: frozenset[str] = frozenset()
    """References that led here."""
    conditions: tuple[JsonObject, ...] = ()
    """Schemas whose `if` or `dependentSchemas` add members to an object."""


_NESTED: Final = 2
"""Maximum nesting of unions whose alternatives form one list."""
_ALTERNATIVES: Final = 100


def shape_of(schema: Json, root: Json, inside: frozenset[str] = frozenset(), nested: int = 0) -> FieldShape:
    """Return the field for a schema; `nested` counts the unions around it."""
    read, conditions, inside = _resolved(schema, root, inside)
    if read is None:
        return FieldShape("json", mapping(schema), inside=inside)
    if isinstance(listed := read.get("enum"), list):
        return FieldShape("choice", read, options=tuple(listed), inside=inside)
    if "const" in read:
        return FieldShape("choice", read, options=(read["const"],), inside=inside)
    named = [word for word in _UNIONS if word in read]
    types = types_of(read.get("type")) or _guessed(read)
    nullable = "null" in types
    types = tuple(name for name in types if name != "null")
    if len(named) == 1 and nested < _NESTED:
        listed = listing(read[named[0]])
        if read.keys() - {named[0], "type", "discriminator"} <= _ABOUT and not conditions:
            return _union(read, listed, root, inside, nested)
        if types in {(), ("object",)} and _adds_members(read, listed, root, inside):
            base: JsonObject = {key: value for key, value in read.items() if key not in {named[0], "title", "description"}}
            joined: list[Json] = [{"allOf": [branch, base, *conditions]} for branch in listed]
            return _union(read, joined, root, inside, nested)
    if len(types) > 1:
        plain = without(read, *_UNIONS)  # the fields of a choice share a name
        by_type = tuple({**plain, "type": name, "title": "", "description": ""} for name in types)
        return FieldShape("union", read, nullable, branches=by_type, inside=inside)
    if not types and read.keys() <= _ABOUT and not conditions:
        return FieldShape("any", read, inside=inside)
    if not types:
        return FieldShape("choice" if nullable else "json", read, nullable, (None,) if nullable else (), inside=inside)
    kind = "object" if types == ("object",) and conditions else _kind(read, types[0])
    if kind == "list" and (several := _several(read, root, inside)) is not None:
        return FieldShape("checks", read, nullable, several.options, several.labels, inside=inside)
    values = (True, False, None) if nullable else (True, False)
    return FieldShape(kind, read, nullable, values if kind == "choice" else (), inside=inside, conditions=conditions)


_UNIONS: Final = ("anyOf", "oneOf")
_ABOUT: Final = frozenset(
    {"title", "description", "default", "examples", "readOnly", "$comment", "$schema", "$defs", "$id", "deprecated"}
)
_PARTS: Final = 100
"""Maximum schemas that apply to one value; with more it becomes a field for JSON."""
_SOMETIMES: Final = ("if", "then", "else", "dependentSchemas")
_LINES: Final = frozenset(
    {"duration", "email", "idn-email", "uri", "iri", "uri-reference", "uuid", "hostname", "ipv4", "ipv6", "password", "regex"}
)


def _resolved(
    schema: Json, root: Json, inside: frozenset[str]
) -> tuple[JsonObject | None, tuple[JsonObject, ...], frozenset[str]]:
    """Return the schema, references and `allOf` of a value merged into one schema, and its conditions.

    It may accept more than they do, as values are checked by the schema itself. There is none for cyclic references.
    """
    waiting, parts, conditions = [schema], list[JsonObject](), list[JsonObject]()
    for part in waiting:
        if part is True and parts:
            continue
        if not isinstance(part, dict) or len(waiting) > _PARTS:
            return None, (), inside
        if "$ref" in part:
            reference = part["$ref"]
            if not isinstance(reference, str) or reference in inside or (target := local_target(root, reference)) is None:
                return None, (), inside
            inside |= {reference}
            waiting.append(target)
        waiting += listing(part.get("allOf"))
        parts.append({key: value for key, value in part.items() if key not in {"$ref", "allOf", *_SOMETIMES}})
        conditions += [{key: part[key] for key in _SOMETIMES if key in part}] if {"if", "dependentSchemas"} & part.keys() else []
    return _joined(parts), tuple(conditions), inside


def _joined(parts: list[JsonObject]) -> JsonObject:
    """Return one schema for several of the same value: the keywords of the first ones, and the members of all."""
    whole = parts[0]
    for part in parts[1:]:
        members = dict(mapping(whole.get("properties")))
        for name, schema in mapping(part.get("properties")).items():
            members[name] = {"allOf": [members[name], schema]} if name in members else schema
        both = {**part, **whole}
        both |= {"properties": members} if members else {}
        needed = [*listing(whole.get("required")), *listing(part.get("required"))]
        both |= {"required": needed} if needed else {}
        if "type" in whole and "type" in part:
            common = _types(whole) & _types(part)
            both["type"] = [*sorted(common - {"integer"} if "number" in common else common)]
        whole = both
    return whole


def _types(schema: JsonObject) -> set[str]:
    names = types_of(schema["type"]) or ()
    return {*names, *(["integer"] if "number" in names else [])}


def additions(shape: FieldShape, root: Json, value: JsonObject | None) -> tuple[dict[str, Json], set[str]]:
    """Return the members that an object's conditions add for a value, and the names that they require.

    Without a value, include all conditions.
    """
    definitions = mapping(root).get("$defs")
    members, waiting = dict[str, Json](), [*shape.conditions]
    pairs = mapping(shape.schema.get("dependentRequired")).items()
    needed = {name for given, names in pairs if value is None or given in value for name in listing(names)}
    for condition in waiting:
        for schema in _holding(condition, value, definitions) if len(waiting) < _PARTS else ():
            read, inner, _ = _resolved(schema, root, shape.inside)
            members |= mapping(mapping(read).get("properties"))
            needed |= {*listing(mapping(read).get("required"))}
            waiting += inner
    return {name: part for name, part in members.items() if part is not False}, {name for name in needed if isinstance(name, str)}


def _holding(condition: JsonObject, value: JsonObject | None, definitions: Json) -> list[Json]:
    """Return the schemas that a condition applies to a value, or to any value if there is none."""
    dependent = mapping(condition.get("dependentSchemas"))
    asked = [schema for name, schema in dependent.items() if value is None or name in value]
    if "if" in condition:
        holds = value is not None and accepts(condition["if"], value, definitions)
        words = ("then", "else") if value is None else ("then",) if holds else ("else",)
        asked += [condition[word] for word in words if word in condition]
    return asked


SHORT: Final = 120
"""Maximum characters of a text with a single-line field."""


def _guessed(schema: JsonObject) -> tuple[str, ...]:
    """Return the type of a schema without `type`, by its other keywords."""
    return ("object",) if "properties" in schema else ("array",) if "items" in schema or "prefixItems" in schema else ()


def _kind(schema: JsonObject, named: str) -> FieldKind:
    if "$dynamicRef" in schema:
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


def _several(schema: JsonObject, root: Json, inside: frozenset[str]) -> FieldShape | None:
    """Return the choice from which a list takes distinct values, or `None` for any other list."""
    if schema.get("uniqueItems") is not True or "prefixItems" in schema:
        return None
    shape = shape_of(schema["items"], root, inside)
    return shape if shape.kind == "choice" and len(shape.options) <= _CHECKS else None


_CHECKS: Final = 40
"""Maximum values of a list shown as check boxes."""


_WRITTEN: Final = r"text/|application/(.*\+)?(json|xml|yaml|toml)$"
"""Media types of texts that are written in a field."""


def _kind_of_text(schema: JsonObject) -> FieldKind:
    most, form = schema.get("maxLength"), schema.get("format")
    if form in {"date", "date-time", "time"}:
        return "date" if form == "date" else "moment"
    short = isinstance(most, int) and most <= SHORT
    media = schema.get("contentMediaType")
    if isinstance(media, str) and "contentEncoding" not in schema and re.match(_WRITTEN, media) is None:
        return "file"
    return "line" if short or form in _LINES or "pattern" in schema else "text"


def has_rest(schema: JsonObject) -> bool:
    """Return whether an object describes members that it does not name."""
    described = [schema.get(word) for word in ("patternProperties", "additionalProperties", "unevaluatedProperties")]
    return any(isinstance(part, dict) and part for part in described)


def is_read_only(schema: Json, root: Json) -> bool:
    """Return whether a value is not to be entered by people."""
    read = _resolved(schema, root, frozenset())[0] if isinstance(schema, dict) else None
    return read is not None and read.get("readOnly") is True


def _adds_members(schema: JsonObject, listed: list[Json], root: Json, inside: frozenset[str]) -> bool:
    """Return whether an alternative has members that the enclosing schema lacks."""
    known = mapping(schema.get("properties")).keys()
    read = [_resolved(branch, root, inside)[0] for branch in listed[:_ALTERNATIVES]]
    return any(not mapping(mapping(branch).get("properties")).keys() <= known for branch in read)


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
        about: JsonObject = {key: schema[key] for key in ("title", "description") if key in schema}
        options = (*only.options, None) if only.kind == "choice" and nullable and None not in only.options else only.options
        return structs.replace(only, schema={**only.schema, **about}, nullable=nullable, options=options)
    shapes = [shape_of(branch, root, inside) for branch in found[: _ALTERNATIVES + 1]]
    if found and all("const" in shape.schema for shape in shapes):
        constants = [shape.schema["const"] for shape in shapes] + ([None] if nullable else [])
        titles = [str(shape.schema.get("title") or "") for shape in shapes] + ([""] if nullable else [])
        return FieldShape("choice", schema, nullable, tuple(constants), tuple(titles), inside=inside)
    kind: FieldKind = "union" if 0 < len(found) <= _ALTERNATIVES else "json"
    return FieldShape(kind, schema, nullable, branches=tuple(found), inside=inside)


def fixed_values(schema: JsonObject, root: Json) -> dict[str, Json]:
    """Return the properties that distinguish an alternative: choosing it sets them to their only value."""
    required = listing(schema.get("required"))
    read = {name: shape_of(part, root) for name, part in mapping(schema.get("properties")).items() if name in required}
    return {name: shape.schema["const"] for name, shape in read.items() if "const" in shape.schema}


def is_fixed(branch: Json, root: Json) -> bool:
    """Return whether an alternative is an object of constants, so that choosing it is enough."""
    schema = shape_of(branch, root).schema
    members = mapping(schema.get("properties"))
    return bool(members) and members.keys() == fixed_values(schema, root).keys()
