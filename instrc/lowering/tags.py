"""Let an object begin with a certain key, or with one that names it."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.ir.codec import BoxCodec, Codec, ObjectCodec, Tag, TupleCodec
from instrc.jsonvalue import Json, JsonObject, as_integer, as_object, as_texts


def with_tag(body: JsonObject, codec: Codec, tag: str, label: str, *, constant: bool) -> tuple[JsonObject, Codec]:
    """Return an object that begins with a key that names it, and the codec that knows of it."""
    body = leading(body, tag, {"type": "string", **({"const": label} if constant else {"enum": [label]})})
    for keyword in ("minProperties", "maxProperties"):
        if keyword in body:
            body[keyword] = as_integer(body[keyword]) + 1
    if isinstance(codec, TupleCodec):  # the tag belongs to the object it is written as
        return body, replace(codec, item=_with_tag(codec.item, Tag(tag, label)))
    return body, _with_tag(codec, Tag(tag, label))


def _with_tag(codec: Codec, tag: Tag) -> Codec:
    return replace(codec, tag=tag) if isinstance(codec, ObjectCodec | BoxCodec) else ObjectCodec({}, tag=tag)


def leading(body: JsonObject, name: str, schema: Json) -> JsonObject:
    """Return an object with a property in front of the others; what it returns is new."""
    properties: JsonObject = {name: schema}
    properties |= {key: value for key, value in as_object(body["properties"]).items() if key != name}
    result: JsonObject = {**body, "properties": properties}
    result["required"] = [name, *(key for key in as_texts(body.get("required", [])) if key != name)]
    if "propertyOrdering" in result:
        result["propertyOrdering"] = list(properties)
    return result
