"""Rounds that paths lead into while the bodies of blocks are still read."""

from __future__ import annotations

from instrc.ir.paths import Path
from instrc.ir.rounds import Bodies, Rounds
from instrc.passes.bind.scopes import Scope
from instrc.passes.bind.steps import Steps


class OpenRounds:
    """The bodies that have been met, and where the names of their rounds are defined."""

    def __init__(self, steps: Steps) -> None:
        self.lists: dict[int, Path] = {}
        """The list whose elements a body is carried out for."""
        self.bodies: dict[int, int] = {}
        """The body of the `repeat` whose rounds a body sees: itself, or the one before an `else`."""
        self.homes: dict[int, Scope] = {}
        """The names of each body of a `repeat`."""
        bodies = self.bodies  # not through `self`, which would be a circle that only the garbage collector frees
        known = Bodies(lambda number: steps.table[number].content, self.lists.get, lambda body: (bodies[body], {}))
        self._rounds = Rounds(known)

    def home_of(self, path: Path) -> Scope | None:
        """Return where the names of a round are defined, if one lies at a path."""
        body = self._rounds.body_of(path) if self.homes else None
        return None if body is None else self.homes[body]
