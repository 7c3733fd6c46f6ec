"""The quick way for a conjunction of plain schemas: none of them leads elsewhere, and each keyword is merged by itself.

Most conjunctions are such.  One that turns out to be none goes the thorough way, by `expand` and `merge`, which gives the same.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import cast

from instrc.flattening.annotations import OF_CONTENT, joined_texts, outermost
from instrc.flattening.conjunction import NOTHING, STRIPPED, Frame, Key, Merging, PendingPart
from instrc.flattening.finalize import is_impossible
from instrc.flattening.pieces import Pieces, of_several, pieces_of, refers
from instrc.flattening.reconciling import clash, in_order_of_properties
from instrc.flattening.run import FlattenOptions, too_large
from instrc.flattening.tracing import Tracing
from instrc.jsonvalue import Json, JsonArray, JsonObject, equal
from instrc.limits.schemas import MANY_TERMS, REMEMBERED_LISTS
from instrc.schema.kinds import types_of
from instrc.schema.laws.law import NO_LAW, UNSATISFIABLE, Verdict, same
from instrc.schema.laws.table import LAWS
from instrc.schema.resources import Term
from instrc.schema.store import SchemaStore
from instrc.schema.vocabulary import FOLLOWERS, MANY, NAMED

_NOT_PLAIN = (
    STRIPPED
    | FOLLOWERS
    | OF_CONTENT
    | {"allOf", "$ref", "$dynamicRef", "if", "contains", "dependencies", "unevaluatedProperties", "unevaluatedItems"}
)
"""Keywords that lead elsewhere, and those for which it matters what else stands in their schema."""
_OF_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties"})
_OF_ITEMS = frozenset({"prefixItems", "items"})
_WITH_OTHERS = _OF_ITEMS | {"additionalProperties"}
"""Keywords whose meaning depends on others, which are to stand in the same schema."""
_WITH_PARTS = _OF_PROPERTIES | _OF_ITEMS | {"propertyNames", "dependentSchemas", "anyOf", "oneOf", "not"}
_NONE: frozenset[str] = frozenset()
_DICTS = frozenset({dict})


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
        if not self._may_be_plain() or set(map(type, schemas)) != _DICTS or not all(schemas):
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
                    self._carry(frame, keyword, value)
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

    def _carry(self, frame: Merging, keyword: str, value: JsonObject | JsonArray) -> None:
        """Take over a keyword of one piece with the schemas it holds."""
        needs_flattening, home = self.needs_flattening, self.home
        if isinstance(value, list):
            places = [at for at, schema in enumerate(value) if id(schema) in needs_flattening and schema.__class__ is dict]
            if places and keyword in MANY:
                frame.out[keyword] = branches = value.copy()
                frame.pending += [PendingPart(branches, at, [(value[at], home)]) for at in places]
        elif keyword in NAMED:
            names = [name for name, schema in value.items() if id(schema) in needs_flattening and schema.__class__ is dict]
            if names:
                frame.out[keyword] = schemas = value.copy()
                frame.pending += [PendingPart(schemas, name, [(value[name], home)]) for name in names]
        elif id(value) in needs_flattening:
            frame.pending.append(PendingPart(frame.out, keyword, [(value, home)]))

    def _join_parts(self, frame: Merging, keyword: str, values: list[Json]) -> bool:
        """Let the schemas that a keyword holds in several pieces hold together; false if it takes more than that."""
        home = self.home
        if keyword == "propertyNames":
            frame.pending.append(PendingPart(frame.out, keyword, [(value, home) for value in values]))
            return True
        if keyword not in NAMED or set(map(type, values)) != _DICTS:
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
