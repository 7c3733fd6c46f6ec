"""Problems with calls: values that cannot be called, and arguments that a mixin or a process cannot take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.lookalikes import strange_letter, twin
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.problems.wording import CHOSEN_FOR_RUNS, OF_RUNS
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCallable(Problem):
    """A value is used like an instruction.

    Only instructions can be called or receive what is piped to them.
    A local name is an instruction if it is bound to a bare name or an `aug:` reference; any other local name is a value.

    ```aug letter.aug
    const draft = Draft(prompt);
    draft(prompt)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Pass the value to an instruction instead: `Improve(draft)`.
    """

    name: ClassVar[str] = "not-callable"

    word: str
    places: tuple[Span, ...] = ()
    hides: bool = False
    """Whether an instruction has the same name."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a value, not an instruction"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.hides:
            return f"the name `{self.word}` hides the instruction: choose another name for the value"
        return "write a value in the brackets of a call, or at the start of a pipe"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, "defined here") for place in self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAProcess(Problem):
    """`LaunchProcess` is given something that is not a process.

    It takes the name or the `aug:` reference of one vibe whose properties are contexts:
    `llmContext1`, `serverContext1`, …

    ```aug letter.aug
    LaunchProcess(Draft)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Compile the process, save it as a vibe, and launch that.
    """

    name: ClassVar[str] = "not-a-process"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.word.startswith("LaunchProcess("):
            return "`LaunchProcess` takes one name or reference of a process"
        return f"`{_short(self.word)}` is not a process that is saved as a vibe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.word.startswith("LaunchProcess(") and self.at is not None and self.at.text != self.word:
            return "write the name alone, as in `LaunchProcess(ScheduleMeeting)`: the model fills in what starts it"
        return "compile the process with `--emit process`, save it as a vibe, and launch that"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedContext(Problem):
    """The brackets of a process contain something other than contexts, or a context is outside a process.

    `Process(…)` takes contexts only, in their order: `LLM_Context(…)`, `Server_Context(…)`, `User_Context(…)`.
    It is an export, never an argument.

    ```aug letter.aug
    Process(Draft)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Say who carries out the step: `Process(LLM_Context({ draft: Draft }))`.
    """

    name: ClassVar[str] = "misplaced-context"

    word: str
    held: bool = False
    """Whether there are braces around what is perhaps a context."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.held:
            return "the contexts of a process are not written in braces"
        return f"`{_short(self.word)}` is not allowed here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.held:
            return "write them one after the other: `Process(LLM_Context({ a: A }), Server_Context({ b: B_Activity(a) }))`"
        return "a process is an export, and contains only `LLM_Context(…)`, `Server_Context(…)` and `User_Context(…)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyArguments(Problem):
    """A mixin is given a second plain argument.

    Every argument of a mixin fills a slot: the one plain argument fills the slot `default`, all others need a name.

    ```aug letter.aug
    Introspect_Mixin(Draft, Draft)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Pass several steps as an object, `Introspect_Mixin({ default: { first: Draft, second: Draft } })`,
    or nest them: `Introspect_Mixin(Improve(Draft))`.
    """

    name: ClassVar[str] = "too-many-arguments"

    mixin: str
    first: Span | None
    inputs: tuple[str, ...] = ()
    """Of a program that is called: its inputs, `prompt` among them."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.inputs:
            return f"`{self.mixin}` takes one plain argument, its `prompt`, and it is given already"
        if self.first is None:
            return f"`{self.mixin}` has no slot for a plain argument"
        return f"`{self.mixin}` has one slot for a plain argument, and it is filled already"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.mixin == "StartProcess":
            return 'name the argument: `StartProcess({ name: "…", llmContext1: A })`'
        if named := next((each for each in self.inputs if each != "prompt"), None):
            return f"name the others: `{named}: …`"
        if self.inputs:
            return "it has no other input: pass several values as an object, `({ a: A, b: B })`"
        return "name the slot, or pass several steps as an object: `{ default: { a: A, b: B } }`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.first is None else (Label(self.first, "fills the slot"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotNotFound(Problem):
    """An argument names a property that the instruction does not have.

    A constant, or a call in braces, fills the property of that name.
    Only an open instruction takes new properties: one without `properties`, or whose `additionalProperties` is not `false`.

    ```aug letter.aug
    Draft({ tone: "warm" })
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Use the name of one of its properties. To let it read the result of a call, use brackets: `Draft(tone: Tone)`.
    """

    name: ClassVar[str] = "slot-not-found"

    word: str
    holder: str
    nearest: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.holder}` has no property `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.holder == "Loop_Mixin" and self.word.lower().startswith(("max", "count", "times", "rounds", "limit")):
            return "bound it by `Loop_Mixin(…) @ { properties: { _iteration: { maximum: 5 } } }`"
        if self.word in OF_RUNS and not self.nearest:
            return CHOSEN_FOR_RUNS
        strange = strange_letter(self.word)
        if strange or (self.nearest and twin(self.word) == self.nearest[0]):
            return f"{strange or 'its letters only look like Latin letters'}; {did_you_mean(self.nearest) or 'correct it'}"
        return did_you_mean(self.nearest) or (
            "it has " + ", ".join(f"`{slot}`" for slot in self.slots[:8]) if self.slots else None
        )

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.word, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyMixin(Problem):
    """A mixin contains no step of the model.

    A mixin is merged into the model steps in its brackets. It cannot contain a step of the server or of a person,
    a step whose result such a step needs, what is piped in, or what another mixin contains already.

    ```aug letter.aug
    Introspect_Mixin(Fetch_Activity)
    ```

    ```json schemas/fetch_Activity.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Put it around the step of the model: `Introspect_Mixin(Draft(Fetch_Activity))`.
    """

    name: ClassVar[str] = "empty-mixin"

    mixin: str
    elsewhere: str = ""
    """A step in its brackets that another mixin contains already."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.elsewhere:
            return f"`{self.mixin}` contains nothing: another mixin contains this step `{self.elsewhere}` already"
        return f"`{self.mixin}` contains no step of the model"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.elsewhere:
            return 'equal calls are one step: nest the mixins, `A_Mixin(B_Mixin(…))`, or let the calls differ, `… @ "the second"`'
        return f"write a step of the model in its brackets, as in `{self.mixin}(Draft(prompt))`"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
