"""Rebuild a schema in a target's own words, with an object at its root."""

from __future__ import annotations

from instrc.codecs.inside import prune
from instrc.ir.codec import BoxCodec, Codec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject
from instrc.limits.payloads import PAYLOAD_LEVELS
from instrc.lowering.built import SAYING_NOTHING, Built
from instrc.lowering.context import Progress, RewriteContext
from instrc.lowering.definitions import PayloadDefinitions, finished
from instrc.lowering.list_variants import list_variants
from instrc.lowering.names import key_names
from instrc.lowering.options import LoweringOptions
from instrc.lowering.rewrites.combine import fit
from instrc.lowering.shared import shared_members
from instrc.lowering.survey import Survey
from instrc.lowering.variants import without_annotations


def rebuild(seen: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    """Rebuild a schema of a target's own words, with an object at its root."""
    flat, keys = seen.schema, key_names(dialect.key, seen.names)
    all_asked = dialect.every_required or (options.ordered and dialect.reorders)
    deepest, recursion = dialect.limits.depth or PAYLOAD_LEVELS, options.recursion or dialect.recursion
    context = RewriteContext(dialect, flat, keys, all_asked, deepest, options.unroll, recursion, options.uniform)
    root, before = _rooted(flat, dialect)
    schema, codec, progress = fit(root, context, before, list_variants)
    found, definitions = _as_object(schema, codec, progress.definitions, dialect)
    if schema is not None and found is None:  # the box is one level more
        schema, codec, progress = fit(root, context.boxed(), before, list_variants)
        found, definitions = _as_object(schema, codec, progress.definitions, dialect)
    if schema is None:
        reason = "nothing satisfies the schema; the answer is found wrong when it is lifted"
        progress = progress.lose(flat, "false", reason=reason).lose_all(flat, "cannot be satisfied", "part")
        found = _empty_object(dialect), None
    body, codec = found or (_boxed(schema or {}, dialect), BoxCodec("value", codec))
    if not definitions.bodies:
        record = shared_members(codec, {}, {})
    else:
        pruned, codecs = prune(codec, definitions.codecs)
        asked = {name: without_annotations(each) for name, each in definitions.bodies.items()}
        record = shared_members(pruned, codecs, asked)
        body = {**body, "$defs": dict(definitions.bodies)}
    return Built(body, record, log=progress.log, back=keys.renamed())


def _rooted(flat: Json, dialect: Dialect) -> tuple[Json, Progress]:
    """Read a tool's schema that says nothing as that of a tool without parameters."""
    if not dialect.tool or not (flat is True or (isinstance(flat, dict) and SAYING_NOTHING.issuperset(flat))):
        return flat, Progress()
    empty: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
    whole: JsonObject = {**flat, **empty} if isinstance(flat, dict) else empty
    return whole, Progress().lose(flat, "type", "convention", "is not given: a tool without parameters")


def _as_object(
    schema: JsonObject | None, codec: Codec, begun: PayloadDefinitions, dialect: Dialect
) -> tuple[tuple[JsonObject, Codec] | None, PayloadDefinitions]:
    """Return a schema that is or refers to an object, with its codec, `None` if it is not one; and what the payload defines."""
    definitions = finished(begun, constant="const" in dialect.keywords) if begun.later else begun
    if schema is not None and schema.get("type") == "object":
        return (schema, codec), definitions
    if schema is not None and "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        inner = definitions.bodies[name]
        if inner is not None and inner.get("type") == "object":
            return (inner, definitions.codecs[name]), definitions
    return None, definitions


def _empty_object(dialect: Dialect) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": {}}
    if dialect.every_required:
        schema["required"] = []
    if dialect.closed:
        schema["additionalProperties"] = False
    if "propertyOrdering" in dialect.keywords:
        schema["propertyOrdering"] = []
    return schema


def _boxed(schema: JsonObject, dialect: Dialect) -> JsonObject:
    """Put a schema that is no object into one, because a tool's arguments are one."""
    if dialect.described and "description" not in schema:
        schema = {"description": "The value.", **schema}
    box = _empty_object(dialect)
    box["properties"] = {"value": schema}
    box["required"] = ["value"]
    if "propertyOrdering" in box:
        box["propertyOrdering"] = ["value"]
    return box
