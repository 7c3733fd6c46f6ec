"""Problems with blocks: parts that are missing or misplaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import insertion, replacement
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
MORE_BRANCHES = "for one more branch write `else when CONDITION { … }` before the last `else`"
"""What to do where a block has a second `else`, or a second pair of braces behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayElse(Problem):
    """An `else` belongs to no block.

    A `when`, a `try` and a `repeat` with a bound have one `else` each.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when answer.ok { Send } else { Ask } else { Stop }
    ```

    For more branches write `else when CONDITION { … }` before the last `else`.
    """

    name: ClassVar[str] = "stray-else"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `else` belongs to no block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return MORE_BRANCHES


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingElse(Problem):
    """Braces follow the braces of a `when` or a `try`, without an `else` between them.

    The second pair of braces needs the word `else` before it.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when answer.ok { Send(answer) } { Ask(answer) }
    ```

    Write `when answer.ok { Send(answer) } else { Ask(answer) }`.
    """

    name: ClassVar[str] = "missing-else"

    word: str
    """The word that begins the block."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`else` is missing before the second braces of this `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{FORMS[self.word]}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return insertion(self.at, "else ")


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayBraces(Problem):
    """Braces follow a block that has all its braces.

    An `else`, a `do`, an `each` and a `repeat` have one pair of braces; all that they do is in it.

    ```aug letter.aug
    do { Draft(prompt) } { Send(prompt) }
    ```

    Write `do { Draft(prompt); Send(prompt) }`.
    """

    name: ClassVar[str] = "stray-braces"

    word: str
    """The word that the braces before these belong to."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"these braces belong to no block: the `{self.word}` before them has its own"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.word == "else":
            return MORE_BRANCHES
        return f"put all that the `{self.word}` does into one pair of braces, or begin these with `do`"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBraces(Problem):
    """The value of a block is an object without its own braces.

    The braces of a block contain statements and a value, so an object in it needs its own pair of braces.

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
        return "an object in a block needs its own braces"

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
class BracesAfterName(Problem):
    """Braces follow a name on the same line, as if the name began a block or were called.

    Blocks begin with `when`, `each`, `repeat`, `try` or `do`; a call has round brackets.

    ```aug letter.aug
    Draft { tone: "warm" }
    ```

    Write `Draft({ tone: "warm" })`. Write an object that is its own statement on its own line.
    """

    name: ClassVar[str] = "braces-after-name"

    word: str
    duration: str = ""
    """The duration behind the word, as it is to be written."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` does not begin a block, and a call has round brackets"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        told = INSTEAD.get(self.word.casefold(), f"write `{self.word}({{ … }})`")
        return told.replace("PT30S", self.duration) if self.duration else told


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayWord(Problem):
    """A word that belongs to a block is in the wrong place.

    In an `each`, `max` comes before the braces. In a `repeat`, `until`, `max` and `keep` come after the braces.

    ```aug letter.aug
    const people = Identify(prompt);
    each person in people.guests { Greet(person) } max 5
    ```

    Write `each person in people.guests max 5 { … }`.
    """

    name: ClassVar[str] = "stray-word"

    word: str
    block: str = ""
    """The word that begins the block before it."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` does not belong to what is written before it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.word == "times":
            return "leave it out: the number alone is the bound"
        if self.word in {"is", "or"}:
            return "a condition is `PATH is VALUE`, and `or` joins two of them"
        if self.word == "in":
            return "`in` follows the name of an element: `each NAME in PATH { … }`"
        if self.word in {"until", "while"}:
            return "write `repeat { … } until PATH` to run a block again"
        if self.block == "each":
            return "write it before the braces: `each NAME in PATH max 5 { … }`"
        return "only `each` and `repeat` have a bound: `repeat { … } until PATH max 3`"


_TOGETHER = "write `do { … }` for each: blocks that do not read each other's results run at the same time"
_AGAIN = "write `repeat { … } until PATH`, or `each i in 3 { … }` for three at the same time"
_LIMITED = 'write it after the block: `do { … } @ { within: "PT30S" }`'
INSTEAD = {
    "otherwise": "write `else { … }`",
    "default": "write `else { … }`",
    "loop": _AGAIN,
    "times": _AGAIN,
    "retry": "who runs the program says how often a step is tried; `try { … } else { … }` says what is done if it fails",
    "timeout": _LIMITED,
    "deadline": _LIMITED,
    "within": _LIMITED,
    "max": "write the bound behind the condition: `repeat { … } until PATH max 3`",
    "until": "write `repeat { … } until PATH`: the condition comes after the braces",
    "parallel": _TOGETHER,
    "all": _TOGETHER,
    "fork": _TOGETHER,
    "concurrently": _TOGETHER,
    "async": _TOGETHER,
    "spawn": _TOGETHER,
    "block": "write `do { … }`",
    "begin": "write `do { … }`",
    "group": "write `do { … }`",
    "finally": "write the steps after the block: they run when it has ended",
}
"""What to write instead of words before braces, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteBlock(Problem):
    """A block lacks one of its parts.

    ```aug letter.aug
    const people = Identify(prompt);
    each person of people.attendees { Greet(person) }
    ```

    Write `each person in people.attendees { … }`.
    The blocks are `when PATH { … } else { … }`, `each NAME in PATH { … }`, `repeat { … } until PATH`,
    `repeat NAME in PATH { … }`, `try { … } else { … }` and `do { … }`.
    """

    name: ClassVar[str] = "incomplete-block"

    word: str
    """The word that begins the block."""
    missing: str
    """What is expected here: `` `in` ``, `` `{` ``."""
    put: str = ""
    """What to write instead of the word that is here."""
    advice: str = ""
    """The correct form of what was probably intended."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this `{self.word}` needs {self.missing} here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.advice:
            return self.advice
        return f"write `{FORMS.get(self.word, FORMS['repeat'])}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.put) if self.put else ()
