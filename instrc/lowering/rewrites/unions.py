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
from instrc.lowering.context import Context, Forms
from instrc.lowering.notes import join_notes, note
from instrc.lowering.progress import Progress, intersected
from instrc.lowering.rewrites import anything
from instrc.lowering.rewrites.apart import untangled
from instrc.lowering.rewrites.choice import choice
from instrc.lowering.rewrites.multiplied import multiplied, with_fewer
from instrc.lowering.rewrites.scalars import SCALARS
from instrc.lowering.variants import Variant, distinct, table, values_of
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import NO_ASSERTIONS

_NOT_BESIDE = frozenset({"anyOf", "not", "if", "then", "else"}) | NO_ASSERTIONS
"""Keywords that do not go into the branches of the union beside them."""


class United(NamedTuple):
    """One schema for several forms."""

    body: JsonObject
    codec: Codec
    notes: tuple[str, ...]
    """What is said of all of them."""
    forms: Sequence[Variant]
    """The forms as they stand in it, in their order."""


def branches(node: JsonObject, context: Context, progress: Progress, forms: Forms) -> tuple[list[Variant], Progress]:
    """Return the forms of all branches of `anyOf` or `oneOf`, each with what stands beside it.

    Other unions in the `allOf` beside it multiply them: those by which they would become too many are told as lost.
    """
    dropped: list[Json] = []
    if multiplied(node) > MULTIPLIED_BRANCHES:
        fewer, dropped = with_fewer(node)
    if not dropped:
        found, after = _branches(node, context, progress, forms)
        if not any(form.too_many for form in found):
            return found, after
        fewer, dropped = with_fewer(node)
        if not dropped:
            return found, after
    for member in dropped:
        progress = progress.lose_all(member, "would make more alternatives than can be kept apart")
    found, progress = _branches(fewer, context, progress.derive(fewer, node), forms)
    return [form.after([note("allOf", dropped)]) for form in found], progress


def _branches(node: JsonObject, context: Context, progress: Progress, forms: Forms) -> tuple[list[Variant], Progress]:
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    beside: JsonObject = {name: node[name] for name in node if name != keyword and name not in _NOT_BESIDE}
    if beside:
        progress = progress.derive(beside, node)
    found: list[Variant] = []
    schemas: list[Json] = []
    for branch in as_array(node[keyword]):
        schema = branch
        if beside:
            schema, progress = intersected([beside, branch], progress)
        schemas.append(schema)
        each, progress = forms(schema, context, progress)
        found += [_named(form, branch) for form in each] if isinstance(branch, dict) else each
        if len(found) > UNION_VARIANTS or any(form.too_many for form in each):
            form, progress = anything.anything_variant(context, node, "has more alternatives than can be kept apart", progress)
            return [replace(form, too_many=True)], progress
    if keyword == "oneOf" and not _exclusive(schemas, context):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        progress = progress.lose(node, "oneOf", reason=reason)
    if context.dialect.unions == "choice" and len(found) > 1 and any(form.kind in {"object", "array", "ref"} for form in found):
        progress = progress.lose(node, keyword, "part", "is a choice by name, and what it names may be missing")
    return found, progress


def _named(form: Variant, branch: JsonObject) -> Variant:
    """Return a form with the description and the title of its branch, unless it has its own."""
    text, title = branch.get("description"), branch.get("title")
    text = form.text or (text if isinstance(text, str) else None)
    title = form.title or (title if isinstance(title, str) else None)
    return form if text == form.text and title == form.title else replace(form, text=text, title=title)


def _exclusive(schemas: Sequence[Json], context: Context) -> bool:
    """Say whether no value satisfies two of the schemas, so that `anyOf` says the same as `oneOf`."""
    if len(schemas) > COMPARED_VARIANTS:
        return False
    return all(disjoint(left, right, resolve=context.target) for left, right in combinations(schemas, 2))


# putting forms together


def plain(dialect: Dialect, forms: Sequence[Variant]) -> JsonObject | None:
    """Return the schema of forms of which there is nothing to say but a type, and null beside it; `None` for all others."""
    if not forms or len(forms) > 2 or not forms[0].bare or forms[0].kind == "null":
        return None
    if len(forms) == 1:
        return forms[0].body
    beside = forms[1].kind == "null" and forms[1].bare and dialect.unions == "anyOf" and dialect.null
    return {"type": [forms[0].kind, "null"]} if beside and forms[0].kind in SCALARS else None


def merge_variants(context: Context, forms: Sequence[Variant], progress: Progress) -> tuple[list[Variant], Progress]:
    """Return forms that differ: equal ones once, what accepts anything alone, strings that cannot be told apart as one."""
    dialect = context.dialect
    for form in forms:
        if form.anything:
            return [form, *(other for other in forms if other.kind == "null" and form.written and dialect.null)], progress
    if len(forms) < 2 or (len(forms) == 2 and forms[1].kind == "null" != forms[0].kind):
        return list(forms), progress
    found = _without_needless(forms)
    strings = [form for form in found if form.kind == "string"]
    if len(strings) > 1:
        strange = any(_strange(form) for form in strings)
        listed = all(_same_enumeration(left, right) for left, right in pairwise(strings))
        if any(form.written for form in strings) or (strange and not listed):
            text, progress = anything.texts(strings, progress)
            found = [*(form for form in found if form.kind != "string"), text]
    nulls = [form for form in found if form.kind == "null"]
    if len(nulls) > 1:
        null = replace(nulls[0], text=join_notes(*(form.text for form in nulls)))
        found = [null if form is nulls[0] else form for form in found if form.kind != "null" or form is nulls[0]]
    return _enumerations(dialect, distinct(found)), progress


