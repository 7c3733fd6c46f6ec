"""Text to surface: run the LALR(1) automaton of the grammar over the tokens of a source.

Correct source is recognised in one pass with an explicit stack, so depth costs nothing.
The automaton does the same wherever equal letters (`instrc.language.lexer`) come in the same state, and most statements are
written like others: so a `Recipe` keeps what to build from words and from the stack, without another look at the tables.
At the first mistake this pass gives up, and `instrc.language.recovery` parses the source again, slower,
naming each mistake and going on behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any, Final, TypeAlias

from msgspec import Struct

from instrc.language.builder import Action, Builder
from instrc.language.lexer import COMMENT, SIGNS, Reader, Words, letters
from instrc.language.surface import Expression, Input, Pipe, Program, children
from instrc.language.tables import CONTEXTUAL, END, FOLLOWED, START, Tables, tables
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.limits import BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.text.source import CONFLICT_MARK, Source, Span

KEPT_RECIPES: Final = 20_000
"""Maximum words in parser recipes that are cached between programs."""


def too_deep(program: Program) -> Problem | None:
    """Return the problem of a program whose stacked `@` make it too deep; its brackets were counted while it was read."""
    if program.source.text.count("@") <= BRACKET_LEVELS // 2:
        return None  # with brackets at their limit, that is still no deeper than one and a half of it
    nodes: list[tuple[Expression, int]] = [(each.value, 1) for each in program.statements if not isinstance(each, Input)]
    while nodes:
        node, depth = nodes.pop()
        if depth > BRACKET_LEVELS * 3 // 2:
            from instrc.problems.text import TooDeep  # problems are imported where there is one

            return TooDeep(at=node.span, limit=BRACKET_LEVELS)
        deeper = depth if isinstance(node, Pipe) else depth + 1
        nodes.extend((child, deeper) for child in children(node))
    return None


Pick: TypeAlias = "Callable[[list[Any]], list[Any]]"  # of values, or of offsets; some give a tuple
"""Selects the items at certain positions of a list."""


class Place:
    """The state of the automaton, with the places that are still open."""

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


class Recipe(Struct, frozen=True):
    """The parser's actions for a sequence of words.

    Values are numbered: first those that it takes from the stack, then `None`, then one for each word, then one for each rule.
    Beginnings are numbered likewise: those of the values from the stack, then those of the words and of the word after them.
    """

    taken: int
    """Number of symbols taken from the stack."""
    room: tuple[None, ...]
    """Space for `None` and the words."""
    words: tuple[tuple[int, int, int, str | None], ...]
    """Words with a value: index, start, index of the value, and kind (`None` for a name)."""
    builds: tuple[tuple[int, Pick, int, int], ...]
    """Rules that build a node: number, values, start, and the number of words before its end."""
    kept: Pick
    """Selects the values that replace the taken ones on the stack."""
    begun: Pick
    """Selects the start of each of these values."""
    read: int
    """Number of matching words."""
    highest: int
    """Maximum depth of brackets that it opens."""
    levels: int
    """Change in the depth of open brackets."""
    place: Place
    """State of the automaton afterwards."""


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
        """Return the place before a program; a large cache is cleared."""
        if self._count > KEPT_RECIPES:
            self._count = 0
            self._first = Place(0, None)
        return self._first

    def recipe_at(self, before: Place, run: str) -> Recipe:
        """Return the action for words of these letters at a place."""
        self._count += len(run)
        table, rules = self._automaton.states, self._automaton.rules
        place = before
        taken = levels = highest = read = 0
        stack: list[tuple[int, int]] = []  # above what is left of the one before: where values are, from `None`, and begin
        words: list[tuple[int, int, str | None]] = []
        builds: list[tuple[int, list[int], int, int]] = []
        for letter in run:
            kind = self._kinds[letter]
            if (kind in CONTEXTUAL or kind in FOLLOWED) and not self._automaton.accept(place.states(), kind):
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
    """Return a function that takes the values at some places out of a list."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


@cache
def recipes_of(handed_on: frozenset[int], *, signs: bool) -> Recipes:
    """Return the state of the grammar's automaton where these rules build nothing, and signs have values or none."""
    return Recipes(tables(), handed_on, signs=signs)


