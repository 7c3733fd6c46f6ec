"""Problems with conditions, and with values that may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import LISTED_VALUES
from instrc.problems.problem import Problem, Severity
from instrc.problems.suggest import FOREIGN_VALUES


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverTrue(Problem):
    """A condition can never hold.

    The schema of the value excludes what the condition asks for: the branch would never run, or the loop would never end.

    ```aug letter.aug
    const check = Check(prompt);
    when check.level is "hihg" { Draft(prompt) } else { Ask(prompt) }
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "level": { "enum": ["low", "high"] } }, "required": ["level"] }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/ask.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write a value that the schema allows: `check.level is "high"`.
    """

    name: ClassVar[str] = "never-true"
    severity: ClassVar[Severity] = "warning"

    admitted: tuple[str, ...] = ()
    """The values that the schema lists, as they are written there."""
    advice: str = ""
    """What to write instead, if that is known from the type of the value."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this condition never holds: the schema of the value excludes it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.advice:
            return self.advice
        if not self.admitted:
            return "compare it with the values that the schema allows"
        shown = ", ".join(f"`{value}`" for value in self.admitted[:LISTED_VALUES])
        return f"the schema allows {shown}{', …' if len(self.admitted) > LISTED_VALUES else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlwaysTrue(Problem):
    """A condition always holds.

    The schema of the value allows nothing else, so there is nothing to decide.

    ```aug letter.aug
    const check = Check(prompt);
    when check.level @ { type: "string" } { Draft(prompt) } else { Ask(prompt) }
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "level": { "type": "string" } }, "required": ["level"] }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/ask.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Remove the condition, or ask for something that the schema does not guarantee.
    """

    name: ClassVar[str] = "always-true"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this condition always holds: the schema of the value allows nothing else"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it, or ask for something that the schema does not guarantee"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangingCondition(Problem):
    """The condition of a loop reads something that the loop does not change.

    The condition after `until` is evaluated after every round; a value from outside the block is the same each time,
    so the loop ends after one round or never.

    ```aug letter.aug
    const check = Check(prompt);
    repeat { const draft = Draft(prompt); draft } until check.good
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "good": { "type": "boolean" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Put the step that gives this value into the block:
    `repeat { const draft = Draft(prompt); const check = Check(draft); draft } until check.good`.
    """

    name: ClassVar[str] = "unchanging-condition"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this value is the same in every round: it comes from outside the block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put the step that gives this value into the block"


@dataclass(frozen=True, slots=True, kw_only=True)
class MayBeNull(Problem):
    """An argument may be `null` where its schema excludes that.

    A `when` without `else` gives `null` if no condition holds. Any other value may be `null` if its schema allows it.

    ```aug letter.aug
    const check = Check(prompt);
    Send_Activity(to: check.mail)
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "mail": { "type": ["string", "null"] } }, "required": ["mail"] }
    ```

    ```json schemas/send_Activity.vibe.json
    { "type": "object", "properties": { "to": { "type": "string" }, "output": { "type": "string" } }, "required": ["to"] }
    ```

    Check it first: `when check.mail @ { minLength: 1 } { Send_Activity(to: check.mail) }`.
    """

    name: ClassVar[str] = "may-be-null"
    severity: ClassVar[Severity] = "warning"

    word: str
    argument: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the argument `{self.argument}` of `{self.word}` may be `null`, which its schema excludes"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "check it first with `when`, or let the schema of the argument allow `null`"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCondition(Problem):
    """There is no condition after `when` or `until`, or no list after the `in` of an `each`.

    A condition reads a name or a path: `PATH`, `PATH is VALUE`, `PATH @ { … }`, or several of these joined by `or`.
    It has no brackets around it, no calls and no comparison operators.

    ```aug letter.aug
    const answer = Confirm(prompt);
    when (answer.ok) { Send }
    ```

    Write `when answer.ok { Send }`. To read the result of a call, name it first: `const answer = Confirm(prompt)`.
    """

    name: ClassVar[str] = "bad-condition"

    slip: str
    """`brackets`, `call`, `range`, `scalar`, `list`, `or` or `value`."""
    word: str = "when"
    empty: bool = False
    """Whether it is a list of nothing."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        match self.slip:
            case "brackets":
                return f"what follows `{self.word}` is written without brackets"
            case "call" | "range":
                return f"a call cannot follow `{self.word}`: write a name or a path"
            case "scalar" | "list":
                return "`is` needs a text, a number, `true`, `false` or `null` after it"
            case "or":
                return "`or` needs a whole condition after it, with its own path"
            case _:
                return f"`{self.word}` needs a name or a path after it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        match self.slip:
            case "brackets":
                return "remove the brackets"
            case "call" if self.at and (instead := _CALLED.get(self.at.text.casefold())):
                return f"a program computes nothing: write `PATH @ {instead}`"
            case "call":
                return "name the result of the call first: `const answer = …`"
            case "range":
                return "write the number of times as a literal: `each i in 3 { … }`"
            case "scalar":
                return _scalar(self.word)
            case "list" if self.empty:
                return "write `PATH @ { maxItems: 0 }` for an empty list"
            case "list":
                return "write `PATH @ { enum: […] }` for one of several values"
            case "or":
                return f"write the path again: `PATH is … or PATH is {self.word}`"
            case _ if self.word == "in":
                return "write the path of a list that a step or an `input` gives: `each NAME in found.items { … }`"
            case _:
                return "write a name such as `answer`, or a path such as `answer.ok`"


_CALLED = {
    **dict.fromkeys(("contains", "includes", "has"), "{ contains: { const: … } }"),
    **dict.fromkeys(("len", "length", "count", "size", "any", "not_empty", "notempty"), "{ minItems: 1 }"),
    **dict.fromkeys(("empty", "is_empty", "isempty"), "{ maxItems: 0 }"),
    **dict.fromkeys(("exists", "defined", "is_defined", "isdefined", "bool"), "{}"),
    **dict.fromkeys(("startswith", "starts_with", "endswith", "ends_with", "matches", "match"), '{ pattern: "…" }'),
}
"""What a condition says in a JSON Schema where other languages call a function, in lower case."""
_ANSWERS = {**dict.fromkeys(("yes", "on"), "true"), **dict.fromkeys(("no", "off"), "false")}
"""Words of people for what is true or not."""


def _scalar(word: str) -> str | None:
    """Return what to write instead of a word after `is`."""
    constant = FOREIGN_VALUES.get(word) or _ANSWERS.get(word.casefold())
    if constant is not None:
        return f"write `{constant}`"
    if word in {"in", "one"}:
        return "write `PATH @ { enum: […] }` for one of several values"
    if word == "empty":
        return 'write `""` for an empty text; of a list `PATH @ { maxItems: 0 }`'
    return f'write a text in quotes: `is "{word}"`' if word.isidentifier() else "write one of these"
