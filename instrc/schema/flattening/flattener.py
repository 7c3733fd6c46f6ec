"""Fold schemas that must hold together into one, for every schema of a document, without recursion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Final, cast

from msgspec import Struct

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
from instrc.schema.flattening.contradictions import FlattenOptions, report_refusal, too_large
from instrc.schema.flattening.definitions import RecursiveDefinitions
from instrc.schema.flattening.expand import expand
from instrc.schema.flattening.merge import OF_CONTENT, clash, in_order_of_properties, joined_texts, merge, outermost
from instrc.schema.flattening.mixing import application, mixing
from instrc.schema.flattening.provenance import Tracing
from instrc.schema.flattening.residual import finalize, is_impossible
from instrc.schema.kinds import types_of
from instrc.schema.laws.law import NO_LAW, UNSATISFIABLE, Verdict, same
from instrc.schema.laws.table import LAWS
from instrc.schema.references import DynamicScope, SchemaStore, Term
from instrc.schema.vocabulary import FOLLOWERS, NAMED
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, as_object, equal, put
from instrc.text.limits import MANY_TERMS, REMEMBERED_LISTS


class Pieces(Struct, frozen=True, eq=False, gc=False):
    """What the schemas of a conjunction say, in written order: a schema that says more after its `allOf` has two pieces."""

    said: list[JsonObject]
    key: tuple[int, ...]
    """The `id`s of the schemas that say something."""
    unordered: frozenset[object]
    """The same, in no order."""
    branches: JsonArray
    """The pieces that are branches of an `allOf`."""


_PLAIN_DICTS = frozenset({dict})
_NOT_PLAIN = (
    STRIPPED
    | FOLLOWERS
    | OF_CONTENT
    | {"allOf", "$ref", "$dynamicRef", "if", "contains", "dependencies", "unevaluatedProperties", "unevaluatedItems"}
)
"""Keywords that lead elsewhere, and those for which it matters what else stands in their schema."""
_OF_ITEMS = frozenset({"prefixItems", "items"})
_WITH_OTHERS = _OF_ITEMS | {"additionalProperties"}
"""Keywords whose meaning depends on others, which are to stand in the same schema."""
_OF_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties"})
_WITH_PARTS = _OF_PROPERTIES | _OF_ITEMS | {"propertyNames", "dependentSchemas", "anyOf", "oneOf", "not"}


class PlainMerging(Tracing):
    """A run that merges plain schemas the quick way."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        super().__init__(store, options)
        self.done: dict[Key, Json] = {}
        self.open: dict[frozenset[object], Frame] = {}
        self.frames: int = 0
        self.terms: int = 0
        """Terms of all conjunctions together: a thousand closed branches have a million."""
        self.shared: bool = False
        """Whether some schema may stand in the result more than once."""

    def count_frame(self) -> None:
        """Count a conjunction that is merged; a `CompileError` beyond the limit."""
        self.frames += 1
        if self.frames > self.options.limit:
            raise too_large(self.options.limit)

    def count_terms(self, count: int) -> None:
        """Count the terms of a conjunction; a `CompileError` beyond the limit."""
        self.terms += count
        if self.terms > self.options.limit:
            raise too_large(self.options.limit)

    def _may_be_plain(self) -> bool:
        """Tell whether nothing that has been read so far changes how schemas are read."""
        store = self.store
        return not (store.nested or store.mixins or self.options.trace or self.home.resource.dialect.old)

    def pieces(self, terms: list[Term]) -> Pieces | None:
        """Return what the schemas of a conjunction say; nothing if that takes more than to look at them."""
        if (len(terms) == 1 and refers(terms[0][0])) or not self._may_be_plain():
            return None
        return pieces_of(terms, self.home)

    def merged_at_once(self, schemas: list[Json]) -> Json | Frame:
        """Return what `merged_plainly` does for very many schemas, none of which has an `allOf`; `None` for others."""
        if not self._may_be_plain() or set(map(type, schemas)) != _PLAIN_DICTS or not all(schemas):
            return None
        pieces = of_several(cast("list[JsonObject]", schemas), list(map(id, schemas)), [])
        return None if pieces is None else self.merged_plainly(pieces)

    def merged_plainly(self, pieces: Pieces) -> Json | Frame:
        """Return the flat schema of a conjunction, or its frame; `None` if it is known, or takes more thought."""
        key: Key = pieces.key
        if key in self.done:
            return None
        out, several = _united(pieces.said)
        if not _NOT_PLAIN.isdisjoint(out) or not (_WITH_OTHERS.isdisjoint(out) or _stand_together(pieces.said, out)):
            return None
        possible = True
        for keyword, values in several.items():
            if keyword not in _WITH_PARTS:
                joined = _joined(keyword, values, pieces)
                if joined is NO_LAW:
                    return None
                if joined is UNSATISFIABLE:
                    possible = False
                else:
                    out[keyword] = joined
        if not possible or clash(out) is not None:
            return None if self.options.report is not None else self._decided(key, False)  # noqa: FBT003  -- the schema
        frame = Merging(out)
        if not _WITH_PARTS.isdisjoint(out):
            for keyword, value in out.items():
                if keyword in several:
                    if keyword in _WITH_PARTS and not self._join_parts(frame, keyword, several[keyword]):
                        return None
                elif keyword in _WITH_PARTS and isinstance(value, dict | list):
                    frame.pending += carry(out, keyword, value, self.home, self.needs_flattening)
        in_order_of_properties(out)
        if not frame.pending:
            return self._decided(key, False if is_impossible(out) else out)
        frame.unordered = pieces.unordered
        if frame.unordered in self.open:
            return None
        self.count_frame()
        frame.todo = NOTHING
        frame.key = key
        self.open[frame.unordered] = frame
        return frame

    def _decided(self, key: Key, out: Json) -> Json:
        """Keep a result that needs no parts."""
        self.count_frame()
        self.done[key] = out
        return out

    def _join_parts(self, frame: Merging, keyword: str, values: list[Json]) -> bool:
        """Let the schemas that a keyword holds in several pieces hold together; false if it takes more than that."""
        home = self.home
        if keyword == "propertyNames":
            frame.pending.append(PendingPart(frame.out, keyword, [(value, home) for value in values]))
            return True
        if keyword not in NAMED or set(map(type, values)) != _PLAIN_DICTS:
            return False
        together, several = _united(cast("list[JsonObject]", values))
        if list in set(map(type, chain(together.values(), *several.values()))):
            return False
        frame.out[keyword] = together
        for name, schema in together.items():
            if name in several:
                schemas = several[name]
                if len(schemas) < MANY_TERMS:
                    frame.pending.append(PendingPart(together, name, [(each, home) for each in schemas]))
                else:
                    frame.pending.append(PendingPart(together, name, [], schemas=schemas))
            elif schema.__class__ is dict and id(schema) in self.needs_flattening:
                frame.pending.append(PendingPart(together, name, [(schema, home)]))
        return True


