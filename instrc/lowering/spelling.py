"""Spell a finished schema as a target writes it, and read it back.

The walker writes JSON Schema only; some targets say the same with other words: types in capitals, `nullable`, inputs.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.dialect import Spelling
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.notes import joined

_TYPES = ("string", "integer", "number", "boolean", "object", "array")


def spelled(schema: Json, spelling: Spelling) -> Json:
    """Return a schema in the spelling of a target."""
    if not isinstance(schema, dict):
        return schema
    if spelling.inputs:
        return _inputs(schema)
    return _respelled(schema, spelling) if spelling.capitals or spelling.nullable else schema


def standard(schema: Json, spelling: Spelling) -> Json:
    """Return the JSON Schema that a schema in the spelling of a target stands for."""
    if spelling.inputs:
        return _from_inputs(schema)
    return _read(schema) if spelling.capitals or spelling.nullable else schema


def _respelled(schema: Json, spelling: Spelling) -> Json:
    """Write types in capitals and null as `nullable`, or one of the two."""
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        match keyword:
            case "type":
                result |= _types(value, spelling)
            case "enum" if spelling.nullable:
                result["enum"] = [item for item in value if item is not None]
            case "properties" | "$defs":
                result[keyword] = {name: _respelled(child, spelling) for name, child in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                result[keyword] = _respelled(value, spelling)
            case "anyOf":
                others = [child for child in value if not _is_null(child, spelling)]
                head = result if len(others) == len(value) else {**result, "nullable": True}
                result = _union(head, [_respelled(child, spelling) for child in others])
            case _:
                result[keyword] = value
    return result


def _types(value: Json, spelling: Spelling) -> dict[str, Any]:
    types = [value] if isinstance(value, str) else list(value)
    written: dict[str, Any] = {}
    if spelling.nullable and "null" in types:
        written["nullable"] = True
        types.remove("null")
    names = [name.upper() if spelling.capitals else name for name in types]
    return {**written, "type": names[0] if len(names) == 1 else names}


def _is_null(schema: Json, spelling: Spelling) -> bool:
    return spelling.nullable and bool(schema == {"type": "null"})


def _union(head: dict[str, Any], branches: list[Json]) -> dict[str, Any]:
    """Return a union with what stands before it; one of a single branch is that branch."""
    if len(branches) > 1:
        return {**head, "anyOf": branches}
    text = joined(head.get("description"), branches[0].get("description"))
    return {**head, **branches[0], **({"description": text} if text else {})}


def _read(schema: Json) -> Json:
    result: dict[str, Any] = {}
    nullable = schema.get("nullable") is True
    for keyword, value in schema.items():
        match keyword:
            case "type":
                types = [name.lower() for name in ([value] if isinstance(value, str) else value)]
                types += ["null"] if nullable else []
                result["type"] = types[0] if len(types) == 1 else types
            case "enum":
                result["enum"] = [*value, None] if nullable else value
            case "properties" | "$defs":
                result[keyword] = {name: _read(child) for name, child in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                result[keyword] = _read(value)
            case "anyOf":
                result["anyOf"] = [*(_read(child) for child in value), *([{"type": "null"}] if nullable else [])]
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
