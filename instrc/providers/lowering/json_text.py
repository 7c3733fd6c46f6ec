"""Write a value as JSON text, if a target has no keywords for its schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from instrc.providers.codec import TextCodec, ValuesCodec
from instrc.providers.lowering.context import WHOLE, RewriteContext, Variant
from instrc.schema.vocabulary import NO_ASSERTIONS
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, kind_of
from instrc.text.sentences import filled

DESCRIBED_SCHEMA: Final = 600
"""Maximum characters of a schema repeated in the description of its JSON text."""


def anything(context: RewriteContext, node: Json) -> Variant:
    """Return the variant of a value without constraints."""
    if context.dialect.anything == "keep":
        return Variant("any", {}, node=node)
    return Variant("string", {"type": "string"}, TextCodec(), (context.sentences.any_json,), node=node)


def anything_variant(context: RewriteContext, node: Json, reason: str) -> Variant:
    """Return the variant of a value whose schema cannot be expressed: one loss that covers all its constraints."""
    context.ledger.lose(node, WHOLE, reason=f"{reason}; it is checked when the answer is lifted", parts=False)
    context.ledger.lose_all(node, "is part of what is checked when the answer is lifted", "part")
    variant = anything(context, node)
    schema: Json = {key: value for key, value in node.items() if key not in NO_ASSERTIONS} if isinstance(node, dict) else node
    text = dumps(schema, indent=False)
    if len(text) > DESCRIBED_SCHEMA:
        text = text[:DESCRIBED_SCHEMA] + "…"
    said = context.sentences.matching_value if variant.kind == "any" else context.sentences.matching_text
    return replace(variant, notes=(filled(said, schema=text),))


def container(context: RewriteContext, node: JsonObject, kind: str, reason: str) -> Variant:
    """Return the variant of an object or array that cannot be expressed."""
    typed: JsonObject = {**node, "type": kind}
    return anything_variant(context, context.ledger.derive(typed, node), reason)


def as_json_text(variants: Sequence[Variant], context: RewriteContext) -> Variant:
    """Return one variant for several indistinguishable strings: JSON text of their types."""
    kinds: dict[str, None] = {}
    notes: dict[str, None] = {}
    for variant in variants:
        if isinstance(variant.codec, TextCodec):
            kinds.update(dict.fromkeys(variant.codec.kinds or ()))
        else:
            values = variant.codec.values if isinstance(variant.codec, ValuesCodec) else (("", ""),)
            kinds.update({kind_of(value) if variant.kind == "string" else variant.kind: None for _, value in values})
            if isinstance(variant.node, dict):
                reason = "shares a string with other values; it is checked when the answer is lifted"
                context.ledger.lose_all(variant.node, reason)
        notes.update(dict.fromkeys(variant.notes))
    first = filled(context.sentences.json_texts, kinds=context.sentences.either.join(kinds))
    return Variant("string", {"type": "string"}, TextCodec(tuple(kinds)), (first, *notes))
