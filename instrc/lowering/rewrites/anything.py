"""Say "any JSON value" where a target wants a type in every place.

OpenAI, Anthropic strict, both Gemini forms, GigaChat and Ollama have no schema without a type.
There the value is written as JSON text into a string; text that is not JSON is that string itself, so nothing is lost.
The same variant says whatever else has no words in a target: what is nested too deeply,
and recursion below the last unrolled level.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from instrc.ir.codec import TextCodec, ValuesCodec
from instrc.ir.dialect import Dialect
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, kind_of
from instrc.limits.payloads import DESCRIBED_SCHEMA
from instrc.lowering.context import Progress, RewriteContext
from instrc.lowering.losses import WHOLE
from instrc.lowering.variants import Variant
from instrc.schema.vocabulary import NO_ASSERTIONS


def anything(dialect: Dialect, node: Json) -> Variant:
    """Return the variant of a value without constraints."""
    if dialect.anything == "keep":
        return Variant("any", {}, node=node)
    return Variant("string", {"type": "string"}, TextCodec(), ("Any JSON value, written as JSON text.",), node=node)


def anything_variant(context: RewriteContext, node: Json, reason: str, progress: Progress) -> tuple[Variant, Progress]:
    """Return the variant of a value whose schema cannot be said; it is one loss, of which all its constraints are parts."""
    progress = progress.lose(node, WHOLE, reason=f"{reason}; it is checked when the answer is lifted", parts=False)
    progress = progress.lose_all(node, "is part of what is checked when the answer is lifted", "part")
    variant = anything(context.dialect, node)
    schema: Json = {key: value for key, value in node.items() if key not in NO_ASSERTIONS} if isinstance(node, dict) else node
    text = dumps(schema, indent=False)
    if len(text) > DESCRIBED_SCHEMA:
        text = text[:DESCRIBED_SCHEMA] + "…"
    note = f"{'Any JSON value' if variant.kind == 'any' else 'JSON text'} that matches {text}."
    return replace(variant, notes=(note,)), progress


def as_json_text(variants: Sequence[Variant], progress: Progress) -> tuple[Variant, Progress]:
    """Return one variant for several whose strings cannot be told apart: JSON text of the types they have."""
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
                progress = progress.lose_all(variant.node, reason)
        notes.update(dict.fromkeys(variant.notes))
    words = " or ".join(kinds)
    first = f"One of: {words}; what is not a string is written as JSON text."
    return Variant("string", {"type": "string"}, TextCodec(tuple(kinds)), (first, *notes)), progress
