"""The properties of an object in the forms in which tools list their parameters, and which of them are required."""

from __future__ import annotations

from instrc.importers.given import Given
from instrc.jsonvalue import Json
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import Path

_KEYWORDS_THAT_HOLD_OBJECTS = HOLDERS | {"default", "const", "example", "examples", "discriminator", "xml", "externalDocs"}
_OF_A_SCHEMA = frozenset(
    {"type", "description", "enum", "anyOf", "oneOf", "allOf", "$ref", "properties", "items", "default", "const"}
)
_COMPOSING = frozenset({"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "then", "else", "dependentSchemas", "not"})


def parameters(node: dict[str, Json]) -> bool:
    """Tell whether what stands in the place of a schema is parameters by name, as in `{ "city": { "type": "string" } }`."""
    return bool(node) and all(
        value.__class__ is dict
        and not value.keys().isdisjoint(_OF_A_SCHEMA)
        and name not in _KEYWORDS_THAT_HOLD_OBJECTS
        and not name.startswith(("x-", "$"))
        for name, value in node.items()
    )


def required_of(node: dict[str, Json]) -> dict[str, Json]:
    """Return which of such parameters are required: those that neither say that they are optional nor have a default."""
    names = [name for name, value in node.items() if "default" not in value and not _optional(value)]
    return {"required": names} if names else {}


def properties_of(value: Json, path: Path, given: Given) -> dict[str, Json]:
    """Return `properties` as an object: a list of parameters, each with its `name`, is one too."""
    if value.__class__ is dict:
        return {"properties": dict(value)}
    if value is None:
        return {"properties": {}}
    if value.__class__ is list and all(item.__class__ is dict and item.get("name").__class__ is str for item in value):
        return {"properties": {item["name"]: {key: part for key, part in item.items() if key != "name"} for item in value}}
    given.left_out(path, "properties", "it is no object of schemas")
    return {"properties": {}}


def described(out: dict[str, Json], node: dict[str, Json], path: Path, given: Given) -> None:
    """Settle what is required: once each, as a list, and nothing of which nothing is said."""
    properties = out.get("properties")
    of_properties = properties if properties.__class__ is dict else {}
    names = _names(node.get("required"), (*path, "required"), given)
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
                given.read_as((*path, "required"), name, "a property of which nothing is said")
                of_properties[name] = {}
    if names or node.get("required") == []:
        out["required"] = names
    else:
        out.pop("required", None)


def _names(value: Json, path: Path, given: Given) -> list[str]:
    if value is None or value.__class__ is bool:
        return []
    if value.__class__ is str:
        return [value]
    if value.__class__ is list:
        names = [item for item in value if item.__class__ is str]
        if len(names) < len(value):
            given.left_out(path, "required", "not all in it is a name")
        return list(dict.fromkeys(names))
    given.left_out(path, "required", "it is no list of names")
    return []


def _optional(value: dict[str, Json]) -> bool:
    written = value.get("type")
    said = written.__class__ is str and "optional" in written.lower()
    return value.get("required") is False or value.get("optional") is True or said


def _within_composition(path: Path) -> bool:
    """Tell whether a schema is one of several that speak about the same object, so that another may describe a name."""
    return len(path) >= 2 and (
        path[-2] in {"allOf", "anyOf", "oneOf", "dependentSchemas"} or path[-1] in {"if", "then", "else", "not"}
    )
