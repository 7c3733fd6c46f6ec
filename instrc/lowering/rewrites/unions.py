"""Say unions: `anyOf`, `oneOf`, types in a list, null beside something.

* `oneOf` is refused by OpenAI and Gemini's Schema, and by llguidance unless its branches exclude each other: it becomes `anyOf`.
* What stands beside `anyOf` goes into its branches: xgrammar and outlines-core misread siblings.
* OpenAI refuses objects of one union that begin with the same key, unless that key tells them apart:
  a constant that does is moved to the front, and where there is none a key `option` is added, which the way back removes.
  The same key is added in any target where an answer could be meant in two ways.
* GigaChat knows no union: values that are no objects share one string, objects become properties of one object
  whose `choice` names the one that is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from msgspec.structs import replace

from instrc.ir.codec import Alternative, Codec, RefCodec, TextCodec, UnionCodec, ValuesCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, as_array, freeze
from instrc.limits.payloads import COMPARED_VARIANTS, MULTIPLIED_BRANCHES, UNION_VARIANTS
from instrc.lowering.annotations import without_annotations
from instrc.lowering.context import ListVariants, RewriteContext
from instrc.lowering.notes import join_notes, note
from instrc.lowering.progress import Progress, intersected
from instrc.lowering.rewrites import anything
from instrc.lowering.rewrites.apart import untangled
from instrc.lowering.rewrites.choice import choice
from instrc.lowering.rewrites.multiplied import multiplied, with_fewer
from instrc.lowering.rewrites.scalars import SCALARS
from instrc.lowering.variants import Variant, distinct, table, values_of
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import HOLDERS, NO_ASSERTIONS

_NOT_BESIDE = frozenset({"anyOf", "not", "if", "then", "else"}) | NO_ASSERTIONS
"""Keywords that do not go into the branches of the union beside them."""


class United(NamedTuple):
    """One schema for several variants."""

    body: JsonObject
    codec: Codec
    notes: tuple[str, ...]
    """What is said of all of them."""
    variants: Sequence[Variant]
    """The variants as they stand in it, in their order."""


def branches(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    """Return the variants of all branches of `anyOf` or `oneOf`, each with what stands beside it.

    Other unions in the `allOf` beside it multiply them: those by which they would become too many are told as lost.
    """
    dropped: list[Json] = []
    if multiplied(node) > MULTIPLIED_BRANCHES:
        fewer, dropped = with_fewer(node)
    if not dropped:
        found, after = _branches(node, context, progress, list_variants)
        if not any(variant.too_many for variant in found):
            return found, after
        fewer, dropped = with_fewer(node)
        if not dropped:
            return found, after
    for member in dropped:
        progress = progress.lose_all(member, "would make more alternatives than can be kept apart")
    found, progress = _branches(fewer, context, progress.derive(fewer, node), list_variants)
    return [variant.after([note("allOf", dropped)]) for variant in found], progress


def _branches(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    beside: JsonObject = {name: node[name] for name in node if name != keyword and name not in _NOT_BESIDE}
    if beside:
        progress = progress.derive(beside, node)
        if len(as_array(node[keyword])) > 1 and not HOLDERS.isdisjoint(beside):
            context = replace(context, copying=True)
    found: list[Variant] = []
    schemas: list[Json] = []
    for branch in as_array(node[keyword]):
        schema = branch
        if beside:
            schema, progress = intersected([beside, branch], progress)
        schemas.append(schema)
        each, progress = list_variants(schema, context, progress)
        found += [_named(variant, branch) for variant in each] if isinstance(branch, dict) else each
        if len(found) > UNION_VARIANTS or any(variant.too_many for variant in each):
            variant, progress = anything.anything_variant(context, node, "has more alternatives than can be kept apart", progress)
            return [replace(variant, too_many=True)], progress
    if keyword == "oneOf" and not _exclusive(schemas, context):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        progress = progress.lose(node, "oneOf", reason=reason)
    if (
        context.dialect.unions == "choice"
        and len(found) > 1
        and any(variant.kind in {"object", "array", "ref"} for variant in found)
    ):
        progress = progress.lose(node, keyword, "part", "is a choice by name, and what it names may be missing")
    return found, progress


def _named(variant: Variant, branch: JsonObject) -> Variant:
    """Return a variant with the description and the title of its branch, unless it has its own."""
    text, title = branch.get("description"), branch.get("title")
    text = variant.text or (text if isinstance(text, str) else None)
    title = variant.title or (title if isinstance(title, str) else None)
    return variant if text == variant.text and title == variant.title else replace(variant, text=text, title=title)


def _exclusive(schemas: Sequence[Json], context: RewriteContext) -> bool:
    """Say whether no value satisfies two of the schemas, so that `anyOf` says the same as `oneOf`."""
    if len(schemas) > COMPARED_VARIANTS:
        return False
    return all(disjoint(left, right, resolve=context.target) for left, right in combinations(schemas, 2))


# putting forms together


def merge_variants(context: RewriteContext, variants: Sequence[Variant], progress: Progress) -> tuple[list[Variant], Progress]:
    """Return variants that differ: equal ones once, what accepts anything alone, strings that cannot be told apart as one."""
    dialect = context.dialect
    for variant in variants:
        if variant.anything:
            return [
                variant,
                *(other for other in variants if other.kind == "null" and variant.written and dialect.null),
            ], progress
    if len(variants) < 2 or (len(variants) == 2 and variants[1].kind == "null" != variants[0].kind):
        return list(variants), progress
    found = _without_needless(variants)
    strings = [variant for variant in found if variant.kind == "string"]
    if len(strings) > 1:
        strange = any(_strange(variant) for variant in strings)
        listed = all(_same_enumeration(left, right) for left, right in pairwise(strings))
        if any(variant.written for variant in strings) or (strange and not listed):
            text, progress = anything.texts(strings, progress)
            found = [*(variant for variant in found if variant.kind != "string"), text]
    nulls = [variant for variant in found if variant.kind == "null"]
    if len(nulls) > 1:
        null = replace(nulls[0], text=join_notes(*(variant.text for variant in nulls)))
        found = [null if variant is nulls[0] else variant for variant in found if variant.kind != "null" or variant is nulls[0]]
    return _enumerations(dialect, distinct(found)), progress


def _without_needless(variants: Sequence[Variant]) -> list[Variant]:
    """Leave out integers beside any number, and strings beside any string."""
    found = list(variants)
    if any(variant.bare and variant.kind == "number" for variant in found):
        found = [variant for variant in found if not (variant.bare and variant.kind == "integer")]
    if any(variant.bare and variant.kind == "string" for variant in found):
        found = [
            variant
            for variant in found
            if variant.kind != "string" or variant.codec is not None or variant.bare or variant.text or variant.notes
        ]
    return found


def _strange(variant: Variant) -> bool:
    """Say whether strings of a variant stand for other values."""
    return isinstance(variant.codec, ValuesCodec) and any(not isinstance(value, str) for _, value in variant.codec.values)


def _enumerations(dialect: Dialect, variants: Sequence[Variant]) -> list[Variant]:
    """Join enums of one type into one enum, unless each describes its values."""
    result: list[Variant] = []
    lists: list[int] = []
    """Where enums stand in the result."""
    for variant in variants:
        listing = _lists_only(variant)
        mate = next((number for number in lists if _same_enumeration(result[number], variant)), None) if listing else None
        if mate is None or (dialect.unions == "anyOf" and (variant.text or result[mate].text)):
            if listing and mate is None:
                lists.append(len(result))
            result.append(variant)
        else:
            result[mate] = _joined(result[mate], variant)
    return result


def _joined(mate: Variant, variant: Variant) -> Variant:
    """Return one enum for two."""
    known = {freeze(value) for value in values_of(mate)}
    values = [*values_of(mate), *(value for value in values_of(variant) if freeze(value) not in known)]
    codec: Codec = None
    if mate.codec is not None or variant.codec is not None:
        pairs = {sent: pair for one in (mate, variant) for sent, pair in table(one).items()}
        fold = any(isinstance(one.codec, ValuesCodec) and one.codec.fold for one in (mate, variant))
        codec = ValuesCodec(tuple(pairs.values()), fold)
    text = join_notes(mate.text, variant.text)
    return Variant(mate.kind, {"type": mate.kind, "enum": values}, codec, mate.notes, text, node=mate.node)


def _same_enumeration(left: Variant, right: Variant) -> bool:
    if left.kind != right.kind or not (_lists_only(left) and _lists_only(right)):
        return False
    theirs = table(right)
    return all(key not in theirs or freeze(theirs[key][1]) == freeze(pair[1]) for key, pair in table(left).items())


def _lists_only(variant: Variant) -> bool:
    """Say whether a variant is a list of values and nothing else."""
    if len(variant.body) < 2 or not variant.body.keys() <= {"type", "enum", "const"}:
        return False
    return variant.codec is None or isinstance(variant.codec, ValuesCodec)


def united(
    context: RewriteContext, variants: Sequence[Variant], shared: tuple[str, ...], progress: Progress
) -> tuple[United, Progress]:
    """Return one schema for variants that differ, and the codec that finds the variant of an answer."""
    dialect = context.dialect
    if len(variants) == 1 and variants[0].kind == "null" and not dialect.null_type and dialect.null:
        body: JsonObject = {"type": ["string", "null"], "enum": ["null", None]}
        return United(body, ValuesCodec(((None, None), ("null", None))), shared, variants), progress
    if len(variants) == 1 and (variants[0].kind != "null" or dialect.null):
        return United(variants[0].body, variants[0].codec, shared, variants), progress
    if dialect.unions == "choice":
        body, codec, progress = choice(variants, dialect, progress)
        return United(body, codec, shared, variants), progress
    others = [variant for variant in variants if variant.kind != "null"]
    nulls = [variant for variant in variants if variant.kind == "null"]
    if len(others) == 1:
        body, codec = or_null(others[0], dialect)
        return United(body, codec, _more(shared, [others[0].text, *others[0].notes]), variants), progress
    others, progress = untangled(others, dialect, progress)
    apart = [*others, *nulls]
    if dialect.type_lists and all(variant.bare for variant in others):
        return United({"type": [variant.kind for variant in apart]}, None, shared, apart), progress
    for variant in nulls:
        shared = _more(shared, [variant.text, *variant.notes])
    bodies: list[Json] = [_branch(variant, shared, dialect) for variant in others]
    return United({"anyOf": [*bodies, *(variant.body for variant in nulls)]}, codec_of(others, nulls), shared, apart), progress


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


def codec_of(others: Sequence[Variant], nulls: Sequence[Variant]) -> Codec:
    """Return the codec of a union: nothing if nothing changes in any branch."""
    if all(variant.codec is None for variant in others):
        return None
    return UnionCodec(tuple(Alternative(without_annotations(variant.body), variant.codec) for variant in [*others, *nulls]))


def alone(variants: Sequence[Variant], dialect: Dialect) -> tuple[JsonObject, Codec] | None:
    """Return the schema and the codec of one variant, or of one with null beside it; `None` for all others."""
    if not variants or len(variants) > 2 or variants[0].kind == "null":
        return None
    if len(variants) == 1:
        return variants[0].body, variants[0].codec
    if variants[1].kind != "null" or dialect.unions == "choice" or (not dialect.null and variants[0].anything):
        return None
    return or_null(variants[0], dialect)


def or_null(variant: Variant, dialect: Dialect) -> tuple[JsonObject, Codec]:
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
    scalar = kind in SCALARS and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types: JsonObject = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*as_array(body["enum"]), None]}
    return {**body, **types}
