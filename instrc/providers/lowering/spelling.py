"""Convert a finished schema to the spelling of a target, and back.

The walker writes only JSON Schema; some targets spell it differently: types in capitals, `nullable`, inputs.
"""

from __future__ import annotations

from collections.abc import Iterable

from instrc.providers.dialect import Spelling
from instrc.providers.lowering.context import join_notes
from instrc.schema.kinds import TYPES
from instrc.schema.walk import map_schemas, required_names
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, listing, mapping, optional_text


def respell(schema: Json, spelling: Spelling) -> Json:
    """Return a schema in the spelling of a target."""
    if not isinstance(schema, dict):
        return schema
    if spelling.inputs:
        return _inputs(schema)
    if not spelling.capitals and not spelling.nullable:
        return schema
    return map_schemas(schema, lambda node: _respelled(node, spelling))


def _inputs(schema: JsonObject) -> Json:
    """Write the root properties as inputs: each with a type and a description, optional ones `nullable`."""
    required = set(required_names(schema))
    inputs: JsonObject = {}
    for name, child in mapping(schema.get("properties")).items():
        own = mapping(child)
        whole: JsonObject = {} if "type" in own else {"type": _types_of(own)}
        if not own.get("description"):
            whole["description"] = name.replace("_", " ").strip() or name
        whole |= own
        if name not in required:
            whole["nullable"] = True
        inputs[name] = whole
    return inputs


def _types_of(schema: JsonObject) -> Json:
    """Return the implied types of a schema without `type`."""
    if "anyOf" not in schema:
        return "any"
    kinds: dict[str, None] = {}
    for branch in map(mapping, listing(schema["anyOf"])):
        kinds.update(dict.fromkeys(_names(branch["type"] if "type" in branch else _types_of(branch))))
    return "any" if "any" in kinds else _one_or_all(kinds)


def _names(types: Json) -> list[str]:
    """Return the names of one type or several."""
    return [name for name in ([types] if isinstance(types, str) else listing(types)) if isinstance(name, str)]


def _one_or_all(names: Iterable[str]) -> Json:
    result: JsonArray = [*names]
    return result[0] if len(result) == 1 else result


def _respelled(node: Json, spelling: Spelling) -> Json:
    """Write types in capitals and null as `nullable`, or one of the two, in a schema whose subschemas are already so."""
    null: Json = {"type": "null"} if spelling.nullable else None
    if not isinstance(node, dict) or node == null:
        return node
    result: JsonObject = {}
    for keyword, value in node.items():
        if keyword == "type":
            result |= _types(_names(value), spelling)
        elif keyword == "enum" and spelling.nullable and isinstance(value, list):
            result["enum"] = [item for item in value if item is not None]
        elif keyword == "anyOf" and isinstance(value, list):
            others = [child for child in value if child != null]
            result = _union(result if len(others) == len(value) else {**result, "nullable": True}, others)
        else:
            result[keyword] = value
    return result


def _types(types: list[str], spelling: Spelling) -> JsonObject:
    written: JsonObject = {}
    if spelling.nullable and "null" in types:
        written["nullable"] = True
        types = [name for name in types if name != "null"]
    return {**written, "type": _one_or_all(spelt_type(name, spelling) for name in types)}


def _union(head: JsonObject, branches: JsonArray) -> JsonObject:
    """Return a union with keywords before it; a union of one branch becomes that branch."""
    if len(branches) > 1:
        return {**head, "anyOf": branches}
    branch = mapping(branches[0])
    text = join_notes(optional_text(head.get("description")), optional_text(branch.get("description")))
    described: JsonObject = {"description": text} if text else {}
    return {**head, **branch, **described}


def standard(schema: Json, spelling: Spelling) -> Json:
    """Return the JSON Schema equivalent of a schema in the spelling of a target."""
    if spelling.inputs:
        return _from_inputs(mapping(schema))
    return map_schemas(schema, _read) if spelling.capitals or spelling.nullable else schema


def _from_inputs(inputs: JsonObject) -> Json:
    properties: JsonObject = {}
    for name, child in inputs.items():
        rest: JsonObject = {keyword: value for keyword, value in mapping(child).items() if keyword != "nullable"}
        if not TYPES.issuperset(_names(rest.get("type"))):  # `any`, `image`
            del rest["type"]
        properties[name] = {"anyOf": [rest, {"type": "null"}]} if mapping(child).get("nullable") is True else rest
    required: JsonArray = [name for name, child in inputs.items() if mapping(child).get("nullable") is not True]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _read(node: Json) -> Json:
    """Return a schema whose subschemas are already standard."""
    if not isinstance(node, dict):
        return node
    result: JsonObject = {keyword: value for keyword, value in node.items() if keyword != "nullable"}
    if "type" in node:
        result["type"] = _one_or_all(name.lower() for name in _names(node["type"]))
    if node.get("nullable") is True:
        result |= {"type": _one_or_all([*_names(result["type"]), "null"])} if "type" in node else {}
        result |= {word: [*listing(node[word]), null] for word, null in _NULLS if isinstance(node.get(word), list)}
    return result


_NULLS: tuple[tuple[str, Json], ...] = (("enum", None), ("anyOf", {"type": "null"}))
"""How null is one more alternative of a keyword."""


def spelt_type(name: str, spelling: Spelling) -> str:
    """Return the name of a type as a target writes it."""
    return name.upper() if spelling.capitals else name
