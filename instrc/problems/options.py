"""Problems with the options of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidOption(Problem):
    """An option of a function has a value that is not allowed.

    From Python, `instrc.compile("meeting.aug", batch=0)` asks for no item at all.
    The command line itself refuses such a value.

    Give the option a value that the message allows.
    """

    name: ClassVar[str] = "invalid-option"

    option: str
    given: str
    """What was given, as Python shows it."""
    wanted: str
    """The allowed values, such as `a whole number from 1`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.option}` must be {self.wanted}, not {self.given}"
