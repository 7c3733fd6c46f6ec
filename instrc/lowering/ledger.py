"""Record what is lost, with the places in the schema where it was written."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.flattening.intersection import intersection
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import at, pointer
from instrc.lowering.losses import Kind, Loss
from instrc.lowering.notes import note
from instrc.lowering.places import Steps, places, written
from instrc.schema.vocabulary import KEYWORDS, MANY, NAMED, NO_ASSERTIONS, ONE
from instrc.schema.walk import subschemas

_MOST_TOLD = 400
"""Schema objects whose constraints are told one by one when all of a schema is lost."""
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "additionalItems"})
"""Keywords that are found broken themselves where they hold `false`, and not the `false` inside."""


class Ledger:
    """The losses of one lowering; schemas made on the way remember what they were made of."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self.losses: dict[tuple[str, str, Kind], Loss] = {}
        self._places: dict[int, Steps] | None = None
        self._pointers: dict[int, str] = {}
        self._made: dict[int, tuple[Json, ...]] = {}
        self._ours: set[int] = set()

    def lose(self, node: Json, keyword: str, kind: Kind = "unenforced", reason: str | None = None) -> str:
        """Take a loss down and return the sentence that tells the model."""
        value = node.get(keyword) if isinstance(node, dict) else node
        self.take(node, keyword, kind, reason or "is said in the description and checked when the answer is lifted")
        return note(keyword, value)

    def take(self, node: Json, keyword: str, kind: Kind, reason: str, *, parts: bool = True) -> None:
        """Take a loss down, of which there is nothing to tell a model; with `parts` what is inside of the keyword, too."""
        value = node.get(keyword) if isinstance(node, dict) else node
        place = self.place(node, keyword)
        if (place, keyword, kind) not in self.losses:
            self.losses[place, keyword, kind] = Loss(place, keyword, value, kind, reason)
            if kind == "unenforced" and parts:
                self._lose_parts(keyword, value, place)

    def contradict(self, node: Json, name: str, schema: Json) -> None:
        """Record that a property is left out, because no value satisfies its schema."""
        place = self.place(node, "properties") + pointer(("properties", name))
        reason = "no value satisfies it, so the property is left out"
        self.losses.setdefault((place, "schema", "contradiction"), Loss(place, "schema", schema, "contradiction", reason))

    def _lose_parts(self, keyword: str, value: Json, place: str) -> None:
        """Record what is inside a keyword that is lost: an answer is found wrong there."""
        parts: Iterable[tuple[tuple[str | int, ...], Json]]
        if keyword in ONE:
            parts = [((keyword,), value)] if value is not False or keyword not in _CLOSING else []
        elif keyword in MANY and isinstance(value, list):
            parts = (((keyword, index), part) for index, part in enumerate(value))
        elif keyword in NAMED and keyword != "properties" and isinstance(value, dict):
            parts = (((keyword, name), part) for name, part in value.items())
        else:
            return
        for path, part in parts:
            self.lose_all(part, f"is part of {keyword}", "part", place + pointer(path))

    def lose_all(self, node: Json, reason: str, kind: Kind = "unenforced", place: str = "") -> None:
        """Take every constraint of a schema and of what it refers to down as lost; `place` is told of one that is `false`."""
        stack: list[tuple[Json, str]] = [(node, place)]
        seen: set[int] = set()
        while stack:
            here, place = stack.pop()
            if here is False and (place, "false", kind) not in self.losses:
                self.losses[place, "false", kind] = Loss(place, "false", False, kind, reason)  # noqa: FBT003  -- the schema
            if not isinstance(here, dict) or id(here) in seen:
                continue
            seen.add(id(here))
            if len(seen) > _MOST_TOLD:
                self.take(here, "schema", kind, f"{reason}, with all that is below it", parts=False)
                break
            for keyword in here:
                if keyword not in NO_ASSERTIONS and keyword in KEYWORDS:
                    self.take(here, keyword, kind, reason, parts=False)
            if "$ref" in here:
                stack.append((self.target(here["$ref"]), str(here["$ref"]).removeprefix("#")))
            for path, child in subschemas(here):
                if child is False and path[0] not in _CLOSING:
                    stack.append((child, self.place(here, str(path[0])) + pointer(path)))
                elif isinstance(child, dict) and path[0] not in {"$defs", "definitions"}:
                    stack.append((child, ""))

    def made(self, new: Json, *of: Json) -> Json:
        """Remember what a schema was made of, so that its losses are shown where they were written."""
        if isinstance(new, dict) and not any(new is each for each in of):
            self._made.setdefault(id(new), (new, *of))
        return new

    def intersected(self, schemas: list[Json]) -> Json:
        """Return one schema for several that all hold; what no keyword can say stays in its `allOf`."""
        found = intersection(schemas)
        for new, sources in found.sources:
            self.made(new, *sources)
        return found.schema

    def own(self, new: Json, node: Json) -> Json:
        """Remember a schema that a rewrite made up: what nobody wrote cannot be lost."""
        self._ours.add(id(new))
        return self.made(new, node)

    def is_own(self, node: Json) -> bool:
        """Say whether a schema was made up by a rewrite."""
        return id(node) in self._ours

    def place(self, node: Json, keyword: str) -> str:
        """Return the pointer of the schema that a keyword of a node comes from."""
        if node is self.root:
            return ""
        if self._places is None:
            self._places = places(self.root)
        pending = [node]
        for _ in range(200):
            if not pending:
                break
            here = pending.pop()
            if id(here) in self._places:
                if id(here) not in self._pointers:
                    self._pointers[id(here)] = written(self._places[id(here)])
                return self._pointers[id(here)]
            if (made := self._made.get(id(here))) is not None:
                parents = [parent for parent in made[1:] if isinstance(parent, dict)]
                parents.sort(key=lambda parent: keyword in parent)
                pending.extend(parents)
        return ""

    def target(self, ref: str) -> Json:
        """Return what a reference stands for; a flat schema has local pointers only."""
        from urllib.parse import unquote

        try:
            return at(self.root, unquote(ref.removeprefix("#")))
        except (LookupError, ValueError):
            return True
