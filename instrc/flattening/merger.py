"""Merge the keywords of several conjuncts into one schema.

Laws for single keywords come from the table in `keywords`; groups of keywords have modules or methods of their own.
What has no exact law goes into further branches, which end up in a residual `allOf`.
"""

from __future__ import annotations

from instrc.flattening.conjunction import NO_REMAINDER, Remainder, Term
from instrc.flattening.set_apart import SetApart
from instrc.jsonvalue import Json
from instrc.limits.schemas import REMEMBERED_LISTS
from instrc.schema.laws import (
    ANNOTATIONS_OF_CONTENT,
    NO_LAW,
    UNSATISFIABLE,
    Verdict,
    description,
    same,
    types_of,
    unique,
)
from instrc.schema.vocabulary import JOINS, LAWS

_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_ITEMS = frozenset({"prefixItems", "items", "unevaluatedItems"})
_FOLLOWERS = frozenset({"then", "else", "minContains", "maxContains"})
"""Keywords that mean something beside their leader only: `if`, `contains`."""


class Merger(SetApart):
    """The merging of one conjunction."""

    def merge(self) -> list[Remainder] | None:
        """Fill the frame and return what is left to do; `None` if nothing satisfies the conjunction."""
        out, by_keyword, conjuncts = self.out, self.groups, self.conjuncts
        if self.run.store.unevaluated:
            self.watched = self.watch()
        remainders: list[Remainder] = []
        simple_properties = "additionalProperties" not in by_keyword and "unevaluatedProperties" not in by_keyword
        simple_items = self.has_simple_items()
        properties = items = False
        for keyword, places in by_keyword.items():
            law = LAWS.get(keyword)
            if law is not None:
                if len(places) == 1:
                    out[keyword] = conjuncts[places[0]].view[keyword]
                elif (left := self.by_law(keyword, places)) is None:
                    return None
                elif left is not NO_REMAINDER:
                    remainders.append(left)
            elif keyword in _PROPERTIES:
                if simple_properties:
                    remainders.append(self.named(keyword, places))
                else:
                    out[keyword] = None
                    properties = True
            elif keyword in _ITEMS:
                if simple_items:
                    self.carry(out, keyword, conjuncts[places[0]])
                else:
                    out[keyword] = None
                    items = True
            elif keyword in _BY_KEYWORD:
                remainders.append(_BY_KEYWORD[keyword](self, keyword, places))
            elif keyword not in _FOLLOWERS:
                out[keyword] = conjuncts[places[-1]].view[keyword]  # an annotation or unknown: the last wins
        if properties or items:
            remainders += self.joined_groups(properties=properties, items=items)
        return remainders if self.reconcile() else None

    def joined_groups(self, *, properties: bool, items: bool) -> list[Remainder]:
        """Join what several conjuncts say about properties, and about items."""
        from instrc.flattening import groups  # most conjunctions leave their properties and items open

        joined = [groups.properties(self)] if properties else []
        if items:
            joined.append(groups.items(self))
        if len(self.pending) > 1:
            self.in_written_order()
        return joined

    def has_simple_items(self) -> bool:
        """Tell whether one conjunct alone speaks of items, so that nothing has to be joined."""
        by_keyword = self.groups
        return (
            "unevaluatedItems" not in by_keyword
            and not _ITEMS.isdisjoint(by_keyword)
            and len({*by_keyword.get("prefixItems", ()), *by_keyword.get("items", ())}) == 1
        )

    def in_written_order(self) -> None:
        """Have the parts done in the order in which they will stand, as they would be if they were read again."""
        out = self.out
        rank: dict[int | str, int] = {}
        for place, (keyword, value) in enumerate(out.items()):
            rank[keyword] = place
            if value.__class__ is dict or value.__class__ is list:
                rank[id(value)] = place
        last = len(out)
        self.pending.sort(key=lambda part: rank.get(part.slot if part.container is out else id(part.container), last))

    def by_law(self, keyword: str, places: list[int]) -> Remainder | None:
        """Merge a keyword by its law; what stays apart becomes further branches.  `None` if nothing satisfies it."""
        if keyword in JOINS:
            joined = JOINS[keyword]([self.conjuncts[place].view[keyword] for place in places])
            if not isinstance(joined, Verdict):
                self.out[keyword] = joined
                return NO_REMAINDER
        law = LAWS[keyword]
        if law is same:
            return self.unlike(keyword, places)
        kept: list[Json] = []
        since: list[int] = []
        seen: set[str] = set()
        lists: list[Json] = []  # of names of types
        for place in places:
            value = self.conjuncts[place].view[keyword]
            if value.__class__ is str:
                if value in seen:
                    continue  # the hundredth branch seldom says what none before has said
                seen.add(value)
            elif keyword == "type" and value.__class__ is list:
                if value in lists:
                    continue
                if types_of(value) is not None and len(lists) < REMEMBERED_LISTS:
                    lists.append(value)
            for index, other in enumerate(kept):
                if other is value:
                    break
                result = law(other, value)
                if result is UNSATISFIABLE:
                    from instrc.flattening.contradictions import report_contradiction  # as above

                    report_contradiction(self.run, (self.conjuncts[since[index]], keyword), (self.conjuncts[place], keyword))
                    return None
                if result is not NO_LAW:
                    if result is not other:
                        since[index] = place
                    kept[index] = result
                    break
            else:
                kept.append(value)
                since.append(place)
        self.out[keyword] = kept[0]
        return Remainder({keyword: [{keyword: value} for value in kept[1:]]}) if len(kept) > 1 else NO_REMAINDER

    def unlike(self, keyword: str, places: list[int]) -> Remainder:
        """Keep different values of a keyword that has room for one in branches of their own."""
        first, *others = unique(self.conjuncts[place].view[keyword] for place in places)
        self.out[keyword] = first
        return Remainder({keyword: [{keyword: value} for value in others]}) if others else NO_REMAINDER

    def description(self, keyword: str, places: list[int]) -> Remainder:
        """Join descriptions."""
        self.out[keyword] = description([self.conjuncts[place].view[keyword] for place in places])
        return NO_REMAINDER

    def title(self, keyword: str, places: list[int]) -> Remainder:
        """Keep the outermost title, the last of several that are equally far out."""
        conjuncts = self.conjuncts
        outermost = min(conjuncts[place].depth for place in places)
        self.out[keyword] = next(
            conjuncts[place].view[keyword] for place in reversed(places) if conjuncts[place].depth == outermost
        )
        return NO_REMAINDER

    def one_schema(self, keyword: str, places: list[int]) -> Remainder:
        """Let all schemas of a keyword hold together."""
        self.place_child(
            self.out, keyword, [(self.conjuncts[place].view[keyword], self.conjuncts[place].scope) for place in places]
        )
        return NO_REMAINDER

    def named(self, keyword: str, places: list[int]) -> Remainder:
        """Let the schemas of each name hold together."""
        if len(places) == 1:
            self.carry(self.out, keyword, self.conjuncts[places[0]])
            return NO_REMAINDER
        by_name: dict[str, list[Term]] = {}
        lists = False
        for place in places:
            conjunct = self.conjuncts[place]
            value, scope = conjunct.view[keyword], conjunct.scope
            if value.__class__ is not dict:
                return self.set_apart(keyword, places)
            for name, schema in value.items():
                if name in by_name:
                    by_name[name].append((schema, scope))
                else:
                    by_name[name] = [(schema, scope)]
                lists |= schema.__class__ is list
        if lists and any(len(found) > 1 and any(schema.__class__ is list for schema, _ in found) for found in by_name.values()):
            return self.set_apart(keyword, places)  # `dependencies` of old may hold lists
        together: dict[str, Json] = {}
        self.out[keyword] = together
        for name, terms in by_name.items():
            self.place_child(together, name, terms)
        return NO_REMAINDER

    def negations(self, keyword: str, places: list[int]) -> Remainder:
        """Take negations together: neither A nor B is not any of A and B."""
        if len(places) == 1:
            return self.one_schema(keyword, places)
        branches: list[Json] = []
        for place in places:
            value, scope = self.conjuncts[place].view[keyword], self.conjuncts[place].scope
            inside = value["anyOf"] if value.__class__ is dict and len(value) == 1 and "anyOf" in value else [value]
            for schema in inside if inside.__class__ is list else [value]:
                self.place_branch(branches, [(schema, scope)])
        self.out[keyword] = {"anyOf": branches}
        return Remainder(new_not=True)

    def content(self, keyword: str, _places: list[int]) -> Remainder:
        """Take what is said about encoded content, once, from the last place that says any of it."""
        if keyword != next(first for first in self.groups if first in ANNOTATIONS_OF_CONTENT):
            return NO_REMAINDER
        last = max(place for keyword in ANNOTATIONS_OF_CONTENT for place in self.groups.get(keyword, ()))
        conjunct = self.conjuncts[last]
        for word, value in conjunct.view.items():
            if word == "contentSchema":
                self.place_child(self.out, word, [(value, conjunct.scope)])
            elif word in ANNOTATIONS_OF_CONTENT:
                self.out[word] = value
        return NO_REMAINDER


_BY_KEYWORD = {
    "description": Merger.description,
    "title": Merger.title,
    "propertyNames": Merger.one_schema,
    "dependentSchemas": Merger.named,
    "dependencies": Merger.named,
    "anyOf": Merger.alternatives,
    "oneOf": Merger.alternatives,
    "not": Merger.negations,
    "if": Merger.conditions,
    "contains": Merger.contains,
    **dict.fromkeys(ANNOTATIONS_OF_CONTENT, Merger.content),
}
