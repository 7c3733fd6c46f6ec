"""Make one schema of the variants of a value, with what is said of it in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from instrc.ir.codec import Codec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject
from instrc.lowering.context import ListVariants, RewriteContext
from instrc.lowering.notes import join_notes
from instrc.lowering.progress import Progress, said
from instrc.lowering.rewrites import unions
from instrc.lowering.rewrites.scalars import bare_type
from instrc.lowering.variants import Variant
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS

SILENT = frozenset({"$schema", "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "description"})
"""Annotations that have done their work in a flat schema, or are carried over elsewhere."""
_QUIET = SILENT | (KEYWORDS.keys() - NO_ASSERTIONS)
"""Keywords of which `described` has nothing to say."""
_IN_DESCRIPTION = "has no force; what a model can use of it is in the description"


Rebuilt: TypeAlias = tuple[JsonObject | None, Codec, Progress]
"""A schema in the target's words, `None` if there is no such value, the codec of its values, and what was found out."""


def fit(
    node: Json, context: RewriteContext, progress: Progress, list_variants: ListVariants, extra: Sequence[Variant] = ()
) -> Rebuilt:
    """Return the schema in the target's words for a schema, with `extra` variants beside its own."""
    if not extra and (kind := bare_type(node, context)) is not None:
        return described(node, {"type": kind}, None, (), context.dialect, progress)
    found, progress = list_variants(node, context, progress)
    return combine(node, [*found, *extra] if extra else found, context, progress)


def combine(
    node: Json, variants: Sequence[Variant], context: RewriteContext, progress: Progress, notes: Sequence[str] = ()
) -> Rebuilt:
    """Return one schema for several variants, described by what its node and the notes say of it."""
    if (alone := unions.alone(variants, context.dialect)) is not None:
        variant = variants[0]
        told = (*variant.notes, variant.text, *notes) if variant.notes or variant.text or notes else ()
        return described(node, *alone, told, context.dialect, progress)
    return combine_variants(node, variants, context, progress, notes).rebuilt


class CombinedVariants(NamedTuple):
    """One schema for several variants, and the variants as they stand in it: some are changed so that they can be told apart."""

    rebuilt: Rebuilt
    variants: Sequence[Variant]


def combine_variants(
    node: Json, variants: Sequence[Variant], context: RewriteContext, progress: Progress, notes: Sequence[str] = ()
) -> CombinedVariants:
    """Return one schema for several variants, and what became of them."""
    variants, progress = unions.merge_variants(context, variants, progress)
    if not variants:
        return CombinedVariants((None, None, progress), variants)
    shared = [text for text in variants[0].notes if all(text in variant.notes for variant in variants if variant.kind != "null")]
    if len(variants) == 1:
        shared += [text for text in [variants[0].text] if text]
    united, progress = unions.united(context, variants, tuple(shared), progress)
    told = [*united.notes, *notes]
    return CombinedVariants(described(node, united.body, united.codec, told, context.dialect, progress), united.variants)


def described(
    node: Json, body: JsonObject, codec: Codec, notes: Sequence[str | None], dialect: Dialect, progress: Progress
) -> Rebuilt:
    """Return a schema with title and description in front, annotations the target lacks among the latter."""
    if not isinstance(node, dict):
        text = join_notes(*notes) if notes else None
        return (_headed({"description": text}, body, {}) if text else body, codec, progress)
    head: JsonObject = {}
    tail: JsonObject = {}
    description, title = node.get("description"), node.get("title")
    description = description if isinstance(description, str) else None
    for keyword in node:
        if keyword in _QUIET:
            continue
        if keyword == "default" and codec is None and "default" in dialect.keywords:
            tail["default"] = node["default"]
            continue
        progress = progress.lose(node, keyword, "annotation", _IN_DESCRIPTION)
        if keyword in NO_ASSERTIONS and (text := said(node, keyword)):
            notes = [*notes, text]
    if title and isinstance(title, str):
        if "title" in dialect.keywords:
            head["title"] = title
        elif not description:
            description = title
        else:
            progress = progress.lose(node, "title", "annotation", "has no place beside the description")
    if text := join_notes(description, *notes) if notes else description:
        head["description"] = text
    if not tail and "$ref" not in body:
        return ({**head, **body} if head else body, codec, progress)
    return (_headed(head, body, tail) if head or tail else body, codec, progress)


def _headed(head: JsonObject, body: JsonObject, tail: JsonObject) -> JsonObject:
    """Return a schema with something in front and something behind; nothing may stand beside a reference."""
    return {**head, "anyOf": [body], **tail} if head and "$ref" in body else {**head, **body, **tail}
