"""Problems with conditions, and with values that may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import LISTED_VALUES
from instrc.problems.problem import Problem, Severity


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