def parse(source: Source, report: Report) -> Program:
    """Return the statements of a source; report its mistakes and leave out the statements they spoil."""
    automaton = tables()
    builder = Builder(source)
    if not recognise(source, automaton, builder):
        from instrc.language.recovery import recover  # wrong programs only

        recover(source, automaton, builder, recognise)
    program = builder.program()
    if deep := too_deep(program):
        builder.problems[:] = [deep]
        program = Program(source, (), program.comments)
    mark = CONFLICT_MARK.search(source.text) if builder.problems else None
    if mark is not None and mark[0][0] != "=":  # a line under a title, where a page was taken for a program
        from instrc.problems.statements import MergeConflict  # as above

        builder.problems[:] = [MergeConflict(at=source.span(*mark.span()))]
        program = Program(source, (), program.comments)
    elif len(builder.problems) > REPORTED_MISTAKES or builder.hopeless:
        from instrc.problems.punctuation import TooManyMistakes  # as above

        first = tuple(builder.problems[:3])
        builder.problems[:] = [TooManyMistakes(at=first[0].at, limit=REPORTED_MISTAKES, first=first)]
    for problem in builder.problems:
        report.add(problem)
    return program


def recognise(source: Source, automaton: Tables, builder: Builder, position: int = 0) -> bool:
    """Build the statements of a source from an offset on; return whether it is a program."""
    reader = Reader(automaton, source.text)
    hand = _Hand(source, automaton, builder)
    words = reader.rest(position)
    while True:
        read = hand.take(words)
        letter = words.letters[read : read + 1]
        if letter == letters()["AUG_URI"]:  # where no reference can stand, `aug` is a name
            words = reader.name(words, read)
        elif letter:
            return letter == letters()[END] and hand.is_done
        else:  # and go on behind it, word by word
            words = reader.next(words.ends[-1])


class _Hand:
    """Carries recipes out: the values of the symbols on the stack, and where each begins."""

    def __init__(self, source: Source, automaton: Tables, builder: Builder) -> None:
        self._source = source
        self._builder = builder
        self._builds: list[Action | None] = builder.actions(automaton.rules)
        handed_on = frozenset(rule for rule, build in enumerate(self._builds) if build is None)
        self._recipes = recipes_of(handed_on, signs=builder.signs)
        self._last = automaton.states[0][START]
        self._place = self._recipes.first()
        self._values: list[object] = []
        self._begins: list[int] = []
        self._depth = 0

    @property
    def is_done(self) -> bool:
        """Whether the program may end here."""
        return self._place.state == self._last

    def take(self, words: Words) -> int:
        """Build the nodes of words, and return the number of those that fit."""
        named, word, builds = self._builder.named, self._builder.word, self._builds
        written, starts, ends = words.written, words.starts, words.ends
        values, begins, place = self._values, self._begins, self._place
        at = 0
        for run in words.runs:
            if run == COMMENT:
                self._builder.comments.append(Span(self._source, starts[at], ends[at + 1]))
                ends[at + 1] = ends[at]
                at += 1
                continue
            recipe = place.recipes.get(run) or self._recipes.recipe_at(place, run)
            if recipe.highest and self._depth + recipe.highest > BRACKET_LEVELS:
                break
            self._depth += recipe.levels
            size, place = recipe.read, recipe.place
            height = len(values) - recipe.taken
            made = values[height:]
            made += recipe.room
            behind = at + size + 1
            firsts = begins[height:]
            firsts += starts[at:behind]
            lasts = ends[at:behind]
            for number, first, to, kind in recipe.words:
                if kind is None:
                    made[to] = named(written[at + number], firsts[first], lasts[number + 1])
                else:
                    made[to] = word(kind, firsts[first], lasts[number + 1])
            for rule, parts, first, last in recipe.builds:
                made.append(builds[rule](parts(made), firsts[first], lasts[last]))  # type: ignore[misc]  # one that builds
            values[height:] = recipe.kept(made)
            begins[height:] = recipe.begun(firsts)
            at += size
            if size < len(run):
                break
        self._place = place
        return at
