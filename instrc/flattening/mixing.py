"""Apply mixins that schemas refer to: `allOf: [A_Mixin, B_Mixin, { properties: { default: X } }]` means A(B(X)).

A schema that applies mixins is done before what holds it: the mixins and the rest of the schema are flattened each by itself,
what the rest puts into `default` is spliced into the mixins, innermost first, and the result is merged with what is left.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from instrc.flattening.conjunction import Conjunct, Frame, Term
from instrc.flattening.slots import SLOT, splice_parts
from instrc.jsonvalue import Json
from instrc.schema.resources import Scope
from instrc.schema.uris import is_mixin

if TYPE_CHECKING:
    from instrc.flattening.flattener import Flattener  # it calls us with itself

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


def mixing(flattener: Flattener, terms: list[Term], applied: list[Term]) -> Frame:
    """Return a frame that does the schemas that apply mixins, and then the conjunction they belong to."""
    results: list[Json] = [None] * len(applied)
    frame = Frame(results)
    for index, term in enumerate(applied):
        frame.pending.append((results, index, [Applied(term)]))
    frame.after = partial(_go_on, flattener, terms, applied)
    return frame


def _go_on(flattener: Flattener, terms: list[Term], applied: list[Term], results: list[Json]) -> Json:
    for (node, scope), result in zip(applied, results, strict=True):
        flattener.alive.append(result)
        flattener.mixed[id(node), id(flattener.store.below(node, scope))] = result
    return flattener.begin(terms)


class Applied(tuple[Json, Scope]):
    """A term that is a schema which applies mixins, to be done as such."""

    __slots__ = ()


def application(flattener: Flattener, term: Term) -> Json:
    """Return what a schema that applies mixins becomes, or the frame that will have it."""
    node, scope = term
    scope = flattener.store.below(node, scope)
    key = frozenset({("mixed", id(node), id(scope))})
    holder = flattener.open.get(key)
    if holder is not None:
        return flattener.definitions.recursion(holder, [(node, scope)])
    references: list[tuple[str, Json]] = []
    branches: list[Json] = []
    words: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    for keyword, value in node.items():
        if keyword == "allOf":
            for branch in value:
                if _only_mixin(branch):
                    references.append((branch["$ref"], branch))
                    if len(branch) > 1:
                        beside = {word: text for word, text in branch.items() if word != "$ref"}
                        _trace(flattener, beside, branch)
                        branches.append(beside)
                else:
                    branches.append(branch)
        elif keyword == "$ref" and is_mixin(value):
            references.insert(0, (value, node))
        elif keyword == "unevaluatedProperties":
            words[keyword] = value
        else:
            rest[keyword] = value
    if branches:
        rest["allOf"] = branches
    flattener.store.needs_flattening.add(id(rest))
    flattener.alive.append((node, rest))
    _trace(flattener, rest, node)
    results: list[Json] = [None] * (len(references) + 1)
    frame = Frame(results)
    frame.pending.append((results, 0, [(rest, scope)]))
    for index, (reference, where) in enumerate(references):
        target = flattener.store.resolve(reference, scope, where)
        frame.pending.append((results, index + 1, [(target.node, target.scope)]))
    frame.unordered = key
    frame.after = partial(_apply, flattener, [reference for reference, _ in references], words, frame, node)
    flattener.open[key] = frame
    return frame


def _apply(
    flattener: Flattener, references: list[str], words: dict[str, Json], frame: Frame, node: Json, results: list[Json]
) -> Json:
    """Splice what has been done together, and merge it with what is left."""
    rest, *mixins = [flattener.definitions.body(result) for result in results]
    if rest is False:
        return False
    filling: Json = None
    left: Json = rest
    if rest.__class__ is dict and rest.get("properties").__class__ is dict and SLOT in rest["properties"]:
        filling = rest["properties"][SLOT]
        filling = flattener.definitions.body(filling)
    if rest.__class__ is dict:
        left = _without_slot(rest)
        _trace(flattener, left, rest)
    at = flattener.store.at(node)
    for mixin, reference in zip(reversed(mixins), reversed(references), strict=True):
        inside = filling
        filling = splice_parts(mixin, inside, report=flattener.options.report, applied=reference, at=at)
        _trace(flattener, filling, mixin, inside)
    flattener.alive += [filling, left]
    terms: list[Term] = [(filling, flattener.flat), (left, flattener.flat)]
    if words:
        closed = {"allOf": [filling, left], **words}
        flattener.alive.append(closed)
        flattener.store.needs_flattening.add(id(closed))
        _trace(flattener, closed, node)
        terms = [(closed, flattener.flat)]
    if frame.name is None:
        return flattener.begin(terms)
    last = Frame([None])
    last.pending.append((last.out, 0, terms))
    last.after = partial(_define, flattener, frame.name)
    return last


def _trace(flattener: Flattener, made: Json, *sources: Json) -> None:
    """Take down, for `trace`, that a schema made on the way has its keywords from others."""
    if flattener.options.trace and made.__class__ is dict:
        flat = flattener.flat
        conjuncts = [Conjunct(source, source, flat, 0, (id(source), id(flat))) for source in sources if source.__class__ is dict]
        flattener.origins[id(made)] = (
            made,
            {word: [(conjunct, word) for conjunct in conjuncts if word in conjunct.view] for word in made},
        )


def _define(flattener: Flattener, name: str, results: list[Json]) -> Json:
    return flattener.definitions.define(name, results[0])


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
