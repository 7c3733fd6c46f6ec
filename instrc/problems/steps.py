"""Problems with the steps of a program: no step, steps in a wrong context, outputs that are not objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import HINTED_PATH
from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


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
        return "no instruction is called here, so the program has no step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        name = "" if self.at is None else _name_before(self.at)
        if name and self.at is not None:
            return f"a call has round brackets: write `{name}({self.at.text})`"
        return "pass the value to an instruction, as in `Draft(prompt)`"


def _name_before(at: Span) -> str:
    """Return the name of an instruction that stands directly before a short value, on its line: `Draft prompt`."""
    line = at.source.text[: at.start].rpartition("\n")[2]
    word = line.rstrip(" \t").split(" ")[-1]
    follows = word != line and word[:1].isupper() and word.isidentifier()
    return word if follows and len(word) + len(at.text) < HINTED_PATH else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAgainstDataFlow(Problem):
    """A `Process(…)` that is divided by hand has a step in a context where it cannot run.

    A context contains steps of its own executor, and reads results of itself and of earlier contexts.

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

    Move the step to a context where it can run, or write the chain as a pipe and let the compiler divide it.
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
        return "move it to another context, or write the chain as a pipe and let the compiler divide it"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.other is None else (Label(self.other, "this is the cause"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNotObject(Problem):
    """The value that a model should fill in is not an object.

    A tool is called with an object of arguments, and a mixin adds its properties to it, so the schema must allow objects.

    ```aug letter.aug
    Draft
    ```

    ```json schemas/draft.vibe.json
    { "type": "string" }
    ```

    Make the value a property: `{ "type": "object", "properties": { "text": { "type": "string" } } }`.
    """

    name: ClassVar[str] = "output-not-object"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not an object, so it cannot be filled in alone"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "make the value a property of an object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsatisfiable(Problem):
    """No value satisfies a schema together with the steps in it, or with what is written beside it.

    Somebody must fill in what a program composes, so a schema that refuses everything is a mistake.
    Here `tone` is required, and the closed annotation does not describe it.

    ```aug letter.aug
    Page({ body: { text: Draft } @ { additionalProperties: false, required: ["tone"] } })
    ```

    ```json schemas/page.vibe.json
    { "type": "object", "properties": { "body": { "type": "object" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Remove what refuses it: a condition that never holds, or a name in `required` that a closed schema does not describe.
    """

    name: ClassVar[str] = "unsatisfiable"

    keys: tuple[str, ...] = ()
    """The properties of the object of steps, if it is about one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if not self.keys:
            return "no value satisfies what is written here"
        named = ", ".join(f"`{key}`" for key in self.keys[:4]) + (", …" if len(self.keys) > 4 else "")
        return f"no object with the steps {named} satisfies what is written around them"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove the keyword that refuses everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntangledMixins(Problem):
    """Two mixins each need something that the other contains.

    The contents of a mixin are never divided, so one of the two must come first, and neither can.

    ```aug letter.aug
    const notes = Notes(prompt);
    Answer(Introspect_Mixin(Answer(Draft, notes)), Introspect_Mixin(Draft(SelfEvaluate_Mixin(notes), Draft)))
    ```

    ```json schemas/notes.vibe.json
    { "type": "object", "properties": { "notes": { "type": "string" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/answer.vibe.json
    { "type": "object", "properties": { "answer": { "type": "string" } } }
    ```

    Define what both need outside of the mixins, with a name of its own.
    """

    name: ClassVar[str] = "entangled-mixins"

    other: Span | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this mixin needs the contents of another one, and that one needs the contents of this one"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "define what both need outside of the mixins, with a name of its own"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.other is None else (Label(self.other, "this is the other one"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleAnnotation(Problem):
    """A keyword after `@` has no effect, because it does not apply to objects.

    An annotation is added to the schema of the whole step, which is an object.
    A bound of a number belongs to the property that is the number.

    ```aug letter.aug
    Loop_Mixin(Draft) @ { maximum: 5 }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Name the property: `Loop_Mixin(Draft) @ { properties: { _iteration: { maximum: 5 } } }`.
    """

    name: ClassVar[str] = "idle-annotation"
    severity: ClassVar[Severity] = "warning"

    word: str
    loop: bool = False

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` has no effect on an object"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        name = "_iteration" if self.loop else "NAME"
        return f"name the property: `@ {{ properties: {{ {name}: {{ {self.word}: … }} }} }}`"
