"""Problems with runs: answers that are not valid, runs and questions that do not exist, stores that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedAnswer(Problem):
    """An answer to a question of a run does not satisfy its schema.

    The question remains open.
    `instrc show RUN` shows the question and the schema of the answer.

    Correct the answer and give it again with `instrc answer`.
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
    """An answer is given to a question that the run does not ask.

    It was answered already, the run does not need it any more, or it has another name.
    The name of a question is its id, one of its steps, or the name of a step without its number.

    `instrc show RUN` lists the questions of the run.
    """

    name: ClassVar[str] = "no-such-question"

    run: str
    step: str
    open: tuple[str, ...]
    """The open questions of the run."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.run}` has no open question `{self.step}`, or several of that name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.open:
            return f"its questions are {', '.join(f'`{each}`' for each in self.open)}"
        return f"it has no open questions; `instrc show {self.run}` shows its state"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchRun(Problem):
    """The store does not contain the run.

    The store is the folder `.instrc` in the working folder, or `--store`, or `store` under `[tool.instrc.run]`.

    ```console
    $ instrc show nobody
    ```

    `instrc runs` lists the runs in the store.
    """

    name: ClassVar[str] = "no-such-run"

    run: str
    store: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no run `{self.run}`" + (f" in `{self.store}`" if self.store else "")

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "`instrc runs` lists the runs of a store; another store or engine is named by `--store` and `--engine`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableStore(Problem):
    """The store of runs cannot be read or written: the disk is full, permission is missing, or the store is damaged.

    Everything that was recorded is kept.
    When the store can be used again, continue the run with `instrc resume`.
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
        return "everything recorded is kept; when the store can be used again, continue with `instrc resume`"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInUse(Problem):
    """Another process already carries out the runs of this store.

    Two such processes would carry out the same steps twice.
    `instrc run`, `answer`, `cancel`, `runs` and `show` can be used at the same time.

    Wait until the other process ends, or use another store with `--store`.
    """

    name: ClassVar[str] = "store-in-use"

    store: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"another process already carries out the runs of `{self.store}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "end that process first, or use another store"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExists(Problem):
    """A new run has the id of an existing run that began with another program or input.

    To begin a run again with the same program and input is allowed: it is the same run.

    Choose another id, or leave `--id` out to get a new one.
    """

    name: ClassVar[str] = "run-exists"

    run: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"another run has the id `{self.run}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "use another id, or none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsItsProgram(Problem):
    """A run cannot continue in this process, because the process lacks something that the run was begun with.

    A Python program began it with its own functions or its own model, which a store cannot keep.
    Nothing is lost: that program continues it when it begins the same run again, `instrc.run(…, id=RUN, engine=…)`,
    or asks for it, `instrc.find_run(RUN, …)`.
    Activities, checks and models in the settings are available to all processes.
    """

    name: ClassVar[str] = "needs-its-program"

    run: str
    uses: tuple[str, ...]
    """What the program has passed: `model`, `activities`, `checks`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.run}` uses {' and '.join(self.uses)}, which only the program that began it has"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f'let that program continue it: `instrc.find_run("{self.run}", …)` with the same functions'
