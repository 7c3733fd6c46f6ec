"""Parts of a step's schema: blocks in its slots, what is filled in before somebody is asked, what that somebody gives back."""

from __future__ import annotations

from instrc.emit.definitions import DocumentDefinitions
from instrc.flattening.nullable import nullable
from instrc.ir.chunk_json import beside
from instrc.ir.steps import EngineProperties
from instrc.jsonvalue import Json, JsonObject, as_array, as_object
from instrc.source import Span

_ABOUT_OBJECTS = {"type", "title", "description"}


def put_steps(schema: Json, slots: tuple[str, ...], block: JsonObject, definitions: DocumentDefinitions, at: Span) -> Json:
    """Put an object of steps, written at `at`, into the property that a way of names leads to."""
    above: list[JsonObject] = []
    inside: Json = schema
    for name in slots:
        found = _property(inside, name)
        if found is None or found[0].keys() & {"allOf", "$defs"}:
            part: Json = block
            for each in reversed(slots):
                part = {"properties": {each: part}}
            return definitions.fillable(definitions.intersect([schema, part]), block, at)
        outer, inside = found
        above.append(outer)
    plain = isinstance(inside, dict) and inside.keys() <= _ABOUT_OBJECTS and inside.get("type", "object") == "object"
    made: Json
    if isinstance(inside, dict) and plain and inside.keys().isdisjoint(block.keys() - {"type"}):
        made = {**inside, **block}
    else:
        made = definitions.fillable(definitions.intersect([inside, block]), block, at)
    return _rebuilt(above, slots, made)


def _property(schema: Json, name: str) -> tuple[JsonObject, Json] | None:
    """Return a schema with the one of a property of it; `None` if there is no such property."""
    if not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    return (schema, properties[name]) if isinstance(properties, dict) and name in properties else None


def _rebuilt(above: list[JsonObject], names: tuple[str, ...], made: Json) -> Json:
    """Return the outermost of schemas with another one in the place that names lead to."""
    for outer, name in zip(reversed(above), reversed(names), strict=True):
        made = {**outer, "properties": {**as_object(outer["properties"]), name: made}}
    return made


def beside_property(schema: Json, names: tuple[str, ...], said: EngineProperties) -> Json:
    """Write what is for the engine beside the schema of the property that a way of names leads to.

    It is a property of its own: the schema was composed of the step's and of what stands in its slots.
    """
    above: list[JsonObject] = []
    inside: Json = schema
    for name in names:
        outer = as_object(inside)
        above.append(outer)
        inside = as_object(outer["properties"])[name]
    return _rebuilt(above, names, beside(inside if isinstance(inside, dict) else {}, said))


def has_output(schema: Json) -> bool:
    """Tell whether a step gives something back under `output`."""
    return _property(schema, "output") is not None


def with_null_output(schema: Json) -> Json:
    """Return a step as a model plans it: what somebody else gives back is null for now."""
    whole = as_object(schema)
    properties = as_object(whole["properties"])
    return {**whole, "properties": {**properties, "output": nullable(properties["output"])}}


def answer_of(schema: Json) -> Json:
    """Return the part of a schema that the server gives."""
    output = as_object(as_object(schema)["properties"])["output"]
    return {"type": "object", "properties": {"output": output}, "required": ["output"]}


def input_part(schema: Json) -> Json:
    """Return the part of a schema that is filled in before the server is called."""
    made = dict(as_object(schema))
    made["properties"] = {name: value for name, value in as_object(made["properties"]).items() if name != "output"}
    if "required" in made:
        made["required"] = [name for name in as_array(made["required"]) if name != "output"]
        if not made["required"]:
            del made["required"]
    return made
