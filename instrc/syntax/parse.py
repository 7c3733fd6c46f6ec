"""Text to surface: run the automaton of the grammar over the tokens of a source.

What is written correctly is recognised in one pass with an explicit stack, so depth costs nothing; what to do with words of
the same kinds is worked out once, as a recipe.
At the first mistake this pass gives up, and `instrc.syntax.recovery` reads the source again, slower,
naming each mistake and going on behind it.
"""

from __future__ import annotations

from instrc.ir.surface import Program
from instrc.limits.programs import BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.build import Action, Builder
from instrc.syntax.depth import too_deep
from instrc.syntax.recipes import recipes_of
from instrc.syntax.tables import END, START, Tables, tables
from instrc.syntax.words import COMMENT, Reader, Words, letters


def parse(source: Source, report: Report, start: int = 0, end: int | None = None) -> Program:
    """Return the statements of a source; mistakes go to the report, and what they spoil is left out.

    With `start` and `end`, only what stands between these offsets is read: an editor asks for the statements that have changed.
    """
    automaton = tables()
    builder = Builder(source)
    if not recognise(source, automaton, builder, start, end):
        if end is not None:
            return parse(Source(source.name, source.text[:end]), report, start)
        from instrc.syntax.recovery import recover  # wrong programs only

        recover(source, automaton, builder, recognise, start)
    program = builder.program()
    if deep := too_deep(program):
        builder.problems[:] = [deep]
        program = Program(source, (), program.comments)
    if len(builder.problems) > REPORTED_MISTAKES or builder.hopeless:
        from instrc.problems.notation import TooManyMistakes  # as above

        first = tuple(builder.problems[:3])
        builder.problems[:] = [TooManyMistakes(at=first[0].at, limit=REPORTED_MISTAKES, first=first)]
    for problem in builder.problems:
        report.add(problem)
    return program


def recognise(source: Source, automaton: Tables, builder: Builder, position: int = 0, end: int | None = None) -> bool:
    """Build the source from the beginning of a statement on, or tell that it is no program."""
    reader = Reader(automaton, source.text[:end])
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
    """What carries recipes out: the values of the symbols on the stack, and where each begins."""

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
        """Build what words make, and return the number of those that fit."""
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
