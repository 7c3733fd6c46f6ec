"""One flattening: its options, its documents, and the state of one conjunction that is being merged."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypedDict

from msgspec import Struct

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.schema.drafts import FLAT
from instrc.schema.flattening.conjunction import UNWATCHED, Conjunct, Expansion, MarksThatStay, Merging, PendingPart, carry
from instrc.schema.flattening.unevaluated import Siblings, Watched, evaluated, items_void, matters, properties_void
from instrc.schema.references import Locate, SchemaStore
from instrc.schema.scopes import DynamicScope, Resource, SchemaDocument, Term
from instrc.schema.vocabulary import HOLDERS, MANY, NAMED
from instrc.text.jsonvalue import CHARACTERS_OF_A_PART, Json, JsonArray, JsonObject, listing, mapping, size_of
from instrc.text.limits import FLAT_SCHEMAS


class FlattenKeywords(TypedDict, total=False):
    """The common keyword arguments of `flatten`, for type checkers."""

    base: str
    limit: int
    report: Report | None
    locate: Locate | None
    nullable: bool
    share: bool


class FlattenOptions(Struct, frozen=True):
    """The caller's options."""

    limit: int = FLAT_SCHEMAS
    report: Report | None = None
    trace: bool = False
    share: bool = True
    """Whether a result that grows far beyond its input keeps repeated parts under `$defs`."""


class Flattening:
    """One flattening of a document."""

    home: DynamicScope
    """Initial scope of the run, which applies to most schemas."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        self.store = store
        self.needs_flattening = store.needs_flattening
        self.options = options
        self.mixed: dict[tuple[int, int], Json] = {}
        """What schemas that apply mixins have become; the flattener fills it."""
        self.spent: int = 0
        """The terms of all conjunctions together, what they expand to, and the weights of what is merged."""

    def spend(self, more: int, merged: Iterable[Conjunct] = ()) -> None:
        """Count what a conjunction reads; raise `CompileError` over the limit."""
        self.spent += more + sum(weight(conjunct.view) for conjunct in merged)
        if self.spent > self.options.limit:
            raise too_large(self.options.limit)

    @cached_property
    def flat(self) -> DynamicScope:
        """The scope of results that are merged again."""
        nowhere: Json = {}
        return DynamicScope(Resource("", nowhere, SchemaDocument("", nowhere), FLAT), {})

    @cached_property
    def watched(self) -> Watched:
        """The schemas watched by an enclosing `unevaluated…`."""
        return Watched(self.store)


def weight(node: JsonObject) -> int:
    """Return the size of a schema without the schemas in it, in hundreds of characters."""
    parts = sum(len(listing(value)) for keyword, value in node.items() if keyword in MANY)
    names = sum(size_of([*mapping(value)]) for keyword, value in node.items() if keyword in NAMED)
    data = sum(size_of(value) for keyword, value in node.items() if keyword not in HOLDERS)
    return (CHARACTERS_OF_A_PART * parts + names + data) // 100


def too_large(limit: int, unit: str = "schemas") -> CompileError:
    """Return the error for a result over the limit."""
    setting = "schema" if unit == "schemas" else None
    return CompileError([problems.files.TooLarge(what="the flat schema", limit=limit, unit=unit, setting=setting)])


class MergeState(Merging):
    """The merging of one conjunction in progress: a frame, and the sources of its keywords."""

    watched = UNWATCHED

    def __init__(self, run: Flattening, expansion: Expansion) -> None:
        self.pending: list[PendingPart] = []
        self.out: JsonObject = {}
        self.run = run
        self.needs_flattening = run.store.needs_flattening
        self.conjuncts: list[Conjunct] = expansion.conjuncts
        self.groups = expansion.groups

    @cached_property
    def siblings(self) -> Siblings:
        """The schemas of the conjunction."""
        return Siblings(conjunct.view for conjunct in self.conjuncts)

    def place_child(self, container: JsonObject, keyword: str, terms: list[Term]) -> None:
        """Set the schema of a conjunction, at once if known, or else later."""
        if len(terms) == 1:
            node = terms[0][0]
            if node.__class__ is not dict or id(node) not in self.needs_flattening:
                container[keyword] = node
                return
        container[keyword] = None
        self.pending.append(PendingPart(container, keyword, terms))

    def place_branch(self, branches: JsonArray, terms: list[Term]) -> None:
        """Add the schema of a conjunction to a list, at once if known, or else later."""
        node = terms[0][0] if len(terms) == 1 else None
        if len(terms) == 1 and (node.__class__ is not dict or id(node) not in self.needs_flattening):
            branches.append(node)
            return
        self.pending.append(PendingPart(branches, len(branches), terms))
        branches.append(None)

    def carry(self, container: JsonObject, keyword: str, conjunct: Conjunct) -> None:
        """Copy a keyword of one conjunct with its subschemas."""
        container[keyword] = conjunct.view[keyword]
        if id(conjunct.node) in self.needs_flattening:
            self.pending += carry(container, keyword, conjunct.view[keyword], conjunct.scope, self.needs_flattening)

    def watch(self) -> MarksThatStay:
        """Return the remaining `unevaluated…` whose subject depends on the instance, in this schema or an enclosing one."""
        store, siblings = self.run.store, self.siblings
        properties = items = False
        for keyword in ("unevaluatedProperties", "unevaluatedItems"):
            for conjunct in [self.conjuncts[place] for place in self.groups.get(keyword, ())]:
                if not matters(conjunct.view, keyword):
                    continue
                value = conjunct.view[keyword]
                certain, possible = evaluated(store, conjunct.node, conjunct.scope)
                if keyword == "unevaluatedItems":
                    items |= not (certain.covers_items(possible) or items_void(store, siblings, certain, value))
                else:
                    properties |= not (certain.covers_properties(possible) or properties_void(siblings, certain, possible, value))
        watched, indexed = self.run.watched, store.indexed
        for conjunct in self.conjuncts:
            unknown = watched.everything or id(conjunct.node) not in indexed
            properties |= unknown or id(conjunct.node) in watched.properties
            items |= unknown or id(conjunct.node) in watched.items
        return MarksThatStay(properties, items)
