"""Problems with brackets and with the separators in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import SHOWN_NAME
from instrc.problems.edits import insertion, replacement
from instrc.problems.problem import Fix, Label, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraClosingBracket(Problem):
    """A closing bracket has no opening bracket.

    ```aug greet.aug
    "Say hello" | Greet(prompt))
    ```

    Remove it, or open the bracket where it should begin.
    """

    name: ClassVar[str] = "extra-closing-bracket"

    text: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` closes no open bracket"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, "", safe=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingClosingBracket(Problem):
    """A bracket is never closed.

    ```aug greet.aug
    const text = Greet(prompt;
    Reply(text)
    ```

    Close it where its contents end; the message shows the bracket and the place where its end was expected.
    """

    name: ClassVar[str] = "missing-closing-bracket"

    closing: str
    """The brackets that are missing, innermost first."""
    openings: tuple[Span, ...]
    """The brackets that are open, innermost first."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return (
            f"`{self.closing}` is missing here"
            if len(self.openings) == len(self.closing)
            else "many brackets are not closed here"
        )

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"close it with `{self.closing}`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return tuple(Label(opening, f"this `{opening.text}` is still open") for opening in self.openings)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return insertion(self.at, self.closing, safe=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchedBracket(Problem):
    """A bracket is closed by a bracket of another kind.

    ```aug greet.aug
    "Say hello" | Greet({ tone: Polite ])
    ```

    Close `(` with `)`, `[` with `]`, `{` with `}`.
    """

    name: ClassVar[str] = "mismatched-bracket"

    opening: Span
    closing: str
    """The bracket that fits."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.at.text if self.at else self.closing}` is written where `{self.closing}` is needed"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.closing}`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return (Label(self.opening, f"this `{self.opening.text}` is open"),)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.closing, safe=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingComma(Problem):
    """Two arguments, fields or elements have no comma between them.

    ```aug greet.aug
    "Say hello" | Greet(prompt tone)
    ```

    Separate them: `Greet(prompt, tone)`.
    If the first is the name of an argument or the key of a field, a `:` is missing: `Greet(tone: manner)`.
    """

    name: ClassVar[str] = "missing-comma"

    key: Span | None = None
    """The word before it, where that may be a key or the name of an argument."""
    sure: bool = True
    """Whether a comma is all that is missing."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a `,` is missing before this"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        key = f", or write `{self.key.text}: …`" if self.key and len(self.key.text) <= SHOWN_NAME else ""
        return f"separate with `,`{key}"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        comma = insertion(self.at, ",", safe=self.sure and self.key is None)
        if self.key is None:
            return comma
        return (*comma, *insertion(Span(self.key.source, self.key.end, self.key.end), ":", safe=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraComma(Problem):
    """A comma separates nothing.

    Commas separate arguments, fields and elements; one may follow the last.

    ```aug greet.aug
    "Say hello" | Greet(prompt,, tone)
    ```

    Remove it.
    Outside brackets, `;` ends a statement and `|` begins the next stage; brackets without a name contain one expression.
    """

    name: ClassVar[str] = "extra-comma"

    where: str = "list"
    """Where it is: in a `list` in brackets, in a `group` (round brackets without a name), in the `statement` itself,
    in the `names` that it defines, in the `body` of a block, between `bounds` or in a `condition`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `,` separates nothing"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.where == "names":
            return "define one name per statement: `const a = …; const b = …`, `input a; input b`"
        if self.where == "bounds":
            return "remove it: the bounds follow each other: `until PATH max 5 keep 2`"
        if self.where == "condition":
            return (
                "write `or` where one of them is enough, for both a name in the block: `const done = when A { when B { true } }`"
            )
        if self.where == "body":
            return "end the statement with `;`; for an object of both, `{ { a: A, b: B } }`"
        if self.where == "statement":
            return "write `;` to end a statement, `|` to begin the next stage"
        if self.where == "group":
            return "round brackets without a name contain one expression: join stages with `|`"
        return "remove it"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        signs = {"statement": "|;", "group": "|", "body": ";", "names": "", "condition": ""}.get(self.where)
        if signs is None:  # something only stands too much
            return replacement(self.at, "")
        return tuple(fix for sign in signs for fix in replacement(self.at, f" {sign}" if sign == "|" else sign, safe=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class SemicolonInBrackets(Problem):
    """A semicolon is inside brackets.

    ```aug greet.aug
    "Say hello" | Greet(prompt; tone)
    ```

    Separate with `,`; a `;` ends a whole statement.
    """

    name: ClassVar[str] = "semicolon-in-brackets"

    opening: Span

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a `;` ends a statement, but a bracket is still open here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "separate with `,`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return (Label(self.opening, f"this `{self.opening.text}` is open"),)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, ",")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSemicolon(Problem):
    """A semicolon ends no statement.

    ```aug greet.aug
    "Say hello" | Greet;;
    ```

    Remove it: a statement is followed by one `;` or none.
    """

    name: ClassVar[str] = "extra-semicolon"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "no statement ends here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove this `;`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, "")
