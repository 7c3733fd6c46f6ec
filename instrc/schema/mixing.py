"""Apply mixins that schemas refer to: `allOf: [A_Mixin, B_Mixin, { properties: { default: X } }]` means A(B(X)).

A schema that applies mixins is done before what holds it: the mixins and the rest of the schema are flattened each by itself,
what the rest puts into `default` is spliced into the mixins, innermost first, and the result is merged with what is left.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from instrc.jsonvalue import Json
from instrc.schema.pieces import Frame, Piece, Term
from instrc.schema.resources import Scope
from instrc.schema.slots import SLOT, splice_parts
from instrc.schema.uris import is_mixin

if TYPE_CHECKING:
    from instrc.schema.fold import Folder  # it calls us with itself

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


def mixing(folder: Folder, terms: list[Term], applied: list[Term]) -> Frame:
    """Return a frame that does the schemas that apply mixins, and then the conjunction they belong to."""
    results: list[Json] = [None] * len(applied)
    frame = Frame(results)
    for index, term in enumerate(applied):
        frame.pending.append((results, index, [Applied(term)]))
    frame.after = partial(_go_on, folder, terms, applied)
    return frame


def _go_on(folder: Folder, terms: list[Term], applied: list[Term], results: list[Json]) -> Json:
    for (node, scope), result in zip(applied, results, strict=True):
        folder.alive.append(result)
        folder.mixed[id(node), id(folder.library.below(node, scope))] = result
    return folder.begin(terms)


class Applied(tuple[Json, Scope]):
    """A term that is a schema which applies mixins, to be done as such."""

    __slots__ = ()


def application(folder: Folder, term: Term) -> Json:
    """Return what a schema that applies mixins becomes, or the frame that will have it."""
    node, scope = term
    scope = folder.library.below(node, scope)
    key = frozenset({("mixed", id(node), id(scope))})
    holder = folder.open.get(key)
    if holder is not None:
        return folder.definitions.recursion(holder, [(node, scope)])
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
                        _trace(folder, beside, branch)
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
    folder.library.dirty.add(id(rest))
    folder.alive.append((node, rest))
    _trace(folder, rest, node)
    results: list[Json] = [None] * (len(references) + 1)
    frame = Frame(results)
    frame.pending.append((results, 0, [(rest, scope)]))
    for index, (reference, where) in enumerate(references):
        target = folder.library.resolve(reference, scope, where)
        frame.pending.append((results, index + 1, [(target.node, target.scope)]))
    frame.unordered = key
    frame.after = partial(_apply, folder, [reference for reference, _ in references], words, frame, node)
    folder.open[key] = frame
    return frame


def _apply(folder: Folder, references: list[str], words: dict[str, Json], frame: Frame, node: Json, results: list[Json]) -> Json:
    """Splice what has been done together, and merge it with what is left."""
    rest, *mixins = [folder.definitions.body(result) for result in results]
    if rest is False:
        return False
    filling: Json = None
    left: Json = rest
    if rest.__class__ is dict and rest.get("properties").__class__ is dict and SLOT in rest["properties"]:
        filling = rest["properties"][SLOT]
        filling = folder.definitions.body(filling)
    if rest.__class__ is dict:
        left = _without_slot(rest)
        _trace(folder, left, rest)
    at = folder.library.at(node)
    for mixin, reference in zip(reversed(mixins), reversed(references), strict=True):
        inside = filling
        filling = splice_parts(mixin, inside, report=folder.options.report, applied=reference, at=at)
        _trace(folder, filling, mixin, inside)
    folder.alive += [filling, left]
    terms: list[Term] = [(filling, folder.flat), (left, folder.flat)]
    if words:
        closed = {"allOf": [filling, left], **words}
        folder.alive.append(closed)
        folder.library.dirty.add(id(closed))
        _trace(folder, closed, node)
        terms = [(closed, folder.flat)]
    if frame.name is None:
        return folder.begin(terms)
    last = Frame([None])
    last.pending.append((last.out, 0, terms))
    last.after = partial(_define, folder, frame.name)
    return last


def _trace(folder: Folder, made: Json, *sources: Json) -> None:
    """Take down, for `trace`, that a schema made on the way has its keywords from others."""
    if folder.options.trace and made.__class__ is dict:
        flat = folder.flat
        pieces = [Piece(source, source, flat, 0, (id(source), id(flat))) for source in sources if source.__class__ is dict]
        folder.origins[id(made)] = (made, {word: [(piece, word) for piece in pieces if word in piece.view] for word in made})


def _define(folder: Folder, name: str, results: list[Json]) -> Json:
    return folder.definitions.define(name, results[0])


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
