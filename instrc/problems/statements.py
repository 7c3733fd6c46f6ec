"""Problems with statements and stages: a name, an equals sign, a stage or a value that is missing or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import insertion, replacement
from instrc.problems.problem import Fix, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingName(Problem):
    """A word that defines something is not followed by a name.

    ```aug greet.aug
    const = Greet(prompt)
    ```

    Write the name: `const text = Greet(prompt)`, `input language`.
    """

    name: ClassVar[str] = "missing-name"

    word: str
    parts: bool = False
    """Whether there is a bracket instead, as in destructuring: `const { a, b } = …`."""
    quoted: str = ""
    """The text in quotes that stands in its place."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a name is missing after `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.quoted.isidentifier():
            return f"write the name without quotes: `{self.word} {self.quoted}`"
        if self.parts and self.word == "input":
            return "declare one input per statement: `input a; input b`"
        if self.parts:
            return "name the whole value, `const people = …`, and read its members by paths: `people.names`"
        return "write a name"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEquals(Problem):
    """A name is defined without `=`.

    ```aug greet.aug
    const text Greet(prompt)
    ```

    Write `const text = Greet(prompt)`.
    """

    name: ClassVar[str] = "missing-equals"

    word: str
    called: bool = False
    """Whether brackets follow, as behind an instruction: `tool Greet(prompt)`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a name and `=` are missing before `{self.word}`" if self.called else f"`=` is missing after `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `tool NAME = {self.word}(…)`" if self.called else f"write `{self.word} = …`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return insertion(self.at, "= ") if self.at and self.at.text and not self.called else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongEquals(Problem):
    """A name is defined with a sign other than `=`.

    ```aug greet.aug
    const text := Greet(prompt)
    ```

    Write `const text = Greet(prompt)`. There are no comparison operators, so there is no `==`.
    """

    name: ClassVar[str] = "wrong-equals"

    text: str
    typed: str = ""
    """What is between the name and an `=`, such as a type in other languages: `const text: Letter = …`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` does not name a value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.typed:
            return f"names have no types: remove `: {self.typed}`"
        return "write `=`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return () if self.typed else replacement(self.at, "=")


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualsAfterValue(Problem):
    """An `=` follows something other than a single name.

    ```aug greet.aug
    Greet(prompt) = text
    ```

    The name is on the left: `const text = Greet(prompt)`.
    """

    name: ClassVar[str] = "equals-after-value"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "only a name at the start of a statement can be before `=`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `const name = …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingStage(Problem):
    """A `|` lacks a stage on one side.

    ```aug greet.aug
    "Say hello" | Greet |
    ```

    Each `|` is between two stages; remove it, or write the stage that is missing.
    """

    name: ClassVar[str] = "missing-stage"

    side: str
    """`before` or `after`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no stage {self.side} this `|`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove the `|`, or write the missing stage"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, "", safe=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValue(Problem):
    """A value is missing.

    ```aug greet.aug
    "Say hello" | Greet({ tone: })
    ```

    Write the value, or remove the sign or word that needs it.
    """

    name: ClassVar[str] = "missing-value"

    after: str
    """The sign or word that needs it, with its preposition: ``after `:` ``."""
    defined: str = ""
    """The last defined name, if a block ends with a definition."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a value is missing {self.after}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.defined:
            return f"a block ends with the expression that is its value: write `{self.defined}` before the `}}`"
        return "write an expression: a name, a call, a string, …"
