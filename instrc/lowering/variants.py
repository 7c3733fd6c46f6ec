"""One way a value can be written for a target, before the ways are put together into one schema."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from instrc.ir.codec import Codec, TextCodec, ValuesCodec
from instrc.jsonvalue import Json, JsonObject, as_array, freeze
from instrc.schema.equality import EqualityKeys
from instrc.schema.walk import map_schemas


class Variant(Struct, frozen=True, eq=False, gc=False):
    """A schema of one JSON type in the target's words, with the codec of its values."""

    kind: str
    """The JSON type of what is sent; `ref` for a reference, `any` for the empty schema."""
    body: JsonObject
    codec: Codec = None
    notes: tuple[str, ...] = ()
    """Sentences for the description: what the body does not say."""
    text: str | None = None
    """The description of this alternative, if it has its own."""
    title: str | None = None
    definition: str | None = None
    """The definition of the payload that the body is a copy of."""
    node: Json = None
    """The schema it was made of, for losses found later."""
    too_many: bool = False
    """Whether it stands for more alternatives than are kept apart."""

    @property
    def anything(self) -> bool:
        """Whether every JSON value can be written so."""
        return self.kind == "any" or (self.codec.__class__ is TextCodec and self.codec.kinds is None)

    @property
    def written(self) -> bool:
        """Whether the value is JSON written into a string."""
        return self.codec.__class__ is TextCodec

    @property
    def bare(self) -> bool:
        """Whether the variant says a type and nothing else."""
        return len(self.body) == 1 and "type" in self.body and self.codec is None and not self.notes and not self.text

    def after(self, notes: Iterable[str]) -> Variant:
        """Return the variant with sentences in front of its own."""
        before = tuple(text for text in notes if text)
        return replace(self, notes=(*before, *self.notes)) if before else self

    def of(self, node: Json) -> Variant:
        """Return the variant as that of a schema."""
        return self if self.node is node else replace(self, node=node)


def taking_anything(variants: Iterable[Variant]) -> Variant | None:
    """Return the first variant by which every JSON value can be written, if there is one."""
    return next((variant for variant in variants if variant.anything), None)


def without_needless(variants: Sequence[Variant]) -> list[Variant]:
    """Leave out integers beside any number, and strings beside any string."""
    found = list(variants)
    bare = {variant.kind for variant in found if variant.bare}
    if "number" in bare:
        found = [variant for variant in found if not (variant.bare and variant.kind == "integer")]
    if "string" in bare:
        found = [
            variant
            for variant in found
            if variant.kind != "string" or variant.codec is not None or variant.bare or variant.text or variant.notes
        ]
    return found


def distinct(variants: Sequence[Variant]) -> list[Variant]:
    """Return the first of each of the variants that say the same."""
    if len({variant.kind for variant in variants}) == len(variants):
        return list(variants)
    kept: list[Variant] = []
    alike: dict[tuple[str, str | None, object], list[Codec]] = {}
    key_of = EqualityKeys()
    for variant in variants:
        codecs = alike.setdefault((variant.kind, variant.text, key_of(variant.body)), [])
        if variant.codec not in codecs:
            codecs.append(variant.codec)
            kept.append(variant)
    return kept


def null_variant(node: Json = None) -> Variant:
    """Return the variant of null."""
    return Variant("null", {"type": "null"}, node=node)


def listed_values(schema: JsonObject) -> list[Json]:
    """Return the values that `const` or `enum` lists."""
    return [schema["const"]] if "const" in schema else list(as_array(schema.get("enum", [])))


def sent_values(variant: Variant) -> list[Json]:
    """Return what is sent for the values of an enumeration."""
    return list(as_array(variant.body["enum"])) if "enum" in variant.body else [variant.body["const"]]


def pairs_by_sent(variant: Variant) -> dict[Hashable, tuple[Json, Json]]:
    """Return pairs of what is sent and what it means, by what is sent."""
    values = (
        variant.codec.values if isinstance(variant.codec, ValuesCodec) else [(value, value) for value in sent_values(variant)]
    )
    return {freeze(sent): (sent, value) for sent, value in values}


_SAID = frozenset({"title", "description", "default", "propertyOrdering"})


def without_annotations(schema: Json) -> Json:
    """Return a schema without titles, descriptions and other words that no value is judged by."""
    return map_schemas(schema, _plain)


def _plain(node: Json) -> Json:
    if not isinstance(node, dict) or _SAID.isdisjoint(node):
        return node
    plain: JsonObject = {keyword: value for keyword, value in node.items() if keyword not in _SAID}
    return plain
