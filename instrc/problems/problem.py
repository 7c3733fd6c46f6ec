"""The shape that all problems share, and the one exception that carries them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from instrc.limits import NOTED_PROBLEMS
from instrc.source import Span

Severity: TypeAlias = Literal["error", "warning"]


class Label(NamedTuple):
    """A second place that belongs to a problem, with a few words about it (`first defined here`)."""

    span: Span
    text: str


class Edit(NamedTuple):
    """A change of a source: `text` takes the place of the span; an empty span is a place to insert at."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A way out that a machine can take."""

    title: str
    r"""What it does, as a menu shows it: `replace by \`Draft\``."""
    edits: tuple[Edit, ...]
    safe: bool = False
    """Whether it is surely what the author wanted, so that nobody needs to be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in the input.

    A subclass adds the facts as fields, names itself in kebab case and computes its words.
    Its docstring explains it to a person who has just met it and holds an example that raises it.
    """

    name: ClassVar[str]
    severity: ClassVar[Severity] = "error"

    at: Span | None = None
    """The smallest place that shows the mistake; `None` where there is no text, as in library use."""
    calls: tuple[Span, ...] = ()
    """The calls of programs that led to it, the innermost first."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        raise NotImplementedError

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return None

    @property
    def characters(self) -> str:
        """The characters that the problem is about; `?` where there are none."""
        return self.at.text if self.at and self.at.text else "?"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return ()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take, the likeliest first."""
        return ()

    def __str__(self) -> str:
        """Return the message, long values in it shortened."""
        return shorten_values(self.message)


_LONG = r"`([^`]{40})[^`]{41,}([^`]{20})`"  # compiled when it is first needed


def shorten_values(text: str) -> str:
    """Return a sentence in which values of more than a hundred characters are cut in their middle."""
    return re.sub(_LONG, r"`\1…\2`", text)


def _note(problem: Problem) -> str:
    """Return the place of a problem and the way out, in one line."""
    place = ""
    if problem.at is not None:
        line, column = problem.at.source.locate(problem.at.start)
        place = f"{problem.at.source.name}:{line}:{column}"
    return ": ".join(part for part in (place, shorten_values(problem.hint) if problem.hint else "") if part)


class CompileError(Exception):
    """Input that cannot be compiled; `problems` says why, warnings included, in order of place."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.name}: {problem}" for problem in self.problems))
        self._notes: list[str] | None = None

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]  # made when it is looked at: few errors are
        """What a traceback shows below the message: the places of the problems, and the ways out."""
        if self._notes is None:
            told = (_note(problem) for problem in self.problems[:NOTED_PROBLEMS])
            self._notes = [note for note in told if note]
        return self._notes
