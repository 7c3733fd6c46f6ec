"""Keep the alternatives of a union apart that mean different things by what is sent alike.

Two lists may be read in two ways (as texts, as values written into texts), and so may two objects.
A list that is more than its items say stands in an object of its own, and objects begin with a key that names them.
That is done only where an answer could be meant either way: types, constants and required properties mostly tell.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from instrc.codecs.reverse import Codec
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of
from instrc.lowering.names import unique
from instrc.lowering.rewrites.first_keys import leading, led_apart
from instrc.lowering.variants import Variant, listed_values
from instrc.lowering.walk import Walk

_DEEPEST = 6
_MOST_COMPARED = 1500
"""Pairs of schemas that are compared to find out; beyond that they are taken for alike."""


def untangled(lowerer: Walk, forms: list[Variant]) -> None:
    """Change the lists and objects among the forms of a union so that no answer can be meant in two ways."""
    lists = [form for form in forms if form.kind == "array"]
    sight = _Sight(lowerer.definitions)
    if len(lists) > 1:
        mistakable = {id(form) for form in sight.mistakable(lists)}
        taken = {name for form in forms if form.kind == "object" for name in form.body.get("properties", {})}
        for form in lists:
            if form.codec is not None and (id(form) in mistakable or form.codec["as"] == "pairs"):
                _box(lowerer, form, taken)
    alike = led_apart(lowerer, forms) if lowerer.dialect.first_keys else []
    objects = [form for form in forms if form.kind == "object" and isinstance(form.body.get("properties"), dict)]
    named = {id(form) for form in alike}
    _tag(lowerer, [*alike, *sight.mistakable([form for form in objects if id(form) not in named])], objects)
    for form in forms:
        if form.definition is not None:
            lowerer.share(form)


def _box(lowerer: Walk, form: Variant, taken: set[str]) -> None:
    """Put a list into an object of its own; one that stands for a map shows even when empty that it does."""
    key = unique("entries" if form.codec is not None and form.codec["as"] == "pairs" else "items", taken, 60)
    taken.add(key)
    box: dict[str, Any] = {"type": "object", "properties": {key: form.body}, "required": [key]}
    if lowerer.dialect.closed:
        box["additionalProperties"] = False
    if "propertyOrdering" in lowerer.dialect.keywords:
        box["propertyOrdering"] = [key]
    form.kind, form.body = "object", box
    form.codec = {"as": "box", "key": key, "codec": form.codec}


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
    if codec is not None and codec["as"] == "tuple":  # the tag belongs to the object it is written as
        item = codec.get("item") or {"as": "object", "keys": {}}
        return body, {**codec, "item": {**item, "tag": {"key": tag, "value": label}}}
    return body, {**(codec or {"as": "object", "keys": {}}), "tag": {"key": tag, "value": label}}


class _Sight:
    """A look at what is sent in the places of a union."""

    def __init__(self, definitions: dict[str, Json]) -> None:
        self._definitions = definitions
        self._left = _MOST_COMPARED

    def mistakable(self, forms: list[Variant]) -> list[Variant]:
        """Return the forms of which an answer could be taken for another one that means something else."""
        found: set[int] = set()
        for left, right in combinations(forms, 2):
            if left.codec != right.codec and not self._apart(left.body, right.body, 0, filled=True):
                found |= {id(left), id(right)}
        return [form for form in forms if id(form) in found]

    def _apart(self, left: Json, right: Json, depth: int, *, filled: bool = False) -> bool:
        """Say whether no value satisfies both schemas, as far as can be seen; `filled` leaves empty lists out."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return False
        left, right = self._seen_through(left), self._seen_through(right)
        if left is False or right is False:
            return True
        if not isinstance(left, dict) or not isinstance(right, dict):
            return False
        for one, other in ((left, right), (right, left)):
            if "anyOf" in one:
                return all(self._apart(branch, other, depth + 1, filled=filled) for branch in one["anyOf"])
        mine, theirs = _kinds(left), _kinds(right)
        if mine is not None and theirs is not None and not mine & theirs:
            return True
        for one, other in ((left, right), (right, left)):
            if one.keys() & {"const", "enum"}:
                listed = {freeze(value) for value in listed_values(one)}
                return bool(other.keys() & {"const", "enum"}) and not listed & {freeze(value) for value in listed_values(other)}
        if mine == theirs == {"object"}:
            return self._objects_apart(left, right, depth)
        if mine == theirs == {"array"} and (filled or (left.get("minItems", 0) > 0 and right.get("minItems", 0) > 0)):
            return self._apart(_first(left), _first(right), depth + 1)
        return False

    def _objects_apart(self, left: dict[str, Any], right: dict[str, Any], depth: int) -> bool:
        here, there = left.get("properties") or {}, right.get("properties") or {}
        for one, mine, other, theirs in ((left, here, right, there), (right, there, left, here)):
            undeclared = other.get("additionalProperties", False) is False and "patternProperties" not in other
            for name in one.get("required", ()):
                if name not in theirs:
                    if undeclared:  # where objects cannot be closed the one is meant that declares what there is
                        return True
                elif name in mine and name in other.get("required", ()) and self._apart(mine[name], theirs[name], depth + 1):
                    return True
        return False

    def _seen_through(self, schema: Json) -> Json:
        for _ in range(5):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = self._definitions.get(schema["$ref"].rsplit("/", 1)[-1])
        return schema


def _first(schema: dict[str, Any]) -> Json:
    """Return what the first item of a list is."""
    prefix = schema.get("prefixItems")
    return prefix[0] if prefix else schema.get("items", True)


def _kinds(schema: dict[str, Any]) -> set[str] | None:
    if schema.keys() & {"const", "enum"}:
        return {"number" if (kind := kind_of(value)) == "integer" else kind for value in listed_values(schema)}
    types = schema.get("type")
    if types is None:
        return None
    return {"number" if name == "integer" else name for name in ([types] if isinstance(types, str) else types)}
