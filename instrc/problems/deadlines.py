"""Problems with deadlines and delays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from instrc.problems.problem import Problem, Severity

_CALENDAR = re.compile(r"""["']P[0-9]+[MY]""")
"""A duration in months or years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadDuration(Problem):
    """A deadline or a delay is not a duration.

    `within` and `delay` are durations of ISO 8601: weeks, days, hours, minutes, seconds.
    Months and years have no fixed length and are not allowed; nor is a deadline of no time at all, which is over at once.
    For `5m` or `"2 days"` the hint says what to write.

    ```aug letter.aug
    Confirm_User @ { within: "2 days" }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "type": "string" } } }
    ```

    Write `"P2D"` for two days, `"PT30S"` for half a minute, `"P1DT12H"` for a day and a half.
    """

    name: ClassVar[str] = "bad-duration"

    word: str = ""
    """`within` or `delay`, if it is behind one."""
    over: bool = False
    """Whether it is a deadline of no time at all."""
    written: str = ""
    """What is written in its place, if that is no string."""
    instead: str | None = None
    """The same time in ISO 8601, if it can be told."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.over:
            return "this deadline is over before anything can be done"
        if self.written:
            return f"`{self.written}` is not a duration of ISO 8601"
        return f"`{self.word}` needs a duration of ISO 8601"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.over:
            return 'write how long to wait, `"PT30S"`, or leave the deadline out'
        if self.at is not None and _CALENDAR.search(self.at.text):
            return 'months and years have no fixed length: write days, `"P30D"`'
        if self.instead:
            return f'write `"{self.instead}"`, in `@ {{ within: "{self.instead}" }}` after the step or block'
        return 'write `"P2D"` for two days, `"PT30S"` for half a minute'


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedDeadline(Problem):
    """A deadline or a delay is written where nothing is waited for.

    It belongs to a step or a block.
    The braces after the path of a condition, or after an `input`, contain a JSON Schema that the value must satisfy.
    A context has no deadline: its steps have their own. What fills a slot has none either: it is a part of another step.

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
    place: Literal["condition", "words", "input", "context", "slot", "twice"] = "condition"
    """Where it is written; `words` if it is not an annotation, `twice` if there is another one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        match self.place:
            case "words":
                return f"`{self.word}` is not a word of the language: a deadline is an annotation"
            case "condition":
                return f"`{self.word}` is in a condition, where only a schema is allowed"
            case "input":
                return f"`{self.word}` is on an input, which nobody waits for"
            case "context":
                return f"`{self.word}` is on a context: only its steps can have one"
            case "slot":
                return f"`{self.word}` is on the contents of a slot, which are not a separate step"
            case "twice":
                return f"`{self.word}` is written twice for the same step or block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        match self.place:
            case "words":
                return 'write it in braces after the step: `Confirm_User(draft) @ { within: "P2D" }`'
            case "condition":
                return "put the block into brackets and write it after them: `(repeat { … } until …) @ { … }`"
            case "input" | "context":
                return "write it after the step that is waited for"
            case "slot":
                return "write it after the step that has the slot"
            case "twice":
                return "remove one of the two"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleDeadline(Problem):
    """A step of a tool has a deadline or a delay, which has no effect.

    A program that only a model carries out is one tool, and your own code waits for its answer.
    Only the engine that runs a process can end a step at its deadline.

    ```aug letter.aug
    Draft(prompt) @ { within: "PT30S" }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write a block around the step, which makes the program a process: `do { Draft(prompt) } @ { within: "PT30S" }`.
    Or remove the deadline, and limit the time where the tool is called.
    """

    name: ClassVar[str] = "idle-deadline"
    severity: ClassVar[Severity] = "warning"

    words: tuple[str, ...]
    """`within`, `delay`, or both."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"{' and '.join(f'`{word}`' for word in self.words)} on a step of a tool: no engine waits for it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `do { … } @ { … }` around it, which makes the program a process, or remove it"
