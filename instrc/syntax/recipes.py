"""What the automaton does with words of some kinds, worked out once and then known: reading right programs lives on this.

It does the same wherever equal letters (`instrc.syntax.words`) come in the same place of the grammar, and most statements are
written like others.  So a recipe says what is to be built of words and of what lies on the stack, without asking the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

from msgspec import Struct

from instrc.limits.programs import KEPT_RECIPES
from instrc.syntax.tables import CONTEXTUAL, Tables, tables
from instrc.syntax.words import SIGNS, letters

Pick: TypeAlias = "Callable[[list[Any]], list[Any]]"  # of values, or of offsets; some give a tuple
"""Takes what stands at some places out of a list."""


class Recipe(Struct, frozen=True):
    """What the parser does with a sequence of words.

    Values are numbered: first those that it takes from the stack, then `None`, then one for each word, then one for each rule.
    Beginnings are numbered likewise: those of the values from the stack, then those of the words and of the word after them.
    """

    taken: int
    """Symbols on the stack that it uses up."""
    room: tuple[None, ...]
    """For `None` and the words."""
    words: tuple[tuple[int, int, int, str | None], ...]
    """The words that have a value: the number of each, where it begins, where its value lies, its kind or `None` for a name."""
    builds: tuple[tuple[int, Pick, int, int], ...]
    """The rules that build something: the number of each, its values, where it begins, and behind how many words it ends."""
    kept: Pick
    """The values that are left on the stack in the place of those taken."""
    begun: Pick
    """Where each of them begins."""
    read: int
    """The words that fit."""
    highest: int
    """The levels of brackets that it opens at most."""
    levels: int
    """Those that are open behind it, more or less than before."""
    place: Place
    """Where the automaton is then."""


class Place:
    """Where the automaton stands: in a state, behind the places that are still open."""

    __slots__ = ("_next", "before", "recipes", "state")

    def __init__(self, state: int, before: Place | None) -> None:
        self.state = state
        self.before = before
        self.recipes: dict[str, Recipe] = {}
        """By the letters of the words that come next."""
        self._next: dict[int, Place] = {}

    def behind(self, symbols: int) -> Place:
        """Return the place that many symbols ago."""
        place = self
        for _ in range(symbols):
            assert place.before is not None  # a rule has no more symbols than there are
            place = place.before
        return place

    def then(self, state: int) -> Place:
        """Return the place behind one symbol more."""
        place = self._next.get(state)
        if place is None:
            place = self._next[state] = Place(state, self)
        return place

    def states(self) -> list[int]:
        """Return the states from the first one to this."""
        found = [self.state]
        place = self.before
        while place is not None:
            found.append(place.state)
            place = place.before
        return found[::-1]


class Recipes:
    """The recipes of an automaton, for a builder that does nothing for some rules but hand their first symbol on."""

    def __init__(self, automaton: Tables, handed_on: frozenset[int], *, signs: bool) -> None:
        self._automaton = automaton
        self._handed_on = handed_on
        self._signs = signs
        self._kinds = {letter: kind for kind, letter in letters().items()}
        self._count = 0
        self._first = Place(0, None)

    def first(self) -> Place:
        """Return the place before a program; what was known is forgotten where it is much."""
        if self._count > KEPT_RECIPES:
            self._count = 0
            self._first = Place(0, None)
        return self._first

    def recipe_at(self, before: Place, run: str) -> Recipe:
        """Return what to do with words of these letters at a place."""
        self._count += len(run)
        table, rules = self._automaton.states, self._automaton.rules
        place = before
        taken = levels = highest = read = 0
        stack: list[tuple[int, int]] = []  # above what is left of the one before: where values are, from `None`, and begin
        words: list[tuple[int, int, str | None]] = []
        builds: list[tuple[int, list[int], int, int]] = []
        for letter in run:
            kind = self._kinds[letter]
            if kind in CONTEXTUAL and not self._automaton.accept(place.states(), kind):
                kind = "NAME"
            while (action := table[place.state].get(kind)) is not None and action < 0:
                rule = rules[~action]
                while len(stack) < rule.length:
                    taken += 1
                    stack.insert(0, (-taken, -taken))
                first = len(stack) - rule.length
                parts = stack[first:]
                del stack[first:]
                if not parts:
                    stack.append((0, read))
                elif ~action in self._handed_on:
                    stack.append(parts[0])
                else:
                    stack.append((1 + len(run) + len(builds), parts[0][1]))
                    builds.append((~action, [value for value, _ in parts], parts[0][1], read))
                around = place.behind(rule.length)
                place = around.then(table[around.state][rule.origin])
            if action is None:
                break
            if self._signs or kind not in SIGNS:
                words.append((read, 1 + read, None if kind == "NAME" else kind))
            levels += SIGNS.get(kind, 0)
            highest = max(highest, levels)
            stack.append((1 + read, read))
            place = place.then(action)
            read += 1
        recipe = before.recipes[run] = Recipe(
            taken,
            (None,) * (1 + len(run)),
            tuple((number, taken + number, taken + value, kind) for number, value, kind in words),
            tuple((rule, _pick([taken + part for part in parts]), taken + first, end) for rule, parts, first, end in builds),
            _pick([taken + value for value, _ in stack]),
            _pick([taken + first for _, first in stack]),
            read,
            highest,
            levels,
            place,
        )
        return recipe


def _pick(places: list[int]) -> Pick:
    """Return what takes the values at some places out of a list."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


@cache
def recipes_of(handed_on: frozenset[int], *, signs: bool) -> Recipes:
    """Return what is known of the grammar's automaton where these rules build nothing, and signs have values or none."""
    return Recipes(tables(), handed_on, signs=signs)
