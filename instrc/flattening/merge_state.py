"""What merging the keywords of one conjunction works on: its conjuncts, the schema that grows, and what is left to do for it."""

from __future__ import annotations

from instrc.flattening.conjunction import UNWATCHED, Conjunct, Expansion, MarksThatStay, Merging, PendingPart
from instrc.flattening.run import Flattening
from instrc.jsonvalue import JsonArray, JsonObject
from instrc.schema.resources import Term
from instrc.schema.vocabulary import MANY, NAMED


class MergeState(Merging):
    """The merging of one conjunction under way: a frame, and what its keywords are merged from."""

    watched = UNWATCHED

    def __init__(self, run: Flattening, expansion: Expansion) -> None:
        self.pending: list[PendingPart] = []
        self.out: JsonObject = {}
        self.run = run
        self.needs_flattening = run.store.needs_flattening
        self.conjuncts: list[Conjunct] = expansion.conjuncts
        self.groups = expansion.groups

    def place_child(self, container: JsonObject, keyword: str, terms: list[Term]) -> None:
        """Put the schema of a conjunction into its place, now if it is known, else later."""
        if len(terms) == 1:
            node = terms[0][0]
            if node.__class__ is not dict or id(node) not in self.needs_flattening:
                container[keyword] = node
                return
        container[keyword] = None
        self.pending.append(PendingPart(container, keyword, terms))

    def place_branch(self, branches: JsonArray, terms: list[Term]) -> None:
        """Add the schema of a conjunction to a list, now if it is known, else later."""
        node = terms[0][0] if len(terms) == 1 else None
        if len(terms) == 1 and (node.__class__ is not dict or id(node) not in self.needs_flattening):
            branches.append(node)
            return
        self.pending.append(PendingPart(branches, len(branches), terms))
        branches.append(None)

    def carry(self, container: JsonObject, keyword: str, conjunct: Conjunct) -> None:
        """Take over a keyword of one conjunct with the schemas it holds."""
        value, scope = conjunct.view[keyword], conjunct.scope
        needs_flattening = self.needs_flattening
        container[keyword] = value
        if id(conjunct.node) not in needs_flattening:
            return
        if isinstance(value, dict) and keyword not in NAMED:
            self.place_child(container, keyword, [(value, scope)])
        elif isinstance(value, dict):
            names = [name for name, schema in value.items() if schema.__class__ is dict and id(schema) in needs_flattening]
            if names:
                container[keyword] = schemas = value.copy()
                self.pending += [PendingPart(schemas, name, [(value[name], scope)]) for name in names]
        elif isinstance(value, list) and keyword in MANY:
            places = [at for at, schema in enumerate(value) if schema.__class__ is dict and id(schema) in needs_flattening]
            if places:
                container[keyword] = branches = value.copy()
                self.pending += [PendingPart(branches, at, [(value[at], scope)]) for at in places]

    def watch(self) -> MarksThatStay:
        """Return which `unevaluated…` stay, since what they are about depends on the instance, here or around us."""
        from instrc.flattening.evaluated import evaluated  # few schemas have them
        from instrc.flattening.unevaluated import items_void, matters, properties_void

        views = [conjunct.view for conjunct in self.conjuncts]
        store = self.run.store
        properties = items = False
        for keyword in ("unevaluatedProperties", "unevaluatedItems"):
            for conjunct in [self.conjuncts[place] for place in self.groups.get(keyword, ())]:
                if not matters(conjunct.view, keyword):
                    continue
                value = conjunct.view[keyword]
                certain, possible = evaluated(store, conjunct.node, conjunct.scope)
                if keyword == "unevaluatedItems":
                    items |= not (certain.covers_items(possible) or items_void(store, views, certain, value))
                else:
                    properties |= not (certain.covers_properties(possible) or properties_void(views, certain, possible, value))
        watched, indexed = self.run.watched, store.indexed
        for conjunct in self.conjuncts:
            unknown = watched.everything or id(conjunct.node) not in indexed
            properties |= unknown or id(conjunct.node) in watched.properties
            items |= unknown or id(conjunct.node) in watched.items
        return MarksThatStay(properties, items)