ORDERS: Final = 3
"""Orders in which the same schemas are done together, each by itself; in a further one they are what they were in the first."""
JOINT_RECURSIONS: Final = 2000
"""Schemas in all recursive conjunctions, or twice those of the document: of twelve that refer to each other each set is one."""


class Flattener(PlainMerging):
    """One run over a document, with all that is under way and all that is done."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        super().__init__(store, options)
        self.single: dict[tuple[int, int], Json] = {}
        self.keys: dict[tuple[int, int], tuple[Key, frozenset[object]]] = {}
        """What a schema that stands alone expands to: very many references to one are not expanded one by one."""
        self.orders: dict[frozenset[object], list[Key]] = {}
        """The orders in which the same schemas were done together: mutual recursion brings them together in each."""
        self.definitions: RecursiveDefinitions = RecursiveDefinitions()
        self.recursive: int = 0
        """Schemas in the conjunctions that became definitions."""
        self.may_simplify: bool = False
        """Whether something stays apart, depends on the instance or recurs, so that a further pass might do more."""
        self.alive: list[Json] = []
        """Schemas made on the way, kept because things are known by identity."""

    def run(self, terms: list[Term]) -> Json:
        """Return the flat schema of a conjunction; a run is for one."""
        self.home = terms[0][1] if terms else self.flat
        first = self.begin(terms)
        if not isinstance(first, InProgress):
            return first
        first.parts = iter(first.pending)
        self.definitions.root = first
        box: JsonArray = [None]
        stack: list[tuple[Frame, JsonObject | JsonArray, str | int]] = [(first, box, 0)]  # with the places of their results
        while stack:
            frame, container, slot = stack[-1]
            for part in frame.parts:
                result = self.begin_many(part.schemas) if part.schemas else self.begin(part.terms, mixes=part.mixes)
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

    def begin_many(self, schemas: list[Json]) -> Json | Frame:
        """Do what `begin` does for very many schemas, all of which are read in the scope that the run begins in."""
        merged = self.merged_at_once(schemas)
        if merged is None:
            return self.begin([(schema, self.home) for schema in schemas])
        self.count_terms(len(schemas))
        return merged

    def begin(self, terms: list[Term], *, mixes: bool = False) -> Json | Frame:
        """Return the flat schema of a conjunction if that is known at once, else a frame that will have it."""
        self.count_terms(len(terms))
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
        """Return the flat schema of a conjunction that has to be expanded, or its frame; `written` is how its terms stand."""
        pieces = self.pieces(terms)
        if pieces is not None and (found := self.merged_plainly(pieces)) is not None:
            if alone is not None:
                self.keys[id(terms[0][0]), id(terms[0][1])] = (pieces.key, pieces.unordered)
            return found
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
        """Return the result of a conjunction that is done, a reference to one that is under way, or nothing for a new one."""
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
        """Return the frame of a conjunction that is neither done nor under way, or its result if that needs no parts."""
        self.count_frame()
        if len(expansion.conjuncts) == 1 and not expansion.units:
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
        """Return what a schema that applies mixins becomes, or the frame that will have it."""
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
        """Return the result of a conjunction that goes on another one's, or a frame that will have it."""
        self.keep(more.derived)
        self.mixed.update(more.mixed)
        if more.name is None:
            return self.begin(more.terms)
        last = Collecting([None], partial(self.define, more.name))
        last.pending.append(PendingPart(last.results, 0, more.terms))
        return last

    def define(self, name: str, done: Collecting) -> Json:
        """Keep a result as a definition."""
        return self.definitions.define(name, done.results[0])

    def keep(self, derived: Iterable[DerivedSchema]) -> None:
        """Keep schemas that were made on the way, since things are known by identity."""
        for made in derived:
            self.alive.append(made.schema)
            if made.needs_flattening:
                self.needs_flattening.add(id(made.schema))
            if self.options.trace and made.sources and isinstance(made.schema, dict):
                sources = [source for source in made.sources if isinstance(source, dict)]
                conjuncts = [Conjunct(source, source, self.flat, 0, (id(source), id(self.flat))) for source in sources]
                found = {word: [(each, word) for each in conjuncts if word in each.view] for word in made.schema}
                self.origins[id(made.schema)] = (made.schema, found)

    def finish(self, frame: Frame) -> Json | Frame:
        """Return the result of a frame whose parts are done, or a frame to continue with."""
        if isinstance(frame, Merging):
            return self.merged(frame)
        self.open.pop(frame.unordered, None)
        result = frame.after(frame)
        return self.go_on(result) if isinstance(result, GoOn) else result

    def merged(self, frame: Merging) -> Json | Frame:
        """Return the result of a conjunction whose parts are done, or a frame that folds it again."""
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
        """Return the frame that folds a result and some parts of it again, since more has turned out to hold."""
        self.alive += [*parts, out]
        self.needs_flattening.update(map(id, [*parts, out]))
        more = Collecting([None], self.refolded)
        more.pending.append(PendingPart(more.results, 0, [(out, self.flat)]))
        more.unordered, more.key, more.name = frame.unordered, frame.key, frame.name
        return more

    def refolded(self, done: Collecting) -> Json:
        """Return what has been folded again."""
        return self.close(done, done.results[0])

    def close(self, frame: Frame, out: Json) -> Json:
        """Keep a result as that of its conjunction; a reference to it if it has become a definition."""
        self.open.pop(frame.unordered, None)
        if frame.name is not None:
            out = self.definitions.define(frame.name, out)
        self.done[frame.key] = out
        if len(frame.key) > 1:
            self.orders.setdefault(frame.unordered, []).append(frame.key)
        return out


