"""The steps that each line of a body contains, or needs through names, since effects keep the order of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from instrc.compiler.ir import BodyLine, Lines
from instrc.compiler.partition.effects import WRITES, Kind
from instrc.text.source import Span


class LineLog:
    """The steps encountered in each expression during evaluation, in nested frames."""

    def __init__(self, home: Callable[[int], int]) -> None:
        self._home = home
        """The region of a step."""
        self._steps: list[list[tuple[int, Span]]] = [[]]
        """The steps that each frame met, and where they are written there."""
        self._parts: list[list[int]] = [[]]
        """The frames in each frame: of expressions inside, and of names that are read."""
        self._bodies: dict[int, tuple[int, Sequence[int]]] = {}
        """The frames of called programs: their region, and a frame for each line."""
        self._named: set[int] = set()
        """The frames of names: what these hold is written where they are defined."""
        self._open = [0]

    def note(self, step: int, span: Span) -> None:
        """Record that a step was encountered, and where it is written."""
        self._steps[self._open[-1]].append((step, span))

    def new(self) -> int:
        """Return a new frame, inside the open one."""
        self._steps.append([])
        self._parts.append([])
        frame = len(self._steps) - 1
        self._parts[self._open[-1]].append(frame)
        return frame

    def new_name(self) -> int:
        """Return a new frame for the expression of a name, inside the open one."""
        frame = self.new()
        self._named.add(frame)
        return frame

    def read(self, frame: int) -> None:
        """Record that the values of a frame are also needed here."""
        self._parts[self._open[-1]].append(frame)

    def begin(self) -> int:
        """Start a new frame for the following steps, and return it."""
        frame = self.new()
        self.open(frame)
        return frame

    def open(self, frame: int) -> None:
        """Reopen a frame for the following steps."""
        self._open.append(frame)

    def close(self) -> None:
        """Return to the enclosing frame."""
        self._open.pop()

    def note_body(self, frame: int, region: int, lines: Sequence[int]) -> None:
        """Record that a frame is a called program with its own lines."""
        self._bodies[frame] = region, lines

    def lines(self, region: int, frames: Sequence[int]) -> Lines:
        """Return the lines of a body by their frames: the steps of its region that no earlier line contains."""
        met: set[int] = set()
        return tuple([self._line(region, frame, met) for frame in frames])

    def _line(self, region: int, frame: int, met: set[int]) -> BodyLine:
        steps: dict[int, None] = {}
        bodies: list[Lines] = []
        waiting = [frame]
        while waiting:
            here = waiting.pop()
            if here in met:
                continue
            met.add(here)
            steps.update(dict.fromkeys(step for step, _ in self._steps[here] if self._home(step) == region))
            if here in self._bodies and self._bodies[here][0] == region:
                bodies.append(self.lines(*self._bodies[here]))
            waiting.extend(reversed(self._parts[here]))
        return BodyLine(tuple(steps), tuple(bodies))

    def repeated(self, bodies: Iterable[Sequence[int]], kinds: Mapping[int, Kind]) -> Iterator[tuple[int, Span, Span]]:
        """Yield each effect that two lines of a body contain, with both places; reads may repeat if only reads are in between."""
        for frames in (*bodies, *(lines for _, lines in self._bodies.values())):
            known: dict[int, tuple[Span, int]] = {}
            changes = 0
            for frame in frames:
                written = {step: span for step, span in self._written(frame) if step in kinds}
                for step, span in written.items():
                    first, before = known.setdefault(step, (span, changes))
                    if first is not span and (kinds[step] == WRITES or before != changes):
                        yield step, first, span
                changes += any(kinds[step] == WRITES for step in written)

    def _written(self, line: int) -> Iterator[tuple[int, Span]]:
        """Yield the expressions of a line itself, without those of names it reads."""
        waiting = [line]
        while waiting:
            here = waiting.pop()
            yield from self._steps[here]
            waiting.extend(part for part in reversed(self._parts[here]) if part not in self._named)
