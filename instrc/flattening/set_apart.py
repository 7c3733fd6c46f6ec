"""Keywords that say several things only side by side: alternatives, conditions, `contains`; each stays in a branch of its own."""

from __future__ import annotations

from itertools import product
from math import prod

from instrc.flattening.conjunction import NO_REMAINDER, Remainder
from instrc.flattening.reconciling import Reconciling
from instrc.jsonvalue import Json, JsonObject
from instrc.schema.walk import TRIVIAL


class SetApart(Reconciling):
    """The keywords of one conjunction that hold together only in branches."""

    def set_apart(self, keyword: str, places: list[int]) -> Remainder:
        """Keep the first occurrence of a keyword here and each further one in a branch of its own."""
        containers: list[JsonObject] = [self.out, *({} for _ in places[1:])]
        for container, place in zip(containers, places, strict=True):
            self.carry(container, keyword, self.conjuncts[place])
        return Remainder({keyword: containers[1:]}) if len(places) > 1 else NO_REMAINDER

    def alternatives(self, keyword: str, places: list[int]) -> Remainder:
        """Keep `anyOf` and `oneOf` apart; multiply `anyOf` out if asked to."""
        limit = self.run.options.distribute
        values = [self.conjuncts[place].view[keyword] for place in places]
        lists = [value for value in values if isinstance(value, list)]
        multiplied = keyword == "anyOf" and limit and len(places) > 1 and len(lists) == len(places)
        if multiplied and prod(map(len, lists)) <= limit:
            pairs = [
                [(schema, self.conjuncts[place].scope) for schema in value] for place, value in zip(places, lists, strict=True)
            ]
            branches: list[Json] = []
            for chosen in product(*pairs):
                self.place_branch(branches, list(chosen))
            self.out[keyword] = branches
            return Remainder(shares=True)
        return self.set_apart(keyword, places)

    def conditions(self, _keyword: str, places: list[int]) -> Remainder:
        """Keep each `if` with its own `then` and `else`; one without both says nothing."""
        from instrc.flattening.evaluated import marks_nothing  # few schemas have conditions

        containers = [self.out]  # the last one is for the next
        for place in places:
            conjunct = self.conjuncts[place]
            follow = [word for word in ("then", "else") if word in conjunct.view and conjunct.view[word] not in TRIVIAL]
            seen = self.watched.properties or self.watched.items
            if not follow and (not seen or marks_nothing(conjunct.view["if"])):
                continue
            for word in conjunct.view:
                if word == "if" or word in {"then", "else"}:
                    self.place_child(containers[-1], word, [(conjunct.view[word], conjunct.scope)])
            containers.append({})
        return Remainder({"if": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER

    def contains(self, _keyword: str, places: list[int]) -> Remainder:
        """Keep each `contains` with its own bounds; one that may be absent says nothing."""
        containers = [self.out]
        for place in places:
            conjunct = self.conjuncts[place]
            view = conjunct.view
            least = view.get("minContains")
            if least == 0 and least is not False and "maxContains" not in view and not self.watched.items:
                continue
            for word in view:
                if word == "contains":
                    self.place_child(containers[-1], word, [(view[word], conjunct.scope)])
                elif word in {"minContains", "maxContains"}:
                    containers[-1][word] = view[word]
            containers.append({})
        return Remainder({"contains": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER
