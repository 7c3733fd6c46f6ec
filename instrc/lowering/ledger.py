"""Make losses of what was noted on the way, with the places in the schema where it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from instrc.jsonvalue import Json, JsonObject, Location, pointer
from instrc.limits.payloads import LOSS_SOURCES, LOSSES_LOOKED_FOR, TOLD_LOSSES
from instrc.lowering.context import Contradicted, Derived, LedgerEntry, Log, Lost, LostAll, target_of
from instrc.lowering.losses import Loss, LossKind
from instrc.lowering.places import PathChain, places, pointer_of
from instrc.schema.vocabulary import HOLDERS, KEYWORDS, MANY, NAMED, NO_ASSERTIONS, ONE
from instrc.schema.walk import subschemas

_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "additionalItems"})
"""Keywords that are found broken themselves where they hold `false`, and not the `false` inside."""


def losses(root: Json, log: Log) -> list[Loss]:
    """Return what was lost, in the order in which it was noted, each loss once."""
    if log is None:
        return []
    entries = _in_order(log)
    ledger = _Ledger(root, [entry for entry in entries if entry.__class__ is Derived])
    for entry in entries:
        match entry:
            case Lost():
                ledger.lose(entry.node, entry.keyword, entry.kind, entry.reason, parts=entry.parts)
            case LostAll():
                place = ledger.places.of(entry.of, str(entry.below[0])) + pointer(entry.below) if entry.below else ""
                ledger.lose_all(entry.node, entry.reason, entry.kind, place)
            case Contradicted():
                ledger.contradict(entry.node, entry.name, entry.schema)
            case Derived():
                pass
            case _:
                assert_never(entry)
    return list(ledger.losses.values())


def place_of(root: Json, log: Log, node: Json, keyword: str) -> str:
    """Return the pointer of the schema that a keyword of a node comes from."""
    return _Places(root, [entry for entry in _in_order(log) if entry.__class__ is Derived]).of(node, keyword)


def _in_order(log: Log) -> list[LedgerEntry]:
    entries: list[LedgerEntry] = []
    while log is not None:
        log, entry = log
        entries.append(entry)
    entries.reverse()
    return entries


class _Places:
    """Where schemas stand, those included that were made of others on the way."""

    def __init__(self, root: Json, derived: Sequence[Derived]) -> None:
        self._root = root
        self._written: Mapping[int, PathChain] | None = None
        self._pointers: dict[int, str] = {}
        self._derived = {id(entry.new): entry for entry in reversed(derived)}

    def of(self, node: Json, keyword: str) -> str:
        """Return the pointer of the schema that a keyword of a node comes from."""
        if node is self._root:
            return ""
        if (known := self._pointers.get(id(node))) is not None:
            return known
        if self._written is None:
            self._written = places(self._root)
        if (path := self._written.get(id(node))) is not None:
            self._pointers[id(node)] = found = pointer_of(path)
            return found
        pending = [node]
        for _ in range(LOSS_SOURCES):
            if not pending:
                break
            here = id(pending.pop())
            if here in self._written:
                self._pointers[here] = found = pointer_of(self._written[here])
                return found
            if (derived := self._derived.get(here)) is not None:
                sources = [source for source in derived.sources if isinstance(source, dict)]
                sources.sort(key=lambda source: keyword in source)
                pending.extend(sources)
        return ""


class _Ledger:
    """The losses of one lowering, made of what was noted."""

    def __init__(self, root: Json, derived: Sequence[Derived]) -> None:
        self.root = root
        self.places = _Places(root, derived)
        self.losses: dict[tuple[str, str, LossKind], Loss] = {}
        self._told: dict[LossKind, set[int]] = {}
        self._looked_at = 0
        self._invented = {id(entry.new) for entry in derived if entry.invented}

    def lose(self, node: Json, keyword: str, kind: LossKind, reason: str, *, parts: bool = True) -> None:
        """Record the loss of a keyword, and of what is inside of it; that an invented object is closed, nobody has written."""
        if keyword in _CLOSING and id(node) in self._invented and kind == "unenforced":
            return
        value = node.get(keyword) if isinstance(node, dict) else node
        place = self.places.of(node, keyword)
        loss = (place, keyword, kind)
        if loss not in self.losses:
            self.losses[loss] = Loss(place, keyword, value, kind, reason)
            if kind == "unenforced" and parts and keyword in HOLDERS:
                self._lose_parts(keyword, value, place)

    def contradict(self, node: Json, name: str, schema: Json) -> None:
        """Record that a property is left out, because no value satisfies its schema."""
        place = self.places.of(node, "properties") + pointer(("properties", name))
        reason = "no value satisfies it, so the property is left out"
        self.losses.setdefault((place, "schema", "contradiction"), Loss(place, "schema", schema, "contradiction", reason))

    def _lose_parts(self, keyword: str, value: Json, place: str) -> None:
        """Record what is inside a keyword that is lost: an answer is found wrong there."""
        parts: Iterable[tuple[Location, Json]]
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

    def lose_all(self, node: Json, reason: str, kind: LossKind, place: str) -> None:
        """Record every constraint of a schema and of what it refers to; `place` is told of one that is `false`."""
        told = self._told.setdefault(kind, set())
        stack: list[tuple[Json, str]] = [(node, place)]
        seen: set[int] = set()
        while stack:
            here, place = stack.pop()
            if here is False and (place, "false", kind) not in self.losses:
                self.losses[place, "false", kind] = Loss(place, "false", False, kind, reason)  # noqa: FBT003  -- the schema
            if not isinstance(here, dict) or id(here) in seen or id(here) in told:
                continue
            seen.add(id(here))
            self._looked_at += 1
            if len(seen) > TOLD_LOSSES or self._looked_at > LOSSES_LOOKED_FOR:
                self.lose(here, "schema", kind, f"{reason}, with all that is below it", parts=False)
                return
            for keyword in here:
                if keyword not in NO_ASSERTIONS and keyword in KEYWORDS:
                    self.lose(here, keyword, kind, reason, parts=False)
            stack += self._below(here)
        told |= seen  # with all that is below them: what leads to them again has nothing new to tell

    def _below(self, node: JsonObject) -> Iterable[tuple[Json, str]]:
        """Yield the schemas that a schema holds or refers to, with the places of those that are `false`."""
        if "$ref" in node:
            yield target_of(self.root, node["$ref"]), str(node["$ref"]).removeprefix("#")
        for path, child in subschemas(node):
            if child is False and path[0] not in _CLOSING:
                yield child, self.places.of(node, str(path[0])) + pointer(path)
            elif isinstance(child, dict) and path[0] not in {"$defs", "definitions"}:
                yield child, ""
