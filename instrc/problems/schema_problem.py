"""The base class of problems of schemas, whose weight depends on who needs the schema."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.problems.problem import Problem, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem(Problem):
    """A mistake in a schema that is a warning there, and an error where a program cannot work with it."""

    fatal: bool = False
    """Whether a program cannot work with it."""

    @property
    def severity(self) -> Severity:  # type: ignore[override]  # of all other problems the class alone says it
        """A warning about a schema, an error about a program that nobody can fill in."""
        return "error" if self.fatal else "warning"
