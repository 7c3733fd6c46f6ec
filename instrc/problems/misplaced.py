"""Problems with what stands where it means nothing: data, calls, annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


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

    failing: bool = False
    """It is given to `Fail`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a literal cannot stand here: it is no result of a step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.failing:
            return 'say what it is: `Fail(code: "…", message: "…")`'
        if self.at is not None and self.at.text == self.at.source.text.strip().rstrip(";").rstrip():
            return 'a goal needs steps behind it: `"…" | Draft`'
        return 'give it a name, as in `Draft(tone: "warm")`, describe the step with `@ "…"`, or begin the pipe with it'


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
        if self.characters.partition("(")[0].endswith("_Activity"):
            return "for tools that a model chooses from, write `Plan(Search_Activity, Book_Activity)`"
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
class MisplacedBlock(Problem):
    """A block stands where only a model can fill something in.

    A block is carried out by the engine, one step after the other.
    So it cannot be composed into a property of a model's step, nor stand in the brackets of a mixin.

    ```aug letter.aug
    Draft({ text: do { Write } })
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/write.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Put the block first and pass its value in brackets: `Draft(text: do { Write })`.
    """

    name: ClassVar[str] = "misplaced-block"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a block cannot stand here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "let it come first and pass its value in brackets"
