"""Problems with words and signs: names, numbers, keywords, operators of other languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Edit, Fix, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BadName(Problem):
    """Something is not quite a name.

    Names consist of letters, digits and `_`, of any script, and do not begin with a digit.
    Case, `_` and `-` do not count when an instruction is looked up, so `find-slot` is written `FindSlot` or `find_slot`.

    ```aug slots.aug
    "Find a slot" | find-slot
    ```

    Use a name without the sign. One member of a result is read by a path: `people.organizer`.
    """

    name: ClassVar[str] = "bad-name"

    written: str
    meant: str | None = None
    """A name that is near."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.written}` is not a name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.meant:
            return f"write `{self.meant}`"
        return "names are made of letters, digits and `_`, and begin with no digit"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.meant) if self.meant else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BadNumber(Problem):
    """A number is not written as in JSON.

    An integer has no leading zero, a fraction has digits on both sides of its point, and there are no `0x`, `_` or leading `+`.
    A number must also fit: floats end near 1.8e308, integers at 4,300 digits.

    ```aug greet.aug
    "Say hello" | Greet({ times: 03 })
    ```

    Write `3`, `0.5`, `-1e6`.
    """

    name: ClassVar[str] = "bad-number"

    reason: str
    """What is wrong with it, as the rest of a sentence."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this number {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write numbers as in JSON: `3`, `0.5`, `-1e6`"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyUri(Problem):
    """An `aug:` reference has nothing after its colon.

    The path follows at once, without a space.

    ```aug greet.aug
    "Say hello" | aug:
    ```

    Write the path of a vibe: `aug:instructions/greet`.
    """

    name: ClassVar[str] = "empty-uri"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this reference names no vibe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write the path of a vibe after the colon: `aug:folder/name`"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordAsName(Problem):
    """A word of the language stands where a name is needed.

    `const`, `let`, `tool`, `input`, `true`, `false` and `null` have their own meaning.
    They are free as keys and labels, `{ input: x }`, but do not name values.

    ```aug greet.aug
    const input = Greet(prompt)
    ```

    Choose another name. An instruction of that name is reached with another case (`Input`) or by its `aug:` reference.
    """

    name: ClassVar[str] = "keyword-as-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a word of the language, not a name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "choose another name, or write it with another case if an instruction is meant"


_LEFT_AWAY = frozenset({"return", "await", "async", "new", "yield"})
_ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"import", "from", "require", "include", "using", "use", "package"}),
        "nothing is imported: instructions are found by name, or by an `aug:` reference",
    ),
    (
        frozenset({"def", "function", "fn", "func", "fun", "class", "lambda", "=>", "struct", "interface"}),
        "there are no functions: instructions are JSON Schemas in vibe files; name a pipeline with `tool NAME = …`",
    ),
    (frozenset({"return"}), "leave it out: the last expression is the result"),
    (frozenset({"await", "async", "yield"}), "leave it out: what reads a result waits for it"),
    (frozenset({"new"}), "leave it out: an instruction is called by its name"),
    (frozenset({"export"}), "write `tool NAME = …`: that exports it"),
    (frozenset({"as"}), "name a value before it is used: `const NAME = …`"),
    (frozenset({"elif", "elsif", "else if", "elseif"}), "write `else when PATH { … }`"),
    (frozenset({"map", "forEach", "for_each", "filter", "flatMap"}), "write `each NAME in PATH { … }`"),
    (frozenset({"break", "continue"}), "a block runs to its end; write `repeat { … } until PATH` for a loop that ends early"),
    (frozenset({"if", "unless", "switch", "match", "case", "then"}), "write `when PATH { … } else { … }`"),
    (frozenset({"for", "foreach"}), "write `each NAME in PATH { … }`"),
    (frozenset({"while", "loop"}), "write `repeat { … } until PATH`"),
    (frozenset({"catch", "except", "finally", "throw", "raise"}), "write `try { … } else { … }`; `Fail(error)` fails for good"),
)
"""What to write in place of words of other languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatement(Problem):
    """A statement of another programming language.

    A program names values, composes instructions and has blocks of its own; no functions are defined and nothing is imported.

    ```aug greet.aug
    def greet(prompt): Greet(prompt)
    ```

    Name values with `const`, export tools with `tool`; instructions are vibe files that the registry finds by name.
    """

    name: ClassVar[str] = "foreign-statement"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no `{self.word}` in this language"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if advice := next((advice for words, advice in _ADVICE if self.word in words), None):
            return advice
        return "name values with `const NAME = …`, export with `tool NAME = …`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or self.at.text != self.word:
            return ()
        if self.word in _LEFT_AWAY:
            text = self.at.source.text
            end = self.at.end
            while text[end : end + 1] == " ":
                end += 1
            return (Fix(f"remove `{self.word}`", (Edit(Span(self.at.source, self.at.start, end), ""),), safe=True),)
        return replacement(self.at, "tool", safe=False) if self.word == "export" else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownOperator(Problem):
    """A sign is no operator of the language.

    There are few: `|` leads to the next stage, `=` names a value, `@` describes one; in a condition stand `is` and `or`.

    ```aug greet.aug
    "Say hello" + Greet
    ```

    Join stages with `|`, give values in the brackets of a call, and write choices with `when`.
    """

    name: ClassVar[str] = "unknown-operator"

    text: str
    meant: tuple[str, ...] = ()
    """Pieces of advice for this sign."""
    put: str = ""
    """What says the same here, if something does."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` is no operator here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "; ".join(self.meant) if self.meant else "join stages with `|`; give values in the brackets of a call"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.put) if self.put else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow(Problem):
    """An arrow stands between two things.

    ```aug greet.aug
    "Say hello" => Greet
    ```

    Write `|` to lead to the next stage, `:` after a key or label, `=` to name a value. There are no functions in a program.
    """

    name: ClassVar[str] = "arrow"

    text: str
    meant: str
    """The sign that fits the place."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` has no meaning"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.meant}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.meant)
