"""The statements and slips of a text that is being typed, found by reading no more than what has changed.

A text is cut behind the `;` of its statements.  What two cuts enclose is read alone, with the same result:
a file is a row of statements, so a row that ends in `;` and the row behind it are a row.
At most one piece at a time has slips; everything before it and behind it is correct.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from instrc.ir.surface import Program, Statement
from instrc.limits.programs import JOINED_SEGMENTS, KEPT_RUNS
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.habits import name_habits
from instrc.syntax.parser import parse
from instrc.syntax.places import moved

T = TypeVar("T")
_END = re.compile(r"\s*;")


class EarlierRow(Struct, frozen=True):
    """Statements and comments of an earlier text that stand together in this one, and how much further on they do."""

    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]
    by: int = 0

    def between(self, start: int, end: int, by: int = 0) -> EarlierRow:
        """Return those that begin between two places of the text, each moved once more."""
        statements = _between(self.statements, lambda each: each.span.start, start - self.by, end - self.by)
        comments = _between(self.comments, lambda each: each.start, start - self.by, end - self.by)
        return EarlierRow(statements, comments, self.by + by)


def _between(row: tuple[T, ...], place: Callable[[T], int], start: int, end: int) -> tuple[T, ...]:
    return row[bisect_left(row, start, key=place) : bisect_left(row, end, key=place)]


class Segments:
    """Where a text can be cut, what stands between the cuts, and the slips in the one piece that has any."""

    def __init__(
        self,
        source: Source,
        cuts: tuple[int, ...],
        runs: tuple[EarlierRow, ...],
        slips: tuple[Problem, ...] = (),
        broken: tuple[int, int] | None = None,
    ) -> None:
        self.source = source
        self.cuts = cuts
        """Offsets behind a `;` of the outermost statements."""
        self.slips = slips
        self.broken = broken
        """The piece that has slips."""
        self._runs = runs
        """What stands outside of that."""

    @property
    def whole(self) -> bool:
        """Whether the slips are those of the whole text, as one reading finds them."""
        return self.broken is None or self.broken == (0, len(self.source.text))

    @cached_property
    def outside(self) -> Program:
        """The statements and comments outside of the broken piece; those with mistakes left out where the whole text was read."""
        statements: list[Statement] = []
        comments: list[Span] = []
        for run in self._runs:
            here = not run.by and run.statements and run.statements[0].span.source is self.source
            statements += run.statements if here else moved(run.statements, self.source, run.by)
            comments += [Span(self.source, each.start + run.by, each.end + run.by) for each in run.comments]
        return Program(self.source, tuple(statements), tuple(comments))

    @property
    def runs(self) -> tuple[EarlierRow, ...]:
        """What stands there, of as few texts as is known already."""
        if "outside" in self.__dict__ or len(self._runs) > KEPT_RUNS:
            return (EarlierRow(self.outside.statements, self.outside.comments),)
        return self._runs


def read_segments(source: Source) -> Segments:
    """Return the segments of a text that has been read as a whole."""
    return segments_of(*_read(source, 0, None))


def segments_of(program: Program, slips: tuple[Problem, ...]) -> Segments:
    """Return the segments of a program with its slips."""
    source = program.source
    row = EarlierRow(program.statements, program.comments)
    if slips:
        return Segments(source, (), (row,), slips, (0, len(source.text)))
    return Segments(source, _cuts(program), (row,))


def edited(before: Segments, source: Source) -> Segments:
    """Return the segments of a text that was made of another by one edit."""
    old, new = before.source.text, source.text
    first, last = changed_range(old, new)
    by = len(new) - len(old)
    begin, end = (
        bisect_left(before.cuts, first),
        bisect_right(before.cuts, last),
    )  # a `;` that the edit touches may end nothing now
    if before.broken is not None:
        begin, end = min(begin, bisect_right(before.cuts, before.broken[0])), max(end, bisect_left(before.cuts, before.broken[1]))
    place = before.cuts[begin - 1] if begin else 0
    for following in range(end, min(end + JOINED_SEGMENTS, len(before.cuts)) + 1):
        border = before.cuts[following] if following < len(before.cuts) else len(old)
        stop = border + by
        program, slips = _read(source, place, stop)
        if (place, stop) == (0, len(new)):
            return segments_of(program, slips)
        cuts = () if slips else _cuts(program)
        if not slips and stop < len(new) and (cuts or (place,))[-1] != stop:
            continue  # the piece ends in the middle of a statement
        behind = tuple(cut + by for cut in before.cuts[following:])
        around = (*before.cuts[:begin], *(cut for cut in cuts if cut < stop), *behind)
        read = () if slips else (EarlierRow(program.statements, program.comments),)
        runs = (
            *(run.between(0, place) for run in before.runs),
            *read,
            *(run.between(border, len(old) + 1, by) for run in before.runs),
        )
        kept = tuple(run for run in runs if run.statements or run.comments)
        return Segments(source, around, kept, slips, (place, stop) if slips else None)
    return read_segments(source)


def changed_range(old: str, new: str) -> tuple[int, int]:
    """Return the range of a text outside of which another one is the same."""
    room = min(len(old), len(new))
    start = _agreed(room, lambda count: old.startswith(new[:count]))
    kept = _agreed(room - start, lambda count: old.endswith(new[len(new) - count :]))
    return start, len(old) - kept


def _agreed(most: int, agree: Callable[[int], bool]) -> int:
    """Return for how many characters two texts agree, by halving."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if agree(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _read(source: Source, start: int, stop: int | None) -> tuple[Program, tuple[Problem, ...]]:
    report = Report()
    program = parse(source, report, start, stop)
    name_habits(program, report)
    return program, report.ordered()


def _cuts(program: Program) -> tuple[int, ...]:
    ends = (_END.match(program.source.text, statement.span.end) for statement in program.statements)
    return tuple(end.end() for end in ends if end)
