"""Rebuild a schema in a target's own words, with an object at its root."""

from __future__ import annotations

from instrc.codecs.inside import prune
from instrc.ir.codec import BoxCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.built import SAYING_NOTHING, Built
from instrc.lowering.lowerer import SchemaLowerer
from instrc.lowering.shared import shared


def rebuild(flat: Json, aimed: Dialect, *, ordered: bool, unroll: int, recursion: str | None, uniform: bool = False) -> Built:
    """Rebuild a schema of a target's own words, with an object at its root."""
    level = 1
    while True:
        lowerer = SchemaLowerer(aimed, flat, ordered=ordered, unroll=unroll, recursion=recursion, uniform=uniform)
        schema, codec = lowerer.fit(_rooted(flat, lowerer), level)
        lowerer.finish()
        if isinstance(schema, dict) and schema.get("type") == "object":
            break
        if isinstance(schema, dict) and "$ref" in schema:
            inner = lowerer.definitions[schema["$ref"].rsplit("/", 1)[-1]]
            if isinstance(inner, dict) and inner.get("type") == "object":
                schema, codec = inner, lowerer.codecs[schema["$ref"].rsplit("/", 1)[-1]]
                break
        if schema is None:
            lowerer.lose(flat, "false", reason="nothing satisfies the schema; the answer is found wrong when it is lifted")
            lowerer.lose_all(flat, "cannot be satisfied", "part")
            schema, codec = _shut(aimed), None
            break
        if level == 1:  # the box is one level more
            level = 2
            continue
        schema = _boxed(schema, aimed)
        codec = BoxCodec("value", codec)
        break
    pruned, codecs = prune(codec, lowerer.codecs)
    record = shared(pruned, codecs, {name: lowerer.without_annotations(body) for name, body in lowerer.definitions.items()})
    if lowerer.definitions:
        schema = {**schema, "$defs": lowerer.definitions}
    return Built(schema, record, list(lowerer.losses.values()), lowerer.keys.renamed())


def _rooted(flat: Json, lowerer: SchemaLowerer) -> Json:
    """Read a tool's schema that says nothing as that of a tool without parameters."""
    if not lowerer.dialect.tool or not (flat is True or (isinstance(flat, dict) and not flat.keys() - SAYING_NOTHING)):
        return flat
    lowerer.lose(flat, "type", "convention", "is not given: a tool without parameters")
    return {**(flat if isinstance(flat, dict) else {}), "type": "object", "properties": {}, "additionalProperties": False}


def _shut(aimed: Dialect) -> Json:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    if aimed.every_required:
        schema["required"] = []
    if aimed.closed:
        schema["additionalProperties"] = False
    if "propertyOrdering" in aimed.keywords:
        schema["propertyOrdering"] = []
    return schema


def _boxed(schema: Json, aimed: Dialect) -> Json:
    """Put a schema that is no object into one, because a tool's arguments are one."""
    if aimed.described and "description" not in schema:
        schema = {"description": "The value.", **schema}
    box = _shut(aimed)
    box["properties"] = {"value": schema}
    box["required"] = ["value"]
    if "propertyOrdering" in box:
        box["propertyOrdering"] = ["value"]
    return box
