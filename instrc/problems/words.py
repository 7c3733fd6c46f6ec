"""Problems with words and signs: names, numbers, keywords, operators of other languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.durations import from_words
from instrc.problems.edits import replacement
from instrc.problems.problem import Edit, Fix, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BadName(Problem):
    """A word is not a valid name.

    Names consist of letters and digits of any script and of `_`, and do not begin with a digit.
    Case, `_` and `-` are ignored when an instruction is looked up, so `find-slot` is written `FindSlot` or `find_slot`.

    ```aug slots.aug
    "Find a slot" | find-slot
    ```

    Use a name without the sign. To read one member of a result, write a path: `people.organizer`.
    """

    name: ClassVar[str] = "bad-name"

    written: str
    instead: str | None = None
    """A valid name that is similar."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.written}` is not a name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.instead:
            return f"write `{self.instead}`"
        if duration := from_words(self.written):
            return f'write a duration after the step or block: `@ {{ within: "{duration}" }}`'
        return "names consist of letters, digits and `_`, and do not begin with a digit"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.instead) if self.instead else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BadNumber(Problem):
    """A number is not written as in JSON.

    An integer has no leading zero, a fraction has digits on both sides of its point, and `0x`, `_` and `+` in front are refused.
    The size of a number is limited too: floats end near 1.8e308, integers at 4,300 digits.

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
        if self.at and ".." in self.at.text:
            return "for 1, 2, 3 at the same time write `each i in 3 { … }`, one after the other `repeat { … } until round is 3`"
        return "write numbers as in JSON: `3`, `0.5`, `-1e6`"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyUri(Problem):
    """An `aug:` reference has nothing after its colon.

    The path follows the colon without a space.

    ```aug greet.aug
    "Say hello" | aug:
    ```

    Write the path of a vibe: `aug:instructions/greet`.
    """

    name: ClassVar[str] = "empty-uri"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this reference does not name a vibe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write the path of a vibe after the colon: `aug:folder/name`"


_LEFT_AWAY = frozenset({"return", "await", "async", "new", "yield"})
_ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"import", "from", "require", "include", "using", "use", "package"}),
        "nothing is imported: instructions are found by name, or by an `aug:` reference",
    ),
    (
        frozenset({"def", "function", "fn", "func", "fun", "lambda", "=>"}),
        "there are no functions: instructions are JSON Schemas in vibe files; name a pipeline with `tool NAME = …`",
    ),
    (
        frozenset({"class", "struct", "interface", "type", "enum", "extends"}),
        'types are JSON Schemas in vibe files; a small one can be written as `@ { type: "object", … }`',
    ),
    (
        frozenset({"select", "insert", "update", "delete", "where"}),
        "a member is read by its path, `people.name`; what is to be done with a list stands in `each NAME in PATH { … }`",
    ),
    (frozenset({"assert"}), "write what must be true into the schema, or `when PATH { … } else { … }`"),
    (frozenset({"global", "nonlocal", "del", "mut"}), "remove it: a name has one value, which each block inside sees"),
    (
        frozenset({"and"}),
        "in a condition write one `when` in the other, for `until` in a name: `const done = when A { when B { true } }`",
    ),
    (frozenset({"or"}), "`or` joins conditions only; for a choice write `when PATH { … } else { … }`"),
    (frozenset({"not"}), "put what is to happen otherwise behind `else`: `when PATH { … } else { … }`"),
    (frozenset({"this", "self"}), "remove it and the `.`: an instruction is called by its name"),
    (frozenset({"return"}), "remove it: the last expression is the result"),
    (frozenset({"await", "async", "yield"}), "remove it: a step waits for the results that it reads"),
    (frozenset({"call", "run", "invoke", "execute", "goto"}), "remove it: an instruction is called by its name, `Draft(prompt)`"),
    (frozenset({"new"}), "remove it: an instruction is called by its name"),
    (frozenset({"export", "process", "pipeline", "workflow"}), "write `tool NAME = …`: that exports it"),
    (frozenset({"wait", "sleep", "pause"}), 'a step that waits says so: `Send_Activity(draft) @ { delay: "PT30S" }`'),
    (frozenset({"as"}), "name a value before it is used: `const NAME = …`"),
    (frozenset({"elif", "elsif", "else if", "elseif"}), "write `else when PATH { … }`"),
    (frozenset({"map", "forEach", "for_each", "filter", "flatMap"}), "write `each NAME in PATH { … }`"),
    (frozenset({"break", "continue"}), "a block runs to its end; write `repeat { … } until PATH` for a loop that ends early"),
    (frozenset({"then"}), "write `|` before what reads the step before it; a choice is `when PATH { … } else { … }`"),
    (frozenset({"if", "unless", "switch", "match", "case"}), "write `when PATH { … } else { … }`"),
    (frozenset({"for", "foreach"}), "write `each NAME in PATH { … }`"),
    (frozenset({"while", "loop"}), "write `repeat { … } until PATH`"),
    (
        frozenset({"catch", "except", "finally", "rescue", "throw", "raise"}),
        "write `try { … } else { … }`; `Fail(error)` fails again",
    ),
)
"""What to write instead of words of other languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatement(Problem):
    """A statement of another programming language.

    A program names values, composes instructions and has its own blocks; it defines no functions and imports nothing.

    ```aug greet.aug
    def greet(prompt): Greet(prompt)
    ```

    Name values with `const` and export tools with `tool`; instructions are vibe files that the registry finds by name.
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
        if advice := next((advice for words, advice in _ADVICE if not words.isdisjoint({self.word, self.word.lower()})), None):
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
    """A sign is not an operator of the language.

    The operators are `|` before the next stage, `=` to name a value, `@` to describe it, and in a condition `is` and `or`.

    ```aug greet.aug
    "Say hello" + Greet
    ```

    Join stages with `|`, pass values in the brackets of a call, and write choices with `when`.
    """

    name: ClassVar[str] = "unknown-operator"

    text: str
    advice: tuple[str, ...] = ()
    """Pieces of advice for this sign."""
    put: str = ""
    """The correct sign here, if there is one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` is not an operator here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "; ".join(self.advice) if self.advice else "join stages with `|`; pass values in the brackets of a call"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.put) if self.put else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow(Problem):
    """There is an arrow between two expressions.

    ```aug greet.aug
    "Say hello" => Greet
    ```

    Write `|` before the next stage, `:` after a key or label, `=` to name a value. There are no functions in a program.
    """

    name: ClassVar[str] = "arrow"

    text: str
    instead: str
    """The correct sign in this place."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` has no meaning"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.instead}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.instead)
