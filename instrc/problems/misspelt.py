"""What problems with a misspelt word have in common."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class MisspeltWord(Problem):
    """A word that is probably another one, written wrongly."""

    word: str
    nearest: tuple[str, ...] = ()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.word, self.nearest)
