"""What a law may ask on its way; `relations` and `evaluation` answer."""

from __future__ import annotations

from typing import Protocol

from instrc.jsonvalue import Json
from instrc.schema.kinds import ALL


class Relations(Protocol):
    """A question about two schemas under way; `relations` answers.

    `kinds` are the kinds of values that are asked about: nothing is said of others.
    """

    def implies(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Tell whether every instance that satisfies `left` satisfies `right`."""
        ...

    def disjoint(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Tell whether no instance satisfies both of two schemas."""
        ...

    def target(self, reference: Json) -> Json:
        """Return the schema that a reference leads to; `None` if it is not known."""
        ...


class InstanceEvaluation(Protocol):
    """A question about a value under way; `evaluation` answers."""

    def of(self, value: Json, schema: Json, depth: int) -> bool | None:
        """Tell whether a value satisfies a schema; `None` where that is not certain for every validator."""
        ...

    def target(self, reference: Json) -> Json:
        """Return the schema that a reference leads to; `None` if it is not known."""
        ...
