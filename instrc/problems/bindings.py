"""Problems with what a program binds and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveBinding(Problem):
    """The definition of a local name uses that name.

    A program is a chain of steps, and each reads results of earlier steps; no step can wait for its own result.

    ```aug letter.aug
    const draft = Improve(notes);
    const notes = Improve(draft);
    draft
    ```

    ```json schemas/improve.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    To repeat a step until it is good, write `repeat { … } until PATH max 5`.
    """

    name: ClassVar[str] = "recursive-binding"

    words: tuple[str, ...]
    places: tuple[Span, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a name is defined by itself: " + " needs ".join(f"`{word}`" for word in (*self.words, self.words[0]))

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        alone = self.at is not None and self.at.source.text[: self.at.start].rstrip().endswith("=")
        if alone and len(self.words) == 1:  # `const Draft = Draft`
            return "choose another name for it, or name the instruction by its `aug:` reference"
        return "to repeat a step until it is good, write `repeat { … } until PATH max 5`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, f"`{word}` is defined here") for word, place in zip(self.words, self.places, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class MisspeltDefinition(Problem):
    """Several places read a name that is not defined, and nothing reads a name that is spelled almost like it.

    ```aug letter.aug
    const poeple = FindPeople(prompt);
    const mail = Draft(people);
    Review(people, mail)
    ```

    ```json schemas/find-people.vibe.json
    { "type": "object", "properties": { "names": { "type": "string" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/review.vibe.json
    { "type": "object", "properties": { "remark": { "type": "string" } } }
    ```

    Write the name in one way in its definition and where it is read.
    """

    name: ClassVar[str] = "misspelt-definition"

    word: str
    read_as: str
    """How the name is spelled where it is read."""
    places: tuple[Span, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"nothing reads `{self.word}`, but {len(self.places)} places read `{self.read_as}`, which is not defined"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"rename it to `{self.read_as}`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, f"`{self.read_as}` is read here") for place in self.places[:3])

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.word, (self.read_as,))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedBinding(Problem):
    """Nothing uses a local name or an input.

    If a file has an export, a name that no expression uses does not change its output.

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
    In the braces of a block every statement is carried out, used or not: `do { const tone = Tone(prompt); Draft(prompt) }`.
    """

    name: ClassVar[str] = "unused-binding"
    severity: ClassVar[Severity] = "warning"

    word: str
    left_out: bool = False
    """Whether it has a value, whose steps are not carried out."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not used, so it is not carried out" if self.left_out else f"`{self.word}` is not used"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.left_out:
            return "use it, remove it, export it with `tool`, or write all statements in `do { … }`, where each is carried out"
        return "use it, remove it, or export it with `tool`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparatePrograms(Problem):
    """Two separate expressions of a file read the same result, as if they were carried out one after the other.

    Outside of blocks, every separate expression is its own program.
    Each is compiled and run separately, and repeats the steps that it reads.

    ```aug letter.aug
    const letter = Draft(prompt);
    Send_Activity(letter);
    File_Activity(letter)
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/send_Activity.vibe.json
    { "type": "object", "properties": { "id": { "type": "string" } } }
    ```

    ```json schemas/file_Activity.vibe.json
    { "type": "object", "properties": { "id": { "type": "string" } } }
    ```

    For one program that carries out both, write `do { Send_Activity(letter); File_Activity(letter) }`.
    For two programs, write `tool send = …` and `tool file = …`.
    """

    name: ClassVar[str] = "separate-programs"
    severity: ClassVar[Severity] = "warning"

    shared: str
    """A name that both read."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is a separate program: it repeats `{self.shared}`, but not the expression before it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `do { …; … }` around the steps of one program, or `tool NAME = …` before each program"


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingExported(Problem):
    """A file exports nothing.

    Every `tool NAME = …` and every separate expression becomes an artefact; if there are none,
    the local names that no other expression uses become artefacts.

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
