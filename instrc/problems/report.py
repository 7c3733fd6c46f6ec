"""Collect the problems of one run."""

from __future__ import annotations

from collections.abc import Callable

from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.problem import Problem


class Report:
    """A list to which passes add problems; only the driver decides whether to stop."""

    __slots__ = ("_last_warning", "_warnings", "problems")

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._warnings = 0
        self._last_warning: Problem | None = None
        """How many of the first problems are no errors, and the last of these: they are not looked at for each step again."""

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.problems.append(problem)

    def change(self, start: int, made: Callable[[Problem], Problem]) -> None:
        """Replace the problems from the number `start` on."""
        self._warnings = 0
        self.problems[start:] = [made(problem) for problem in self.problems[start:]]

    @property
    def failed(self) -> bool:
        """Whether an error, not only warnings, has been added."""
        known = self._warnings
        if known > len(self.problems) or (known and self.problems[known - 1] is not self._last_warning):
            known = 0  # some were taken back
        for number in range(known, len(self.problems)):
            if self.problems[number].severity == "error":
                return True
        if self.problems:
            self._warnings, self._last_warning = len(self.problems), self.problems[-1]
        return False

    def ordered(self) -> tuple[Problem, ...]:
        """Return the problems by file and place, those without a place first; repeated problems are left out."""
        if not self.problems:
            return ()
        from instrc.problems.echoes import without_echoes  # only where there are problems

        return tuple(sorted(without_echoes(self.problems), key=_place))

    def once(self) -> tuple[Problem, ...]:
        """Return the problems in order, each once: two programs that use the same invalid vibe report the same problems."""
        kept: dict[tuple[object, ...], Problem] = {}
        for problem in self.ordered():
            kept.setdefault((problem.name, *_place(problem), problem.message), problem)
        return tuple(kept.values())

    def take(self, error: InstrcError) -> None:
        """Add the problems of a failure that are not in the list already."""
        known = set(map(id, self.problems))
        self.problems.extend(problem for problem in error.problems if id(problem) not in known)

    def stop_if_failed(self, error: type[InstrcError] = CompileError) -> None:
        """Raise an error with everything that was added so far, each once, if not all of it is warnings."""
        if self.failed:
            raise error(self.once())


def _place(problem: Problem) -> tuple[str, int, int]:
    return ("", -1, -1) if problem.at is None else (problem.at.source.name, problem.at.start, problem.at.end)
