"""Problems with blocks: parts that are missing, or that stand where none may."""

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
    """`brackets`, `call`, `scalar` or `value`."""
    word: str = "when"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        match self.slip:
            case "brackets":
                return f"what follows `{self.word}` stands without brackets"
            case "call":
                return f"nothing is called after `{self.word}`: it reads a name or a path"
            case "scalar":
                return "a text, a number, `true`, `false` or `null` stands behind `is`"
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
            case "scalar":
                return f'write a text in quotes: `is "{self.word}"`' if self.word.isidentifier() else None
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
