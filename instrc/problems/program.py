"""Problems with what a program means: its names, calls, mixins, steps and cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownName(Problem):
    """A name stands for nothing.

    A bare name is a local name, `prompt` or a declared input, or the name of a vibe in one of the registry's roots.
    Vibes are found in any case style: `FindSlot` finds `find-slot.vibe.json`.

    ```aug letter.aug
    Draft
    ```

    Check the spelling, save the schema as a vibe below a root (a `schemas/` folder beside the source is one),
    or compile with `--sketch`, which takes unknown instructions for objects of anything.
    """

    name: ClassVar[str] = "unknown-name"

    word: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"nothing is called `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "save its schema as a vibe below a root, or try `--sketch`"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousName(Problem):
    """A name finds two vibes in one root.

    Names are compared without case, `_` and `-`, and folders do not count, so two vibes may answer to one name.
    A vibe in an earlier root would simply win; within one root neither does.

    ```aug letter.aug
    Draft
    ```

    ```json schemas/mail/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/blog/Draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Say which is meant: `const Draft = aug:mail/draft`.
    """

    name: ClassVar[str] = "ambiguous-name"

    word: str
    uris: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` may be " + " or ".join(f"`{uri}`" for uri in self.uris)

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"say which is meant: `const {self.word} = {self.uris[0]}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedName(Problem):
    """A name is given twice.

    Local names and inputs are defined once in a file, and the keys of one pair of braces differ, as do the labels of one call.

    ```aug letter.aug
    const topic = Topic(prompt);
    const topic = Topic(prompt);
    Topic(topic)
    ```

    ```json schemas/topic.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Rename one of them.
    """

    name: ClassVar[str] = "repeated-name"

    word: str
    first: Span

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is given twice"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "rename one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return (Label(self.first, "first here"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedName(Problem):
    """A name that means something already is given to something else.

    `prompt`, `Process`, `LLM_Context`, `Server_Context`, `User_Context`, `StartProcess` and `LaunchProcess`
    cannot be local names; `const` cannot name an argument, because `{ "const": … }` is how constants are told from paths.

    ```aug letter.aug
    const prompt = Topic();
    ```

    ```json schemas/topic.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Choose another name.
    """

    name: ClassVar[str] = "reserved-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` has a meaning of its own"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "choose another name"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveBinding(Problem):
    """A local name stands for something that needs itself.

    A program is a chain of steps, each reading results of earlier ones; no step can wait for its own result.

    ```aug letter.aug
    const draft = Improve(notes);
    const notes = Improve(draft);
    draft
    ```

    ```json schemas/improve.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    To repeat a step until it is good, put it into `Loop_Mixin`.
    """

    name: ClassVar[str] = "recursive-binding"

    words: tuple[str, ...]
    places: tuple[Span, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a name needs itself: " + " needs ".join(f"`{word}`" for word in (*self.words, self.words[0]))

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "to repeat a step until it is good, put it into `Loop_Mixin`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, f"`{word}` is defined here") for word, place in zip(self.words, self.places, strict=True))


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
class MisplacedData(Problem):
    """A literal stands where a value is read.

    A literal is not the result of a step, so it cannot be a plain argument, a stage of a pipe or an export.
    Under a name it is a constant: `Draft(tone: "warm")` fixes the property `tone`.
    The one string that stands alone is the goal at the start of a pipe.

    ```aug letter.aug
    Draft("warm")
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "tone": { "type": "string" } } }
    ```

    Give it a name, or describe the step with `@ "…"`.
    """

    name: ClassVar[str] = "misplaced-data"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a literal cannot stand here: it is no result of a step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'give it a name, as in `Draft(tone: "warm")`, or describe the step with `@ "…"`'


@dataclass(frozen=True, slots=True, kw_only=True)
class NotData(Problem):
    """A name or a call stands inside data.

    Arrays, and objects inside them, hold literals only.

    ```aug letter.aug
    Draft(tags: [Draft])
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "tags": { "type": "array" } } }
    ```

    Pass results as arguments of their own: `Draft(first: Topic, second: Place)`.
    """

    name: ClassVar[str] = "not-data"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "data holds literals only"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "pass results as arguments of their own"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedAnnotation(Problem):
    """An annotation stands behind something that has no schema.

    `@` adds a description or keywords to the schema of a step.
    Inputs, literals and names that braces give to results have none to add to.

    ```aug letter.aug
    Draft(prompt @ "what was asked")
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Annotate the call instead: `Draft(prompt) @ "what was asked"`.
    """

    name: ClassVar[str] = "misplaced-annotation"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "there is no schema here to annotate"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put the `@` behind a call"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedCall(Problem):
    """Something in braces cannot be filled in by the model.

    Braces compose schemas: what is called in them becomes a property of the instruction that holds it, so the model must be
    the one who does it. A step of the server or of a person has to come first, and its result is read.

    ```aug letter.aug
    Draft({ text: Fetch_Activity })
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/fetch_Activity.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Pass the result in brackets: `Draft(text: Fetch_Activity)`.
    """

    name: ClassVar[str] = "misplaced-call"

    word: str
    holder: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` cannot be composed into `{self.holder}`: the model does not fill it in"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"pass its result in brackets: `{self.holder}(name: …)`"


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{_short(self.word)}` cannot stand here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "a process is an export, and holds `LLM_Context(…)`, `Server_Context(…)` and `User_Context(…)` only"


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
        return f"`{_short(self.word)}` is not a process kept as a vibe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "compile the process with `--emit process`, save it as a vibe, and launch that"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedBinding(Problem):
    """A local name or an input that nothing uses.

    Beside an export, a name that no expression mentions has no part in what comes out.

    ```aug letter.aug
    const tone = Tone(prompt);
    tool letter = Draft(prompt);
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/tone.vibe.json
    { "type": "object", "properties": { "tone": { "type": "string" } } }
    ```

    Use it or remove it.
    """

    name: ClassVar[str] = "unused-binding"
    severity: ClassVar[Severity] = "warning"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not used"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "use it, remove it, or export it with `tool`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingExported(Problem):
    """A file exports nothing.

    What becomes an artefact is every `tool NAME = …` and every expression that stands alone; without either,
    the local names that no other expression uses.

    ```aug letter.aug
    input topic
    ```

    Write an expression: `"Write a letter" | Draft`.
    """

    name: ClassVar[str] = "nothing-exported"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "there is nothing to compile in this file"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write an expression, as in `"Write a letter" | Draft`'


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToDo(Problem):
    """An export calls no instruction.

    ```aug letter.aug
    prompt
    ```

    Pass the value to an instruction.
    """

    name: ClassVar[str] = "nothing-to-do"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "no instruction is called here, so there is no step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "pass the value to an instruction, as in `Draft(prompt)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAgainstDataFlow(Problem):
    """A process cut by hand puts a step where it cannot be done.

    A context holds steps of its own executor, and reads what its own and earlier contexts give.

    ```aug letter.aug
    Process(
      LLM_Context({ draft: Draft({ facts }) }),
      Server_Context({ facts: Fetch_Activity(prompt) })
    )
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/fetch_Activity.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Move the step to a context where it can be done, or write the chain as a pipe and let the compiler cut it.
    """

    name: ClassVar[str] = "cut-against-data-flow"

    word: str
    reason: str
    other: Span | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "move it to another context, or write the chain as a pipe and let it be cut for you"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.other is None else (Label(self.other, "this decides"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNotObject(Problem):
    """What a model is to fill in is not an object.

    A tool is called with an object of arguments, and a mixin puts its fields beside others, so the schema must admit objects.

    ```aug letter.aug
    Draft
    ```

    ```json schemas/draft.vibe.json
    { "type": "string" }
    ```

    Give the value a name: `{ "type": "object", "properties": { "text": { "type": "string" } } }`.
    """

    name: ClassVar[str] = "output-not-object"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is no object, so it cannot be filled in on its own"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "make the value a property of an object"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
