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


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedAnswer(Problem):
    """An answer to a question of a run does not satisfy its schema.

    The question stays open.
    `instrc show RUN` shows what is asked, and the schema of the answer.
    """

    name: ClassVar[str] = "rejected-answer"

    step: str
    pointer: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the answer to `{self.step}` is not accepted, at `{self.pointer or '/'}`: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchQuestion(Problem):
    """A question is answered that a run does not ask.

    It was answered already, the run does not need it any more, or it is called otherwise.
    A question is named by its id, by a step of it, or by the name of a step without its number.
    """

    name: ClassVar[str] = "no-such-question"

    run: str
    step: str
    open: tuple[str, ...]
    """The questions that the run does ask."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.run}` does not wait for `{self.step}`, or for more than one of that name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"it waits for {', '.join(f'`{each}`' for each in self.open)}" if self.open else "it waits for nobody"
