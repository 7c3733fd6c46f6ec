"""What merging the keywords of one conjunction works on: its conjuncts, the schema that grows, and what is left to do for it."""

from __future__ import annotations

from instrc.flattening.conjunction import Conjunct, Finalization, Frame, Term
from instrc.flattening.run import Run
from instrc.jsonvalue import AnyJson as Json
from instrc.schema.vocabulary import MANY, NAMED


class Placing:
    """The places of one conjunction that are filled."""

    watched_properties = False
    watched_items = False
    """Whether an `unevaluated…` stays, so that what only marks things as evaluated has to stay too."""

    def __init__(self, run: Run, conjuncts: list[Conjunct], groups: dict[str, list[int]]) -> None:
        self.run = run
        self.conjuncts = conjuncts
        self.groups = groups
        self.out: dict[str, Json] = {}
        self.frame = frame = Frame(self.out)
        self.todo = frame.todo = Finalization()
        self.pending = frame.pending
        frame.conjuncts = conjuncts

    def place_child(self, container: Json, slot: str | int, terms: list[Term]) -> None:
        """Put the schema of a conjunction into its place, now if it is known, else later."""
        if len(terms) == 1:
            node = terms[0][0]
            if node.__class__ is not dict or id(node) not in self.run.store.needs_flattening:
                container[slot] = node
                return
        container[slot] = None
        self.pending.append((container, slot, terms))

    def carry(self, container: dict[str, Json], keyword: str, conjunct: Conjunct) -> None:
        """Take over a keyword of one conjunct with the schemas it holds."""
        value, scope = conjunct.view[keyword], conjunct.scope
        needs_flattening = self.run.store.needs_flattening
        container[keyword] = value
        if id(conjunct.node) not in needs_flattening:
            return
        kind = value.__class__
        if kind is dict and keyword not in NAMED:
            self.place_child(container, keyword, [(value, scope)])
        elif kind is dict or (kind is list and keyword in MANY):
            parts = value.items() if kind is dict else enumerate(value)
            below = [(slot, schema) for slot, schema in parts if schema.__class__ is dict and id(schema) in needs_flattening]
            if below:
                container[keyword] = copied = value.copy()
                for slot, schema in below:
                    self.pending.append((copied, slot, [(schema, scope)]))
