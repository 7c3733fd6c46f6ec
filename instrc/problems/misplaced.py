"""Problems with data, calls, annotations and blocks in places where they have no meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedCall(Problem):
    """The model cannot fill in something that is written in braces.

    Braces compose schemas: a call in braces becomes a property of the instruction that contains it, so the model must
    fill it in. A step of the server or of a person must come first, so that its result can be read.

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
    """A literal is written where a value is read.

    A literal is not the result of a step, so it cannot be a plain argument, a stage of a pipe or an export.
    With a name it is a constant: `Draft(tone: "warm")` fixes the property `tone`.
    Only one literal needs no name: the string at the start of a pipe, which is its goal.

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
    """Whether it is an argument of `Fail`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a literal is not allowed here: it is not the result of a step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.failing:
            return 'name the arguments: `Fail(code: "…", message: "…")`'
        if self.at is not None and re.search(r"\d,\Z", self.at.source.text[: self.at.start][-2:]) and self.at.text.isdecimal():
            return "write the point of a number as `.`, as in `1.5`"
        if self.at is not None and self.at.text == self.at.source.text.strip().rstrip(";").rstrip():
            return 'a goal needs steps after it: `"…" | Draft`'
        if self.at is not None and self.at.text[1:-1] == "prompt":
            return "without quotes, `prompt` is what the program was asked"
        if self.at is not None and self.at.text[1:5].casefold() == "aug:":
            return "if a reference is meant, write it without quotes"
        return 'give it a name, as in `Draft(tone: "warm")`, describe the step with `@ "…"`, or put it at the start of the pipe'


@dataclass(frozen=True, slots=True, kw_only=True)
class NotData(Problem):
    """A name or a call is inside data.

    Arrays, and objects inside them, contain only literals.

    ```aug letter.aug
    Draft(tags: [Draft])
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "tags": { "type": "array" } } }
    ```

    Pass results as separate arguments: `Draft(first: Topic, second: Place)`.
    """

    name: ClassVar[str] = "not-data"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "data contains only literals"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.characters.partition("(")[0].endswith("_Activity"):
            return "for tools from which a model chooses, write `Plan(Search_Activity, Book_Activity)`"
        return "pass results as separate arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedAnnotation(Problem):
    """An annotation follows something that has no schema.

    `@` adds a description or keywords to the schema of a step.
    Inputs, literals and keys in braces have no schema, nor has an object of values that is not in a property.

    ```aug letter.aug
    Draft(prompt @ "what was asked")
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Annotate the call instead: `Draft(prompt) @ "what was asked"`.
    """

    name: ClassVar[str] = "misplaced-annotation"

    block: bool = False
    """Whether it follows a block."""
    values: bool = False
    """Whether it follows an object of values."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.values:
            return "an object of values has no schema of its own: its members are steps"
        if self.block:
            return "a block has no schema to annotate: it takes `within`, `delay` and a description"
        return "there is no schema here to annotate"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put the `@` after a call in the block" if self.block else "put the `@` after a call"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedBlock(Problem):
    """A block is written where only a model can fill something in.

    The engine carries out a block, one step after the other.
    So it can neither be composed into a property of a step of the model nor be in the brackets of a mixin.

    ```aug letter.aug
    Draft({ text: do { Write } })
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/write.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Let the block come first and pass its value in brackets: `Draft(text: do { Write })`.
    """

    name: ClassVar[str] = "misplaced-block"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a block is not allowed here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "let it come first and pass its value in brackets"


_OF_RUNS = frozenset({"invoke", "ainvoke", "run", "execute", "call", "stream", "batch", "forward", "send", "kickoff"})
"""Methods that run something in other systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BracketAfterValue(Problem):
    """A `(` follows something that cannot be called.

    Only names and `aug:` references take brackets. A `(` continues what is written before it, even after a line break.

    ```aug greet.aug
    const text = Greet(prompt)
    (Reply(text))
    ```

    Write `;` before a `(` that begins a new statement.
    """

    name: ClassVar[str] = "bracket-after-value"

    member: str = ""
    """The member before it, as `then` in `Draft(prompt).then(…)`."""
    of_value: bool = True
    """Whether it is the member of a value, not of a module of another language: `dspy.Predict(…)`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`.{self.member}` is a member, not a function" if self.member else "what is before this `(` cannot be called"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.member in _OF_RUNS:
            return "remove it: `instrc run FILE` runs a program"
        if self.member in {"all", "gather", "race"}:
            return "steps that do not read each other's results are written beside each other: `{ a: A, b: B }`"
        if self.member in {"log", "print"}:
            return "remove it: the value of the last expression is the result"
        if self.member and not self.of_value:
            before = "" if self.at is None else self.at.source.text[: self.at.start].removesuffix(self.member)
            if re.search(r"\.\s*\n\s*\Z", before[-200:]):
                return f"remove the `.` that ends the line before, or write `{self.member}(…)` alone if it has another meaning"
            return f"instructions are not parts of something: call one by its name alone, as in `{self.member}(…)`"
        if self.member:
            return "pass the value to an instruction: `… | Review`, or `Review(…)`"
        return "write `;` before it to begin a new statement, or `|` to begin a stage"
