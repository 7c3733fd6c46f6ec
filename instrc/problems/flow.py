"""Problems with blocks: bounds, deadlines, pipes and results that nothing reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BadBound(Problem):
    """A bound is no number to count with.

    `max`, `keep` and the number of `each i in 3` are whole numbers from 1 up.

    ```aug letter.aug
    each i in 0 { Draft }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write a whole number of at least 1.
    """

    name: ClassVar[str] = "bad-bound"

    limit: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a bound is a whole number from 1 to {self.limit:,}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write such a number; leave out what is not to run at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadDuration(Problem):
    """A deadline or a delay is no duration.

    `within` and `delay` are durations of ISO 8601: weeks, days, hours, minutes, seconds.
    Months and years are of no fixed length and are not taken.

    ```aug letter.aug
    Confirm_User @ { within: "2 days" }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "type": "string" } } }
    ```

    Write `"P2D"` for two days, `"PT30S"` for half a minute, `"P1DT12H"` for a day and a half.
    """

    name: ClassVar[str] = "bad-duration"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a duration of ISO 8601"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write `"P2D"` for two days, `"PT30S"` for half a minute'


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedDeadline(Problem):
    """A deadline stands in a condition.

    What stands in braces behind the path of a condition is a JSON Schema that the value has to satisfy.
    A deadline belongs to a step or a block.

    ```aug letter.aug
    repeat { const draft = Draft(prompt); draft } until draft.good @ { within: "P2D" }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "good": { "type": "boolean" } } }
    ```

    Put the block into brackets: `(repeat { … } until draft.good) @ { within: "P2D" }`.
    """

    name: ClassVar[str] = "misplaced-deadline"

    word: str
    place: str = "condition"
    """`condition`, or `words` where it is no annotation at all."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.place == "words":
            return f"`{self.word}` is no word of the language: a deadline is an annotation"
        return f"`{self.word}` stands in a condition, where only a schema can stand"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.place == "words":
            return 'write it in braces behind the step: `Confirm_User(draft) @ { within: "P2D" }`'
        return "put the block into brackets and write it behind: `(repeat { … } until …) @ { … }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenName(Problem):
    """A block reads `round`, `previous`, `rounds` or `error` of a block around it, where it has one of its own.

    These names are those of the innermost block that has them, under any other name as well:
    a local name, an argument of a program or what is piped in may stand for the `rounds` of the block around.

    ```aug letter.aug
    repeat {
      const earlier = rounds;
      repeat { Draft(earlier) } until round is 2
    } until round is 2
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Make it the value of a block of its own, which has a key that can be read anywhere: `const earlier = do { rounds };`.
    """

    name: ClassVar[str] = "hidden-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this reads `{self.word}` of the block around, where `{self.word}` is that of the block inside"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"hand it on as the value of a block: `const earlier = do {{ {self.word} }};`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadPipe(Problem):
    """Nothing in a block reads what is piped into it.

    In a block, a call that is given nothing reads what is piped in; a call that is given something does not.

    ```aug letter.aug
    input topic
    FindFacts | do { Draft(topic) }
    ```

    ```json schemas/find_facts.vibe.json
    { "type": "object", "properties": { "facts": { "type": "string" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Give the value a name before the block and hand it to the calls that need it: `Draft(topic, facts)`.
    """

    name: ClassVar[str] = "unread-pipe"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "nothing in this block reads what is piped into it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "give the value a name before the block and hand it to the calls that need it"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadResult(Problem):
    """The result of a step reaches nobody who would need it.

    A person has approved what a later activity is not given, or a step of a block is read by nobody.

    ```aug letter.aug
    Draft(prompt) | Confirm_User | Send_Activity
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "enum": ["Approve", "Reject"] } } }
    ```

    ```json schemas/send_Activity.vibe.json
    { "type": "object", "properties": { "id": { "type": "string" } } }
    ```

    Give it a name and hand it on, and send only what was approved:
    `const draft = Draft(prompt); const answer = Confirm_User(draft); when answer.decision is "Approve" { Send_Activity(draft) }`.
    """

    name: ClassVar[str] = "unread-result"
    severity: ClassVar[Severity] = "warning"

    word: str
    """The step whose result is not handed on."""
    other: Span | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.other is None:
            return f"nothing reads the result of `{self.word}`"
        return f"this step is given only a decision, not `{self.word}`, which was decided on"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"give `{self.word}` a name and hand it on" if self.other is not None else "hand it on, or leave the step out"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.other is None else (Label(self.other, "this is what was decided on"),)
