"""The properties of an object in the forms in which tools list their parameters, and which of them are required."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.jsonvalue import Json, Location, as_object, as_text
from instrc.schema.notes import KeywordReading, Note, Schema, kept_as_written, left_out, read_as
from instrc.schema.vocabulary import HOLDERS

_KEYWORDS_THAT_HOLD_OBJECTS = HOLDERS | {"default", "const", "example", "examples", "discriminator", "xml", "externalDocs"}
_OF_A_SCHEMA = frozenset(
    {"type", "description", "enum", "anyOf", "oneOf", "allOf", "$ref", "properties", "items", "default", "const"}
)
_COMPOSING = frozenset({"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "then", "else", "dependentSchemas", "not"})


def parameters(schema: Schema) -> bool:
    """Tell whether what stands in the place of a schema is parameters by name, as in `{ "city": { "type": "string" } }`."""
    return bool(schema) and all(
        value.__class__ is dict
        and not value.keys().isdisjoint(_OF_A_SCHEMA)
        and name not in _KEYWORDS_THAT_HOLD_OBJECTS
        and not name.startswith(("x-", "$"))
        for name, value in schema.items()
    )


def required_of(schema: Schema) -> dict[str, Json]:
    """Return which of such parameters are required: those that neither say that they are optional nor have a default."""
    objects = [(name, as_object(value)) for name, value in schema.items()]
    names: list[Json] = [name for name, value in objects if "default" not in value and not _optional(value)]
    return {"required": names} if names else {}


def properties_of(schema: Schema, path: Location) -> KeywordReading:
    """Read `properties` as an object: a list of parameters, each with its `name`, is one too."""
    value = schema["properties"]
    if value.__class__ is dict:
        return kept_as_written("properties", schema)
    if value is None:
        return read_as({"properties": {}}, path, value, "no properties")
    if value.__class__ is list and all(item.__class__ is dict and item.get("name").__class__ is str for item in value):
        named: Schema = {
            as_text(item["name"]): {key: part for key, part in item.items() if key != "name"} for item in map(as_object, value)
        }
        return read_as({"properties": named}, path, "properties", "properties by their names", "dialect")
    return KeywordReading({"properties": {}}, left_out(path, "properties", "it is not an object of schemas").notes)


def write_required(out: Schema, schema: Schema, path: Location) -> tuple[Note, ...]:
    """Write into `out` what is required: once each, as a list, and nothing of which nothing is said."""
    properties = out.get("properties")
    of_properties: dict[str, Json] = properties if properties.__class__ is dict else {}
    names, notes = _names(schema, (*path, "required"))
    flagged = {name for name, value in of_properties.items() if value.__class__ is dict and value.get("required") is True}
    optional = {name for name, value in of_properties.items() if value.__class__ is dict and value.get("optional") is True}
    if flagged or optional:
        names = [
            name for name in dict.fromkeys([*names, *(name for name in of_properties if name in flagged)]) if name not in optional
        ]
    alone = of_properties and _COMPOSING.isdisjoint(out) and not out.get("additionalProperties")
    if alone and "patternProperties" not in out and not _within_composition(path):
        for name in names:
            if name not in of_properties:
                notes.append(Note((*path, "required"), name, "repair", "a property of which nothing is said"))
                of_properties[name] = {}
    if names or schema.get("required") == []:
        out["required"] = [*names]
    else:
        out.pop("required", None)
    return tuple(notes)


def _names(schema: Schema, path: Location) -> tuple[list[str], list[Note]]:
    """Return what `required` lists."""
    if "required" not in schema:
        return [], []
    value = schema["required"]
    if value.__class__ is bool:
        return [], [Note(path, value, "dialect", "whether the property is required that it stands in")]
    if value is None:
        return [], [Note(path, value, "left-out", "it is null")]
    if value.__class__ is str:
        return [value], [Note(path, "required", "repair", "a list of one")]
    if value.__class__ is not list:
        return [], [Note(path, "required", "left-out", "it is not a list of names")]
    names = list(dict.fromkeys(_texts(value)))
    if len(list(_texts(value))) < len(value):
        return names, [Note(path, "required", "left-out", "not all in it is a name")]
    return names, [Note(path, "required", "repair", "each name once")] if len(names) < len(value) else []


def _texts(value: list[Json]) -> Iterable[str]:
    return (item for item in value if item.__class__ is str)


def _optional(value: Schema) -> bool:
    written = value.get("type")
    said = written.__class__ is str and "optional" in written.lower()
    return value.get("required") is False or value.get("optional") is True or said


def _within_composition(path: Location) -> bool:
    """Tell whether a schema is one of several that speak about the same object, so that another may describe a name."""
    return len(path) >= 2 and (
        path[-2] in {"allOf", "anyOf", "oneOf", "dependentSchemas"} or path[-1] in {"if", "then", "else", "not"}
    )
