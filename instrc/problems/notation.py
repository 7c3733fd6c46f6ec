"""Problems with the notation: brackets, separators, operators, words out of place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraClosingBracket(Problem):
    """A closing bracket has no opening one.

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
        return f"nothing is open that `{self.text}` could close"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingClosingBracket(Problem):
    """A bracket is never closed.

    ```aug greet.aug
    const text = Greet(prompt;
    Reply(text)
    ```

    Close it where its contents end; the message shows both the bracket and the place where its end was missed.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchedBracket(Problem):
    """A bracket is closed by one of another kind.

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
        return f"`{self.at.text if self.at else self.closing}` stands where `{self.closing}` is due"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.closing}`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return (Label(self.opening, f"this `{self.opening.text}` is open"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class BracketAfterValue(Problem):
    """A `(` follows something that cannot be called.

    Only names and `aug:` references take brackets, and a `(` continues what stands before it, also over a line break.

    ```aug greet.aug
    const text = Greet(prompt)
    (Reply(text))
    ```

    Write `;` before a `(` that begins a new statement.
    """

    name: ClassVar[str] = "bracket-after-value"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "what stands before this `(` cannot be called"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `;` before it if a new statement begins, or `|` if a stage does"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingComma(Problem):
    """Two arguments, fields or elements have no comma between them.

    ```aug greet.aug
    "Say hello" | Greet(prompt tone)
    ```

    Separate them: `Greet(prompt, tone)`.
    """

    name: ClassVar[str] = "missing-comma"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a `,` is missing before this"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "separate with `,`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraComma(Problem):
    """A comma separates nothing.

    Commas stand between arguments, fields and elements; one may follow the last.

    ```aug greet.aug
    "Say hello" | Greet(prompt,, tone)
    ```

    Remove it.
    Outside brackets, `;` ends a statement and `|` leads to the next stage; brackets without a name hold one expression.
    """

    name: ClassVar[str] = "extra-comma"

    where: str = "list"
    """What it stands in: a `list` in brackets, a `group` in round ones without a name, or the `statement` itself."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `,` separates nothing"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.where == "statement":
            return "write `;` to end a statement, `|` to go on to the next stage"
        return "round brackets without a name hold one expression: join stages with `|`" if self.where == "group" else "remove it"


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this value in braces has no key"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `{ key: value }`"


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`=` is missing after `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.word} = …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongEquals(Problem):
    """A value is named with another sign than `=`.

    ```aug greet.aug
    const text := Greet(prompt)
    ```

    Write `const text = Greet(prompt)`. There is no comparison, so there is no `==` either.
    """

    name: ClassVar[str] = "wrong-equals"

    text: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` does not name a value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `=`"


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualsAfterValue(Problem):
    """An `=` follows something that is not a name alone.

    ```aug greet.aug
    Greet(prompt) = text
    ```

    The name stands on the left: `const text = Greet(prompt)`.
    """

    name: ClassVar[str] = "equals-after-value"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "only a name at the start of a statement can stand before `=`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `const name = …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SemicolonInBrackets(Problem):
    """A semicolon stands inside brackets.

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
        return "a `;` ends a statement, but a bracket is open here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "separate with `,`"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The other place."""
        return (Label(self.opening, f"this `{self.opening.text}` is open"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSemicolon(Problem):
    """A semicolon ends nothing.

    ```aug greet.aug
    "Say hello" | Greet;;
    ```

    Remove it: one `;`, or none, follows a statement.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingStage(Problem):
    """A `|` has nothing on one of its sides.

    ```aug greet.aug
    "Say hello" | Greet |
    ```

    Each `|` stands between two stages; remove it, or write the stage that is missing.
    """

    name: ClassVar[str] = "missing-stage"

    side: str
    """`before` or `after`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"no stage stands {self.side} this `|`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove the `|`, or write the missing stage"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValue(Problem):
    """A value is missing.

    ```aug greet.aug
    "Say hello" | Greet({ tone: })
    ```

    Write the value, or remove what announces it.
    """

    name: ClassVar[str] = "missing-value"

    after: str
    """What announces it, with its preposition: ``after `:` ``."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a value is missing {self.after}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write an expression: a name, a call, a string, …"


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a name is missing after `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write a name"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedWord(Problem):
    """`when` and `each` are kept for later and name nothing for now.

    They are free as keys and labels.

    ```aug greet.aug
    "Say hello" | when
    ```

    Choose another name. An instruction of that name is reached with another case (`When`) or by its `aug:` reference.
    """

    name: ClassVar[str] = "reserved-word"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is reserved for later"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "choose another name"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatement(Problem):
    """A statement of another programming language.

    A program only names values and composes instructions: no functions are defined, nothing is imported, nothing branches.

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
        if self.word in {"import", "from", "require", "include", "using", "use", "package"}:
            return "nothing is imported: instructions are found by name, or by an `aug:` reference"
        if self.word in {"def", "function", "fn", "func", "fun", "class", "lambda", "async"}:
            return "instructions are JSON Schemas in vibe files; name a pipeline with `tool NAME = …`"
        return "name values with `const NAME = …`, export with `tool NAME = …`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownOperator(Problem):
    """A sign is no operator of the language.

    There are three: `|` leads to the next stage, `=` names a value, `@` describes one.

    ```aug greet.aug
    "Say hello" + Greet
    ```

    Join stages with `|`, give values in the brackets of a call, and leave choices to the instructions.
    """

    name: ClassVar[str] = "unknown-operator"

    text: str
    meant: tuple[str, ...] = ()
    """Pieces of advice for this sign."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` is no operator here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "; ".join(self.meant) if self.meant else "join stages with `|`; give values in the brackets of a call"


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "an `@` is followed by a string or by braces"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write `@ "…"` or `@ { … }`'


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
class MarkdownFence(Problem):
    """A Markdown fence stands in a source.

    Answers of language models and pages of documentation wrap programs in such fences; they are not part of the program.

    ~~~aug greet.aug
    ```
    "Say hello" | Greet
    ```
    ~~~

    Remove the lines with the fences.
    """

    name: ClassVar[str] = "markdown-fence"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this Markdown fence is no part of the program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it, and the one that closes it"


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
