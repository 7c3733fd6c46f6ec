"""What the laws of `implied_keywords` and `disjoint_kinds` may ask on their way; `relations` answers."""

from __future__ import annotations

from typing import Protocol

from instrc.jsonvalue import Json
from instrc.schema.kinds import ALL


class Relations(Protocol):
    """A question under way.  `kinds` are the kinds of values that are asked about: nothing is said of others."""

    def implies(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Tell whether every instance that satisfies `left` satisfies `right`."""
        ...

    def are_equal(self, left: Json, right: Json, depth: int) -> bool:
        """Tell whether two schemas are equal; those far down are remembered, as they would be compared at every level."""
        ...

    def disjoint(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Tell whether no instance satisfies both of two schemas."""
        ...

    def target(self, reference: Json) -> Json:
        """Return the schema that a reference leads to; `None` if it is not known."""
        ...
