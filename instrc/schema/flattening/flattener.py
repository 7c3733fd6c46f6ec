"""Fold schemas that must hold together into one, for all schemas of a document, without recursion.

A *conjunction* is a list of terms: schemas with their scopes.  It is expanded (`allOf` and references
followed, in written order) to *conjuncts* without either, which are merged keyword by keyword.
The subschemas become conjunctions of their own, finished before the enclosing one.

The conjuncts of a conjunction are its identity.  One that recurs while unfinished is a recursion and becomes
a definition; a finished one is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from instrc.problems.report import Report
from instrc.schema.flattening.conjunction import (
    NOTHING,
    STRIPPED,
    Collecting,
    Conjunct,
    DerivedSchema,
    Expansion,
    Frame,
    GoOn,
    InProgress,
    Key,
    Merging,
    PendingPart,
    carry,
)
from instrc.schema.flattening.contradictions import report_refusal
from instrc.schema.flattening.definitions import RecursiveDefinitions
from instrc.schema.flattening.expand import expand
from instrc.schema.flattening.merge import merge
from instrc.schema.flattening.mixing import application, mixing
from instrc.schema.flattening.provenance import Tracing
from instrc.schema.flattening.residual import finalize, is_impossible
from instrc.schema.flattening.run import FlattenOptions, too_large
from instrc.schema.references import SchemaStore
from instrc.schema.scopes import DynamicScope, Term
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, as_object, put

ORDERS: Final = 3
"""Maximum orders in which the same schemas are processed separately; a further order reuses the result of the first."""
FURTHER_FRAME: Final = 30
"""How many terms a conjunction counts when there are twice as many as schemas: rings of references multiply them."""
JOINT_RECURSIONS: Final = 2000
"""Maximum schemas in all recursive conjunctions, or twice those of the document: mutual references multiply them."""


class Flattener(Tracing):
    """Flattens a document once, tracking finished and unfinished conjunctions."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        super().__init__(store, options)
        self.done: dict[Key, Json] = {}
        self.open: dict[frozenset[object], Frame] = {}
        self.frames: int = 0
        self.shared: bool = False
        """Whether a schema may occur several times in the result."""
        self.single: dict[tuple[int, int], Json] = {}
        self.keys: dict[tuple[int, int], tuple[Key, frozenset[object]]] = {}
        """Expansions of schemas used alone, cached because they may be referenced very often."""
        self.orders: dict[frozenset[object], list[Key]] = {}
        """The orders in which the same schemas were done together: mutual recursion brings them together in each."""
        self.definitions: RecursiveDefinitions = RecursiveDefinitions()
        self.recursive: int = 0
        """Schemas in the conjunctions that became definitions."""
        self.may_simplify: bool = False
        """Whether something stays apart, depends on the instance or recurs: a further pass might simplify it."""
        self.alive: list[Json] = []
        """Derived schemas, kept alive because schemas are keyed by identity."""

    def run(self, terms: list[Term]) -> Json:
        """Return the flat schema of a conjunction; each run is for one."""
        self.home = terms[0][1] if terms else self.flat
        first = self.begin(terms)
        if not isinstance(first, InProgress):
            return first
        first.parts = iter(first.pending)
        self.definitions.root = first
        box: JsonArray = [None]
        stack: list[tuple[Frame, JsonObject | JsonArray, str | int]] = [(first, box, 0)]
        while stack:
            frame, container, slot = stack[-1]
            for part in frame.parts:
                result = self.begin(part.terms, mixes=part.mixes)
                if isinstance(result, InProgress):
                    container, slot = part.container, part.slot
                    break
                put(part.container, part.slot, result)
            else:
                stack.pop()
                result = self.finish(frame)
                if not isinstance(result, InProgress):
                    put(container, slot, result)
                    continue
            result.parts = iter(result.pending)
            stack.append((result, container, slot))
        return box[0]

    def begin(self, terms: list[Term], *, mixes: bool = False) -> Json | Frame:
        """Return the flat schema of a conjunction if it is known at once, or else a frame for it."""
        self.spend(len(terms))
        if len(terms) != 1:
            return self.expanded(terms, terms, None)
        node, scope = terms[0]
        if mixes:
            return self.apply_mixins(as_object(node), scope)
        if node.__class__ is not dict or id(node) not in self.needs_flattening:
            return node
        alone = (id(node), id(scope))
        if alone in self.single:
            self.shared = True
            return self.single[alone]
        target, where = (node, scope) if len(node) > 1 or "$ref" not in node else self.store.referred(node, scope)
        if target is node:
            return self.expanded(terms, terms, alone)
        self.shared = True
        if target.__class__ is not dict or id(target) not in self.needs_flattening:
            self.single[alone] = target
            return target
        here = (id(target), id(where))
        again = self.single.get(here)
        if again is None and here in self.keys:
            again = self.met_again(self.keys[here], terms, alone)
        return self.expanded([(target, where)], terms, alone) if again is None else again

    def expanded(self, terms: list[Term], written: list[Term], alone: tuple[int, int] | None) -> Json | Frame:
        """Return the flat schema of a conjunction that must be expanded, or its frame; `written` is the place of its terms."""
        expansion = expand(self, terms)
        if expansion is None:
            return False
        self.shared = self.shared or expansion.shares
        if expansion.applied:
            return mixing(self, terms, expansion.applied)
        conjuncts, units = expansion.conjuncts, expansion.units
        if not units:
            if not conjuncts:
                return True
            only = conjuncts[0]
            if len(conjuncts) == 1 and only.view is only.node and id(only.node) not in self.needs_flattening:
                return only.node
        key: Key = tuple([conjunct.mark for conjunct in conjuncts])
        if units:
            if not conjuncts and len(units) == 1:
                return self.begin(list(units)) if terms != units else False
            key = (*key, *[("unit", id(node), id(scope)) for node, scope in units])
        unordered = frozenset(key)
        if alone is not None and not units:
            self.keys[id(terms[0][0]), id(terms[0][1])] = (key, unordered)
        if key in self.done or unordered in self.open or len(self.orders.get(unordered, ())) >= ORDERS:
            return self.met_again((key, unordered), written, alone)
        return self.framed(terms, expansion, key, unordered)

    def met_again(self, known: tuple[Key, frozenset[object]], written: list[Term], alone: tuple[int, int] | None) -> Json | None:
        """Return a finished conjunction, a reference to an unfinished one, or `None` for a new one."""
        key, unordered = known
        if key in self.done:
            self.shared = True
            if alone is not None:
                self.single[alone] = self.done[key]
            return self.done[key]
        holder = self.open.get(unordered)
        if holder is None:
            orders = self.orders.get(unordered, ())
            return self.met_again((orders[0], unordered), written, alone) if len(orders) >= ORDERS else None
        self.may_simplify = True
        if holder.name is None and holder is not self.definitions.root:
            self.recursive += len(unordered)
            if self.recursive > max(JOINT_RECURSIONS, 2 * len(self.needs_flattening)):
                raise too_large(JOINT_RECURSIONS, "schemas that recur together")
        return self.definitions.recursion(holder, written)

    def framed(self, terms: list[Term], expansion: Expansion, key: Key, unordered: frozenset[object]) -> Json | Frame:
        """Return the frame of a new conjunction, or its result if that has no pending parts."""
        self.frames += 1
        alone = len(expansion.conjuncts) == 1 and not expansion.units
        self.spend(FURTHER_FRAME if self.frames > 2 * self.store.count else 0, () if alone else expansion.conjuncts)
        if alone:
            frame = frame_of_one(self, expansion.conjuncts[0])
        else:
            merged = merge(self, terms, expansion)
            if merged is None:
                self.done[key] = False
                return False
            frame, todo = merged, merged.todo or NOTHING
            self.shared |= todo.shares
            self.may_simplify |= todo.may_simplify
        frame.key = key
        if frame.idle and not frame.pending:
            return self.finish(frame)
        frame.unordered = unordered
        self.open[unordered] = frame
        return frame

    def apply_mixins(self, node: JsonObject, scope: DynamicScope) -> Json | Frame:
        """Return the result of a schema that applies mixins, or a frame for it."""
        scope = self.store.below(node, scope)
        key = frozenset({("mixed", id(node), id(scope))})
        holder = self.open.get(key)
        if holder is not None:
            return self.definitions.recursion(holder, [(node, scope)])
        frame, made = application(self, node, scope, self.definitions.body, intersect)
        self.alive.append(node)
        self.keep(made.derived)
        frame.unordered = key
        self.open[key] = frame
        return frame

    def go_on(self, more: GoOn) -> Json | Frame:
        """Return the result of a continuation, or a frame for it."""
        self.keep(more.derived)
        self.mixed.update(more.mixed)
        if more.name is None:
            return self.begin(more.terms)
        last = Collecting([None], partial(self.define, more.name))
        last.pending.append(PendingPart(last.results, 0, more.terms))
        return last

    def define(self, name: str, done: Collecting) -> Json:
        """Store a result as a definition."""
        return self.definitions.define(name, done.results[0])

    def keep(self, derived: Iterable[DerivedSchema]) -> None:
        """Keep derived schemas alive, since schemas are keyed by identity."""
        for made in derived:
            self.alive.append(made.schema)
            if made.needs_flattening:
                self.needs_flattening.add(id(made.schema))
            if self.options.trace and made.sources and isinstance(made.schema, dict):
                sources = [source for source in made.sources if isinstance(source, dict)]
                conjuncts = [Conjunct(source, source, self.flat, 0, (id(source), id(self.flat))) for source in sources]
                found = {word: [(conjunct, word) for conjunct in conjuncts if word in conjunct.view] for word in made.schema}
                self.origins[id(made.schema)] = (made.schema, found)

    def finish(self, frame: Frame) -> Json | Frame:
        """Return the result of a frame whose parts are finished, or a frame to continue with."""
        if isinstance(frame, Merging):
            return self.merged(frame)
        self.open.pop(frame.unordered, None)
        result = frame.after(frame)
        return self.go_on(result) if isinstance(result, GoOn) else result

    def merged(self, frame: Merging) -> Json | Frame:
        """Return the result of a conjunction whose parts are finished, or a frame that folds it again."""
        todo = frame.todo
        if todo is None:
            return self.close(frame, frame.out)
        if frame.idle and not self.options.trace:
            return self.close(frame, False if is_impossible(frame.out) else frame.out)
        done = finalize(frame, todo)
        out = done.schema
        self.may_simplify |= bool(todo.apart or todo.units)
        if isinstance(out, dict):
            if self.options.trace:
                self.record(out, frame)
            if done.refold or (todo.may_close and out.get("additionalProperties") is False):
                return self.refold(out, frame, done.to_fold)
        if done.refused:
            report_refusal(self, frame.conjuncts, done.refused)
        return self.close(frame, out)

    def refold(self, out: JsonObject, frame: Frame, parts: Sequence[JsonObject]) -> Frame:
        """Return the frame that folds a result and some parts of it again, since more is known to hold."""
        self.alive += [*parts, out]
        self.needs_flattening.update(map(id, [*parts, out]))
        more = Collecting([None], lambda done: self.close(done, done.results[0]))
        more.pending.append(PendingPart(more.results, 0, [(out, self.flat)]))
        more.unordered, more.key, more.name = frame.unordered, frame.key, frame.name
        return more

    def close(self, frame: Frame, out: Json) -> Json:
        """Store the result of a conjunction; return it, or a reference to it if it has become a definition."""
        self.open.pop(frame.unordered, None)
        if frame.name is not None:
            out = self.definitions.define(frame.name, out)
        self.done[frame.key] = out
        if len(frame.key) > 1:
            self.orders.setdefault(frame.unordered, []).append(frame.key)
        return out


