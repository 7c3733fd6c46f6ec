"""Keep the alternatives of a union apart that mean different things by what is sent alike.

Two lists may be read in two ways (as texts, as values written into texts), and so may two objects.
A list that is more than its items say stands in an object of its own, and objects begin with a key that names them.
That is done only where an answer could be meant either way: types, constants and required properties mostly tell.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from instrc.ir.codec import BoxCodec, Codec, ObjectCodec, PairsCodec, Tag, TupleCodec
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.names import unique
from instrc.lowering.rewrites.first_keys import leading, led_apart
from instrc.lowering.variants import Variant
from instrc.lowering.walk import Walk
from instrc.schema.relations import disjoint
from instrc.schema.walk import rebuild

_MOST_COMPARED = 1500
"""Pairs of alternatives that are compared; the ones beyond are taken for alike."""


def untangled(lowerer: Walk, forms: list[Variant]) -> None:
    """Change the lists and objects among the forms of a union so that no answer can be meant in two ways."""
    lists = [form for form in forms if form.kind == "array"]
    if len(lists) > 1:
        mistakable = {id(form) for form in _mistakable(lowerer, lists)}
        taken = {name for form in forms if form.kind == "object" for name in form.body.get("properties", {})}
        for form in lists:
            if form.codec is not None and (id(form) in mistakable or isinstance(form.codec, PairsCodec)):
                _box(lowerer, form, taken)
    alike = led_apart(lowerer, forms) if lowerer.dialect.first_keys else []
    objects = [form for form in forms if form.kind == "object" and isinstance(form.body.get("properties"), dict)]
    named = {id(form) for form in alike}
    _tag(lowerer, [*alike, *_mistakable(lowerer, [form for form in objects if id(form) not in named])], objects)
    for form in forms:
        if form.definition is not None:
            lowerer.share(form)


def _box(lowerer: Walk, form: Variant, taken: set[str]) -> None:
    """Put a list into an object of its own; one that stands for a map shows even when empty that it does."""
    key = unique("entries" if isinstance(form.codec, PairsCodec) else "items", taken, 60)
    taken.add(key)
    box: dict[str, Any] = {"type": "object", "properties": {key: form.body}, "required": [key]}
    if lowerer.dialect.closed:
        box["additionalProperties"] = False
    if "propertyOrdering" in lowerer.dialect.keywords:
        box["propertyOrdering"] = [key]
    form.kind, form.body = "object", box
    form.codec = BoxCodec(key, form.codec)


def _tag(lowerer: Walk, chosen: list[Variant], objects: list[Variant]) -> None:
    """Let each of the chosen objects begin with a key that none of the objects has and that names it."""
    named = [name for form in objects for name in form.body["properties"]]
    named += [name for form in chosen if form.kind == "ref" for name in form.node.get("properties", {})]
    tag = unique("option", set(named), 64)
    labels: list[str] = []
    for number, form in enumerate(chosen, 1):
        label = unique(form.title or f"option_{number}", labels, 60)
        labels.append(label)
        if form.kind == "ref":
            lowerer.tag_later(form, tag, label)
        else:
            form.body, form.codec = tagged(form.body, form.codec, tag, label, constant="const" in lowerer.dialect.keywords)


def tagged(body: dict[str, Any], codec: Codec, tag: str, label: str, *, constant: bool) -> tuple[dict[str, Any], Codec]:
    """Return an object that begins with a key that names it, and the codec that knows of it."""
    body = leading(body, tag, {"type": "string", **({"const": label} if constant else {"enum": [label]})})
    for keyword in body.keys() & {"minProperties", "maxProperties"}:
        body[keyword] += 1
    if isinstance(codec, TupleCodec):  # the tag belongs to the object it is written as
        return body, replace(codec, item=_with_tag(codec.item, Tag(tag, label)))
    return body, _with_tag(codec, Tag(tag, label))


def _with_tag(codec: Codec, tag: Tag) -> Codec:
    return replace(codec, tag=tag) if isinstance(codec, ObjectCodec | BoxCodec) else ObjectCodec({}, tag=tag)


def _mistakable(lowerer: Walk, forms: list[Variant]) -> list[Variant]:
    """Return the forms of which an answer could be taken for another one that means something else."""
    found: set[int] = set()
    seen = {id(form): _as_answered(lowerer, form.body) for form in forms}

    def resolve(reference: str) -> Json:
        return _closed(lowerer, lowerer.definitions.get(reference.rsplit("/", 1)[-1]))

    for number, (left, right) in enumerate(combinations(forms, 2)):
        if left.codec == right.codec:
            continue
        if number >= _MOST_COMPARED or not disjoint(seen[id(left)], seen[id(right)], resolve=resolve):
            found |= {id(left), id(right)}
    return [form for form in forms if id(form) in found]


def _as_answered(lowerer: Walk, body: Json) -> Json:
    """Return the schema of answers by which a form is told from others: an empty list tells nothing."""
    body = _closed(lowerer, body)
    return {**body, "minItems": max(1, body.get("minItems", 0))} if body.get("type") == "array" else body


def _closed(lowerer: Walk, body: Json) -> Json:
    """Return a schema whose objects are closed: where a target cannot say so, the one is meant that declares what there is."""
    if lowerer.dialect.closed or not isinstance(body, dict):
        return body
    return rebuild(body, _shut)


def _shut(node: Json) -> Json:
    if node.get("type") != "object" or not node.keys().isdisjoint({"additionalProperties", "patternProperties"}):
        return node
    return {**node, "additionalProperties": False}
