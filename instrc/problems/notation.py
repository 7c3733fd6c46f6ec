"""Problems with the notation: keys, labels, annotations, and what has no better name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Fix, Label, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingColon(Problem):
    """A key in braces has no colon.

    ```aug greet.aug
    "Say hello" | Greet({ tone "polite" })
    ```

    Write `{ tone: "polite" }`.
    A key alone is allowed where it is a name: `{ tone }` means `{ tone: tone }`.
    """

    name: ClassVar[str] = "missing-colon"

    key: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a `:` is missing between key `{self.key}` and its value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.key}: …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingKey(Problem):
    """A value in braces has no key.

    Braces name what they hold; only a name alone may stand for itself.

    ```aug greet.aug
    "Say hello" | Greet({ Polite(prompt) })
    ```

    Write a key before it, `{ tone: Polite(prompt) }`, or use square brackets for a list of data.
    """

    name: ClassVar[str] = "missing-key"

    shown: str = ""
    """The value with a key that fits it, where one is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this value in braces has no key"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{{ {self.shown} }}`" if self.shown else "write `{ key: value }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayColon(Problem):
    """A colon stands where nothing is labelled.

    Labels are written in the brackets of a call and keys in braces, nowhere else.

    ```aug greet.aug
    Reply((text: Greet))
    ```

    To name a value write `const text = Greet`; to give it to a call, `Reply(text: Greet)`.
    """

    name: ClassVar[str] = "stray-colon"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "nothing is labelled here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "label arguments in a call, `f(text: x)`, or keys in braces, `{ text: x }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedKey(Problem):
    """A key stands twice in one pair of braces, or a label twice in one call.

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
        return f"`{self.key}` is already there"

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
    """An `=` stands inside brackets, where a colon belongs.

    ```aug greet.aug
    "Say hello" | Greet({ tone = Polite })
    ```

    Write `{ tone: Polite }` and `f(tone: Polite)`; `=` names a value at the start of a statement only.
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

    A string adds to the description of what stands before it, braces add keywords of JSON Schema.

    ```aug greet.aug
    "Say hello" | Greet @ Polite
    ```

    Write `Greet @ "politely"` or `Greet @ { title: "Greeting" }`.
    """

    name: ClassVar[str] = "bad-annotation"

    version: bool = False
    """Whether it was meant to pin a version, as in `draft@2`."""
    described: str = ""
    """The name behind an `@` that nothing stands before: `@Draft`, `@ "politely" Draft`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.described:
            return "an `@` stands behind what it describes"
        return "a version is not written with `@`" if self.version else "an `@` is followed by a string or by braces"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.described:
            return f'write `{self.described}`, or `{self.described} @ "…"` to describe it'
        return "write it behind the reference: `aug:letter:2`" if self.version else 'write `@ "…"` or `@ { … }`'

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        before = self.at.source.text[: self.at.start].rpartition("aug:")[2] if self.at else " "
        return replacement(self.at, ":", safe=False) if self.version and not set(before) & set(" \n\"'|(") else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPlainData(Problem):
    """A name or a call stands in the braces of an `@`.

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
        return "put it into quotes, or use the brackets of a call to compose instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpectedText(Problem):
    """Something stands where it cannot stand, and the mistake has no better name.

    ```aug greet.aug
    input greeting = Greet
    ```

    Look at what stands before it: perhaps a separator, an operator or a bracket is missing.
    """

    name: ClassVar[str] = "unexpected-text"

    what: str
    """What was met: `` `=` ``, `the end of the file`."""
    expected: str = ""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"{self.what} cannot stand here"

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
