"""The slips of a text that is being typed, found by reading no more than what has changed.

A text is cut behind the `;` of its statements.  What two cuts enclose is read alone, with the same result:
a file is a row of statements, so a row that ends in `;` and the row behind it are a row.
At most one piece at a time has slips; everything before it and behind it is correct.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from instrc.ir.surface import Program
from instrc.limits.programs import JOINED_SEGMENTS
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.source import Source
from instrc.syntax.habits import name_habits
from instrc.syntax.parse import parse

_END = re.compile(r"\s*;")


@dataclass(frozen=True, slots=True)
class Segments:
    """Where a text can be cut, and the slips in the one piece that has any."""

    source: Source
    cuts: tuple[int, ...]
    """Offsets behind a `;` of the outermost statements."""
    slips: tuple[Problem, ...]
    broken: tuple[int, int] | None
    """The piece that has slips."""

    @property
    def whole(self) -> bool:
        """Whether the slips are those of the whole text, as one reading finds them."""
        return self.broken is None or self.broken == (0, len(self.source.text))


def read_segments(source: Source) -> Segments:
    """Return the segments of a text that has been read as a whole."""
    return segments_of(*_read(source, 0, len(source.text)))


def segments_of(program: Program, slips: tuple[Problem, ...]) -> Segments:
    """Return the segments of a program with its slips."""
    source = program.source
    if slips:
        return Segments(source, (), slips, (0, len(source.text)))
    return Segments(source, _cuts(program), (), None)


def edited(before: Segments, source: Source) -> Segments:
    """Return the segments of a text that was made of another by one edit."""
    old, new = before.source.text, source.text
    first, last = changed_range(old, new)
    if before.broken is not None:
        first, last = min(first, before.broken[0]), max(last, before.broken[1])
    moved = len(new) - len(old)
    begin = bisect_left(before.cuts, first)  # a `;` that the edit touches may belong to something else now
    place = before.cuts[begin - 1] if begin else 0
    end = bisect_right(before.cuts, last)
    for following in range(end, min(end + JOINED_SEGMENTS, len(before.cuts)) + 1):
        stop = before.cuts[following] + moved if following < len(before.cuts) else len(new)
        program, slips = _read(source, place, stop)
        cuts = () if slips else _cuts(program)
        if not slips and stop < len(new) and (cuts or (place,))[-1] != stop:
            continue  # the piece ends in the middle of a statement
        behind = tuple(cut + moved for cut in before.cuts[following:])
        around = (*before.cuts[:begin], *(cut for cut in cuts if cut < stop), *behind)
        return Segments(source, around, slips, (place, stop) if slips else None)
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


def _read(source: Source, start: int, stop: int) -> tuple[Program, tuple[Problem, ...]]:
    report = Report()
    program = parse(Source(source.name, source.text[:stop]), report, start)
    name_habits(program, report)
    return program, report.ordered()


def _cuts(program: Program) -> tuple[int, ...]:
    ends = (_END.match(program.source.text, statement.span.end) for statement in program.statements)
    return tuple(end.end() for end in ends if end)
