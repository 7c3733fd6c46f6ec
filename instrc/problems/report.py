"""Collect the problems of one run."""

from __future__ import annotations

import re
from collections.abc import Callable

from instrc.problems.problem import CompileError, Problem
from instrc.source import Span


class Report:
    """A list to which passes add problems; only the driver decides whether to stop."""

    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.problems.append(problem)

    def change(self, start: int, made: Callable[[Problem], Problem]) -> None:
        """Replace the problems from the number `start` on."""
        self.problems[start:] = [made(problem) for problem in self.problems[start:]]

    @property
    def failed(self) -> bool:
        """Whether an error, not only warnings, has been added."""
        return any(problem.severity == "error" for problem in self.problems)

    def ordered(self) -> tuple[Problem, ...]:
        """Return the problems by file and place, those without a place first; repeated problems are left out."""
        return tuple(sorted(_without_echoes(self.problems), key=_place))

    def once(self) -> tuple[Problem, ...]:
        """Return the problems in order, each once: two programs that use the same invalid vibe report the same problems."""
        kept: dict[tuple[object, ...], Problem] = {}
        for problem in self.ordered():
            kept.setdefault((problem.name, *_place(problem), problem.message), problem)
        return tuple(kept.values())

    def take(self, error: CompileError) -> None:
        """Add the problems of a failure that are not in the list already."""
        known = set(map(id, self.problems))
        self.problems.extend(problem for problem in error.problems if id(problem) not in known)

    def stop_if_failed(self) -> None:
        """Raise a `CompileError` with everything that was added so far, each once, if there is an error among it."""
        if self.failed:
            raise CompileError(self.once())


def _without_echoes(problems: list[Problem]) -> list[Problem]:
    """Leave out problems that are only consequences of another mistake.

    An unknown name may be a word of another language with a value after it, and an unused name may be read
    where the mistake is.
    """
    by_name: dict[str, list[Problem]] = {}
    for problem in problems:
        by_name.setdefault(problem.name, []).append(problem)
    if not by_name.keys() & _ECHOES:
        return problems
    unknown = [problem.at for problem in by_name.get("unknown-name", ()) if problem.at]
    left_out = {id(problem) for problem in by_name.get("unused-binding", ()) if _is_read_wrongly(problem, problems)}
    shown = {label.span for problem in by_name.get("contradiction", ()) for label in problem.labels}
    left_out |= {id(problem) for problem in by_name.get("empty-range", ()) if problem.at in shown}
    sources = {span.source for span in shown} | {problem.at.source for problem in by_name.get("contradiction", ()) if problem.at}
    for problem in by_name.get("impossible-schema", ()):
        joined = not {"allOf", "$ref"}.isdisjoint(problem.words)  # type: ignore[attr-defined]  # facts of this class alone
        if joined and problem.at and problem.at.source in sources:
            left_out.add(id(problem))
    whole = [each.at for each in by_name.get("impossible-schema", ()) if each.at and each.severity == "error"]
    for problem in (each for name in _OF_NOTHING for each in by_name.get(name, ())):
        if problem.severity == "warning" and any(_is_inside(problem.at, at) for at in whole):
            left_out.add(id(problem))
    refused = [
        problem.at for name in _REFUSALS for problem in by_name.get(name, ()) if problem.at and problem.severity == "error"
    ]
    for problem in by_name.get("unsatisfiable", ()):
        if any(
            problem.at and problem.at.source is at.source and problem.at.start < at.end and at.start < problem.at.end
            for at in refused
        ):
            left_out.add(id(problem))
    errors = {(each.at.source, each.at.start) for each in problems if each.at and each.severity == "error"}
    for problem in by_name.get("missing-separator", ()):
        before, at = problem.before, problem.at  # type: ignore[attr-defined]  # facts of this class alone
        if any(at and at.source is name.source and at.start == name.start for name in unknown):
            left_out.add(id(problem))
        if at and (at.source, at.start) in errors:
            left_out.add(id(problem))
        if before in unknown:
            left_out |= {id(problem), *(id(each) for each in by_name["unknown-name"] if each.at == at)}
    return [problem for problem in problems if id(problem) not in left_out]


def _is_inside(at: Span | None, whole: Span) -> bool:
    return at is not None and at.source is whole.source and whole.start <= at.start and at.end <= whole.end


def _is_read_wrongly(unused: Problem, problems: list[Problem]) -> bool:
    """Tell whether an error shows the name that is not used, or offers it for another."""
    if unused.at is None:
        return False
    word = unused.at.text
    for problem in problems:
        if problem.severity != "error" or problem.at is None or problem.at.source is not unused.at.source:
            continue
        if word in getattr(problem, "nearest", ()) or re.search(
            rf"(?<!\w){re.escape(word)}(?!\w)", problem.at.text, re.IGNORECASE
        ):
            return True
    return False


_ECHOES = frozenset({"unused-binding", "missing-separator", "empty-range", "impossible-schema", "unsatisfiable"})
_OF_NOTHING = ("impossible-schema", "empty-enum", "excluded-value", "empty-range")
"""Problems that tell what leaves no value, which an error about the schema around it has told."""
_REFUSALS = ("closed-away", "contradiction", "impossible-schema")
"""Problems that show what leaves nothing to satisfy a schema."""


def _place(problem: Problem) -> tuple[str, int, int]:
    return ("", -1, -1) if problem.at is None else (problem.at.source.name, problem.at.start, problem.at.end)
