"""Apply mixins that schemas refer to: `allOf: [A_Mixin, B_Mixin, { properties: { default: X } }]` means A(B(X)).

A schema that applies mixins is done before what holds it: the mixins and the rest of the schema are flattened each by itself,
what the rest puts into `default` is spliced into the mixins, innermost first, and the result is merged with what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from instrc.flattening.conjunction import Derived, Frame, GoOn, Term
from instrc.flattening.run import Run
from instrc.flattening.splicing import SLOT, Intersect, splice_parts
from instrc.jsonvalue import AnyJson as Json
from instrc.schema.resources import Scope
from instrc.schema.uris import is_mixin

Bodies: TypeAlias = Callable[[Json], Json]
"""From a reference to a definition to what it means; any other schema stays as it is."""

_BESIDE = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$ref"})
"""What may stand beside a mixin in a list of mixins; with anything else it is a schema that applies the mixin by itself."""


def applies_mixins(node: Json, scope: Scope) -> bool:
    """Tell whether a schema refers to a mixin, itself or in its `allOf`."""
    if "$ref" not in scope.resource.dialect.references:
        return False
    if is_mixin(node.get("$ref")):
        return True
    branches = node.get("allOf")
    return branches.__class__ is list and any(_only_mixin(branch) for branch in branches)


def _only_mixin(branch: Json) -> bool:
    return branch.__class__ is dict and is_mixin(branch.get("$ref")) and branch.keys() <= _BESIDE


def mixing(run: Run, terms: list[Term], applied: list[Term]) -> Frame:
    """Return a frame that does the schemas that apply mixins, and then the conjunction they belong to."""
    results: list[Json] = [None] * len(applied)
    frame = Frame(results)
    for index, term in enumerate(applied):
        frame.pending.append((results, index, [Applied(term)]))
    frame.after = partial(_go_on, run, terms, applied)
    return frame


def _go_on(run: Run, terms: list[Term], applied: list[Term], results: list[Json]) -> GoOn:
    places = [(id(node), id(run.store.below(node, scope))) for node, scope in applied]
    return GoOn(terms, tuple(map(Derived, results)), dict(zip(places, results, strict=True)))


class Applied(tuple[Json, Scope]):
    """A term that is a schema which applies mixins, to be done as such."""

    __slots__ = ()


class _Parts(Struct, frozen=True):
    """A schema that applies mixins, divided."""

    rest: dict[str, Json]
    """What it says besides."""
    references: tuple[tuple[str, Json], ...]
    """The mixins, the outermost first, each with the schema that refers to it."""
    words: dict[str, Json]
    """What it says of the whole."""
    derived: tuple[Derived, ...]


def _divide(node: dict[str, Json]) -> _Parts:
    references: list[tuple[str, Json]] = []
    branches: list[Json] = []
    words: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    derived: list[Derived] = []
    for keyword, value in node.items():
        if keyword == "allOf":
            for branch in value:
                if not _only_mixin(branch):
                    branches.append(branch)
                    continue
                references.append((branch["$ref"], branch))
                if len(branch) > 1:
                    beside = {word: text for word, text in branch.items() if word != "$ref"}
                    derived.append(Derived(beside, (branch,)))
                    branches.append(beside)
        elif keyword == "$ref" and is_mixin(value):
            references.insert(0, (value, node))
        elif keyword == "unevaluatedProperties":
            words[keyword] = value
        else:
            rest[keyword] = value
    if branches:
        rest["allOf"] = branches
    derived.append(Derived(rest, (node,), needs_flattening=True))
    return _Parts(rest, tuple(references), words, tuple(derived))


def application(run: Run, node: dict[str, Json], scope: Scope, bodies: Bodies, intersect: Intersect) -> tuple[Frame, GoOn]:
    """Return the frame that does a schema which applies mixins, and the schemas that were made for it."""
    parts = _divide(node)
    results: list[Json] = [None] * (len(parts.references) + 1)
    frame = Frame(results)
    frame.pending.append((results, 0, [(parts.rest, scope)]))
    for index, (reference, where) in enumerate(parts.references):
        target = run.store.resolve(reference, scope, where)
        frame.pending.append((results, index + 1, [(target.node, target.scope)]))
    frame.after = partial(_apply, run, parts, frame, node, bodies, intersect)
    return frame, GoOn([], parts.derived)


def _apply(run: Run, parts: _Parts, frame: Frame, node: Json, bodies: Bodies, intersect: Intersect, results: list[Json]) -> Json:
    """Splice what has been done together, and merge it with what is left."""
    rest, *mixins = [bodies(result) for result in results]
    if rest is False:
        return False
    filling: Json = None
    left: Json = rest
    derived: list[Derived] = []
    if rest.__class__ is dict and rest.get("properties").__class__ is dict and SLOT in rest["properties"]:
        filling = bodies(rest["properties"][SLOT])
    if rest.__class__ is dict:
        left = _without_slot(rest)
        derived.append(Derived(left, (rest,)))
    at = run.store.at(node)
    for mixin, (reference, _) in zip(reversed(mixins), reversed(parts.references), strict=True):
        inside = filling
        filling = splice_parts(intersect, mixin, inside, report=run.options.report, applied=reference, at=at)
        derived.append(Derived(filling, (mixin, inside)))
    terms: list[Term] = [(filling, run.flat), (left, run.flat)]
    if parts.words:
        closed = {"allOf": [filling, left], **parts.words}
        derived.append(Derived(closed, (node,), needs_flattening=True))
        terms = [(closed, run.flat)]
    return GoOn(terms, tuple(derived), name=frame.name)


def _without_slot(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema without its property `default`."""
    out = dict(schema)
    if schema.get("properties").__class__ is dict and SLOT in schema["properties"]:
        properties = {name: value for name, value in schema["properties"].items() if name != SLOT}
        if properties:
            out["properties"] = properties
        else:
            del out["properties"]
    if schema.get("required").__class__ is list and SLOT in schema["required"]:
        required = [name for name in schema["required"] if name != SLOT]
        if required:
            out["required"] = required
        else:
            del out["required"]
    return out
