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

from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

from instrc.ir.codec import Alternative, Codec, RefCodec, TextCodec, UnionCodec, ValuesCodec
from instrc.jsonvalue import Json, freeze
from instrc.lowering.notes import joined
from instrc.lowering.rewrites import anything
from instrc.lowering.rewrites.apart import untangled
from instrc.lowering.rewrites.choice import choice
from instrc.lowering.variants import Variant, distinct, table, values_of
from instrc.lowering.walk import Walk
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import NO_ASSERTIONS

_MOST_FORMS = 300
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_MOST_COMPARED = 60
"""Branches of `oneOf` that are compared with each other."""


def branches(lowerer: Walk, node: dict[str, Any], level: int) -> list[Variant]:
    """Return the forms of all branches of `anyOf` or `oneOf`, each with what stands beside it."""
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    beside = {
        name: value
        for name, value in node.items()
        if name != keyword and name not in NO_ASSERTIONS and name not in {"not", "if", "then", "else"}
    }
    lowerer.made(beside, node)
    forms: list[Variant] = []
    schemas: list[Json] = []
    for branch in node[keyword]:
        schema = lowerer.intersected([beside, branch]) if beside else branch
        schemas.append(schema)
        found = lowerer.forms(schema, level)
        if isinstance(branch, dict):
            text, title = branch.get("description"), branch.get("title")
            for form in found:
                form.text = form.text or (text if isinstance(text, str) else None)
                form.title = form.title or (title if isinstance(title, str) else None)
        forms += found
        if len(forms) > _MOST_FORMS:
            return [anything.written(lowerer, node, "has more alternatives than can be kept apart")]
    if keyword == "oneOf" and not _exclusive(lowerer, schemas):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        lowerer.take(node, "oneOf", "unenforced", reason)
    if lowerer.dialect.unions == "choice" and len(forms) > 1 and any(form.kind in {"object", "array", "ref"} for form in forms):
        reason = "is a choice by name, and what it names may be missing"
        lowerer.lose(node, keyword, "part", reason)
    return forms


def _exclusive(lowerer: Walk, schemas: list[Json]) -> bool:
    """Say whether no value satisfies two of the schemas, so that `anyOf` says the same as `oneOf`."""
    if len(schemas) > _MOST_COMPARED:
        return False
    return all(disjoint(left, right, resolve=lowerer.target) for left, right in combinations(schemas, 2))


# putting forms together


def plain(lowerer: Walk, forms: list[Variant]) -> dict[str, Any] | None:
    """Return the schema of forms of which there is nothing to say but a type, and null beside it; `None` for all others."""
    if not forms or len(forms) > 2 or not forms[0].bare or forms[0].kind == "null":
        return None
    if len(forms) == 1:
        return forms[0].body
    beside = forms[1].kind == "null" and forms[1].bare and lowerer.dialect.unions == "anyOf" and lowerer.dialect.null
    return {"type": [forms[0].kind, "null"]} if beside and forms[0].kind in _SCALARS else None


def merged(lowerer: Walk, forms: list[Variant]) -> list[Variant]:
    """Return forms that differ: equal ones once, what accepts anything alone, strings that cannot be told apart as one."""
    for form in forms:
        if form.anything:
            return [form, *(other for other in forms if other.kind == "null" and form.written and lowerer.dialect.null)]
    if len(forms) < 2:
        return forms
    if any(form.bare and form.kind == "number" for form in forms):
        forms = [form for form in forms if not (form.bare and form.kind == "integer")]
    if any(form.bare and form.kind == "string" for form in forms):
        forms = [
            form for form in forms if form.kind != "string" or form.codec is not None or form.bare or form.text or form.notes
        ]
    strings = [form for form in forms if form.kind == "string"]
    if len(strings) > 1:
        strange = any(_strange(form) for form in strings)
        listed = all(_same_enumeration(left, right) for left, right in pairwise(strings))
        if any(form.written for form in strings) or (strange and not listed):
            forms = [*(form for form in forms if form.kind != "string"), anything.texts(lowerer, strings)]
    nulls = [form for form in forms if form.kind == "null"]
    if len(nulls) > 1:
        nulls[0].text = joined(*(form.text for form in nulls))
        forms = [form for form in forms if form.kind != "null" or form is nulls[0]]
    return _enumerations(lowerer, distinct(forms))


