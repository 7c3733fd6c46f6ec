"""Problems with running: documents that are no process, inputs and answers that do not fit, runs that are not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchRun(Problem):
    """A run is asked about that is not kept in the store.

    The store is the folder `.instrc` where the command runs, or `--store`, or `store` under `[tool.instrc.run]`.

    ```console
    $ instrc show nobody
    ```

    `instrc runs` lists the runs that are kept.
    """

    name: ClassVar[str] = "no-such-run"

    run: str
    store: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no run `{self.run}`" + (f" in `{self.store}`" if self.store else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableStore(Problem):
    """The store of runs cannot be read or written: the disk is full, it may not be written, or it is damaged.

    Nothing that was recorded is lost by this.
    A run goes on with `instrc resume` when the store can be used again.
    """

    name: ClassVar[str] = "unusable-store"

    store: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the store `{self.store}` cannot be used: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "what was recorded is kept; `instrc resume` goes on with a run when the store can be used again"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInUse(Problem):
    """A process is to carry the runs of a store, and another one does so.

    Two of them would carry out the same steps twice.
    `instrc run`, `answer`, `cancel`, `runs` and `show` work beside it.
    """

    name: ClassVar[str] = "store-in-use"

    store: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"another process carries the runs of `{self.store}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "end that one first, or use another store"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExists(Problem):
    """A run is to begin under the id of another one that began with something else.

    To begin the same again, with the same program and input, is no problem: it is the same run.
    """

    name: ClassVar[str] = "run-exists"

    run: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is another run `{self.run}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "give another id, or none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsItsProgram(Problem):
    """A run is to go on in a process that does not have what the run was begun with.

    A program in Python began it with functions or a model of its own, which no store can keep.
    Nothing is lost: that program goes on with it when it begins the same run again, `instrc.run(…, id=RUN, engine=…)`,
    or asks for it, `instrc.find_run(RUN, …)`.
    Activities, checks and models that the settings name are known to all processes.
    """

    name: ClassVar[str] = "needs-its-program"

    run: str
    uses: tuple[str, ...]
    """What the program has given: `model`, `activities`, `checks`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.run}` uses {' and '.join(self.uses)}, which only the program that began it has"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f'let that program go on: `instrc.find_run("{self.run}", …)` with the same functions'
