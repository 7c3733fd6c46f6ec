"""Problems with paths, conditions and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMember(Problem):
    """A path names a member that its value does not have.

    A path reads one member of what a name stands for, and the schema of that says which members there are.
    What the server gives back is read without the word `output`: `found.items`.

    ```aug letter.aug
    const topic = FindTopic(prompt);
    Draft(topic.titel)
    ```

    ```json schemas/find_topic.vibe.json
    { "type": "object", "properties": { "title": { "type": "string" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write one of the members that there are: `topic.title`.
    """

    name: ClassVar[str] = "unknown-member"

    word: str
    known: tuple[str, ...] = ()
    """The members there are."""
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no member `{self.word}` here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.nearest:
            return did_you_mean(self.nearest)
        members = ", ".join(f"`{name}`" for name in self.known[:8])
        return f"its members: {members}" if self.known else "it has no members"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathIntoList(Problem):
    """A path leads into a list.

    A list has no members of its own, and a path takes no number.
    A block goes through its elements: `each person in people.guests { … }`.

    ```aug letter.aug
    const people = FindGuests(prompt);
    Draft(people.guests.name)
    ```

    ```json schemas/find_guests.vibe.json
    { "type": "object", "properties": { "guests": { "type": "array", "items": { "type": "object" } } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Hand the list on whole, or go through it with `each`.
    """

    name: ClassVar[str] = "path-into-list"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` cannot be read here: what stands before it is a list"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "hand the list on whole, or go through it: `each element in … { … }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAValue(Problem):
    """Something that is no value stands where a value is read.

    A condition, a list and the head of a path read the value of a local name, an input or a step.
    The name of an instruction is none: the instruction has not been called yet.

    ```aug letter.aug
    when Check { Draft } else { Ask }
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "good": { "type": "boolean" } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    ```json schemas/ask.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Call it first and give its result a name: `const check = Check(prompt); when check.good { … }`.
    """

    name: ClassVar[str] = "not-a-value"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is no value that can be read"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "call it first and give the result a name: `const result = …;`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAList(Problem):
    """A block is to go through something that is not a list.

    `each` and `repeat NAME in` take the elements of a list one by one; the schema says that this value is none.

    ```aug letter.aug
    const people = FindGuests(prompt);
    each guest in people { Draft(guest) }
    ```

    ```json schemas/find_guests.vibe.json
    { "type": "object", "properties": { "guests": { "type": "array", "items": { "type": "string" } } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Name the member that is the list: `each guest in people.guests { … }`.
    """

    name: ClassVar[str] = "not-a-list"

    word: str
    lists: tuple[str, ...] = ()
    """Members that are lists."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not a list"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(tuple(f"{self.word}.{name}" for name in self.lists))


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

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` stands in a condition, where only a schema can stand"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put the block into brackets and write it behind: `(repeat { … } until …) @ { … }`"


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
class NeverTrue(Problem):
    """A condition can never hold.

    The schema of what it reads excludes what it asks for: the branch would never run, the loop never end.

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

    Write a value that the schema admits: `check.level is "high"`.
    """

    name: ClassVar[str] = "never-true"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this condition never holds: the schema of what it reads excludes it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "compare it with the values that the schema admits"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlwaysTrue(Problem):
    """A condition always holds.

    The schema of what it reads admits nothing else, so there is nothing to decide.

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

    Leave the condition out, or ask for less than the schema promises.
    """

    name: ClassVar[str] = "always-true"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this condition always holds: the schema of what it reads admits nothing else"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "leave it out, or ask for less than the schema promises"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangingCondition(Problem):
    """The condition of a loop reads something that the loop does not change.

    What stands behind `until` is looked at after every round; a value from outside the block is the same each time,
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

    Put the step that decides into the block:
    `repeat { const draft = Draft(prompt); const check = Check(draft); draft } until check.good`.
    """

    name: ClassVar[str] = "unchanging-condition"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this is the same in every round: it comes from outside the block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put the step that decides into the block"


@dataclass(frozen=True, slots=True, kw_only=True)
class MayBeNull(Problem):
    """An argument may be `null` where its schema excludes that.

    A `when` without `else` gives `null` if no condition holds, and so may any other value whose schema says so.

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

    Ask first: `when check.mail @ { minLength: 1 } { Send_Activity(to: check.mail) }`.
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
        return "ask first with `when`, or let the schema admit `null`"


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
