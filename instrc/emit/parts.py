"""Parts of a step's schema: blocks in its slots, what is filled in before somebody is asked, what that somebody gives back."""

from __future__ import annotations

from instrc.flattening.flatten import flatten
from instrc.flattening.nullable import nullable
from instrc.ir.chunk_json import beside
from instrc.ir.steps import Engine
from instrc.jsonvalue import AnyJson as Json

_ABOUT_OBJECTS = {"type", "title", "description"}


def put(schema: Json, slots: tuple[str, ...], block: dict[str, Json]) -> Json:
    """Put an object of steps into the property that a way of names leads to."""
    above: list[dict[str, Json]] = []
    inside: Json = schema
    for name in slots:
        properties = inside.get("properties") if isinstance(inside, dict) and "allOf" not in inside else None
        if not isinstance(properties, dict) or name not in properties or "$defs" in inside:
            part: Json = block
            for outer in reversed(slots):
                part = {"properties": {outer: part}}
            return flatten({"allOf": [schema, part]})
        above.append(inside)
        inside = properties[name]
    plain = isinstance(inside, dict) and inside.keys() <= _ABOUT_OBJECTS and inside.get("type", "object") == "object"
    made: Json = {**inside, **block} if plain and inside.keys().isdisjoint(block.keys() - {"type"}) else None
    if made is None:
        made = flatten({"allOf": [inside, block]})
    for outer_schema, name in zip(reversed(above), reversed(slots), strict=True):
        made = {**outer_schema, "properties": {**outer_schema["properties"], name: made}}
    return made


def beside_property(schema: Json, names: tuple[str, ...], said: Engine) -> Json:
    """Write what is for the engine beside the schema of the property that a way of names leads to."""
    above: list[dict[str, Json]] = []
    inside: Json = schema
    for name in names:
        properties = inside.get("properties") if isinstance(inside, dict) else None
        if not isinstance(properties, dict) or name not in properties:
            return schema
        above.append(inside)
        inside = properties[name]
    made = beside(inside if isinstance(inside, dict) else {}, said)
    for outer, name in zip(reversed(above), reversed(names), strict=True):
        made = {**outer, "properties": {**outer["properties"], name: made}}
    return made


def has_output(schema: Json) -> bool:
    """Tell whether a step gives something back under `output`."""
    return isinstance(schema, dict) and "output" in schema.get("properties", {})


def with_null_output(schema: Json) -> Json:
    """Return a step as a model plans it: what somebody else gives back is null for now."""
    properties = schema["properties"]
    return {**schema, "properties": {**properties, "output": nullable(properties["output"])}}


def answer_of(schema: Json) -> Json:
    """Return the part of a schema that the server gives."""
    return {"type": "object", "properties": {"output": schema["properties"]["output"]}, "required": ["output"]}


def inputs_of(schema: Json) -> Json:
    """Return the part of a schema that is filled in before the server is called."""
    made = {**schema, "properties": {name: value for name, value in schema["properties"].items() if name != "output"}}
    if "required" in made:
        made["required"] = [name for name in made["required"] if name != "output"]
        if not made["required"]:
            del made["required"]
    return made
