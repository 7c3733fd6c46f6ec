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
from instrc.flattening.contradictions import in_short
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import as_object, equal
from instrc.problems.report import Report
from instrc.schema.laws import is_number
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import rebuild
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
    outer: dict[str, Json] = mixin if mixin.__class__ is dict else {}
    inner: dict[str, Json] = filling if filling.__class__ is dict else {}
    around = _map(outer.get("properties"))
    if inner and not _is_object(inner):
        properties = {**around, SLOT: filling}
        return {**{key: value for key, value in outer.items() if key not in {"title", "description"}}, "properties": properties}
    own = [name for name in around if name != SLOT]
    inside = _map(inner.get("properties"))
    properties = {}
    for name, schema in around.items() if SLOT in around else [*around.items(), (SLOT, None)]:
        for key, definition in inside.items() if name == SLOT else [(name, schema)]:
            if key not in properties:
                properties[key] = definition
            elif not equal(properties[key], definition):
                _conflict(report, key, around[key], inside[key], applied, at)
                properties[key] = intersect([around[key], inside[key]], report=report)
    out: dict[str, Json] = {}
    always = sum(name in own for name in outer["required"]) if outer.get("required").__class__ is list else 0
    lifted = _lifted(inner, own, always) if own else inner
    rest = {key: value for key, value in outer.items() if key not in _OF_THE_MIXIN and key not in _CLOSING}
    more = {key: value for key, value in lifted.items() if key not in _WRITTEN_HERE}
    body = intersect([more, rest], report=report) if rest and more else more or rest
    if body is False:
        return False
    for key, value in body.items() if body.__class__ is dict else ():
        out[key] = value
        if key == "type":
            out["properties"] = properties
    required = _required(outer, inner, inside, properties)
    if "properties" not in out:
        out["properties"] = properties
    place = dict.fromkeys(out)
    written: dict[str, Json] = {"properties": properties}
    if required:
        written["required"] = required
    closing = lifted if inner else outer
    written.update({key: closing[key] for key in _CLOSING if key in closing})
    ordered: dict[str, Json] = {}
    for key in place:
        if key == "properties":
            ordered.update(written)
        else:
            ordered[key] = out[key]
    return ordered


def _is_object(schema: dict[str, Json]) -> bool:
    """Tell whether a schema can be spliced: it is about objects, or does not say what it is about."""
    names = schema.get("type", "object")
    if "$ref" in schema or "const" in schema or "enum" in schema:
        return False
    return "object" in names if names.__class__ is list else bool(names == "object")


def _map(value: Json) -> dict[str, Json]:
    return value if value.__class__ is dict else {}


def _required(outer: dict[str, Json], inner: dict[str, Json], inside: dict[str, Json], properties: dict[str, Json]) -> list[str]:
    """Return what is required of the mixin's own and of what is put in, in the order of the properties."""
    of_mixin: list[str] = outer["required"] if outer.get("required").__class__ is list else []
    names = dict.fromkeys(name for name in of_mixin if name != SLOT)
    if inner.get("required").__class__ is list:
        names.update(dict.fromkeys(inner["required"]))
    elif SLOT in of_mixin:
        names.update(dict.fromkeys(inside))
    return [name for name in properties if name in names] + [name for name in names if name not in properties]


def _lifted(schema: dict[str, Json], names: Iterable[str], always: int) -> dict[str, Json]:
    """Return a schema that says about an object with some more properties what it says about the object without them.

    `always` of the names are required.
    """
    return as_object(rebuild(schema, partial(_lift, names=tuple(names), always=always), IN_PLACE))


def _lift(node: Json, names: tuple[str, ...], always: int) -> Json:
    """Lift one schema whose in-place parts are lifted."""
    changes: dict[str, Json] = {}
    if node.get("additionalProperties", True) is not True or node.get("unevaluatedProperties", True) is not True:
        known = _map(node.get("properties"))
        changes["properties"] = {**known, **{name: True for name in names if name not in known}}
    if "propertyNames" in node:
        changes["propertyNames"] = {"anyOf": [node["propertyNames"], {"enum": list(names)}]}
    if is_number(node.get("maxProperties")):
        changes["maxProperties"] = node["maxProperties"] + len(names)
    if is_number(node.get("minProperties")):
        changes["minProperties"] = node["minProperties"] + always
    return {**node, **changes} if changes else node


def _conflict(report: Report | None, key: str, one: Json, other: Json, applied: str, at: Span | None) -> None:
    if report is not None:
        report.add(problems.schemas.SlotConflict(at=at, key=key, mixin=in_short(one), filling=in_short(other), applied=applied))
