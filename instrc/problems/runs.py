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

    ```json process.json
    { "properties": { "eachContext1": { "type": "array", "items": { "type": "object" } } } }
    ```
    ```console
    $ instrc run process.json --input hello --model sample
    ```

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
class InvalidInput(Problem):
    """What a program is given does not fit its inputs.

    A text is `prompt`; an object gives the inputs by name.

    ```json greet.process.json
    {
      "properties": {
        "llmContext1": { "properties": { "greet": { "type": "object", "references": ["name"] } } }
      },
      "inputs": { "name": { "type": "string" } }
    }
    ```
    ```console
    $ instrc run greet.process.json --input '{ "nam": "Ann" }' --model sample
    ```

    Compare the names with the `input` statements of the program.
    """

    name: ClassVar[str] = "invalid-input"

    word: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the input `{self.word}` {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisteredActivity(Problem):
    """A process calls an activity that nobody has registered.

    Activities are Python functions, requests over HTTP, tools of MCP servers, or processes.
    They are registered under `[tool.instrc.activities]`, or given to `instrc.run`.

    ```aug greet.aug
    "Greet" | Greet_Activity
    ```
    ```json schemas/greet_Activity.vibe.json
    { "type": "object", "properties": { "output": { "type": "string" } } }
    ```
    ```console
    $ instrc run greet.aug --input hello --model sample
    ```

    Register the name, or rehearse with `--rehearse`, which makes the results from their schemas.
    """

    name: ClassVar[str] = "unregistered-activity"

    activity: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"no activity is registered as `{self.activity}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.nearest:
            return "did you mean " + " or ".join(f"`{name}`" for name in self.nearest) + "?"
        return "register it under `[tool.instrc.activities]`, or rehearse with `--rehearse`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableSetting(Problem):
    """What is to run a program cannot be used: a model, an activity or an engine that is named is not there.

    A model is `sample`, `scripted:FILE`, or a provider with a model, as `openai:gpt-5`.
    An activity is `package.module:function`, where the module can be imported from the folder of `pyproject.toml`.

    ```aug greet.aug
    "Greet" | @{ title: "Greet", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc run greet.aug --input hello --model smaple
    ```

    Compare the spelling, and install the extra that it needs.
    """

    name: ClassVar[str] = "unusable-setting"

    what: str
    """`model`, `activity`, `engine`."""
    word: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the {self.what} `{self.word}` cannot be used: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralExports(Problem):
    """A file that is to be run exports several programs, or none of the name that is asked for.

    ```aug two.aug
    tool first = @{ title: "A", type: "object", properties: { text: { type: "string" } } };
    tool second = @{ title: "B", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc run two.aug --input hello --model sample
    ```

    Say which with `--export`.
    """

    name: ClassVar[str] = "several-exports"

    program: str
    names: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"it is not clear what of `{self.program}` to run"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"`--export` takes {' or '.join(f'`{name}`' for name in self.names)}" if self.names else None


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
