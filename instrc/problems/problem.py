"""The shape that all problems share, and the one exception that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from instrc.source import Span

Severity: TypeAlias = Literal["error", "warning"]


class Label(NamedTuple):
    """A second place that belongs to a problem, with a few words about it (`first defined here`)."""

    span: Span
    text: str


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


class CompileError(Exception):
    """Input that cannot be compiled; `problems` says why, warnings included, in order of place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.name}: {problem.message}" for problem in self.problems))
