"""The data of folding: terms, the conjuncts they expand to, and the frames in which results grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from instrc.schema.scopes import DynamicScope, Term
from instrc.schema.vocabulary import IDENTIFIERS, MANY, NAMED, ONE
from instrc.text.jsonvalue import Json, JsonArray, JsonObject

Key: TypeAlias = tuple[object, ...]
Mark: TypeAlias = "int | tuple[int, int]"
"""Key of a schema in a scope: both `id`s, or only that of the schema in the initial scope."""
STRIPPED = IDENTIFIERS | {"$recursiveRef"}
"""Keywords that only serve references and are removed with them."""


class Conjunct(Struct, frozen=True, eq=False, gc=False):
    """One schema of a conjunction, without `allOf` and references."""

    node: JsonObject
    view: JsonObject
    scope: DynamicScope
    depth: int
    mark: Mark


class OuterSchema(Struct, frozen=True, eq=False, gc=False):
    """A schema whose parts are followed, with the enclosing one: the path to the current schema."""

    mark: Mark
    around: OuterSchema | None
    view: JsonObject


class Remainder(Struct, frozen=True, eq=False, gc=False):
    """The work that remains after merging one keyword or group of keywords; mostly none."""

    apart: Mapping[str, list[JsonObject]] = {}
    """Groups of keywords that do not fit into the schema itself, by leading keyword."""
    new_not: bool = False
    """Whether `not` was merged here."""
    shares: bool = False
    """Whether a schema may now occur in several places."""
    may_simplify: bool = False
    """Whether another pass might simplify further."""
    may_close: bool = False
    """Whether separate groups of properties could be joined if `additionalProperties` turns out to be `false`."""


NO_REMAINDER = Remainder()


class MarksThatStay(Struct, frozen=True, eq=False, gc=False):
    """Whether an `unevaluated…` depends on annotations of this schema, so that pure annotations must be kept."""

    properties: bool = False
    items: bool = False


UNWATCHED = MarksThatStay()


class Finalization(Struct, frozen=True, eq=False, gc=False):
    """The work that remains for a merged schema once its parts are finished; mostly none."""

    watched: MarksThatStay
    apart: dict[str, list[JsonObject]]
    """The `apart` of all remainders together."""
    units: JsonArray
    """Schemas that must remain branches."""
    new_not: bool
    shares: bool
    may_simplify: bool
    may_close: bool

    @classmethod
    def of(cls, remainders: Sequence[Remainder], watched: MarksThatStay, units: JsonArray, *, shares: bool) -> Finalization:
        """Return the remaining work after all keywords of a conjunction."""
        apart: dict[str, list[JsonObject]] = {}
        remainders = [remainder for remainder in remainders if remainder is not NO_REMAINDER]
        for remainder in remainders:
            for keyword, groups in remainder.apart.items():
                apart.setdefault(keyword, []).extend(groups)
        return cls(
            watched,
            apart,
            units,
            any(remainder.new_not for remainder in remainders),
            shares or any(remainder.shares for remainder in remainders),
            any(remainder.may_simplify for remainder in remainders),
            any(remainder.may_close for remainder in remainders),
        )

    def anything(self) -> bool:
        """Return whether any work remains except checking the result."""
        return bool(self.apart or self.units or self.new_not or self.may_close)


NOTHING = Finalization.of((), UNWATCHED, [], shares=False)
SHARED = Finalization.of((), UNWATCHED, [], shares=True)
"""Finalization of most schemas, with nothing left to do."""


class Finalized(Struct, frozen=True, eq=False, gc=False):
    """A merged schema whose parts are finished; `False` if it is unsatisfiable."""

    schema: Json
    refused: tuple[str, ...] = ()
    """Keywords of a group that admits no value."""
    to_fold: tuple[JsonObject, ...] = ()
    """New schemas that are still to be folded."""
    refold: bool = False
    """Whether the schema must be folded again because part of it turned out to be always true."""


class PendingPart(Struct, frozen=True, eq=False, gc=False):
    """A pending part of a frame: the place of its result, and the terms of its conjunction."""

    container: JsonObject | JsonArray
    slot: str | int
    terms: list[Term]
    mixes: bool = False
    """Whether its single term is a schema that applies mixins."""


def carry(
    container: JsonObject, keyword: str, value: Json, scope: DynamicScope, needs_flattening: set[int]
) -> Iterator[PendingPart]:
    """Copy a keyword with its schemas, all in one scope, and yield the parts that need flattening."""
    container[keyword] = value
    if isinstance(value, list):
        places = [at for at, item in enumerate(value) if id(item) in needs_flattening and item.__class__ is dict]
        if places and keyword in MANY:
            container[keyword] = branches = value.copy()
            yield from (PendingPart(branches, at, [(value[at], scope)]) for at in places)
    elif isinstance(value, dict) and keyword in NAMED:
        names = [name for name, item in value.items() if id(item) in needs_flattening and item.__class__ is dict]
        if names:
            container[keyword] = schemas = value.copy()
            yield from (PendingPart(schemas, name, [(value[name], scope)]) for name in names)
    elif isinstance(value, dict) and keyword in ONE and id(value) in needs_flattening:
        yield PendingPart(container, keyword, [(value, scope)])


class InProgress:
    """A unit of work whose parts are flattened one after another."""

    key: Key = ()
    unordered: frozenset[object] = frozenset()
    name: str | None = None
    """Name of the definition for its result, if any."""
    pending: list[PendingPart]
    parts: Iterator[PendingPart]
    """Parts that have not been started."""


class Merging(InProgress):
    """A conjunction whose parts are being flattened: the growing result."""

    conjuncts: list[Conjunct] = []  # noqa: RUF012  -- one of its own is given where there are any
    todo: Finalization | None = None
    idle = True
    """Whether nothing is left to settle."""

    def __init__(self, out: JsonObject) -> None:
        self.pending = []
        self.out = out


class DerivedSchema(Struct, frozen=True):
    """A derived schema: the origin of its keywords, and whether it must be flattened."""

    schema: Json
    sources: tuple[Json, ...] = ()
    needs_flattening: bool = False


class GoOn(Struct, frozen=True):
    """A conjunction to continue with, and facts about it."""

    terms: list[Term]
    derived: tuple[DerivedSchema, ...] = ()
    mixed: Mapping[tuple[int, int], Json] = field(default_factory=dict)
    """Results of schemas that apply mixins."""
    name: str | None = None
    """Name of the definition for the result."""


class Collecting(InProgress):
    """Several schemas in progress: their results, and the continuation."""

    def __init__(self, results: JsonArray, after: Callable[[Collecting], Json | GoOn]) -> None:
        self.pending = []
        self.results = results
        self.after = after
        """What makes one result of them, or says how to go on."""


Frame: TypeAlias = Merging | Collecting


class Expansion:
    """The conjuncts of a conjunction, their keywords in written order, and schemas that must stay branches."""

    shares = False
    """Whether a reference was followed, so that a schema may occur in several places."""

    def __init__(self) -> None:
        self.conjuncts: list[Conjunct] = []
        self.groups: dict[str, list[int]] = {}
        """The places of the conjuncts that have each keyword, keywords by first appearance."""
        self.units: list[tuple[JsonObject, DynamicScope]] = []
        """Schemas with `unevaluated…` that must not see the rest, nor be seen by it."""
        self.applied: list[Term] = []
        """Schemas that apply mixins and have to be done first."""

    def note(self, place: int, keywords: Iterable[str]) -> None:
        """Record that the conjunct at an index has some keywords, in written order."""
        groups = self.groups
        for keyword in keywords:
            if keyword in groups:
                groups[keyword].append(place)
            elif keyword not in STRIPPED:
                groups[keyword] = [place]
