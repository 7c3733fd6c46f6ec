"""Carry a schema over with new keys only, for targets that take all of JSON Schema but not any key or root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from instrc.codecs.rename_keys import KeyRenamer
from instrc.codecs.writing import to_json
from instrc.ir.codec import BoxCodec, Codec, NamesCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, as_texts, listing, mapping
from instrc.lowering.built import SAYING_NOTHING, Built
from instrc.lowering.losses import Loss, constraints
from instrc.lowering.names import KeyNames, key_names
from instrc.lowering.survey import Survey
from instrc.schema.vocabulary import is_extension
from instrc.schema.walk import map_schemas

_OF_THE_REST = frozenset({"additionalProperties", "unevaluatedProperties"})
_LISTING = frozenset({"const", "enum"})
_COMBINATORS = frozenset({"anyOf", "oneOf", "allOf"})


def pass_through(seen: Survey, dialect: Dialect) -> Built:
    """Carry a schema over with new keys, and with an object at its root if the target asks for one."""
    flat = schema = seen.schema
    losses: list[Loss] = []
    keys = key_names(dialect.key, seen.names)
    if not dialect.comments and any(map(_is_comment, seen.words)):
        losses += _of_comments(flat)
        schema = map_schemas(flat, _without_comments)
    codec: Codec = None
    back = keys.renamed()
    if back:
        schema = _with_names(schema, keys)
        losses += _of_names(flat)
    if back or (dialect.fold and _lists_words(seen.nodes)):
        codec = NamesCodec(back, dialect.fold)
    if dialect.root == "any":
        return Built(schema, {"codec": to_json(codec)}, losses, back=back)
    root = _object_at_root(schema, losses)
    if root is not None and root.get("type") == "object" and (dialect.root == "object" or root.keys().isdisjoint(_COMBINATORS)):
        if dialect.root == "plain" and "$schema" in root:
            root = {keyword: value for keyword, value in root.items() if keyword != "$schema"}
        return Built(root, {"codec": to_json(codec)}, losses, back=back)
    return Built(_boxed(schema if root is None else root), {"codec": to_json(BoxCodec("value", codec))}, losses, back=back)


def _object_at_root(schema: Json, losses: list[Loss]) -> JsonObject | None:
    """Return a schema of which an object can be seen at the root, if it is one; `None` for what is no object of keywords."""
    if schema is True or (isinstance(schema, dict) and not schema.keys() - SAYING_NOTHING):
        losses.append(Loss("", "type", None, "convention", "is not given: a tool's arguments are an object"))
        return {"type": "object", **mapping(schema)}
    if not isinstance(schema, dict):
        return None
    if "type" not in schema and "properties" in schema and schema.keys().isdisjoint(_COMBINATORS):
        losses.append(Loss("", "type", None, "convention", "is not given: what has properties is taken for an object"))
        return {"type": "object", **schema}
    return schema


def _boxed(schema: Json) -> Json:
    """Return an object that holds a value in one property."""
    inner: Json = schema
    if isinstance(schema, dict):
        inner = {key: value for key, value in schema.items() if key not in {"$defs", "$schema"}}
    boxed: JsonObject = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
    }
    if isinstance(schema, dict) and "$defs" in schema:
        boxed["$defs"] = schema["$defs"]
    return map_schemas(boxed, _redirect_root)


def _is_comment(keyword: str) -> bool:
    """Say whether a keyword is written for people and programs."""
    return keyword == "$comment" or is_extension(keyword)


def _of_comments(flat: Json) -> Iterator[Loss]:
    """Yield what is lost of the keywords that are written for programs."""
    for place, keyword, value in constraints(flat):
        if is_extension(keyword):
            yield Loss(place, keyword, value, "annotation", "is not for models")


def _without_comments(node: Json) -> Json:
    if not isinstance(node, dict) or not any(map(_is_comment, node)):
        return node
    return {keyword: value for keyword, value in node.items() if not _is_comment(keyword)}


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


def _redirect_root(node: Json) -> Json:
    """Let a reference to the old root lead to its new place."""
    return {**node, "$ref": "#/properties/value"} if isinstance(node, dict) and node.get("$ref") == "#" else node


def _lists_words(nodes: Iterable[Json]) -> bool:
    """Say whether any string is listed whose case an answer might change."""
    return any(
        isinstance(node.get("const"), str) or any(isinstance(value, str) for value in listing(node.get("enum")))
        for node in nodes
        if isinstance(node, dict) and not _LISTING.isdisjoint(node)
    )


def _with_names(schema: Json, keys: KeyNames) -> Json:
    """Return a schema whose property names are those that are sent."""
    renamer = KeyRenamer(schema, keys.sent)

    def with_values(node: Json) -> Json:
        """Rename the keys in the values that a schema lists, while its properties still have the names they are declared by."""
        if not isinstance(node, dict):
            return node
        new: JsonObject = dict(node)
        for keyword, value in node.items():
            if keyword in {"const", "default", "example"}:
                new[keyword] = renamer.converted(value, [node])
            elif keyword in {"enum", "examples"} and isinstance(value, list):
                new[keyword] = [renamer.converted(item, [node]) for item in value]
        return new

    def with_names(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        new: JsonObject = {keyword: node[keyword] for keyword in node if keyword != "propertyNames"}  # it looks at names
        for keyword, value in new.items():
            if keyword in {"properties", "dependentSchemas"} and isinstance(value, dict):
                new[keyword] = {keys.sent(name): child for name, child in value.items()}
            elif keyword == "required" and isinstance(value, list):
                new[keyword] = [keys.sent(name) for name in as_texts(value)]
            elif keyword == "dependentRequired" and isinstance(value, dict):
                new[keyword] = {
                    keys.sent(name): [keys.sent(needed) for needed in as_texts(needs)] for name, needs in value.items()
                }
        return new

    return map_schemas(map_schemas(schema, with_values), with_names)
