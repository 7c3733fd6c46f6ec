"""Splice what is put into the slot `default` of a mixin into its properties.

The slot `default` is replaced in place by the properties of what is put in; it is spliced, not intersected: what is put in
speaks about its own properties only, and must not forbid those of the mixin.  Other slots are filled by name,
as under `allOf`.  All functions take and give flat schemas and change none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from instrc import problems
from instrc.flattening.conjunction import STRIPPED
from instrc.jsonvalue import Json, JsonArray, JsonObject, as_object, equal, listing, mapping
from instrc.problems.report import Report
from instrc.schema.equality import unique
from instrc.schema.kinds import is_number
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import map_schemas
from instrc.source import Span

Intersect: TypeAlias = Callable[..., Json]
"""The conjunction of flat schemas; what is wrong goes to its `report`."""

SLOT = "default"
_OF_THE_MIXIN = STRIPPED | {"title", "description", "properties", "required", "examples", "$comment"}
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_WRITTEN_HERE = frozenset({"properties", "required", *_CLOSING})


def splice_parts(
    intersect: Intersect,
    mixin: Json,
    filling: Json,
    *,
    report: Report | None = None,
    applied: str = "",
    at: Span | None = None,
) -> Json:
    """Splice schemas whose references need no care."""
    if mixin is False or filling is False:
        return False
    outer, inner = mapping(mixin), mapping(filling)
    around = mapping(outer.get("properties"))
    if inner and not _is_object(inner):
        front = {key: value for key, value in outer.items() if key not in {"title", "description"}}
        return {**front, "properties": {**around, SLOT: filling}}
    own = [name for name in around if name != SLOT]
    inside = mapping(inner.get("properties"))
    properties: JsonObject = {}
    for name, schema in around.items() if SLOT in around else [*around.items(), (SLOT, None)]:
        for key, definition in inside.items() if name == SLOT else [(name, schema)]:
            if key not in properties:
                properties[key] = definition
            elif not equal(properties[key], definition):
                told = Report()
                properties[key] = intersect([around[key], inside[key]], report=told)
                _conflict(report, key, around[key], inside[key], applied, at, impossible=bool(told.problems))
    out: JsonObject = {}
    always = sum(name in own for name in listing(outer.get("required")))
    lifted = _lifted(inner, own, always) if own else inner
    rest = {key: value for key, value in outer.items() if key not in _OF_THE_MIXIN and key not in _CLOSING}
    more = {key: value for key, value in lifted.items() if key not in _WRITTEN_HERE}
    body = intersect([more, rest], report=report) if rest and more else more or rest
    if body is False:
        return False
    for key, value in mapping(body).items():
        out[key] = value
        if key == "type":
            out["properties"] = properties
    required = _required(outer, inner, inside, properties)
    if "properties" not in out:
        out["properties"] = properties
    place = dict.fromkeys(out)
    written: JsonObject = {"properties": properties}
    if required:
        written["required"] = required
    closing = lifted if inner else outer
    written.update({key: closing[key] for key in _CLOSING if key in closing})
    ordered: JsonObject = {}
    for key in place:
        if key == "properties":
            ordered.update(written)
        else:
            ordered[key] = out[key]
    return ordered


def _is_object(schema: JsonObject) -> bool:
    """Tell whether a schema can be spliced: it is about objects, or does not say what it is about."""
    names = schema.get("type", "object")
    if "$ref" in schema or "const" in schema or "enum" in schema:
        return False
    return "object" in names if isinstance(names, list) else names == "object"


def _required(outer: JsonObject, inner: JsonObject, inside: JsonObject, properties: JsonObject) -> JsonArray:
    """Return what is required of the mixin's own and of what is put in, in the order of the properties."""
    of_mixin = listing(outer.get("required"))
    names = [name for name in of_mixin if name != SLOT]
    if isinstance(required := inner.get("required"), list):
        names += required
    elif SLOT in of_mixin:
        names += inside
    known = {name for name in names if isinstance(name, str)}
    others = unique(name for name in names if not isinstance(name, str) or name not in properties)
    return [name for name in properties if name in known] + others


def _lifted(schema: JsonObject, names: Iterable[str], always: int) -> JsonObject:
    """Return a schema that says about an object with some more properties what it says about the object without them.

    `always` of the names are required.
    """
    return as_object(map_schemas(schema, partial(_lift, names=tuple(names), always=always), IN_PLACE))


def _lift(node: JsonObject, names: tuple[str, ...], always: int) -> Json:
    """Lift one schema whose in-place parts are lifted."""
    changes: JsonObject = {}
    if node.get("additionalProperties", True) is not True or node.get("unevaluatedProperties", True) is not True:
        known = mapping(node.get("properties"))
        changes["properties"] = {**known, **{name: True for name in names if name not in known}}
    if "propertyNames" in node:
        changes["propertyNames"] = {"anyOf": [node["propertyNames"], {"enum": [*names]}]}
    if is_number(most := node.get("maxProperties")):
        changes["maxProperties"] = most + len(names)
    if is_number(least := node.get("minProperties")):
        changes["minProperties"] = least + always
    return {**node, **changes} if changes else node


def _conflict(
    report: Report | None, key: str, one: Json, other: Json, applied: str, at: Span | None, *, impossible: bool
) -> None:
    if report is not None:
        from instrc.flattening.contradictions import one_line  # for a mistake

        mixin, filling = one_line(one), one_line(other)
        found = problems.schemas.SlotConflict(
            at=at, key=key, mixin=mixin, filling=filling, applied=applied, impossible=impossible
        )
        report.add(found)
