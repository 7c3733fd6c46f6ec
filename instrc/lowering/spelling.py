"""Spell a finished schema as Gemini's `Schema` object or as the inputs of a smolagents tool do, and read it back.

The walker writes JSON Schema only; these two targets say the same with other words.
"""

from __future__ import annotations

from typing import Any

from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.notes import joined

_TYPES = ("string", "integer", "number", "boolean", "object", "array")


def spelled(schema: dict[str, Any], spelling: str) -> Json:
    """Return a schema in the spelling of a target."""
    if spelling == "openapi":
        return _openapi(schema)
    if spelling == "smolagents":
        return _inputs(schema)
    return schema


def standard(schema: Json, spelling: str) -> Json:
    """Return the JSON Schema that a schema in the spelling of a target stands for."""
    if spelling == "openapi":
        return _from_openapi(schema)
    if spelling == "smolagents":
        return _from_inputs(schema)
    return schema


def _openapi(schema: Json) -> Json:
    """Write types in capitals, and null as `nullable`."""
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        match keyword:
            case "type":
                types = [value] if isinstance(value, str) else list(value)
                if "null" in types:
                    result["nullable"] = True
                    types.remove("null")
                result["type"] = types[0].upper()
            case "enum":
                result["enum"] = [item for item in value if item is not None]
            case "properties":
                result["properties"] = {name: _openapi(child) for name, child in value.items()}
            case "items":
                result["items"] = _openapi(value)
            case "anyOf":
                branches = [_openapi(child) for child in value if child != {"type": "null"}]
                if len(branches) < len(value):
                    result["nullable"] = True
                if len(branches) == 1:
                    text = joined(result.get("description"), branches[0].get("description"))
                    result = {**result, **branches[0], **({"description": text} if text else {})}
                else:
                    result["anyOf"] = branches
            case _:
                result[keyword] = value
    return result


def _from_openapi(schema: Json) -> Json:
    result: dict[str, Any] = {}
    nullable = schema.get("nullable") is True
    for keyword, value in schema.items():
        match keyword:
            case "type":
                result["type"] = [value.lower(), "null"] if nullable else value.lower()
            case "enum":
                result["enum"] = [*value, None] if nullable else value
            case "properties":
                result["properties"] = {name: _from_openapi(child) for name, child in value.items()}
            case "items":
                result["items"] = _from_openapi(value)
            case "anyOf":
                result["anyOf"] = [*(_from_openapi(child) for child in value), *([{"type": "null"}] if nullable else [])]
            case "nullable":
                pass
            case _:
                result[keyword] = value
    return result


def _inputs(schema: dict[str, Any]) -> Json:
    """Write the properties of the root as inputs: each with a type and a description, optional ones `nullable`."""
    required = set(schema.get("required", ()))
    inputs: dict[str, Json] = {}
    for name, child in schema.get("properties", {}).items():
        typed = {"type": _types_of(child)} if "type" not in child else {}
        described = {"description": name.replace("_", " ").strip() or name} if not child.get("description") else {}
        inputs[name] = {**typed, **described, **child, **({} if name in required else {"nullable": True})}
    return inputs


def _types_of(schema: Json) -> Json:
    """Return the types of a schema that names none itself."""
    if "anyOf" in schema:
        kinds: dict[str, None] = {}
        for branch in schema["anyOf"]:
            found = branch.get("type", _types_of(branch))
            kinds.update(dict.fromkeys([found] if isinstance(found, str) else found))
        if "any" in kinds:
            return "any"
        return next(iter(kinds)) if len(kinds) == 1 else list(kinds)
    return "any"


def _from_inputs(inputs: Json) -> Json:
    properties: dict[str, Json] = {}
    for name, child in inputs.items():
        rest = {keyword: value for keyword, value in child.items() if keyword != "nullable"}
        types = rest.get("type")
        if types == "any":
            del rest["type"]
        if child.get("nullable") is True:
            rest = {"anyOf": [rest, {"type": "null"}]}
        properties[name] = rest
    required = [name for name, child in inputs.items() if child.get("nullable") is not True]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
