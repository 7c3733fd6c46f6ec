"""Define the laws of a keyword: their results, and the questions that they may ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from instrc.schema.kinds import ALL
from instrc.text.jsonvalue import Json, JsonArray, equal


class Relations(Protocol):
    """An open question about two schemas; `relations` answers it.

    `kinds` are the relevant types of values: others are undecided.
    """

    def implies(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Return whether every instance that satisfies `left` satisfies `right`."""
        ...

    def disjoint(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Return whether no instance satisfies both of two schemas."""
        ...

    def target(self, reference: Json) -> Json:
        """Return the target of a reference, or `None` if unknown."""
        ...


class InstanceEvaluation(Protocol):
    """An open question about a value; `relations` answers it."""

    def of(self, value: Json, schema: Json, depth: int) -> bool | None:
        """Return whether a value satisfies a schema, or `None` if validators may differ."""

    def key_of(self, value: Json) -> object:
        """Return a key that equal values have; of a large value it is made once."""

    def lists(self, values: JsonArray, value: Json) -> bool:
        """Return whether a list has a value."""

    def target(self, reference: Json) -> Json:
        """Return the target of a reference, or `None` if unknown."""


Schema: TypeAlias = dict[str, Json]
Kinds: TypeAlias = frozenset[str]
Answer: TypeAlias = bool | None
"""Whether a value satisfies a schema; `None` if validators may differ."""


class Verdict(Enum):
    """A result of an intersection that is not a JSON value."""

    UNSATISFIABLE = "UNSATISFIABLE"
    """No instance satisfies both."""
    NO_LAW = "NO_LAW"
    """No single value expresses both, so the second occurrence becomes a branch of its own."""

    def __repr__(self) -> str:
        return self.name


UNSATISFIABLE: Final = Verdict.UNSATISFIABLE
NO_LAW: Final = Verdict.NO_LAW


Relation: TypeAlias = Callable[[Json, Json], bool]
"""Function that decides whether one schema implies another, or is disjoint from it."""
Intersect: TypeAlias = Callable[[Json, Json], Json | Verdict]
IntersectAll: TypeAlias = Callable[[list[Json]], Json | Verdict]
Implied: TypeAlias = "Callable[[Relations, Schema, str, Schema, int, Kinds], bool]"
Satisfied: TypeAlias = "Callable[[InstanceEvaluation, Json, str, Schema, int], Answer]"


class KeywordLaws(Struct, frozen=True):
    """The laws of a keyword; `None` for a missing one."""

    satisfied: Satisfied | None = None
    """Decides whether a value of an applicable type satisfies the keyword in a schema."""
    intersect: Intersect | None = None
    """Combines two occurrences into one value; `None` for keywords that act in groups (see `flattening`)."""
    intersect_all: IntersectAll | None = None
    """Combines any number of occurrences at once, where one by one would take long."""
    implied: Implied | None = None
    """Decides whether a schema implies the keyword of another schema; equal occurrences always do."""
    shape: type = object
    """Type of its values; `satisfied` and `implied` are not asked about any other."""
    beside: tuple[str, ...] = ()
    """Keywords that must also be equal for two equal occurrences to have the same meaning."""


def decided_elsewhere(_evaluation: InstanceEvaluation, _value: Json, _keyword: str, _schema: Schema, _depth: int) -> Answer:
    """Accept any value: another keyword of the group decides."""
    return True


def same(left: Json, right: Json) -> Json | Verdict:
    """Keep one of two equal values; different ones cannot share a keyword."""
    return left if equal(left, right) else NO_LAW


def all_satisfied(answers: Iterable[Answer]) -> Answer:
    """Return the conjunction of answers."""
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def opposite(answer: Answer) -> Answer:
    """Return the negation of an answer."""
    return None if answer is None else not answer
