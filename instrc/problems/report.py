"""Collect the problems of one run."""

from __future__ import annotations

from instrc.problems.problem import CompileError, Problem


class Report:
    """A list that passes write problems to; only the driver asks whether to stop."""

    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Take a problem down."""
        self.problems.append(problem)

    @property
    def failed(self) -> bool:
        """Whether an error, not only warnings, has been taken down."""
        return any(problem.severity == "error" for problem in self.problems)

    def ordered(self) -> tuple[Problem, ...]:
        """Return the problems by file and place; those without a place first."""
        return tuple(sorted(self.problems, key=_place))

    def stop_if_failed(self) -> None:
        """Raise a `CompileError` with everything taken down so far if there is an error among it."""
        if self.failed:
            raise CompileError(self.ordered())


def _place(problem: Problem) -> tuple[str, int, int]:
    return ("", -1, -1) if problem.at is None else (problem.at.source.name, problem.at.start, problem.at.end)
