"""Problems with running: documents that are no process, inputs and answers that do not fit, runs that are not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableProcess(Problem):
    """A document that should be a process cannot be read as one.

    A process is a JSON Schema whose properties are its contexts: `llmContext1`, `serverContext1`, `userContext1` hold steps;
    `whenContext1`, `eachContext1`, `repeatContext1`, `elseContext1`, `tryContext1`, `doContext1` hold contexts
    and say how these run in an engine property of their own.
    Take what `instrc compile` writes, or see the contract in `instrc/runtime/README.md` to write one by hand.
    """

    name: ClassVar[str] = "unreadable-process"

    pointer: str
    """Where in the document, as a JSON Pointer through properties as they are named."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this cannot be run: {self.reason} (at `{self.pointer or '/'}`)"
