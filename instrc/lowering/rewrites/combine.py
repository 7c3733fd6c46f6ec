"""Make one schema of the variants of a value, with what is said of it in front.

* Equal variants are one, and strings that cannot be told apart are one.
* OpenAI refuses objects of one union that begin with the same key, unless that key tells them apart:
  a constant that does is moved to the front, and if there is none, a key `option` is added, which the codec removes.
  The same key is added for any target if an answer could be read in two ways.
* GigaChat has no unions: see `choice.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from instrc.ir.codec import Alternative, Codec, RefCodec, TextCodec, UnionCodec, ValuesCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, as_array
from instrc.limits.payloads import REBUILT_LEVELS
from instrc.lowering.context import ListVariants, Progress, RewriteContext, said
from instrc.lowering.notes import join_notes
from instrc.lowering.rewrites import anything
from instrc.lowering.rewrites.ambiguous_variants import disambiguated
from instrc.lowering.rewrites.choice import choice
from instrc.lowering.rewrites.literals import join_enumerations, same_enumeration
from instrc.lowering.rewrites.scalars import OF_NUMBERS, OF_STRINGS
from instrc.lowering.variants import Variant, distinct, taking_anything, without_annotations, without_needless
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS

SILENT = frozenset({"$schema", "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "description"})
"""Annotations that have done their work in a flat schema, or are carried over elsewhere."""
_QUIET = SILENT | (KEYWORDS.keys() - NO_ASSERTIONS)
"""Keywords of which `described` has nothing to say."""
_IN_DESCRIPTION = "has no force; what a model can use of it is in the description"


_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_MORE = (KEYWORDS.keys() - NO_ASSERTIONS - {"type"}) | OF_STRINGS | OF_NUMBERS
"""Keywords that may say more of a value than its type."""

Rebuilt: TypeAlias = tuple[JsonObject | None, Codec, Progress]
"""A schema in the target's words, `None` if there is no such value, the codec of its values, and what was found out."""


def fit(node: Json, context: RewriteContext, progress: Progress, list_variants: ListVariants) -> Rebuilt:
    """Return the schema in the target's words for a schema."""
    if (kind := scalar_type(node, context)) is not None:
        return described(node, {"type": kind}, None, (), context.dialect, progress)
    found, progress = list_variants(node, context, progress)
    return combine(node, found, context, progress)


def scalar_type(node: Json, context: RewriteContext) -> str | None:
    """Return the scalar type that is all a schema asks for; `None` for every other schema.

    Most schemas are such: what is said of them needs no variants that are put together.
    """
    if not isinstance(node, dict) or context.active or context.nested >= REBUILT_LEVELS:
        return None
    kind = node.get("type")
    return kind if isinstance(kind, str) and kind in _SCALARS and _MORE.isdisjoint(node) else None


def combine(
    node: Json, variants: Sequence[Variant], context: RewriteContext, progress: Progress, notes: Sequence[str] = ()
) -> Rebuilt:
    """Return one schema for several variants, described by what its node and the notes say of it."""
    dialect = context.dialect
    if not variants or len(variants) > 2 or variants[0].kind == "null":
        return combine_variants(node, variants, context, progress, notes)[0]
    variant = variants[0]
    body, codec = variant.body, variant.codec
    if len(variants) == 2:
        if variants[1].kind != "null" or dialect.unions == "choice" or (not dialect.null and variant.anything):
            return combine_variants(node, variants, context, progress, notes)[0]
        body, codec = _or_null(variant, dialect)
    told = (*variant.notes, variant.text, *notes) if variant.notes or variant.text or notes else ()
    return described(node, body, codec, told, dialect, progress)


def combine_variants(
    node: Json, variants: Sequence[Variant], context: RewriteContext, progress: Progress, notes: Sequence[str] = ()
) -> tuple[Rebuilt, Sequence[Variant]]:
    """Return one schema for several variants, and them as they stand in it: some are changed so that they can be told apart."""
    variants, progress = _merge_variants(context, variants, progress)
    if not variants:
        return (None, None, progress), variants
    shared = [text for text in variants[0].notes if all(text in variant.notes for variant in variants if variant.kind != "null")]
    if len(variants) == 1:
        shared += [text for text in [variants[0].text] if text]
    union, progress = _united(context, variants, tuple(shared), progress)
    return described(node, union.body, union.codec, [*union.notes, *notes], context.dialect, progress), union.variants


