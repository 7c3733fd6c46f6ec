"""Problems with the notation: keys, labels, annotations, and mistakes without a more exact name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import FOREIGN_VALUES
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayColon(Problem):
    """A colon is in a place without labels or keys.

    Labels are written in the brackets of a call and keys in braces, nowhere else.

    ```aug greet.aug
    Reply((text: Greet))
    ```

    To name a value, write `const text = Greet`; to pass it to a call, write `Reply(text: Greet)`.
    """

    name: ClassVar[str] = "stray-colon"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "there is no label or key here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "label arguments in a call, `f(text: x)`, or keys in braces, `{ text: x }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedKey(Problem):
    """A key occurs twice in one pair of braces, or a label twice in one call.

    ```aug greet.aug
    "Say hello" | Greet({ tone: "polite", tone: "brief" })
    ```

    Remove one of them, or give it another key.
    """

    name: ClassVar[str] = "repeated-key"

    key: str
    first: Span

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.key}` occurs twice"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove one of them, or rename it"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return (Label(self.first, "first written here"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualsForColon(Problem):
    """An `=` is inside brackets, where a colon is needed.

    ```aug greet.aug
    "Say hello" | Greet({ tone = Polite })
    ```

    Write `{ tone: Polite }` and `f(tone: Polite)`; `=` names a value only at the start of a statement.
    """

    name: ClassVar[str] = "equals-for-colon"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "in brackets, a value follows `:`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `:`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, ":")


@dataclass(frozen=True, slots=True, kw_only=True)
class BadAnnotation(Problem):
    """An `@` is not followed by a string or by braces.

    A string extends the description of the step before it; braces add keywords of JSON Schema.

    ```aug greet.aug
    "Say hello" | Greet @ Polite
    ```

    Write `Greet @ "politely"` or `Greet @ { title: "Greeting" }`.
    """

    name: ClassVar[str] = "bad-annotation"

    version: bool = False
    """Whether it looks like a version, as in `draft@2`."""
    described: str = ""
    """The name after an `@` that has nothing before it: `@Draft`, `@ "politely" Draft`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.described:
            return "an `@` comes after what it describes"
        return "a version is not written with `@`" if self.version else "an `@` is followed by a string or by braces"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.described:
            return f'write `{self.described}`, or `{self.described} @ "…"` to describe it'
        if not self.version:
            return 'write `@ "…"` or `@ { … }`'
        text = "" if self.at is None else self.at.source.text
        named = re.search(r"([^\s()\[\]{},;|@\"'=]+)$", text[: self.at.start] if self.at else "")
        version = re.match(r"\d+", text[self.at.end :] if self.at else "")
        reference = named[1] if named else "letter"
        reference = reference if reference.startswith("aug:") else f"aug:…/{reference}"
        return f"write it behind the reference: `{reference}:{version[0] if version else 2}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        before = self.at.source.text[: self.at.start].rpartition("aug:")[2] if self.at else " "
        return replacement(self.at, ":", safe=False) if self.version and not set(before) & set(" \n\"'|(") else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPlainData(Problem):
    """A name or a call is in the braces of an `@`.

    What an `@` adds is plain JSON Schema: strings, numbers, `true`, `false`, `null`, objects and arrays of these.

    ```aug greet.aug
    "Say hello" | Greet @ { type: string }
    ```

    Put words into quotes: `{ type: "string" }`.
    To compose instructions, use a call: `Page_Mixin(Body, { header: Header })`.
    """

    name: ClassVar[str] = "not-plain-data"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "plain data is needed here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if (word := None if self.at is None else FOREIGN_VALUES.get(self.at.text)) is not None:
            return f"write `{word}`"
        return "put it into quotes, or use the brackets of a call to compose instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpectedText(Problem):
    """A word or sign is not allowed here, and the mistake has no more exact name.

    ```aug greet.aug
    input greeting = Greet
    ```

    Look at the text before it: perhaps a separator, an operator or a bracket is missing.
    """

    name: ClassVar[str] = "unexpected-text"

    what: str
    """What was found: `` `=` ``, `the end of the file`."""
    expected: str = ""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"{self.what} is not allowed here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"expected {self.expected}" if self.expected else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyMistakes(Problem):
    """A source has so many mistakes that it is probably not a program.

    Over a hundred of them are not listed one by one; the first few are shown.

    ```aug notes.aug
    A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A);
    A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A);
    A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A);
    A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A);
    A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A); A);
    ```

    Check that this is the right file, or correct the first mistakes and try again.
    """

    name: ClassVar[str] = "too-many-mistakes"

    limit: int
    first: tuple[Problem, ...]
    """The first few of them."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this has more than {self.limit} mistakes"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "is this an `.aug` program? if so, correct the first mistakes and try again"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return tuple(Label(problem.at, problem.message) for problem in self.first if problem.at)
