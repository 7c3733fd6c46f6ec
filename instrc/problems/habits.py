"""Problems of habits: what other languages, formats and tools would understand here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replaced
from instrc.problems.problem import Edit, Fix, Problem
from instrc.source import Span

FORMS = {
    "when": "when PATH { … } else { … }",
    "each": "each NAME in PATH { … }",
    "repeat": "repeat { … } until PATH",
    "try": "try { … } else { … }",
    "do": "do { … }",
}
"""How each block is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedQuotes(Problem):
    r"""A string holds the quote that it stands in, so it ends there.

    ```aug letter.aug
    "Say "hello" to Ann" | Greet
    ```

    Write `\"` for a quote inside, or put the string into `'…'`.
    """

    name: ClassVar[str] = "nested-quotes"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this quote ends the string, but the text goes on"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write `\\"` for a quote inside a string, or put the string into the other kind of quotes'


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedValue(Problem):
    """Square brackets stand directly behind a value, as if they picked a part of it.

    A path has names only, and does not lead into a list.

    ```aug letter.aug
    const people = Identify(prompt);
    Draft(people[0])
    ```

    Write `people.name` for a member. For each element of a list write `each person in people.attendees { … }`.
    """

    name: ClassVar[str] = "indexed-value"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.characters.isdecimal():
            return f"no member of a value is called `{self.characters}`: paths have names only"
        return "square brackets pick nothing out of a value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `.NAME` for a member, or `each NAME in PATH { … }` for the elements of a list"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedReference(Problem):
    """An `aug:` reference stands in quotes, so it is a string.

    ```aug letter.aug
    "aug:instructions/draft" | Review
    ```

    Write it without quotes: `aug:instructions/draft | Review`.
    """

    name: ClassVar[str] = "quoted-reference"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "in quotes, this is a text and not a reference"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write the reference without quotes"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or len(self.at.text) < 3:
            return ()
        return replaced(self.at, self.at.text[1:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOfSteps(Problem):
    """Instructions stand in square brackets, which hold data only.

    ```aug letter.aug
    [Tone, Topic] | Draft
    ```

    Name them in braces: `{ tone: Tone, topic: Topic } | Draft`, or pass them as arguments: `Draft(Tone, Topic)`.
    """

    name: ClassVar[str] = "list-of-steps"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "square brackets hold data, not steps"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "name the steps in braces: `{ a: A, b: B }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAProgram(Problem):
    """A file holds something else than a program: YAML, JSON, plain text, a page of Markdown or HTML.

    ```aug letter.aug
    name: letter
    steps:
      - draft
    ```

    A program is a file that ends with `.aug`; a JSON Schema is a vibe and ends with `.vibe.json`.
    """

    name: ClassVar[str] = "not-a-program"

    kind: str
    """What it looks like, with its article if it has one: `YAML`, `plain text`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this looks like {self.kind}, not like a program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'is it the right file? a program looks like `"Write a letter" | Draft`'


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayElse(Problem):
    """An `else` belongs to nothing.

    A `when` has one `else`, and so have `try` and a `repeat` with a bound.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when answer.ok { Send } else { Ask } else { Stop }
    ```

    For more branches write `else when CONDITION { … }` before the last one.
    """

    name: ClassVar[str] = "stray-else"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `else` belongs to nothing"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "for one more branch write `else when CONDITION { … }` before the last `else`"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubledBraces(Problem):
    """Two pairs of braces stand around the fields of one object.

    ```aug letter.aug
    { { tone: Tone, topic: Topic } } | Draft
    ```

    Remove one pair. Only a block whose value is an object has two: `when a.ok { { x: A, y: B } }`.
    """

    name: ClassVar[str] = "doubled-braces"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "these braces are doubled"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove one pair"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBraces(Problem):
    """The value of a block is an object without its own braces.

    The braces of a block hold statements and a value, so an object in it needs a pair of its own.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when answer.ok { text: Draft, tone: Tone }
    ```

    Write `when answer.ok { { text: Draft, tone: Tone } }`.
    """

    name: ClassVar[str] = "missing-braces"

    opening: Span | None = None
    """The brace of the block."""
    closing: Span | None = None
    """The brace that ends it, where it is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "an object in a block needs braces of its own"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `{ { key: value } }`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.opening is None or self.closing is None:
            return ()
        after = self.opening.source.span(self.opening.end, self.opening.end)
        before = self.closing.source.span(self.closing.start, self.closing.start)
        return (Fix("add a pair of braces", (Edit(after, " {"), Edit(before, "} "))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCondition(Problem):
    """What stands after `when` or `until` is no condition, or the list of an `each` is none.

    A condition reads a name or a path: `PATH`, `PATH is VALUE`, `PATH @ { … }`, or several of these joined by `or`.
    It has no brackets around it, calls nothing and compares nothing.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when (answer.ok) { Send }
    ```

    Write `when answer.ok { Send }`. To read the result of a call, name it first: `const answer = Confirm(prompt)`.
    """

    name: ClassVar[str] = "bad-condition"

    slip: str
    """`brackets`, `call` or `value`."""
    word: str = "when"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        match self.slip:
            case "brackets":
                return f"what follows `{self.word}` stands without brackets"
            case "call":
                return f"nothing is called after `{self.word}`: it reads a name or a path"
            case _:
                return f"a name or a path is read after `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        match self.slip:
            case "brackets":
                return "remove the brackets"
            case "call":
                return "name the call before: `const answer = …`"
            case _:
                return "write a name, as `answer`, or a path, as `answer.ok`"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteBlock(Problem):
    """A block lacks one of its parts.

    ```aug letter.aug
    const people = Identify(prompt);
    each person of people.attendees { Greet(person) }
    ```

    The blocks are `when PATH { … } else { … }`, `each NAME in PATH { … }`, `repeat { … } until PATH`,
    `repeat NAME in PATH { … }`, `try { … } else { … }` and `do { … }`.
    """

    name: ClassVar[str] = "incomplete-block"

    word: str
    """With what the block begins."""
    missing: str
    """What should stand here: `` `in` ``, `` `{` ``."""
    put: str = ""
    """What to write in place of the word that stands here."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this `{self.word}` needs {self.missing} here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{FORMS[self.word]}`" if self.word in FORMS else None

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replaced(self.at, self.put) if self.put else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(Problem):
    """A name is defined with parameters.

    There are no functions: a program has inputs, which its statements read.

    ```aug letter.aug
    tool letter(topic) = Draft(topic)
    ```

    Declare `input topic` and read it: `tool letter = Draft(topic)`.
    """

    name: ClassVar[str] = "parameters"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` cannot have parameters"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"declare each with `input NAME`, and write `{self.word} = …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingScheme(Problem):
    """A path of a vibe stands without `aug:`.

    ```aug letter.aug
    "Find an hour" | instructions/find-slot
    ```

    Write `aug:instructions/find-slot`. An instruction can also be called by its name alone: `FindSlot`.
    """

    name: ClassVar[str] = "missing-scheme"

    path: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.path}` is a path, but not yet a reference"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `aug:{self.path}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replaced(self.at, f"aug:{self.path}")