def frame_of_one(run: Tracing, conjunct: Conjunct) -> Merging:
    """Return the frame of a conjunction with one conjunct: only its subschemas change."""
    view, scope = conjunct.view, conjunct.scope
    references = scope.resource.dialect.references
    out: JsonObject = {}
    frame = Merging(out)
    for keyword, value in view.items():
        if keyword in STRIPPED or keyword == "allOf" or (keyword in references and value.__class__ is str):
            continue
        out[keyword] = value
        if value.__class__ is dict or value.__class__ is list:
            frame.pending += carry(out, keyword, value, scope, run.store.needs_flattening)
    if run.options.trace:
        run.origins[id(out)] = (out, {keyword: [(conjunct, keyword)] for keyword in out})
    return frame


def intersect(schemas: Sequence[Json], *, report: Report | None = None) -> Json:
    """Return one schema that accepts what all of some flat schemas accept, or `False` if there is no such value.

    References in them are kept.  What no single keyword can express remains in an `allOf`:
    `[{"multipleOf": 0.1}, {"multipleOf": 0.3}]` becomes `{"multipleOf": 0.1, "allOf": [{"multipleOf": 0.3}]}`.
    Contradictions are reported to `report`.
    """
    flattener = Flattener(SchemaStore(), FlattenOptions(report=report))
    return flattener.run([(schema, flattener.flat) for schema in schemas])