_DICTS = frozenset({dict})


def refers(node: Json) -> bool:
    """Tell at a glance that a schema which stands alone is not plain: most of those refer to something first of all."""
    if node.__class__ is not dict or "allOf" not in node or "$ref" in node:
        return True
    branches = node["allOf"]
    return branches.__class__ is list and bool(branches) and branches[0].__class__ is dict and "$ref" in branches[0]


def pieces_of(terms: list[Term], home: DynamicScope) -> Pieces | None:
    """Return what some schemas, and the branches of their `allOf`, say; nothing if one of them is no object."""
    branches: JsonArray = []
    said = [node for node, scope in terms if node.__class__ is dict and node and "allOf" not in node and scope is home]
    if 1 < len(said) == len(terms):
        return of_several(said, list(map(id, said)), branches)
    marks: list[int] = []
    said = []
    for node, scope in terms:
        if node is True:
            continue
        if node.__class__ is not dict or scope is not home:
            return None
        if "allOf" not in node:
            if node:
                said.append(node)
                marks.append(id(node))
            continue
        below = node["allOf"]
        if below.__class__ is not list:
            return None
        before, after = _around(node)
        if before:
            said.append(before)
        if before or after:
            marks.append(id(node))
        if len(below) >= MANY_TERMS and set(map(type, below)) == _DICTS and all(below):
            objects = cast("list[JsonObject]", below)
        else:
            objects = [branch for branch in below if branch.__class__ is dict and branch]
            if len(objects) < len(below) and any(branch.__class__ is not dict and branch is not True for branch in below):
                return None
        said += objects
        marks += map(id, objects)
        branches += objects
        if after:
            said.append(after)
    return of_several(said, marks, branches) if len(marks) > 1 else None


def _around(node: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return what a schema says before its `allOf`, and after it."""
    own = node.copy()
    del own["allOf"]
    if next(reversed(node)) == "allOf":
        return own, {}
    if next(iter(node)) == "allOf":
        return {}, own
    keywords = list(node)
    place = keywords.index("allOf")
    return {keyword: own[keyword] for keyword in keywords[:place]}, {keyword: own[keyword] for keyword in keywords[place + 1 :]}


def of_several(said: list[JsonObject], marks: list[int], branches: JsonArray) -> Pieces | None:
    """Return what several schemas say; nothing if one of them is met twice."""
    unordered = frozenset[object](marks)
    return Pieces(said, tuple(marks), unordered, branches) if len(unordered) == len(marks) else None


_NONE: frozenset[str] = frozenset()


def _united(objects: list[JsonObject]) -> tuple[JsonObject, dict[str, list[Json]]]:
    """Return the members of some objects, of the last that has one, and all values of those that several have."""
    if len(objects) >= MANY_TERMS:
        found: defaultdict[str, list[Json]] = defaultdict(list)
        for each in objects:
            for name, value in each.items():
                found[name].append(value)
        return {name: each[-1] for name, each in found.items()}, {name: each for name, each in found.items() if len(each) > 1}
    out: JsonObject = {}
    twice: frozenset[str] | set[str] = _NONE
    names = out.keys()
    for each in objects:
        if not names.isdisjoint(each):
            twice = twice | (names & each.keys())
        out.update(each)
    return out, {name: [each[name] for each in objects if name in each] for name in twice}


def _stand_together(said: list[JsonObject], out: JsonObject) -> bool:
    """Tell whether keywords that act together on properties, or on items, are all in one piece."""
    if not _OF_ITEMS.isdisjoint(out) and sum([not _OF_ITEMS.isdisjoint(piece) for piece in said]) > 1:
        return False
    if "additionalProperties" not in out:
        return True
    if "patternProperties" in out or ("properties" in out and out["properties"].__class__ is not dict):
        return False
    return sum([not _OF_PROPERTIES.isdisjoint(piece) for piece in said]) == 1


def _joined(keyword: str, values: list[Json], pieces: Pieces) -> Json | Verdict:
    """Return what several values of a keyword mean together."""
    if keyword == "description":
        return joined_texts(values)
    if keyword == "title":
        below = set(map(id, pieces.branches))
        return outermost(values, [id(piece) in below for piece in pieces.said if keyword in piece])
    laws = LAWS[keyword]
    if laws.intersect_all is not None:
        return laws.intersect_all(values)
    if laws.intersect is None:
        return values[-1]
    first, *others = values if len(values) < MANY_TERMS else _unrepeated(keyword, values)
    if laws.intersect is same:
        return first if all(equal(first, value) for value in others) else NO_LAW
    joined: Json | Verdict = first
    for value in others:
        if joined.__class__ is not Verdict:
            joined = laws.intersect(cast("Json", joined), value)
    return joined


def _unrepeated(keyword: str, values: list[Json]) -> list[Json]:
    """Return very many values of a keyword without texts, and lists of types, that say what one before has said."""
    found: list[Json] = []
    left = values
    while left and len(found) < REMEMBERED_LISTS:
        first = left[0]
        if first.__class__ is not str and (keyword != "type" or types_of(first) is None):
            break
        found.append(first)
        left = [value for value in left if value != first]
    return found + left


def frame_of_one(run: Tracing, conjunct: Conjunct) -> Merging:
    """Return the frame of a conjunction of one conjunct: only what stands below it changes."""
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
    """Return one schema that accepts what all of some flat schemas accept; `False` if that is nothing.

    References in them stay as they are.  What no single keyword can say stays in an `allOf`:
    `[{"multipleOf": 0.1}, {"multipleOf": 0.3}]` becomes `{"multipleOf": 0.1, "allOf": [{"multipleOf": 0.3}]}`.
    Contradictions are told in `report`.
    """
    flattener = Flattener(SchemaStore(), FlattenOptions(report=report))
    return flattener.run([(schema, flattener.flat) for schema in schemas])
