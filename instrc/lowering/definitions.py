"""The definitions of a payload: references that are kept, and copies that would be written out too often."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from instrc.dialects.words import DEFINITION_NAME
from instrc.ir.codec import Codec, RefCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject
from instrc.limits.payloads import COPIED_SCHEMAS
from instrc.lowering.names import unique_name
from instrc.lowering.tags import with_tag
from instrc.lowering.variants import Variant
from instrc.schema.walk import subschemas

_PREFIX = "#/$defs/"


class Later(NamedTuple):
    """A definition that is another one, not finished yet, with a key in front that names it."""

    name: str
    tag: str
    label: str


class PayloadDefinitions(Struct, frozen=True, eq=False, gc=False):
    """What the payload defines so far."""

    names: Mapping[Hashable, str] = MappingProxyType({})
    """The definitions of references, by what is referred to."""
    bodies: Mapping[str, JsonObject | None] = MappingProxyType({})
    """Schemas by name; `None` for one that is not finished."""
    codecs: Mapping[str, Codec] = MappingProxyType({})
    options: Mapping[str, str] = MappingProxyType({})
    """The definitions of copies, by what they say."""
    copied: int = 0
    """Schema objects that stand in copies of definitions."""
    later: Mapping[Later, str] = MappingProxyType({})
    labels: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType({})
    """The labels that the copies of a definition begin with, by its name and the key in front."""

    def under_way(self, variant: Variant) -> bool:
        """Say whether a reference leads to a definition that is not finished."""
        return isinstance(variant.codec, RefCodec) and self.bodies.get(variant.codec.name) is None

    def labelled(self, variant: Variant, tag: str, label: str) -> PayloadDefinitions:
        """Return the definitions that know of a label, if the variant is a definition: its next copy can be the same one."""
        key = (definition_name(variant), tag)
        known = self.labels.get(key, ())
        return self if not key[0] or label in known else replace(self, labels={**self.labels, key: (*known, label)})

    def begun(self, key: Hashable, name: str) -> PayloadDefinitions:
        """Return the definitions with one that is not finished."""
        return replace(self.with_body(name, None, None), names={**self.names, key: name})

    def with_body(self, name: str, body: JsonObject | None, codec: Codec) -> PayloadDefinitions:
        """Return the definitions with the schema and the codec of one."""
        return replace(self, bodies={**self.bodies, name: body}, codecs={**self.codecs, name: codec})


def definition_name(variant: Variant) -> str:
    """Return the name of the definition that a variant refers to or is a copy of; an empty text if it is neither."""
    return variant.codec.name if variant.kind == "ref" and isinstance(variant.codec, RefCodec) else variant.definition or ""


def referring(name: str) -> JsonObject:
    """Return a reference to a definition."""
    return {"$ref": f"{_PREFIX}{name}"}


def shared_copy(variant: Variant, definitions: PayloadDefinitions) -> tuple[Variant, PayloadDefinitions]:
    """Refer to the copy of a definition from where it stands, once too much has been copied.

    Unions of objects that lead to each other are copies of copies: written out they double with each of them.
    """
    if variant.definition is None:
        return variant, definitions
    definitions = replace(definitions, copied=definitions.copied + _size(variant.body))
    if definitions.copied <= COPIED_SCHEMAS:
        return variant, definitions
    key = f"{variant.definition} {dumps(variant.body.get('properties', {}), indent=False)}"
    name = definitions.options.get(key)
    if name is None:
        name = unique_name(f"{variant.definition}_option"[: DEFINITION_NAME.most], definitions.bodies, DEFINITION_NAME.most)
        definitions = definitions.with_body(name, variant.body, variant.codec)
        definitions = replace(definitions, options={**definitions.options, key: name})
    return replace(variant, kind="ref", body=referring(name), codec=RefCodec(name)), definitions


def tagged_later(variant: Variant, tag: str, label: str, definitions: PayloadDefinitions) -> tuple[Variant, PayloadDefinitions]:
    """Refer to a definition that is not finished as it will be with a key in front that names it."""
    if not isinstance(variant.codec, RefCodec):
        return variant, definitions
    key = Later(variant.codec.name, tag, label)
    name = definitions.later.get(key)
    if name is None:
        name = unique_name(f"{key.name}_{label}"[: DEFINITION_NAME.most], definitions.bodies, DEFINITION_NAME.most)
        definitions = replace(definitions.with_body(name, None, None), later={**definitions.later, key: name})
    return replace(variant, body=referring(name), codec=RefCodec(name)), definitions


def finished(definitions: PayloadDefinitions, *, constant: bool) -> PayloadDefinitions:
    """Make the definitions that were referred to before what they are made of was there."""
    for key, name in definitions.later.items():
        body, codec = definitions.bodies[key.name], definitions.codecs[key.name]
        if body is not None and body.get("type") == "object" and isinstance(body.get("properties"), dict):
            body, codec = with_tag(body, codec, key.tag, key.label, constant=constant)
        definitions = definitions.with_body(name, body, codec)
    return definitions


def _size(body: Json) -> int:
    """Return how many schema objects are in a schema of the payload."""
    sizes: dict[int, int] = {}

    def size(node: Json) -> int:
        if not isinstance(node, dict):
            return 0
        if id(node) not in sizes:
            sizes[id(node)] = 1 + sum(size(child) for _, child in subschemas(node))
        return sizes[id(node)]

    return size(body)
