"""Problems when a run starts: the process, its inputs, and what it needs to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableProcess(Problem):
    """A document cannot be read as a process.

    A process is a JSON Schema whose properties are its contexts: `llmContext1`, `serverContext1`, `userContext1` contain steps;
    `whenContext1`, `eachContext1`, `repeatContext1`, `elseContext1`, `tryContext1`, `doContext1` hold contexts
    and say how these run in an engine property of their own.
    The message shows what such a property lacks, as `until` in a `repeat` or `in` in an `each`, or what it cannot have.

    ```json process.json
    { "properties": { "eachContext1": { "type": "array", "items": { "type": "object" } } } }
    ```
    ```console
    $ instrc run process.json --input hello --model sample
    ```

    Use the output of `instrc compile`, or write a process by hand as `instrc/runtime/README.md` describes.
    """

    name: ClassVar[str] = "unreadable-process"

    pointer: str
    """Where in the document, as a JSON Pointer through the names of properties."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this cannot be run: {self.reason} (at `{self.pointer or '/'}`)"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidInput(Problem):
    """The input of a program does not fit its declared inputs.

    A text is the input `prompt`; an object gives the inputs by name.

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
    beside_text: bool = False
    """Whether a text was given: it fills only `prompt`, and this input needs an object."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the input `{self.word}` {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if not self.beside_text:
            return None
        return f'a text fills only `prompt`; give an object that names the inputs: `{{ "{self.word}": … }}`'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisteredActivity(Problem):
    """A process calls an activity that is not registered.

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

    Register the name, or use `--rehearse`, which generates the results from their schemas.
    """

    name: ClassVar[str] = "unregistered-activity"

    activity: str
    nearest: tuple[str, ...] = ()
    handler: str | None = None
    """What is registered under the name without `_Activity`, as a function in a list is."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"no activity is registered as `{self.activity}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.handler is not None:
            return f"there is one called `{self.handler}`: register it as `{self.activity}`"
        if self.nearest:
            return did_you_mean(self.nearest)
        return "register it under `[tool.instrc.activities]` or in `activities=`, or rehearse: `--rehearse`, `instrc.rehearse`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableSetting(Problem):
    """A model, an activity or an engine that a run names cannot be used.

    A model is `sample`, `scripted:FILE`, or a provider with a model, such as `openai:gpt-5`.
    An activity is `package.module:function`; the module must be importable from the folder of `pyproject.toml`.

    ```aug greet.aug
    "Greet" | @{ title: "Greet", type: "object", properties: { text: { type: "string" } } }
    ```
    ```console
    $ instrc run greet.aug --input hello --model smaple
    ```

    Check the spelling, and install the extra that it needs.
    """

    name: ClassVar[str] = "unusable-setting"

    what: str
    """`model`, `activity`, `engine`."""
    word: str
    reason: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the {self.what} `{self.word}` cannot be used: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)
