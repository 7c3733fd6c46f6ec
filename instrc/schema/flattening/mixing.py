"""Apply referenced mixins: `allOf: [A_Mixin, B_Mixin, { properties: { default: X } }]` means A(B(X)).

The slot `default` is replaced in place by the properties of its content; they are spliced, not intersected: the content
describes only its own properties and must not forbid those of the mixin.  Other slots are filled by name, as under `allOf`.

A schema that applies mixins is finished before the enclosing one: the mixins and the rest of the schema are flattened separately,
the content is spliced into the mixins, innermost first, and the result is merged with the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from instrc import problems
from instrc.problems.report import Report
from instrc.schema.drafts import is_mixin
from instrc.schema.flattening.conjunction import STRIPPED, Collecting, DerivedSchema, GoOn, PendingPart
from instrc.schema.flattening.contradictions import one_line
from instrc.schema.flattening.run import Flattening
from instrc.schema.kinds import is_number, unique
from instrc.schema.patterns import matches
from instrc.schema.scopes import DynamicScope, Term
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import map_schemas, without, without_property
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, as_object, as_text, equal, listing, mapping
from instrc.text.source import Span


def mixing(run: Flattening, terms: list[Term], applied: list[Term]) -> Collecting:
    """Return a frame that finishes the schemas that apply mixins, and then the conjunction that contains them."""
    results: JsonArray = [None] * len(applied)
    frame = Collecting(results, partial(_go_on, run, terms, applied))
    frame.pending += [PendingPart(results, index, [term], mixes=True) for index, term in enumerate(applied)]
    return frame


def _go_on(run: Flattening, terms: list[Term], applied: list[Term], done: Collecting) -> GoOn:
    places = [(id(node), id(run.store.below(node, scope))) for node, scope in applied]
    return GoOn(terms, tuple(map(DerivedSchema, done.results)), dict(zip(places, done.results, strict=True)))


Intersect: TypeAlias = Callable[..., Json]
"""Function that intersects flat schemas; problems go to its `report`."""
SLOT = "default"
_OF_THE_MIXIN = STRIPPED | {"title", "description", "properties", "required", "examples", "$comment"}
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_SYNTAX = r"[$()*+./?\[\\\]^{|}]"
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
    """Splice schemas without special treatment of references."""
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
    written: JsonObject = {"properties": properties}
    if required:
        written["required"] = required
    closing = lifted if inner else outer
    written.update({key: closing[key] for key in _CLOSING if key in closing})
    ordered: JsonObject = {}
    for key in out:
        if key == "properties":
            ordered.update(written)
        else:
            ordered[key] = out[key]
    return ordered


def _is_object(schema: JsonObject) -> bool:
    """Return whether a schema can be spliced: it is about objects, or has no type."""
    names = schema.get("type", "object")
    if "$ref" in schema or "const" in schema or "enum" in schema:
        return False
    return "object" in names if isinstance(names, list) else names == "object"


def _conflict(
    report: Report | None, key: str, one: Json, other: Json, applied: str, at: Span | None, *, impossible: bool
) -> None:
    if report is not None:
        mixin, filling = one_line(one), one_line(other)
        found = problems.schemas.SlotConflict(
            at=at, key=key, mixin=mixin, filling=filling, applied=applied, impossible=impossible
        )
        report.add(found)


def _lifted(schema: JsonObject, names: Iterable[str], always: int) -> JsonObject:
    """Return a schema for objects with additional properties that constrains the others as before.

    Of `names`, those in `always` are required.
    """
    return as_object(map_schemas(schema, partial(_lift, names=tuple(names), always=always), IN_PLACE))


def _lift(node: JsonObject, names: tuple[str, ...], always: int) -> Json:
    """Lift one schema whose in-place parts are already lifted."""
    changes: JsonObject = {}
    if node.get("additionalProperties", True) is not True or node.get("unevaluatedProperties", True) is not True:
        known = mapping(node.get("properties"))
        changes["properties"] = {**known, **{name: True for name in names if name not in known}}
    if isinstance(patterns := node.get("patternProperties"), dict):
        changes["patternProperties"] = {_sparing(pattern, names): schema for pattern, schema in patterns.items()}
    if "propertyNames" in node:
        changes["propertyNames"] = {"anyOf": [node["propertyNames"], {"enum": [*names]}]}
    if is_number(most := node.get("maxProperties")):
        changes["maxProperties"] = most + len(names)
    if is_number(least := node.get("minProperties")):
        changes["minProperties"] = least + always
    return {**node, **changes} if changes else node


def _sparing(pattern: str, names: tuple[str, ...]) -> str:
    """Return a pattern that matches in the same texts as another, except in some names."""
    spared = [re.sub(_SYNTAX, r"\\\g<0>", name) for name in names if matches(pattern, name) is not False]
    return rf"^(?!(?:{'|'.join(spared)})$)[\s\S]*(?:{pattern})" if spared else pattern


def _required(outer: JsonObject, inner: JsonObject, inside: JsonObject, properties: JsonObject) -> JsonArray:
    """Return the required properties of the mixin and its content, in the order of the properties."""
    of_mixin = listing(outer.get("required"))
    names = [name for name in of_mixin if name != SLOT]
    if isinstance(required := inner.get("required"), list):
        names += required
    elif SLOT in of_mixin:
        names += inside
    known = {name for name in names if isinstance(name, str)}
    others = unique(name for name in names if not isinstance(name, str) or name not in properties)
    return [name for name in properties if name in known] + others


DefinitionOf: TypeAlias = Callable[[Json], Json]
"""Function that resolves a reference to a definition; any other schema is returned as is."""
_BESIDE = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$ref"})
"""Keywords allowed next to a mixin in a list; with any other one the schema applies the mixin by itself."""


def applies_mixins(node: JsonObject, scope: DynamicScope) -> bool:
    """Return whether a schema refers to a mixin, itself or in its `allOf`."""
    if "$ref" not in scope.resource.dialect.references:
        return False
    if is_mixin(node.get("$ref")):
        return True
    branches = node.get("allOf")
    return isinstance(branches, list) and any(_only_mixin(branch) for branch in branches)


def _only_mixin(branch: Json) -> bool:
    return isinstance(branch, dict) and is_mixin(branch.get("$ref")) and branch.keys() <= _BESIDE


def application(
    run: Flattening, node: JsonObject, scope: DynamicScope, bodies: DefinitionOf, intersect: Intersect
) -> tuple[Collecting, GoOn]:
    """Return the frame for a schema that applies mixins, and the schemas created for it."""
    parts = _divide(node)
    results: JsonArray = [None] * (len(parts.references) + 1)
    frame = Collecting(results, partial(_apply, run, parts, node, bodies, intersect))
    frame.pending.append(PendingPart(results, 0, [(parts.rest, scope)]))
    for index, (reference, where) in enumerate(parts.references):
        target = run.store.resolve(reference, scope, where)
        frame.pending.append(PendingPart(results, index + 1, [(target.node, target.scope)]))
    return frame, GoOn([], parts.derived)


class _Parts(Struct, frozen=True):
    """A schema that applies mixins, divided into its parts."""

    rest: JsonObject
    """The remaining keywords."""
    references: tuple[tuple[str, Json], ...]
    """The mixins, outermost first, each with the schema that refers to it."""
    words: JsonObject
    """Annotations of the whole."""
    derived: tuple[DerivedSchema, ...]


def _divide(node: JsonObject) -> _Parts:
    references: list[tuple[str, Json]] = []
    branches: list[Json] = []
    words: JsonObject = {}
    rest: JsonObject = {}
    derived: list[DerivedSchema] = []
    for keyword, value in node.items():
        if keyword == "allOf" and isinstance(value, list):
            for branch in value:
                if not isinstance(branch, dict) or not _only_mixin(branch):
                    branches.append(branch)
                    continue
                references.append((as_text(branch["$ref"]), branch))
                if len(branch) > 1:
                    beside = {word: text for word, text in branch.items() if word != "$ref"}
                    derived.append(DerivedSchema(beside, (branch,)))
                    branches.append(beside)
        elif keyword == "$ref" and is_mixin(value):
            references.insert(0, (as_text(value), node))
        elif keyword == "unevaluatedProperties":
            words[keyword] = value
        else:
            rest[keyword] = value
    if branches:
        rest["allOf"] = branches
    derived.append(DerivedSchema(rest, (node,), needs_flattening=True))
    return _Parts(rest, tuple(references), words, tuple(derived))


def _apply(
    run: Flattening, parts: _Parts, node: Json, bodies: DefinitionOf, intersect: Intersect, done: Collecting
) -> Json | GoOn:
    """Splice the finished parts, and merge the result with the rest."""
    rest, *mixins = [bodies(result) for result in done.results]
    if rest is False:
        return False
    filling: Json = None
    left: Json = rest
    derived: list[DerivedSchema] = []
    if isinstance(rest, dict):
        if isinstance(properties := rest.get("properties"), dict) and SLOT in properties:
            filling = bodies(properties[SLOT])
        left = _without_slot(rest)
        derived.append(DerivedSchema(left, (rest,)))
    at = run.store.at(node)
    for mixin, (reference, _) in zip(reversed(mixins), reversed(parts.references), strict=True):
        inside = filling
        filling = splice_parts(intersect, mixin, inside, report=run.options.report, applied=reference, at=at)
        derived.append(DerivedSchema(filling, (mixin, inside)))
    terms: list[Term] = [(filling, run.flat), (left, run.flat)]
    if parts.words:
        closed: JsonObject = {"allOf": [filling, left], **parts.words}
        derived.append(DerivedSchema(closed, (node,), needs_flattening=True))
        terms = [(closed, run.flat)]
    return GoOn(terms, tuple(derived), name=done.name)


def _without_slot(schema: JsonObject) -> JsonObject:
    """Return a schema without its property `default`."""
    if SLOT not in mapping(schema.get("properties")) and SLOT not in listing(schema.get("required")):
        return dict(schema)
    result = without_property(schema, SLOT)
    return result if result["properties"] else without(result, "properties")
