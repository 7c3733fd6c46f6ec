"""Problems of habit: notation of other languages, formats and tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Edit, Fix, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedQuotes(Problem):
    r"""A string contains the quote that surrounds it, so it ends there.

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
        quote = self.characters or '"'
        return f"write `\\{quote}` for a quote inside a string, or put the string into the other kind of quotes"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSeparator(Problem):
    """Two values are next to each other on one line, with nothing between them.

    They are two statements, and outside of blocks two tools. A `|` leads from one step to the next.

    ```aug letter.aug
    ReadLetter WriteReply
    ```

    ```json schemas/read_letter.vibe.json
    { "type": "object", "properties": { "wish": { "type": "string" } } }
    ```

    ```json schemas/write_reply.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write `|` if the second should read the first. If they are two statements, write `;` or put them on two lines.
    """

    name: ClassVar[str] = "missing-separator"
    severity: ClassVar[Severity] = "warning"

    before: Span
    """The value before it."""
    defines: bool = False
    """Whether the second one defines a name."""
    after_when: bool = False
    """Whether the braces of an object follow a `when` that has no `else`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a new statement begins here, but nothing separates it from what is before it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.defines:
            return f"a definition begins with `const` or `tool`: remove `{self.before.text}`, or write `;` after it"
        if self.after_when:
            return "write `else` between them if this is what happens otherwise, or `;` if it always happens"
        return "write `|` between them if this should read what is before it, else `;`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.defines:
            return ()
        end = self.before.end
        between = Span(self.before.source, end, end)
        if self.after_when:
            return tuple(Fix(f"put `{word.strip()}` between them", (Edit(between, word),), safe=False) for word in (" else", ";"))
        return (
            Fix("put `|` between them", (Edit(between, " |"),), safe=False),
            Fix("put `;` between them", (Edit(between, ";"),), safe=False),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedValue(Problem):
    """Square brackets follow a value directly, as if they selected a part of it.

    A path contains only names, and cannot select an element of a list.

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
        number = self.characters.partition(".")[0]  # `0.1` in `people.0.1` is one number
        if number.isdecimal():
            return f"no member of a value is called `{number}`: paths contain only names"
        return "square brackets cannot select a part of a value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `.NAME` for a member, or `each NAME in PATH { … }` for the elements of a list"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedReference(Problem):
    """An `aug:` reference, or the name before the brackets of a call, is in quotes, so it is a string.

    ```aug letter.aug
    "aug:instructions/draft" | Review
    ```

    Write it without quotes: `aug:instructions/draft | Review`.
    """

    name: ClassVar[str] = "quoted-reference"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "in quotes, this is a text, not a reference or a name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write it without quotes"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or len(self.at.text) < 3:
            return ()
        return replacement(self.at, self.at.text[1:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOfSteps(Problem):
    """Instructions are in square brackets, which contain only data.

    ```aug letter.aug
    [Tone, Topic] | Draft
    ```

    Name them in braces: `{ tone: Tone, topic: Topic } | Draft`, or pass them as arguments: `Draft(Tone, Topic)`.
    """

    name: ClassVar[str] = "list-of-steps"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "square brackets contain data, not steps"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "name the steps in braces: `{ a: A, b: B }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAProgram(Problem):
    """A file contains something other than a program: YAML, JSON, plain text, Markdown or HTML.

    ```aug letter.aug
    name: letter
    steps:
      - draft
    ```

    The name of a program ends with `.aug`; the name of a vibe, which is a JSON Schema, ends with `.vibe.json`.
    """

    name: ClassVar[str] = "not-a-program"

    kind: str
    """What it looks like, with its article if it has one: `YAML`, `plain text`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this looks like {self.kind}, not a program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'is it the right file? a program looks like `"Write a letter" | Draft`'


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubledBraces(Problem):
    """The fields of one object have two pairs of braces around them.

    ```aug letter.aug
    { { tone: Tone, topic: Topic } } | Draft
    ```

    Remove one pair. Two pairs are needed only in a block whose value is an object: `when a.ok { { x: A, y: B } }`.
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
    """The path of a vibe is written without `aug:`.

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
        return f"`{self.path}` is a path, but not a reference"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self._reference()}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self._reference(), safe=self._reference() == f"aug:{self.path}")

    def _reference(self) -> str:
        """Return the path as a reference: below a root, which a folder `schemas` is, and without the ending of a file."""
        path, dots, version = self.path.partition(":")
        below = re.sub(r"^(?:\.{1,2}/)+|(?:\.vibe)?\.(?:json|aug)$", "", path)
        return f"aug:{below.removeprefix('schemas/')}{dots}{version}"
