"""Expand a conjunction to its conjuncts: follow `allOf` and references, in written order."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from instrc import problems
from instrc.flattening.conjunction import STRIPPED, Conjunct, Expansion, WrittenKeywords
from instrc.flattening.run import Flattening
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.schema.located import kind_in_words
from instrc.schema.resources import DynamicScope, Term
from instrc.schema.store import SchemaStore


class _Holder(Struct, frozen=True, eq=False, gc=False):
    """A schema whose parts are followed, and the one that holds it: the way on which a schema was met."""

    mark: tuple[int, int]
    around: _Holder | None
    view: JsonObject


class _Schema(Struct, frozen=True, eq=False, gc=False):
    """A schema to take in."""

    node: Json
    scope: DynamicScope
    depth: int
    holder: _Holder | None


class _Followed(Struct, frozen=True, eq=False, gc=False):
    """All parts of a schema have been followed to their end."""

    mark: tuple[int, int]


_Entry: TypeAlias = _Schema | WrittenKeywords | _Followed


def expand(
    run: Flattening, terms: list[Term], *, fold: frozenset[str] = frozenset(), opened: frozenset[int] = frozenset()
) -> Expansion | None:
    """Return the conjuncts of terms; `None` if one of the schemas is `false`.

    `fold` names those of `anyOf` and `oneOf` whose single branches are taken for what they hold;
    `opened` are the `id`s of schemas with `unevaluated…` that are merged although these depend on the instance.
    """
    way = _Way(run, run.store, fold, opened, alone=len(terms) == 1, calm=not fold and not run.store.unevaluated)
    stack, found, seen = way.stack, way.found, way.seen
    indexed, needs_flattening = run.store.indexed, run.store.needs_flattening
    stack += [_Schema(node, scope, 0, None) for node, scope in reversed(terms)]
    while stack:
        entry = stack.pop()
        if entry.__class__ is _Schema:  # `isinstance` is slow for a `Struct`
            node, scope = entry.node, entry.scope
            key = id(node)
            plain = way.calm and key in indexed and key not in needs_flattening
            if plain and node.__class__ is dict and "allOf" not in node:  # there is nothing to follow
                mark = (key, id(scope))
                if mark not in seen and not node.keys() <= STRIPPED:
                    seen.add(mark)
                    found.written.append(WrittenKeywords(len(found.conjuncts), node))
                    found.conjuncts.append(Conjunct(node, node, scope, entry.depth, mark))
            elif node is False or not way.enter(entry):
                return None
        elif entry.__class__ is WrittenKeywords:
            found.written.append(entry)
        elif entry.__class__ is _Followed:
            way.entered.discard(entry.mark)
    return found


class _Way(Struct, eq=False, gc=False):
    """The way through the schemas of one conjunction, in written order."""

    run: Flattening
    store: SchemaStore
    fold: frozenset[str]
    opened: frozenset[int]
    alone: bool
    """Whether the conjunction has one term only."""
    calm: bool
    """Whether a schema that has nothing to flatten may be taken as it is."""
    found: Expansion = field(default_factory=Expansion)
    seen: set[tuple[int, int]] = field(default_factory=set)
    entered: set[tuple[int, int]] = field(default_factory=set)
    """Schemas whose parts are being followed: one of these that is met again leads in a circle."""
    stack: list[_Entry] = field(default_factory=list)

    def enter(self, entry: _Schema) -> bool:
        """Take in one schema, or put what it refers to on the stack; false if nothing satisfies it."""
        store, found = self.store, self.found
        node, scope, depth, way = entry.node, entry.scope, entry.depth, entry.holder
        if node.__class__ is not dict:
            if node is True:
                return True
            raise invalid(store, node, way)
        if store.nested:
            scope = store.below(node, scope)
        mark = (id(node), id(scope))
        if store.mixins and mark not in self.seen and _applies_mixins(node, scope):
            if mark not in self.run.mixed:
                found.applied.append((node, scope))
                return True
            mixed, scope = self.run.mixed[mark], self.run.flat
            if not isinstance(mixed, dict):
                return mixed is not False
            node, mark = mixed, (id(mixed), id(scope))
        if mark in self.seen:
            report = self.run.options.report
            if report is not None and way is not None and mark in self.entered:
                _tell_circle(self.run, report, mark, way)
            return True
        self.seen.add(mark)
        view = store.view(node, scope) if scope.resource.dialect.old else node
        if store.unevaluated and self._stays_apart(node, view, scope, depth):
            found.units.append((node, scope))
        elif self._is_composite(view, scope):
            self.follow(Conjunct(node, view, scope, depth, mark), way)
        elif not view.keys() <= STRIPPED:
            found.written.append(WrittenKeywords(len(found.conjuncts), view))
            found.conjuncts.append(Conjunct(node, view, scope, depth, mark))
        return True

    def _is_composite(self, view: JsonObject, scope: DynamicScope) -> bool:
        return (
            "allOf" in view
            or not scope.resource.dialect.references.isdisjoint(view)
            or (bool(self.fold) and any(_single(view, keyword) for keyword in self.fold))
        )

    def _stays_apart(self, node: JsonObject, view: JsonObject, scope: DynamicScope, depth: int) -> bool:
        return (
            ("unevaluatedProperties" in view or "unevaluatedItems" in view)
            and not (depth == 0 and self.alone)
            and id(node) not in self.opened
            and _apart(self.store, node, view, scope)
        )

    def follow(self, conjunct: Conjunct, way: _Holder | None) -> None:
        """Put the parts of a schema on the stack: its own keywords, branches and what it refers to, in written order."""
        view, scope = conjunct.view, conjunct.scope
        references = scope.resource.dialect.references
        if self.run.options.report is not None:  # where circles are told
            self.entered.add(conjunct.mark)
            self.stack.append(_Followed(conjunct.mark))
        place, below = len(self.found.conjuncts), conjunct.depth + 1
        parts: list[_Schema | WrittenKeywords] = []
        keywords: list[str] = []
        speaks = False
        further = _Holder(conjunct.mark, way, view)
        for keyword, value in view.items():
            if keyword in STRIPPED:
                if keyword != "$recursiveRef" or keyword not in references:
                    continue
            elif keyword == "allOf":
                if value.__class__ is not list:
                    raise invalid(self.store, conjunct.node, _Holder(conjunct.mark, way, conjunct.node), "allOf", value)
            elif not (keyword in self.fold and _single(view, keyword)) and (
                keyword not in references or value.__class__ is not str
            ):
                keywords.append(keyword)
                continue
            if keywords:
                parts.append(WrittenKeywords(place, keywords))
                speaks, keywords = True, []
            if value.__class__ is list:
                parts += [_Schema(branch, scope, below, further) for branch in value]
            else:
                self.found.shares = True
                target = self.store.target(keyword, view, scope)
                self.calm = self.calm and not self.store.unevaluated  # a document may have been read
                parts.append(_Schema(target.node, target.scope, below, further))
        if keywords:
            parts.append(WrittenKeywords(place, keywords))
            speaks = True
        if speaks:
            self.found.conjuncts.append(conjunct)
        self.stack += reversed(parts)


def _applies_mixins(node: JsonObject, scope: DynamicScope) -> bool:
    from instrc.flattening.mixing import applies_mixins  # brings what only documents with a mixin in them need

    return applies_mixins(node, scope)


def _apart(store: SchemaStore, node: JsonObject, view: JsonObject, scope: DynamicScope) -> bool:
    """Tell whether what a schema leaves unevaluated depends on the instance."""
    from instrc.flattening.evaluated import evaluated  # few schemas have `unevaluated…`

    certain, possible = evaluated(store, node, scope)
    return (view.get("unevaluatedProperties", True) not in (True, {}) and not certain.covers_properties(possible)) or (
        view.get("unevaluatedItems", True) not in (True, {}) and not certain.covers_items(possible)
    )


def _tell_circle(run: Flattening, report: Report, mark: tuple[int, int], way: _Holder) -> None:
    """Report a schema that is one of those that led to it; one that is merely met twice says nothing new.

    Such a schema says of itself only that it is what it is, so it adds nothing, which is also what validators make of it.
    """
    references: list[str] = []
    step: _Holder | None = way
    while step is not None:
        view = step.view
        reference = view.get("$ref") or view.get("$dynamicRef") or view.get("$recursiveRef")
        if isinstance(reference, str):
            references.append(reference)
        if step.mark == mark:
            found = problems.references.ReferenceCycle(at=run.store.at(way.view), references=tuple(reversed(references)))
            if found not in report.problems:
                report.add(found)
            return
        step = step.around


def _single(view: JsonObject, keyword: str) -> bool:
    value = view.get(keyword)
    return value.__class__ is list and len(value) == 1


def invalid(store: SchemaStore, node: Json, way: _Holder | None, keyword: str = "", value: Json = None) -> CompileError:
    """Return the error for something that stands where a schema must."""
    holder = way.view if way is not None else None
    found = store.where(holder) if holder is not None else None
    path = (found[1] if found else "") + (f"/{keyword}" if keyword else "/allOf")
    reason = (
        f"it is {kind_in_words(value)}, not a list of schemas"
        if keyword
        else f"it holds {kind_in_words(node)}, which is no schema"
    )
    return CompileError([problems.schemas.InvalidSchema(at=store.at(holder), pointer=path, reason=reason)])
