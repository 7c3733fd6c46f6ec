"""Apply mixins that schemas refer to: `allOf: [A_Mixin, B_Mixin, { properties: { default: X } }]` means A(B(X)).

A schema that applies mixins is done before what holds it: the mixins and the rest of the schema are flattened each by itself,
what the rest puts into `default` is spliced into the mixins, innermost first, and the result is merged with what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from instrc.flattening.conjunction import Collecting, DerivedSchema, GoOn, PendingPart
from instrc.flattening.run import Flattening
from instrc.flattening.splicing import SLOT, Intersect, splice_parts
from instrc.jsonvalue import Json, JsonArray, JsonObject, as_text
from instrc.schema.resources import DynamicScope, Term
from instrc.schema.uris import is_mixin

DefinitionOf: TypeAlias = Callable[[Json], Json]
"""From a reference to a definition to what it means; any other schema stays as it is."""

_BESIDE = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$ref"})
"""What may stand beside a mixin in a list of mixins; with anything else it is a schema that applies the mixin by itself."""


def applies_mixins(node: JsonObject, scope: DynamicScope) -> bool:
    """Tell whether a schema refers to a mixin, itself or in its `allOf`."""
    if "$ref" not in scope.resource.dialect.references:
        return False
    if is_mixin(node.get("$ref")):
        return True
    branches = node.get("allOf")
    return isinstance(branches, list) and any(_only_mixin(branch) for branch in branches)


def _only_mixin(branch: Json) -> bool:
    return isinstance(branch, dict) and is_mixin(branch.get("$ref")) and branch.keys() <= _BESIDE


def mixing(run: Flattening, terms: list[Term], applied: list[Term]) -> Collecting:
    """Return a frame that does the schemas that apply mixins, and then the conjunction they belong to."""
    results: JsonArray = [None] * len(applied)
    frame = Collecting(results, partial(_go_on, run, terms, applied))
    frame.pending += [PendingPart(results, index, [term], mixes=True) for index, term in enumerate(applied)]
    return frame


def _go_on(run: Flattening, terms: list[Term], applied: list[Term], done: Collecting) -> GoOn:
    places = [(id(node), id(run.store.below(node, scope))) for node, scope in applied]
    return GoOn(terms, tuple(map(DerivedSchema, done.results)), dict(zip(places, done.results, strict=True)))


class _Parts(Struct, frozen=True):
    """A schema that applies mixins, divided."""

    rest: JsonObject
    """What it says besides."""
    references: tuple[tuple[str, Json], ...]
    """The mixins, the outermost first, each with the schema that refers to it."""
    words: JsonObject
    """What it says of the whole."""
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


def application(
    run: Flattening, node: JsonObject, scope: DynamicScope, bodies: DefinitionOf, intersect: Intersect
) -> tuple[Collecting, GoOn]:
    """Return the frame that does a schema which applies mixins, and the schemas that were made for it."""
    parts = _divide(node)
    results: JsonArray = [None] * (len(parts.references) + 1)
    frame = Collecting(results, partial(_apply, run, parts, node, bodies, intersect))
    frame.pending.append(PendingPart(results, 0, [(parts.rest, scope)]))
    for index, (reference, where) in enumerate(parts.references):
        target = run.store.resolve(reference, scope, where)
        frame.pending.append(PendingPart(results, index + 1, [(target.node, target.scope)]))
    return frame, GoOn([], parts.derived)


def _apply(
    run: Flattening, parts: _Parts, node: Json, bodies: DefinitionOf, intersect: Intersect, done: Collecting
) -> Json | GoOn:
    """Splice what has been done together, and merge it with what is left."""
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
    out = dict(schema)
    if isinstance(properties := schema.get("properties"), dict) and SLOT in properties:
        others = {name: value for name, value in properties.items() if name != SLOT}
        if others:
            out["properties"] = others
        else:
            del out["properties"]
    if isinstance(required := schema.get("required"), list) and SLOT in required:
        names = [name for name in required if name != SLOT]
        if names:
            out["required"] = names
        else:
            del out["required"]
    return out
