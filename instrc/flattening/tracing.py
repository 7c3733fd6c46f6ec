"""Note where the keywords of a result come from, for `trace`."""

from __future__ import annotations

from collections.abc import Sequence

from instrc.flattening.conjunction import Conjunct, Merging
from instrc.flattening.run import Flattening, FlattenOptions
from instrc.jsonvalue import Json, JsonArray, as_object, listing
from instrc.schema.store import SchemaStore


class Tracing(Flattening):
    """A run that notes origins if it is asked to."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        super().__init__(store, options)
        self.origins: dict[int, tuple[Json, dict[str, list[tuple[Conjunct, str]]]]] = {}
        """For `trace`: the conjuncts and keywords that each keyword of a result comes from."""

    def record(self, out: dict[str, Json], frame: Merging) -> None:
        """Note, for `trace`, which conjuncts each keyword of a merged schema comes from."""
        found: dict[str, list[tuple[Conjunct, str]]] = {}
        for keyword in out:
            words = [keyword]
            if keyword in {"additionalProperties", "items"} or (keyword == "prefixItems"):
                words.append("unevaluatedProperties" if keyword == "additionalProperties" else "unevaluatedItems")
            found[keyword] = [(conjunct, word) for conjunct in frame.conjuncts for word in words if word in conjunct.view]
        self.origins[id(out)] = (out, found)
        self._record_branches(listing(out.get("allOf")), frame.conjuncts)

    def _record_branches(self, branches: JsonArray, conjuncts: Sequence[Conjunct]) -> None:
        """Note which conjuncts what stays in the `allOf` of a merged schema comes from."""
        new = [branch for branch in branches if branch.__class__ is dict and id(branch) not in self.origins]
        if not new:
            return
        holding: dict[str, list[tuple[Conjunct, str]]] = {}
        exactly: dict[tuple[str, int], list[tuple[Conjunct, str]]] = {}
        for conjunct in conjuncts:
            for keyword, value in conjunct.view.items():
                holding.setdefault(keyword, []).append((conjunct, keyword))
                exactly.setdefault((keyword, id(value)), []).append((conjunct, keyword))
        for branch in new:
            own = {
                keyword: exactly.get((keyword, id(value))) or holding.get(keyword, [])
                for keyword, value in as_object(branch).items()
            }
            self.origins[id(branch)] = (branch, own)

    def note_copy(self, copy: Json, original: Json) -> None:
        """Note, for `trace`, that a schema is a copy of another one with the same keywords."""
        if self.options.trace and isinstance(copy, dict) and isinstance(original, dict):
            _, known = self.origins.get(id(original), (None, None))
            conjunct = Conjunct(original, original, self.flat, 0, (id(original), id(self.flat)))
            self.origins[id(copy)] = (copy, known or {keyword: [(conjunct, keyword)] for keyword in original})
