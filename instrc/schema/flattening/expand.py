"""Expand a conjunction into conjuncts by following `allOf` and references in written order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final, TypeAlias

from msgspec import Struct

from instrc.schema.flattening.conjunction import STRIPPED, Conjunct, Expansion, Mark, OuterSchema
from instrc.schema.flattening.contradictions import not_a_schema, report_cycle
from instrc.schema.flattening.mixing import applies_mixins
from instrc.schema.flattening.run import Flattening
from instrc.schema.flattening.unevaluated import evaluated
from instrc.schema.references import SchemaStore
from instrc.schema.scopes import DynamicScope, Term
from instrc.text.jsonvalue import Json, JsonObject

SHORT: Final = 10
"""Maximum schemas of a conjunction that are expanded without being counted."""
_NONE: frozenset[str] = frozenset()
_UNOPENED: frozenset[int] = frozenset()


def expand(
    run: Flattening, terms: list[Term], *, fold: frozenset[str] = _NONE, opened: frozenset[int] = _UNOPENED
) -> Expansion | None:
    """Return the conjuncts of terms, or `None` if one of the schemas is `false`.

    `fold` selects the `anyOf` and `oneOf` whose single branches are inlined;
    `opened` has the `id`s of schemas with `unevaluated…` that are merged although they depend on the instance.
    """
    result = Expansion()
    way = _Way(run, result, fold, opened, alone=len(terms) == 1)
    stack = way.stack
    stack.append(_Schemas(iter(terms), 0, None))
    while stack:
        entry = stack[-1]
        if entry.__class__ is not _Schemas:  # `isinstance` is slow for a `Struct`
            way.leave(entry)
            continue
        for node, scope in entry.terms:
            if node is False or not way.enter(node, scope, entry):
                return None
            if stack[-1] is not entry:
                break
        else:
            stack.pop()
    return result


class _Schemas(Struct, frozen=True, eq=False, gc=False):
    """Schemas to expand, one after another."""

    terms: Iterator[Term]
    depth: int
    holder: OuterSchema | None


class _Keywords(Struct, frozen=True, eq=False, gc=False):
    """The keywords of one conjunct that belong together: the conjunct's index, and the keywords in written order."""

    place: int
    keywords: Iterable[str]


class _Followed(Struct, frozen=True, eq=False, gc=False):
    """Stack entry: all parts of a schema have been followed."""

    mark: Mark


_Entry: TypeAlias = _Schemas | _Keywords | _Followed


class _Way:
    """The traversal of the schemas of one conjunction, in written order."""

    def __init__(self, run: Flattening, found: Expansion, fold: frozenset[str], opened: frozenset[int], *, alone: bool) -> None:
        self.run = run
        self.store = run.store
        self.found = found
        self.fold = fold
        self.opened = opened
        self.alone = alone
        """Whether the conjunction has one term only."""
        self.seen: set[Mark] = set()
        self.entered: set[Mark] = set()
        """Schemas whose parts are being followed; meeting one of them again reveals a cycle."""
        self.stack: list[_Entry] = []

    def leave(self, entry: _Entry) -> None:
        """Process a stack entry before, between or after the parts of a schema."""
        self.stack.pop()
        if entry.__class__ is _Keywords:
            self.found.note(entry.place, entry.keywords)
        elif entry.__class__ is _Followed:
            self.entered.discard(entry.mark)

    def enter(self, node: Json, scope: DynamicScope, entry: _Schemas) -> bool:
        """Add one schema, or push its targets on the stack; return false if it is unsatisfiable."""
        store, found, way, depth = self.store, self.found, entry.holder, entry.depth
        if node.__class__ is not dict:
            if node is True:
                return True
            raise not_a_schema(store, node, way)
        if store.nested:
            scope = store.below(node, scope)
        home = self.run.home
        mark: Mark = id(node) if scope is home else (id(node), id(scope))
        if store.mixins and mark not in self.seen and applies_mixins(node, scope):
            if (id(node), id(scope)) not in self.run.mixed:
                found.applied.append((node, scope))
                return True
            mixed, scope = self.run.mixed[id(node), id(scope)], self.run.flat
            if not isinstance(mixed, dict):
                return mixed is not False
            node, mark = mixed, id(mixed) if scope is home else (id(mixed), id(scope))
        if mark in self.seen:
            report = self.run.options.report
            if report is not None and way is not None and mark in self.entered:
                report_cycle(self.run, report, mark, way)
            return True
        self.seen.add(mark)
        self.run.spend(len(self.seen) > SHORT)
        dialect = scope.resource.dialect
        view = store.view(node, scope) if dialect.old else node
        if store.unevaluated and self._stays_apart(node, view, scope, depth):
            found.units.append((node, scope))
        elif "allOf" in view or not dialect.references.isdisjoint(view) or any(is_single(view, item) for item in self.fold):
            self.follow(Conjunct(node, view, scope, depth, mark), way)
        elif not view.keys() <= STRIPPED:
            found.note(len(found.conjuncts), view)
            found.conjuncts.append(Conjunct(node, view, scope, depth, mark))
        return True

    def _stays_apart(self, node: JsonObject, view: JsonObject, scope: DynamicScope, depth: int) -> bool:
        return (
            ("unevaluatedProperties" in view or "unevaluatedItems" in view)
            and not (depth == 0 and self.alone)
            and id(node) not in self.opened
            and _apart(self.store, node, view, scope)
        )

    def follow(self, conjunct: Conjunct, way: OuterSchema | None) -> None:
        """Push the parts of a schema on the stack: its own keywords, branches and references, in written order."""
        view, scope = conjunct.view, conjunct.scope
        references = scope.resource.dialect.references
        if self.run.options.report is not None:
            self.entered.add(conjunct.mark)
            self.stack.append(_Followed(conjunct.mark))
        place, below = len(self.found.conjuncts), conjunct.depth + 1
        parts: list[_Entry] = []
        keywords: list[str] = []
        speaks = False
        further = OuterSchema(conjunct.mark, way, view)
        for keyword, value in view.items():
            if keyword in STRIPPED:
                if keyword != "$recursiveRef" or keyword not in references:
                    continue
            elif keyword == "allOf":
                if value.__class__ is not list:
                    raise not_a_schema(self.store, conjunct.node, OuterSchema(conjunct.mark, way, conjunct.node), "allOf", value)
            elif not (keyword in self.fold and is_single(view, keyword)) and (
                keyword not in references or value.__class__ is not str
            ):
                keywords.append(keyword)
                continue
            if keywords:
                if parts:
                    parts.append(_Keywords(place, keywords))
                else:
                    self.found.note(place, keywords)
                speaks, keywords = True, []
            if value.__class__ is list:
                parts.append(_Schemas(zip(value, repeat(scope), strict=False), below, further))
            else:
                self.found.shares = True
                target = self.store.target(keyword, view, scope)
                parts.append(_Schemas(iter([(target.node, target.scope)]), below, further))
        if keywords:
            parts.append(_Keywords(place, keywords))
            speaks = True
        if speaks:
            self.found.conjuncts.append(conjunct)
        self.stack += reversed(parts)


def _apart(store: SchemaStore, node: JsonObject, view: JsonObject, scope: DynamicScope) -> bool:
    """Return whether the unevaluated members of a schema depend on the instance."""
    certain, possible = evaluated(store, node, scope)
    return (view.get("unevaluatedProperties", True) not in (True, {}) and not certain.covers_properties(possible)) or (
        view.get("unevaluatedItems", True) not in (True, {}) and not certain.covers_items(possible)
    )


def is_single(view: JsonObject, keyword: str) -> bool:
    """Return whether a keyword holds a list of one branch."""
    value = view.get(keyword)
    return value.__class__ is list and len(value) == 1
