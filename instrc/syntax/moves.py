"""What the automaton does next, looked up once for each place and token and then known: the fast pass lives on this.

The stack of the fast pass is one list: the first state, then for each symbol its value, where its text begins, and the state
behind it.  So a rule of three symbols takes nine entries away and puts three in their place.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from instrc.syntax.tables import Tables, tables

Move: TypeAlias = "tuple[Reduction | None, int | None]"
"""What to do on a token: reduce by a rule first, or else go to a state; with neither, the token does not fit."""
Reduction: TypeAlias = "tuple[int, slice | None, slice, int, int, Goto]"
"""A rule as the stack sees it: its number, where the values of its symbols lie (`None` if nothing is built of them),
all that they take, where their text begins, the state before them, and where that leads."""


class Goto(dict[int, "tuple[int, Reduction | None, int | None]"]):
    """The state behind a rule, by the one before it, and the move there, for one token."""

    def __init__(self, moves: Moves, origin: str, kind: str) -> None:
        super().__init__()
        self._moves, self._origin, self._kind = moves, origin, kind

    def __missing__(self, before: int) -> tuple[int, Reduction | None, int | None]:
        moves, kind = self._moves, self._kind
        reached = moves.states[before][self._origin]
        while (rule := moves.handed_on(reached, kind)) is not None:  # straight on through rules that build nothing
            reached = moves.states[before][rule]
        found = self[before] = (reached, *moves[reached][kind])
        return found


class _Row(dict[str, Move]):
    """The moves in one state, by token."""

    def __init__(self, moves: Moves, state: int) -> None:
        super().__init__()
        self._moves, self._state = moves, state

    def __missing__(self, kind: str) -> Move:
        found = self[kind] = self._moves.find(self._state, kind)
        return found


class Moves(list[_Row]):
    """The moves of an automaton, by state, for a builder that hands some rules of one symbol on as they are."""

    def __init__(self, automaton: Tables, handed_on: frozenset[int]) -> None:
        super().__init__(_Row(self, state) for state in range(len(automaton.states)))
        self.states = automaton.states
        self._rules = automaton.rules
        self._handed_on = handed_on

    def handed_on(self, state: int, kind: str) -> str | None:
        """Return to what a rule that builds nothing reduces in a state, if it is one that comes next there."""
        action = self.states[state].get(kind)
        return self._rules[~action].origin if action is not None and ~action in self._handed_on else None

    def find(self, state: int, kind: str) -> Move:
        """Return the move in a state."""
        action = self.states[state].get(kind)
        if action is None or action >= 0:
            return None, action
        rule = self._rules[~action]
        size = 3 * rule.length
        builds = size and ~action not in self._handed_on
        values = slice(-size, None, 3) if builds else None
        return (~action, values, slice(-size, None), 1 - size, -1 - size, Goto(self, rule.origin, kind)), None


@cache
def moves_of(handed_on: frozenset[int]) -> Moves:
    """Return what is known of the moves of the grammar's automaton where these rules build nothing."""
    return Moves(tables(), handed_on)
