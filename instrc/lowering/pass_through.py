"""Carry a schema over with new keys only, for targets that take all of JSON Schema but not any key or root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instrc.codecs.writing import to_json
from instrc.ir.codec import BoxCodec, Codec, NamesCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import as_array, at
from instrc.lowering.built import SAYING_NOTHING, Built
from instrc.lowering.constraints import constraints
from instrc.lowering.losses import Loss
from instrc.lowering.names import key_names
from instrc.lowering.renamed import rename_properties
from instrc.schema.walk import rebuild, walk


def pass_through(flat: Json, dialect: Dialect) -> Built:
    """Carry a schema over with new keys, and with an object at its root if the target asks for one."""
    losses: list[Loss] = []
    keys = key_names(dialect.key, flat)
    schema = flat if dialect.comments else _without_comments(flat, losses)
    codec: Codec = None
    back = keys.renamed()
    if back:
        schema = rename_properties(schema, keys)
        losses += _of_names(flat)
    if back or (dialect.fold and _lists_words(flat)):
        codec = NamesCodec(back, dialect.fold)
    if dialect.root == "any":
        return Built(schema, {"codec": to_json(codec)}, losses, back)
    if isinstance(schema, dict) and "$ref" in schema and not schema.keys() - SAYING_NOTHING - {"$ref"}:
        schema = _inline_root(schema)
    if schema is True or schema == {} or (isinstance(schema, dict) and not schema.keys() - SAYING_NOTHING):
        losses.append(Loss("", "type", None, "convention", "is not given: a tool's arguments are an object"))
        schema = {"type": "object", **(schema if isinstance(schema, dict) else {})}
    elif isinstance(schema, dict) and "type" not in schema and "properties" in schema and schema.keys().isdisjoint(_COMBINATORS):
        losses.append(Loss("", "type", None, "convention", "is not given: what has properties is taken for an object"))
        schema = {"type": "object", **schema}
    plain = isinstance(schema, dict) and schema.get("type") == "object"
    if plain and (dialect.root == "object" or schema.keys().isdisjoint(_COMBINATORS)):
        schema = (
            {keyword: value for keyword, value in schema.items() if keyword != "$schema"} if dialect.root == "plain" else schema
        )
        return Built(schema, {"codec": to_json(codec)}, losses, back)
    inner = (
        {key: value for key, value in schema.items() if key not in {"$defs", "$schema"}} if isinstance(schema, dict) else schema
    )
    definitions = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
    boxed = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
        **definitions,
    }
    return Built(_redirect_root(boxed), {"codec": to_json(BoxCodec("value", codec))}, losses, back)


def _without_comments(flat: Json, losses: list[Loss]) -> Json:
    """Return a schema without what is written for people and programs; each keyword of it is a loss."""
    for place, keyword, value in constraints(flat):
        if keyword.startswith("x-"):
            losses.append(Loss(place, keyword, value, "annotation", "is not for models"))

    def change(node: Json) -> Json:
        if any(keyword == "$comment" or keyword.startswith("x-") for keyword in node):
            return {keyword: value for keyword, value in node.items() if keyword != "$comment" and not keyword.startswith("x-")}
        return node

    return rebuild(flat, change) if isinstance(flat, dict) else flat


def _of_names(flat: Json) -> Iterator[Loss]:
    """Yield what is lost of the keywords that look at names, when some are sent under another one."""
    held = list(constraints(flat))
    patterned = {place for place, keyword, _ in held if keyword == "patternProperties"}
    for place, keyword, value in held:
        if keyword == "propertyNames":
            yield Loss(place, keyword, value, "unenforced", "is left out, because keys are sent under other names")
            yield Loss(place, keyword, value, "narrowed", "is left out, which inside of a negation narrows")
        elif keyword == "patternProperties":
            yield Loss(place, keyword, value, "unenforced", "does not see the names of keys that are sent under others")
            yield Loss(place, keyword, value, "narrowed", "sees other names where keys are sent under them")
        elif keyword in _OF_THE_REST and place in patterned:
            yield Loss(place, keyword, value, "unenforced", "looks at other names where keys are sent under them")
        else:
            continue
        inside = value if keyword == "propertyNames" else {"properties": value if keyword == "patternProperties" else {"": value}}
        for below, part, item in constraints(inside, falsity=True):
            if below or keyword == "propertyNames":
                yield Loss(place, part, item, "part", f"is part of {keyword}")


_OF_THE_REST = frozenset({"additionalProperties", "unevaluatedProperties"})
_COMBINATORS = frozenset({"anyOf", "oneOf", "allOf"})


def _inline_root(schema: dict[str, Any]) -> Json:
    """Replace a reference at the root by what it stands for."""
    for _ in range(20):
        if "$ref" not in schema or not str(schema["$ref"]).startswith("#/"):
            break
        try:
            target = at(schema, schema["$ref"][1:])
        except LookupError:
            break
        if not isinstance(target, dict) or schema.keys() - SAYING_NOTHING - {"$ref"}:
            break
        rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = {**target, **rest}
    return schema


def _redirect_root(boxed: Json) -> Json:
    """Let references to the old root lead to its new place."""

    def change(node: Json) -> Json:
        return {**node, "$ref": "#/properties/value"} if isinstance(node, dict) and node.get("$ref") == "#" else node

    return rebuild(boxed, change)


def _lists_words(schema: Json) -> bool:
    """Say whether any string is listed whose case an answer might change."""
    return any(
        isinstance(node.get("const"), str) or any(isinstance(value, str) for value in as_array(node.get("enum") or []))
        for _, node in walk(schema)
        if isinstance(node, dict)
    )
