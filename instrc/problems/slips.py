"""Problems with programs that compile, but hardly say what their author meant: a lost sign, a misspelt label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class IndentedStatement(Problem):
    """A line is indented like a further stage of a pipe, but it has no `|`, so it is a statement of its own.

    Indentation has no meaning in the language.
    An instruction on a line of its own is a separate program, or in a block a step whose result nobody reads.

    ```aug letter.aug
    "Write a letter" | Draft
      Review
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/review.vibe.json
    { "type": "object", "properties": { "good": { "type": "boolean" } } }
    ```

    Write `| Review`.
    If a separate statement is meant, end the line before it with `;`, or begin both lines in the same column.
    """

    name: ClassVar[str] = "indented-statement"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this line is a statement of its own, although it is indented like a stage of the pipe before it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `|` before it, or `;` after the statement before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedName(Problem):
    """The goal at the head of a pipe is the name of a value, but in quotes.

    In quotes it is a text: the goal, which names the program and becomes its title.
    It does not say what the next stage reads.

    ```aug letter.aug
    tool reply = "prompt" | Draft
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write `prompt | Draft` to pipe the value, or write as the goal what is to be done: `"Answer a letter" | Draft`.
    """

    name: ClassVar[str] = "quoted-name"
    severity: ClassVar[Severity] = "warning"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"in quotes, `{self.word}` is a text, the goal of this program, and not the value of that name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.word}` without quotes, or another text if a goal is meant"


@dataclass(frozen=True, slots=True, kw_only=True)
class BareFail(Problem):
    """A `Fail` is given nothing, so a run that ends with it does not say why.

    ```aug letter.aug
    const draft = Draft(prompt);
    when draft.text is "" { Fail() } else { draft }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Give it a reason, `Fail(code: "empty", message: "The letter is empty.")`,
    or the error that it passes on, `try { … } else { Fail(error) }`.
    """

    name: ClassVar[str] = "bare-fail"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `Fail` gives no reason: whoever looks at the run does not learn why it failed"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write `Fail(code: "…", message: "…")`, or `Fail(error)` in the `else` of a `try`'


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineAsArgument(Problem):
    """A step of a person has an argument named `within` or `delay`, as if it set the deadline.

    The brackets of a call contain arguments: the person sees this one as data, and it sets no deadline.

    ```aug letter.aug
    "Answer a letter" | Draft | Confirm_User(within: "P2D")
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "enum": ["Approve", "Reject"] } } }
    ```

    Write it after the call: `Confirm_User @ { within: "P2D" }`.
    """

    name: ClassVar[str] = "deadline-as-argument"
    severity: ClassVar[Severity] = "warning"

    word: str
    written: str
    """The time."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is an argument here, which the person is shown: it sets no time"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f'write it after the call: `Confirm_User(draft) @ {{ {self.word}: "{self.written}" }}`'


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyBraces(Problem):
    """Braces or quotes contain nothing, so they have no effect.

    ```aug letter.aug
    Draft({})
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    `Draft({})` is the same as `Draft()`: it still reads what is piped into it, or `prompt`.
    Write into the braces what is missing there, or remove them.
    """

    name: ClassVar[str] = "empty-braces"
    severity: ClassVar[Severity] = "warning"

    annotating: bool = False
    """Whether they follow an `@`."""
    in_pipe: bool = False
    """Whether they are a stage of a pipe."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.annotating:
            return "this annotation is empty, so it has no effect"
        return (
            f"these braces are empty, so {'this stage' if self.in_pipe else 'they'} {'has' if self.in_pipe else 'have'} no effect"
        )

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.annotating:
            return "write a description or keywords, or remove the `@`"
        return "write what is missing, or remove the stage" if self.in_pipe else "write what is missing, or remove them"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarLabel(Problem):
    """A label differs by a letter or two from that of another call, or from an input that the activity lists.

    A label can be any name, unless the schema of an activity says which names exist and `additionalProperties` is `false`.
    So a misspelt label is accepted, and the activity does not find the argument that it looks for.

    ```aug letters.aug
    const people = Identify(prompt);
    const first = Draft(people: people);
    Draft(peple: people, before: first)
    ```

    ```json schemas/identify.vibe.json
    { "type": "object", "properties": { "who": { "type": "string" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Spell both labels alike.
    """

    name: ClassVar[str] = "similar-label"
    severity: ClassVar[Severity] = "warning"

    label: str
    callee: str
    other: str
    there: Span | None = None
    """Where the other label stands; `None` if it is an input that the activity lists."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label of the other call."""
        return () if self.there is None else (Label(self.there, f"here it is `{self.other}`"),)

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.there is None:
            return f"`{self.callee}` has the label `{self.label}` here, and lists the input `{self.other}`"
        return f"`{self.callee}` has the label `{self.label}` here, and `{self.other}` in another call"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "if both mean the same, spell them alike"
