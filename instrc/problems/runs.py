"""Problems of runs and of their prerequisites."""

from __future__ import annotations

from typing import Literal, TypeAlias

from instrc.problems.problem import Problem, did_you_mean


class RejectedAnswer(Problem):
    message = "the answer to `{step}` is not accepted, at `{pointer:/}`: {reason}"

    step: str
    pointer: str
    reason: str


QuestionEnd: TypeAlias = Literal["answered", "overdue", "cancelled", "ended", "not asked", "unknown"]
"""Why a question is closed: `overdue` after its deadline, `cancelled` or `ended` with its run; `unknown` to its workers."""


class NoSuchQuestion(Problem):
    message = "`{run}` has no open question `{step}`, or several of that name"

    run: str
    step: str
    open: tuple[str, ...]
    """Open questions of the run."""
    closed: QuestionEnd = "not asked"

    @property
    def hint(self) -> str | None:
        if self.open and self.closed == "answered":
            return f"`{self.step}` was answered already; its questions are {', '.join(f'`{each}`' for each in self.open)}"
        if self.open:
            return f"its questions are {', '.join(f'`{each}`' for each in self.open)}"
        why = {
            "answered": f"`{self.step}` was answered already",
            "overdue": f"the deadline of `{self.step}` has passed",
            "cancelled": "the run was cancelled",
            "ended": "the run has ended and has no open questions",
            "not asked": "it has no open questions",
            "unknown": "no worker can continue the run: answer again when it goes on",
        }[self.closed]
        return f"{why}; `instrc show {self.run}` shows its state"


class NoSuchRun(Problem):
    hint = "`instrc runs` lists the runs of a store; choose another store or engine with `--store` and `--engine`"

    run: str
    store: str

    @property
    def message(self) -> str:
        return f"there is no run `{self.run}`" + (f" in `{self.store}`" if self.store else "")


class NothingToRetry(Problem):
    message = "`{run}` cannot continue: {reason}"
    hint = "{advice}"

    run: str
    reason: str
    advice: str


_SHOWN = 20
"""Maximum steps listed in a hint."""


class NoSuchStep(Problem):
    message = "`{run}` has no step `{step}` to start from, or several of that name"

    run: str
    step: str
    known: tuple[str, ...]
    """Steps that have started, or the commands of that name."""

    @property
    def hint(self) -> str | None:
        return f"it has started {', '.join(f'`{each}`' for each in self.known[:_SHOWN])}" if self.known else "no step has started"


class CannotFork(Problem):
    run: str
    lost: tuple[str, ...]
    """Steps of activities and people whose results cannot be kept."""
    why: str
    """Why the result of the first of them cannot be kept."""

    @property
    def message(self) -> str:
        steps = ", ".join(f"`{each}`" for each in self.lost[:_SHOWN])
        return f"the program does not repeat the requests that `{self.run}` has completed: {steps}"

    @property
    def hint(self) -> str | None:
        steps = ",".join(each.replace(", ", ",") for each in self.lost)
        return f"`{self.lost[0]}`: {self.why}; restore it, or run it again: `--at {steps}`"


class RunGoesOn(Problem):
    message = "`{run}` cannot be deleted: it is {status}"
    hint = "end it first: `instrc cancel {run}`"

    run: str
    status: str


class NoJournal(Problem):
    message = "only the state of `{run}` is recorded, so it cannot be retried or forked"
    hint = "it was started by an earlier release on the engine `memory`; start it again"

    run: str


class UnusableStore(Problem):
    message = "the store `{store}` cannot be used: {reason}"
    hint = "{way_out}"

    store: str
    reason: str
    way_out: str = "everything recorded is kept; when the store can be used again, continue with `instrc resume`"


class StoreInUse(Problem):
    hint = "end that process first, or use another store; several processes carry the runs of a PostgreSQL database"

    store: str
    holder: str | None = None
    """Process that owns the runs, if known: `process 4711 on HOST`."""

    @property
    def message(self) -> str:
        """Return the message."""
        return f"{self.holder or 'another process'} already carries out the runs of `{self.store}`"


class RunExists(Problem):
    message = "another run has the id `{run}`"
    hint = "use another id, or leave it out"

    run: str


class NeedsItsProgram(Problem):
    hint = 'let that program continue it: `instrc.find_run("{run}", …)` with the same engine and functions'

    run: str
    uses: tuple[str, ...]
    """What the program passed in: `model`, `activities`, `checks`."""

    @property
    def message(self) -> str:
        return f"`{self.run}` uses {' and '.join(self.uses)}, which only the program that began it has"


class UnreadableProcess(Problem):
    message = "this cannot be run: {reason} (at `{pointer:/}`)"

    pointer: str
    """Place in the document, as a JSON Pointer made of property names."""
    reason: str


class NewerProcess(Problem):
    message = "this process has the form of version {version}, and this `instrc` knows version {known}"
    hint = "install a newer `instrc`, or compile the program again with this one"

    version: int
    known: int


class InvalidInput(Problem):
    message = "the input `{word}` {reason}"

    word: str
    reason: str
    beside_text: bool = False
    """Whether a text was passed: a text fills only `prompt`, and this input needs an object."""
    only_prompt: bool = False
    """Whether an object was passed although `prompt` is the only input."""
    pointer: str | None = None
    """JSON Pointer into the inputs, if known more precisely than the name."""

    @property
    def hint(self) -> str | None:
        if self.only_prompt:
            return 'an object names the inputs; to give it whole as the prompt, write `{ "prompt": … }` around it'
        if not self.beside_text:
            return None
        return f'a text fills only `prompt`; give an object that names the inputs: `{{ "{self.word}": … }}`'


class UnregisteredActivity(Problem):
    message = "no activity is registered as `{activity}`"

    activity: str
    handler: str | None = None
    """What is registered under the name without `_Activity`, such as a function in a list."""

    @property
    def hint(self) -> str | None:
        if self.handler is not None:
            return f"there is one called `{self.handler}`: register it as `{self.activity}`"
        if self.nearest:
            return did_you_mean(self.nearest)
        return "register it under `[tool.instrc.activities]` or in `activities=`, or rehearse: `--rehearse`, `instrc.rehearse`"


class NoModel(Problem):
    hint = (
        "choose one, such as `openai:gpt-5`, by `--model` (`model=` in Python), or by `model` under `[tool.instrc.run]`; "
        "or rehearse with invented answers: {rehearsal}"
    )

    step: str
    """A step that a model completes."""
    settings: str | None
    """Settings file, which names no model; `None` if there is no file."""
    rehearsal: str = "`--rehearse` (`rehearse=True`)"
    """How to use generated answers instead."""

    @property
    def message(self) -> str:
        where = f"`{self.settings}` names none" if self.settings else "there is no `pyproject.toml` here that names one"
        return f"`{self.step}` needs a model, and no model is chosen: {where}"


class RealActivity(Problem):
    message = "`{activity}` would be called with invented answers: they come from the model `sample`"
    hint = (
        "`--rehearse` (`rehearse=True`) invents its result too; "
        '`--rehearse-with-activities` (`rehearse="with-activities"`) calls it'
    )

    activity: str


class UnusableSetting(Problem):
    message = "the {what} `{word}` cannot be used: {reason}"

    what: str
    """Kind of setting: `model`, `activity`, `engine`."""
    word: str
    reason: str


class InvalidDataSet(Problem):
    message = "the evaluation cannot use {what}: {reason}"

    what: str
    """The invalid part: `case `7``, `check `label``, `the first line`."""
    reason: str