def _without_needless(forms: Sequence[Variant]) -> list[Variant]:
    """Leave out integers beside any number, and strings beside any string."""
    found = list(forms)
    if any(form.bare and form.kind == "number" for form in found):
        found = [form for form in found if not (form.bare and form.kind == "integer")]
    if any(form.bare and form.kind == "string" for form in found):
        found = [
            form for form in found if form.kind != "string" or form.codec is not None or form.bare or form.text or form.notes
        ]
    return found


def _strange(form: Variant) -> bool:
    """Say whether strings of a form stand for other values."""
    return isinstance(form.codec, ValuesCodec) and any(not isinstance(value, str) for _, value in form.codec.values)


def _enumerations(dialect: Dialect, forms: Sequence[Variant]) -> list[Variant]:
    """Join enums of one type into one enum, unless each describes its values."""
    result: list[Variant] = []
    lists: list[int] = []
    """Where enums stand in the result."""
    for form in forms:
        listing = _lists_only(form)
        mate = next((number for number in lists if _same_enumeration(result[number], form)), None) if listing else None
        if mate is None or (dialect.unions == "anyOf" and (form.text or result[mate].text)):
            if listing and mate is None:
                lists.append(len(result))
            result.append(form)
        else:
            result[mate] = _joined(result[mate], form)
    return result


def _joined(mate: Variant, form: Variant) -> Variant:
    """Return one enum for two."""
    known = {freeze(value) for value in values_of(mate)}
    values = [*values_of(mate), *(value for value in values_of(form) if freeze(value) not in known)]
    codec: Codec = None
    if mate.codec is not None or form.codec is not None:
        pairs = {sent: pair for one in (mate, form) for sent, pair in table(one).items()}
        fold = any(isinstance(one.codec, ValuesCodec) and one.codec.fold for one in (mate, form))
        codec = ValuesCodec(tuple(pairs.values()), fold)
    text = join_notes(mate.text, form.text)
    return Variant(mate.kind, {"type": mate.kind, "enum": values}, codec, mate.notes, text, node=mate.node)


def _same_enumeration(left: Variant, right: Variant) -> bool:
    if left.kind != right.kind or not (_lists_only(left) and _lists_only(right)):
        return False
    theirs = table(right)
    return all(key not in theirs or freeze(theirs[key][1]) == freeze(pair[1]) for key, pair in table(left).items())


def _lists_only(form: Variant) -> bool:
    """Say whether a form is a list of values and nothing else."""
    if len(form.body) < 2 or not form.body.keys() <= {"type", "enum", "const"}:
        return False
    return form.codec is None or isinstance(form.codec, ValuesCodec)


def united(context: Context, forms: Sequence[Variant], shared: tuple[str, ...], progress: Progress) -> tuple[United, Progress]:
    """Return one schema for forms that differ, and the codec that finds the form of an answer."""
    dialect = context.dialect
    if len(forms) == 1 and forms[0].kind == "null" and not dialect.null_type and dialect.null:
        body: JsonObject = {"type": ["string", "null"], "enum": ["null", None]}
        return United(body, ValuesCodec(((None, None), ("null", None))), shared, forms), progress
    if len(forms) == 1 and (forms[0].kind != "null" or dialect.null):
        return United(forms[0].body, forms[0].codec, shared, forms), progress
    if dialect.unions == "choice":
        body, codec, progress = choice(forms, dialect, progress)
        return United(body, codec, shared, forms), progress
    others = [form for form in forms if form.kind != "null"]
    nulls = [form for form in forms if form.kind == "null"]
    if len(others) == 1:
        form = others[0]
        shared = _more(shared, [form.text, *form.notes])
        codec = form.codec
        if nulls and (isinstance(codec, RefCodec) or (isinstance(codec, TextCodec) and "null" not in (codec.kinds or ("null",)))):
            codec = replace(codec, null=True)  # it stands beside the text as itself
        return United(_nullable(form, dialect), codec, shared, forms), progress
    others, progress = untangled(others, dialect, progress)
    apart = [*others, *nulls]
    if dialect.type_lists and all(form.bare for form in others):
        return United({"type": [form.kind for form in apart]}, None, shared, apart), progress
    for form in nulls:
        shared = _more(shared, [form.text, *form.notes])
    bodies: list[Json] = [_branch(form, shared, dialect) for form in others]
    return United({"anyOf": [*bodies, *(form.body for form in nulls)]}, codec_of(others, nulls), shared, apart), progress


def _more(shared: tuple[str, ...], texts: Sequence[str | None]) -> tuple[str, ...]:
    """Return what is said of all forms, with more of it."""
    return (*shared, *(text for text in texts if text and text not in shared))


def _branch(form: Variant, shared: Sequence[str], dialect: Dialect) -> JsonObject:
    """Return one alternative with what is said of it alone."""
    head: JsonObject = {"title": form.title} if form.title and "title" in dialect.keywords else {}
    if text := join_notes(form.text, *(note for note in form.notes if note not in shared)):
        head["description"] = text
    if head and "$ref" in form.body:
        return {**head, "anyOf": [form.body]}
    return {**head, **form.body} if head else form.body


def codec_of(others: Sequence[Variant], nulls: Sequence[Variant]) -> Codec:
    """Return the codec of a union: nothing if nothing changes in any branch."""
    if all(form.codec is None for form in others):
        return None
    return UnionCodec(tuple(Alternative(without_annotations(form.body), form.codec) for form in [*others, *nulls]))


def _nullable(form: Variant, dialect: Dialect) -> JsonObject:
    """Return a schema that takes null besides."""
    body = form.body
    if form.kind == "any":
        return body
    scalar = form.kind in SCALARS and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types: JsonObject = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*as_array(body["enum"]), None]}
    return {**body, **types}