def _strange(form: Variant) -> bool:
    """Say whether strings of a form stand for other values."""
    return isinstance(form.codec, ValuesCodec) and any(not isinstance(value, str) for _, value in form.codec.values)


def _enumerations(lowerer: Walk, forms: list[Variant]) -> list[Variant]:
    """Join enums of one type into one enum, unless each describes its values."""
    result: list[Variant] = []
    for form in forms:
        mate = next((other for other in result if _same_enumeration(other, form)), None)
        if mate is None or (lowerer.dialect.unions == "anyOf" and (form.text or mate.text)):
            result.append(form)
            continue
        values = [
            *values_of(mate),
            *(value for value in values_of(form) if freeze(value) not in {freeze(v) for v in values_of(mate)}),
        ]
        codec: Codec = None
        if mate.codec is not None or form.codec is not None:
            known = {sent: pair for one in (mate, form) for sent, pair in table(one).items()}
            fold = any(isinstance(one.codec, ValuesCodec) and one.codec.fold for one in (mate, form))
            codec = ValuesCodec(tuple(known.values()), fold)
        text = joined(mate.text, form.text)
        result[result.index(mate)] = Variant(
            mate.kind, {"type": mate.kind, "enum": values}, codec, mate.notes, text, node=mate.node
        )
    return result


def _same_enumeration(left: Variant, right: Variant) -> bool:
    if (
        left.kind != right.kind
        or not left.body.keys() <= {"type", "enum", "const"}
        or not right.body.keys() <= {"type", "enum", "const"}
    ):
        return False
    if (
        len(left.body) < 2
        or len(right.body) < 2
        or any(form.codec is not None and not isinstance(form.codec, ValuesCodec) for form in (left, right))
    ):
        return False
    theirs = table(right)
    return all(key not in theirs or freeze(theirs[key][1]) == freeze(pair[1]) for key, pair in table(left).items())


def united(lowerer: Walk, forms: list[Variant], shared: list[str]) -> tuple[dict[str, Any], Codec]:
    """Return one schema for forms that differ, and the codec that finds the form of an answer."""
    dialect = lowerer.dialect
    if len(forms) == 1 and forms[0].kind == "null" and not dialect.null_type and dialect.null:
        return {"type": ["string", "null"], "enum": ["null", None]}, ValuesCodec(((None, None), ("null", None)))
    if len(forms) == 1 and (forms[0].kind != "null" or dialect.null):
        return forms[0].body, forms[0].codec
    if dialect.unions == "choice":
        return choice(lowerer, forms)
    others = [form for form in forms if form.kind != "null"]
    nulls = [form for form in forms if form.kind == "null"]
    if len(others) == 1:
        form = others[0]
        shared += [text for text in [form.text, *form.notes] if text and text not in shared]
        codec = form.codec
        if nulls and (isinstance(codec, RefCodec) or (isinstance(codec, TextCodec) and "null" not in (codec.kinds or ("null",)))):
            codec = replace(codec, null=True)  # it stands beside the text as itself
        return _nullable(lowerer, form), codec
    untangled(lowerer, others)
    if dialect.type_lists and all(form.bare for form in others):
        return {"type": [form.kind for form in [*others, *nulls]]}, None
    shared += [text for form in nulls for text in [form.text, *form.notes] if text and text not in shared]
    bodies = []
    for form in others:
        head = {"title": form.title} if form.title and "title" in dialect.keywords else {}
        if text := joined(form.text, *(note for note in form.notes if note not in shared)):
            head["description"] = text
        if head and "$ref" in form.body:
            bodies.append({**head, "anyOf": [form.body]})
        else:
            bodies.append({**head, **form.body} if head else form.body)
    return {"anyOf": [*bodies, *(form.body for form in nulls)]}, codec_of(lowerer, others, nulls)


def codec_of(lowerer: Walk, others: list[Variant], nulls: list[Variant]) -> Codec:
    """Return the codec of a union: nothing if nothing changes in any branch."""
    if all(form.codec is None for form in others):
        return None
    return UnionCodec(tuple(Alternative(lowerer.without_annotations(form.body), form.codec) for form in [*others, *nulls]))


def _nullable(lowerer: Walk, form: Variant) -> dict[str, Any]:
    """Return a schema that takes null besides."""
    body, dialect = form.body, lowerer.dialect
    if form.kind == "any":
        return body
    scalar = form.kind in {"string", "integer", "number", "boolean"} and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*body["enum"], None]}
    return {**body, **types}