def _merge_variants(context: RewriteContext, variants: Sequence[Variant], progress: Progress) -> tuple[list[Variant], Progress]:
    """Return variants that differ: equal ones once, what accepts anything alone, strings that cannot be told apart as one."""
    dialect = context.dialect
    if (widest := taking_anything(variants)) is not None:
        nulls = [variant for variant in variants if variant.kind == "null"] if widest.written and dialect.null else []
        return [widest, *nulls], progress
    if len(variants) < 2 or (len(variants) == 2 and variants[1].kind == "null" != variants[0].kind):
        return list(variants), progress
    found = without_needless(variants)
    strings = [variant for variant in found if variant.kind == "string"]
    if len(strings) > 1:
        strange = any(_strange(variant) for variant in strings)
        listed = all(same_enumeration(left, right) for left, right in pairwise(strings))
        if any(variant.written for variant in strings) or (strange and not listed):
            text, progress = anything.as_json_text(strings, progress)
            found = [*(variant for variant in found if variant.kind != "string"), text]
    nulls = [variant for variant in found if variant.kind == "null"]
    if len(nulls) > 1:
        null = replace(nulls[0], text=join_notes(*(variant.text for variant in nulls)))
        found = [null if variant is nulls[0] else variant for variant in found if variant.kind != "null" or variant is nulls[0]]
    return join_enumerations(dialect, distinct(found)), progress


def _strange(variant: Variant) -> bool:
    """Say whether strings of a variant stand for other values."""
    return isinstance(variant.codec, ValuesCodec) and any(not isinstance(value, str) for _, value in variant.codec.values)


class _United(NamedTuple):
    """One schema for several variants."""

    body: JsonObject
    codec: Codec
    notes: tuple[str, ...]
    """What is said of all of them."""
    variants: Sequence[Variant]
    """The variants as they stand in it, in their order."""


def _united(
    context: RewriteContext, variants: Sequence[Variant], shared: tuple[str, ...], progress: Progress
) -> tuple[_United, Progress]:
    """Return one schema for variants that differ, and the codec that finds the variant of an answer."""
    dialect = context.dialect
    if len(variants) == 1 and variants[0].kind == "null" and not dialect.null_type and dialect.null:
        body: JsonObject = {"type": ["string", "null"], "enum": ["null", None]}
        return _United(body, ValuesCodec(((None, None), ("null", None))), shared, variants), progress
    if len(variants) == 1 and (variants[0].kind != "null" or dialect.null):
        return _United(variants[0].body, variants[0].codec, shared, variants), progress
    if dialect.unions == "choice":
        body, codec, progress = choice(variants, dialect, progress)
        return _United(body, codec, shared, variants), progress
    others = [variant for variant in variants if variant.kind != "null"]
    nulls = [variant for variant in variants if variant.kind == "null"]
    if len(others) == 1:
        body, codec = _or_null(others[0], dialect)
        return _United(body, codec, _more(shared, [others[0].text, *others[0].notes]), variants), progress
    others, progress = disambiguated(others, dialect, progress)
    apart = [*others, *nulls]
    if dialect.type_lists and all(variant.bare for variant in others):
        return _United({"type": [variant.kind for variant in apart]}, None, shared, apart), progress
    for variant in nulls:
        shared = _more(shared, [variant.text, *variant.notes])
    bodies: list[Json] = [_branch(variant, shared, dialect) for variant in others]
    return _United({"anyOf": [*bodies, *(variant.body for variant in nulls)]}, _codec_of(others, nulls), shared, apart), progress


def _more(shared: tuple[str, ...], texts: Sequence[str | None]) -> tuple[str, ...]:
    """Return what is said of all variants, with more of it."""
    return (*shared, *(text for text in texts if text and text not in shared))


def _branch(variant: Variant, shared: Sequence[str], dialect: Dialect) -> JsonObject:
    """Return one alternative with what is said of it alone."""
    head: JsonObject = {"title": variant.title} if variant.title and "title" in dialect.keywords else {}
    if text := join_notes(variant.text, *(note for note in variant.notes if note not in shared)):
        head["description"] = text
    if head and "$ref" in variant.body:
        return {**head, "anyOf": [variant.body]}
    return {**head, **variant.body} if head else variant.body


def _codec_of(others: Sequence[Variant], nulls: Sequence[Variant]) -> Codec:
    """Return the codec of a union: nothing if nothing changes in any branch."""
    if all(variant.codec is None for variant in others):
        return None
    return UnionCodec(tuple(Alternative(without_annotations(variant.body), variant.codec) for variant in [*others, *nulls]))


def _or_null(variant: Variant, dialect: Dialect) -> tuple[JsonObject, Codec]:
    """Return the schema of a variant that takes null besides, and its codec."""
    codec = variant.codec
    if codec is None:
        return _nullable(variant.body, variant.kind, dialect), None
    if isinstance(codec, RefCodec) or (isinstance(codec, TextCodec) and "null" not in (codec.kinds or ("null",))):
        codec = replace(codec, null=True)  # it stands beside the text as itself
    return _nullable(variant.body, variant.kind, dialect), codec


def _nullable(body: JsonObject, kind: str, dialect: Dialect) -> JsonObject:
    if kind == "any":
        return body
    scalar = kind in _SCALARS and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types: JsonObject = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*as_array(body["enum"]), None]}
    return {**body, **types}


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
    for keyword in () if _QUIET.issuperset(node) else node:
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
