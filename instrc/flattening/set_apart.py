"""Keywords that say several things only side by side: alternatives, conditions, `contains`; each stays in a branch of its own."""

from __future__ import annotations

from itertools import product
from math import prod

from instrc.flattening.evaluated import marks_nothing
from instrc.flattening.reconciling import Reconciling
from instrc.jsonvalue import Json
from instrc.schema.walk import TRIVIAL


class SetApart(Reconciling):
    """The keywords of one conjunction that hold together only in branches."""

    def set_apart(self, keyword: str, places: list[int]) -> None:
        """Keep the first occurrence of a keyword here and each further one in a branch of its own."""
        for number, place in enumerate(places):
            container = self.out
            if number:
                container = {}
                self.todo.apart.setdefault(keyword, []).append(container)
            self.carry(container, keyword, self.conjuncts[place])

    def alternatives(self, keyword: str, places: list[int]) -> None:
        """Keep `anyOf` and `oneOf` apart; multiply `anyOf` out if asked to."""
        limit = self.run.options.distribute
        values = [self.conjuncts[place].view[keyword] for place in places]
        lists = [value for value in values if isinstance(value, list)]
        multiplied = keyword == "anyOf" and limit and len(places) > 1 and len(lists) == len(places)
        if multiplied and prod(map(len, lists)) <= limit:
            self.todo.shares = True
            pairs = [
                [(schema, self.conjuncts[place].scope) for schema in value] for place, value in zip(places, lists, strict=True)
            ]
            branches: list[Json] = []
            for chosen in product(*pairs):
                self.place_branch(branches, list(chosen))
            self.out[keyword] = branches
            return
        self.set_apart(keyword, places)

    def conditions(self, _keyword: str, places: list[int]) -> None:
        """Keep each `if` with its own `then` and `else`; one without both says nothing."""
        container: dict[str, Json] = self.out
        for place in places:
            conjunct = self.conjuncts[place]
            follow = [word for word in ("then", "else") if word in conjunct.view and conjunct.view[word] not in TRIVIAL]
            seen = self.todo.watched_properties or self.todo.watched_items
            if not follow and (not seen or marks_nothing(conjunct.view["if"])):
                continue
            for word in conjunct.view:
                if word == "if" or word in {"then", "else"}:
                    self.place_child(container, word, [(conjunct.view[word], conjunct.scope)])
            container = {}
            self.todo.apart.setdefault("if", []).append(container)
        if "if" in self.todo.apart:
            self.todo.apart["if"].pop()

    def contains(self, _keyword: str, places: list[int]) -> None:
        """Keep each `contains` with its own bounds; one that may be absent says nothing."""
        container: dict[str, Json] = self.out
        for place in places:
            conjunct = self.conjuncts[place]
            view = conjunct.view
            least = view.get("minContains")
            if least == 0 and least is not False and "maxContains" not in view and not self.todo.watched_items:
                continue
            for word in view:
                if word == "contains":
                    self.place_child(container, word, [(view[word], conjunct.scope)])
                elif word in {"minContains", "maxContains"}:
                    container[word] = view[word]
            container = {}
            self.todo.apart.setdefault("contains", []).append(container)
        if "contains" in self.todo.apart:
            self.todo.apart["contains"].pop()
