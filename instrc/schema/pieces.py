"""The nouns of folding: terms, the pieces they expand to, and the frames in which results grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from instrc.jsonvalue import Json
from instrc.schema.resources import Scope

Term: TypeAlias = tuple[Json, Scope]
Key: TypeAlias = tuple[object, ...]

TRIVIAL: tuple[Json, ...] = (True, {})
"""Schemas that everything satisfies."""
STRIPPED = frozenset(
    {"$id", "$anchor", "$dynamicAnchor", "$schema", "$defs", "definitions", "$vocabulary", "$recursiveAnchor", "$recursiveRef"}
)
"""Keywords that only serve references, which are gone afterwards."""


class Piece:
    """One schema of a conjunction, without `allOf` and references."""

    __slots__ = ("depth", "node", "scope", "view")

    def __init__(self, node: dict[str, Json], view: dict[str, Json], scope: Scope, depth: int) -> None:
        self.node = node
        self.view = view
        self.scope = scope
        self.depth = depth


class Settle:
    """What is left to do for a merged schema once its parts are done."""

    __slots__ = (
        "apart",
        "may_close",
        "new_not",
        "once_more",
        "refused",
        "to_fold",
        "units",
        "watched_items",
        "watched_properties",
    )

    def __init__(self) -> None:
        self.apart: dict[str, list[dict[str, Json]]] = {}
        """Further groups of keywords that found no place in the schema itself, by the keyword that leads the group."""
        self.units: list[Json] = []
        """Schemas that must stay branches."""
        self.new_not = False
        """Whether `not` has been put together here."""
        self.watched_properties = False
        self.watched_items = False
        """Whether an `unevaluated…` looks at what is marked as evaluated here."""
        self.once_more = False
        """Whether the schema has to be folded again, since something has turned out to hold always."""
        self.to_fold: list[Json] = []
        """Schemas made on the way that are to be folded then."""
        self.refused = ""
        """The keyword of which nothing is left."""
        self.may_close = False
        """Whether groups of properties stay apart that could be joined if `additionalProperties` turns out to be `false`."""


class Frame:
    """A conjunction whose parts are being done: the schema that grows, and what it waits for."""

    __slots__ = ("after", "at", "container", "key", "name", "out", "pending", "pieces", "settle", "slot", "unordered")

    def __init__(self, out: Json) -> None:
        self.out = out
        self.pending: list[tuple[Json, str | int, list[Term]]] = []
        self.at = 0
        self.key: Key = ()
        self.unordered: frozenset[object] = frozenset()
        self.name: str | None = None
        self.container: Json = None
        self.slot: str | int = 0
        self.pieces: list[Piece] = []
        self.settle: Settle | None = None
        self.after: Callable[[Json], Json] | None = None
        """What makes the result, or a frame to go on with, of a list of parts."""


class Expansion:
    """The pieces of a conjunction, which keywords they have in written order, and schemas that must stay branches."""

    __slots__ = ("applied", "pieces", "units", "written")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.written: list[tuple[int, Iterable[str]]] = []
        self.units: list[Term] = []
        """Schemas with `unevaluated…` that must not see the rest, nor be seen by it."""
        self.applied: list[Term] = []
        """Schemas that apply mixins and have to be done first."""
