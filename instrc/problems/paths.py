"""Problems with paths: names, members and lists that cannot be read as the path says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span

_OF_ROUNDS = {
    "round": "the number of this round is `round`, without `previous` before it",
    "rounds": "all finished rounds are `rounds`, without `previous` before it",
    "previous": "`previous` is the last round; all finished ones are `rounds`",
}

_ENDS_WITH_DOT = re.compile(r"\.[ \t\r]*\n\s*\Z")
_LOOKED_BACK = 200
"""Characters before a member in which the line before it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMember(Problem):
    """A path names a member that its value does not have.

    A path reads one member of the value of a name, and the schema of that value lists its members.
    The result of a step of the server is read without the word `output`: `found.items`.

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

    Write one of the members that exist: `topic.title`.
    """

    name: ClassVar[str] = "unknown-member"

    word: str
    known: tuple[str, ...] = ()
    """The members that exist."""
    nearest: tuple[str, ...] = ()
    handed: bool = False
    """Whether it is looked for in what a block gives, or in another round: thoughts and metrics are left out of these."""
    mixed: bool = False
    """Whether one branch of a block gives a round of a `repeat` there, and another one something else."""
    passed: str = ""
    """The name in the block that only passes on a value from elsewhere, which other rounds do not have."""
    about: str = ""
    """`previous` or `round`, if the member is looked for directly behind that name."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no member `{self.word}` here"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.mixed:
            return f"one branch gives a whole round, another does not: give in each `{{ {{ {self.word}: … }} }}`"
        if self.passed:
            made = f"`const {self.passed} = do {{ … }}`" if self.passed == self.word else f"`{self.word}: do {{ … }}`"
            return f"rounds keep only the values of steps and blocks: make it a block, {made}"
        if self.about == "previous" and self.word in _OF_ROUNDS:
            return _OF_ROUNDS[self.word]
        if self.about == "round":
            return f"`round` is the number of the round; what the last one gave is `previous.{self.word}`"
        if self.nearest:
            return did_you_mean(self.nearest)
        if self.at and _ENDS_WITH_DOT.search(self.at.source.text[max(0, self.at.start - _LOOKED_BACK) : self.at.start]):
            return "remove the `.` that ends the line before, if it does not lead to this word"
        if self.handed and self.word.startswith(("_", "$")):
            return f"a block passes on no thoughts or metrics: make it a value in it, `const why = do {{ step.{self.word} }}`"
        members = ", ".join(f"`{name}`" for name in self.known[:8])
        return f"its members: {members}" if self.known else "it has no members"


_LENGTHS = frozenset({"length", "len", "size", "count"})
"""What the length of a list is called elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathIntoList(Problem):
    """A path tries to read a member of a list.

    A list has no members, and a path cannot contain a number.
    To process each element of a list, use a block: `each person in people.guests { … }`.

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

    Pass on the whole list, or process its elements with `each`.
    """

    name: ClassVar[str] = "path-into-list"

    word: str
    rounds: bool = False
    """Whether the list is `rounds`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` cannot be read here: the value before it is a list"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.word in _LENGTHS:
            return "ask how long a list is in a condition: `PATH @ { minItems: 1 }`, `PATH @ { maxItems: 0 }`"
        if self.rounds:
            return f"what the last round gave is `previous.{self.word}`; for all of them write `each r in rounds {{ … }}`"
        return "pass on the whole list, or process its elements: `each element in … { … }`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAValue(Problem):
    """Something that is not a value is written where a value is read.

    A condition, a list and the head of a path read the value of a local name, an input or a step.
    The name of an instruction is not a value: the instruction has not been called yet.

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
    choosing: bool = False
    """Whether it is the list of a `OneOf(…)`."""
    nearest: tuple[str, ...] = ()
    """Values with similar names."""
    failing: bool = False
    """Whether it is a `Fail`, which ends its block."""
    named: Span | None = None
    """What it only names, where its definition says so: `Check` of `const c = Check;`."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """Show what it is another name of."""
        return (Label(self.named, "only named here, not called"),) if self.named else ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.named:
            return f"`{self.word}` is only another name of `{self.named.text}`, which has not been called"
        if self.choosing:
            return "`OneOf(…)` takes one path to a list in the result of an earlier step"
        if self.failing:
            return f"`{self.word}` gives no value: it ends its block, so what reads it never runs"
        return f"`{self.word}` is not a value that can be read"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.choosing:
            return 'for values that are known, write `@ { properties: { NAME: { enum: ["a", "b"] } } }` after the step'
        if self.failing:
            return "put it into a `try`, and the steps after it into the `else`, which reads `error`"
        if self.nearest:
            return did_you_mean(self.nearest)
        if self.named:
            return f"call it in its definition: `const {self.word} = {self.named.text}();`"
        return "call it first and give the result a name: `const result = …;`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAList(Problem):
    """A block should process the elements of something that is not a list.

    `each` and `repeat NAME in` process the elements of a list one by one; according to its schema this value is not a list.

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
    number: bool = False
    """Whether it is a number, as if the block should run that many times."""
    choosing: bool = False
    """Whether it should be the list of a `OneOf(…)`: of texts or numbers."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.choosing:
            return f"`{self.word}` is not a list of texts or numbers"
        return f"`{self.word}` is not a list"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.choosing:
            return "let an earlier step return a list of only the names or ids"
        if self.number:
            return "write the number of times as a literal: `each i in 3 { … }`"
        members = did_you_mean(tuple(f"{self.word}.{name}" for name in self.lists))
        return members or "name what has the type `array`; let an instruction return a list if there is none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOfTool(Problem):
    """A program exports one member of an answer, but its tool gives the whole answer.

    A program that only a model carries out is one tool: one schema, and the answer contains all that the schema asks for.
    Only an engine that runs a process can take one member out of an answer.

    ```aug letter.aug
    tool Text = Draft(prompt).text
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" }, "tone": { "type": "string" } } }
    ```

    Export the step itself: `tool Text = Draft(prompt)`.
    If you need only the member, write a block around it, which makes the program a process: `do { Draft(prompt).text }`.
    """

    name: ClassVar[str] = "member-of-tool"
    severity: ClassVar[Severity] = "warning"

    word: str
    member: tuple[str, ...]
    unwaited: bool = False
    """Whether it is a call that nobody waits for."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.unwaited:
            return f"nobody waits for the answer of `{self.word}`: there is no `{'.'.join(self.member)}` to give"
        return f"a tool gives the whole answer of `{self.word}`, not only `{'.'.join(self.member)}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "export the step itself, or write `do { … }` around it: a process gives just the member"
