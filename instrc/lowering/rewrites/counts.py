"""Say how many properties or entries there may be."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import JsonObject, as_array, mapping
from instrc.lowering.context import Progress, RewriteContext
from instrc.lowering.variants import Variant
from instrc.schema.laws.bounds import bound
from instrc.schema.members import required_names

_COUNTING = frozenset({"minProperties", "maxProperties"})


class Counted(NamedTuple):
    """An object with the numbers of its properties, and the keywords that are lost."""

    body: JsonObject
    lost: tuple[str, ...]
    progress: Progress


def counted(node: JsonObject, body: JsonObject, context: RewriteContext, progress: Progress, *, more: bool) -> Counted:
    """Say how many properties there may be, where the number says more than the shape does."""
    if _COUNTING.isdisjoint(node):
        return Counted(body, (), progress)
    dialect, properties = context.dialect, mapping(body.get("properties"))
    optional_as_null = bool(properties) and context.all_asked
    mixed = len(as_array(body.get("required", []))) < len(properties) and not dialect.counts_optional
    sayable = not (optional_as_null or more or mixed)
    least, most = bound(node, "minProperties") or 0, bound(node, "maxProperties")
    found: JsonObject = dict(body)
    lost: list[str] = []
    if least > len(required_names(node)):
        if "minProperties" in dialect.keywords and sayable:
            found["minProperties"] = int(least)
        else:
            lost.append("minProperties")
    closed = body.get("additionalProperties") is False and "patternProperties" not in body and not more
    if most is not None and not (closed and len(properties) <= most):
        if "maxProperties" in dialect.keywords and sayable:
            found["maxProperties"] = int(most)
        else:
            lost.append("maxProperties")
    return Counted(found, tuple(lost), progress.lose_each(node, lost))


def counted_entries(node: JsonObject, variant: Variant, dialect: Dialect, progress: Progress) -> tuple[Variant, Progress]:
    """Say how many entries a map has: a list may hold one key twice, so that a least number is exact up to one only."""
    if _COUNTING.isdisjoint(node):
        return variant, progress
    keywords, limit = dialect.keywords, dialect.most_min_items
    least, most = int(bound(node, "minProperties") or 0), bound(node, "maxProperties")
    body: JsonObject = dict(variant.body)
    lost: list[str] = []
    if least > 0:
        sendable = "minItems" in keywords
        if sendable:
            body["minItems"] = least if limit is None else min(least, limit)
        if least > 1 or not sendable:
            lost.append("minProperties")
    if most is not None:
        if "maxItems" in keywords:
            body["maxItems"] = int(most)
        else:
            lost.append("maxProperties")
    notes, progress = progress.lose_with_sentences(node, lost)
    return replace(variant, body=body, notes=(*variant.notes, *notes)), progress
