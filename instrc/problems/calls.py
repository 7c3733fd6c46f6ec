"""Problems with calls: of what cannot be called, of mixins and of processes with arguments that find no place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCallable(Problem):
    """A value is used like an instruction.

    Only instructions are called and take what is piped to them.
    A local name is one if it is bound to a bare name or an `aug:` reference; any other local name stands for a value.

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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a value, not an instruction"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "values go into the brackets of a call, or at the start of a pipe"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, "defined here") for place in self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAProcess(Problem):
    """Something that is no process is to be launched.

    `LaunchProcess` takes the name or the `aug:` reference of one vibe whose properties are contexts:
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
        return f"`{_short(self.word)}` is not a process kept as a vibe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "compile the process with `--emit process`, save it as a vibe, and launch that"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedContext(Problem):
    """The brackets of a process hold something else than contexts, or a context stands outside a process.

    `Process(…)` is given contexts only, in order: `LLM_Context(…)`, `Server_Context(…)`, `User_Context(…)`.
    It is an export of its own and no argument.

    ```aug letter.aug
    Process(Draft)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Say who does it: `Process(LLM_Context({ draft: Draft }))`.
    """

    name: ClassVar[str] = "misplaced-context"

    word: str
    held: bool = False
    """Whether braces stand there, around what is perhaps a context."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.held:
            return "the contexts of a process do not stand in braces"
        return f"`{_short(self.word)}` cannot stand here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.held:
            return "write them one after the other: `Process(LLM_Context({ a: A }), Server_Context({ b: B_Activity(a) }))`"
        return "a process is an export, and holds `LLM_Context(…)`, `Server_Context(…)` and `User_Context(…)` only"


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyArguments(Problem):
    """A mixin is given a second plain argument.

    A mixin places everything it is given: its one plain argument goes into its slot `default`, all else goes by name.

    ```aug letter.aug
    Introspect_Mixin(Draft, Draft)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Put several steps in as an object, `Introspect_Mixin({ default: { first: Draft, second: Draft } })`,
    or nest them: `Introspect_Mixin(Improve(Draft))`.
    """

    name: ClassVar[str] = "too-many-arguments"

    mixin: str
    first: Span | None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.first is None:
            return f"`{self.mixin}` has no slot for a plain argument"
        return f"`{self.mixin}` has one slot for a plain argument, and it is filled already"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.mixin == "StartProcess":
            return 'name what it is given: `StartProcess({ name: "…", llmContext1: A })`'
        return "name the slot, or put several steps in as an object: `{ default: { a: A, b: B } }`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.first is None else (Label(self.first, "fills the slot"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotNotFound(Problem):
    """Something is put into a property that the instruction does not have.

    A constant or a call in braces becomes part of the property of that name.
    Only an open instruction takes new properties: one without `properties`, or with `additionalProperties` that is not `false`.

    ```aug letter.aug
    Draft({ tone: "warm" })
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Name one of its properties. To let it read the result of a call, use brackets: `Draft(tone: Tone)`.
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
        return did_you_mean(self.nearest) or (
            "it has " + ", ".join(f"`{slot}`" for slot in self.slots[:8]) if self.slots else None
        )

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.word, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyMixin(Problem):
    """A mixin holds no step that a model does.

    A mixin is fused into the model steps written in its brackets. What the server or a person does cannot be held,
    nor what that needs first, nor what is piped in, nor what another mixin holds already.

    ```aug letter.aug
    Introspect_Mixin(Fetch_Activity)
    ```

    ```json schemas/fetch_Activity.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Put it around the step that is to think: `Introspect_Mixin(Draft(Fetch_Activity))`.
    """

    name: ClassVar[str] = "empty-mixin"

    mixin: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.mixin}` holds no step of the model"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put it around a call that the model fills in and that no other mixin holds"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
