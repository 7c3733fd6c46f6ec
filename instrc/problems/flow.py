"""Problems with blocks: bounds, deadlines, pipes and results that nothing reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class BadBound(Problem):
    """A bound is not a positive whole number.

    `max`, `keep` and the number of `each i in 3` are whole numbers of at least 1.

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
        return "write such a number; remove a block that should not run at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepOverMax(Problem):
    """A `keep` asks for more rounds than there can be.

    `keep` says how many of the last rounds `rounds` shows. There are never more than `max`, which is 3 if it is not written.

    ```aug letter.aug
    repeat { const draft = Draft(prompt, rounds); draft } until draft.good max 2 keep 5
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" }, "good": { "type": "boolean" } } }
    ```

    Leave `keep` out to show all rounds, or write a larger `max`.
    """

    name: ClassVar[str] = "keep-over-max"
    severity: ClassVar[Severity] = "warning"

    keep: int
    most: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`keep {self.keep}` has no effect: there are {self.most} rounds at most"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"leave `keep` out, or write `max {self.keep}` or more"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenName(Problem):
    """A block reads `round`, `previous`, `rounds` or `error` of an outer block, but has the same name itself.

    These names always refer to the innermost block that has them, also when they are read through another name:
    a local name, an argument of a program or what is piped in may be the `rounds` of the outer block.

    ```aug letter.aug
    repeat {
      const earlier = rounds;
      repeat { Draft(earlier) } until round is 2
    } until round is 2
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Give the outer value a name that inner blocks can read, through a block of its own: `const earlier = do { rounds };`.
    """

    name: ClassVar[str] = "hidden-name"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this reads `{self.word}` of the outer block, but `{self.word}` here belongs to the inner block"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"make it the value of a block: `const earlier = do {{ {self.word} }};`"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSlot(Problem):
    """A name is that of an instruction and of a slot before it, and calls the instruction.

    A slot is read by its name only where nothing else is called so. Here the instruction is called once more:
    the model fills it in a second time, and what fills the slot is not read.

    ```aug letter.aug
    { page: Page({ header: Header }), summary: Summarise(header) }
    ```

    ```json schemas/page.vibe.json
    { "type": "object", "properties": { "header": { "type": "object" }, "text": { "type": "string" } } }
    ```

    ```json schemas/header.vibe.json
    { "type": "object", "properties": { "title": { "type": "string" } } }
    ```

    ```json schemas/summarise.vibe.json
    { "type": "object", "properties": { "summary": { "type": "string" } } }
    ```

    To read the slot, write the path to it: `page.header`. To call the instruction, write brackets: `header()`.
    """

    name: ClassVar[str] = "hidden-slot"
    severity: ClassVar[Severity] = "warning"

    word: str
    path: str
    """The path to the slot, as far as names in braces lead to it: `page.header`, or only `header`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` calls the instruction, it does not read the slot `{self.path}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        called = f"`{self.word}()` to call the instruction without this warning"
        if self.path == self.word:
            return f"rename the slot, or write {called}"
        return f"write `{self.path}` to read the slot, or {called}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadPipe(Problem):
    """Nothing in a block reads what is piped into it.

    In a block, a call without arguments reads what is piped in; a call with arguments does not.

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

    Give the value a name before the block and pass it to the calls that need it: `Draft(topic, facts)`.
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
        return "give the value a name before the block and pass it to the calls that need it"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadResult(Problem):
    """The result of a step is not passed to the step that needs it.

    A person approved something, but a later activity does not receive it; a person decides on something that they are not shown;
    or nothing reads the result of a step in a block.

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

    Give it a name and pass it on, and send only what was approved:
    `const draft = Draft(prompt); const answer = Confirm_User(draft); when answer.decision is "Approve" { Send_Activity(draft) }`.
    `Confirm_User(prompt)` would have this problem too: the person would decide without seeing the draft that is sent.
    `Confirm_User(prompt) | Log_Activity` has no problem: no step has a result that could be passed on,
    and to note a decision needs nothing else.
    """

    name: ClassVar[str] = "unread-result"
    severity: ClassVar[Severity] = "warning"

    word: str
    """The step whose result is not passed on."""
    other: Span | None = None
    """Where that step is written, if another one needs its result."""
    carried: Span | None = None
    """The activity that is given the result after the decision of a person who was not shown it."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.other is None:
            return f"nothing reads the result of `{self.word}`"
        if self.carried is not None:
            return f"the person is not shown `{self.word}`, which is used after this decision"
        return f"this step receives only the decision, not `{self.word}`, on which was decided"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.carried is not None:
            return f"give the result of `{self.word}` to this step as well"
        return f"give `{self.word}` a name and pass it on" if self.other is not None else "pass it on, or remove the step"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        if self.other is None:
            return ()
        if self.carried is None:
            return (Label(self.other, "this was decided on"),)
        return Label(self.other, "this is not shown"), Label(self.carried, "this uses it after the decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleKey(Problem):
    """A key in a process that is cut by hand is only another name for something, and nothing reads it.

    What has a name already is no new step. An earlier key hides an instruction of the same name:
    here `Read` is the letter that was read first, so the model does not read a second time.

    ```aug letter.aug
    Process(LLM_Context({ Read: ReadLetter, again: Read }))
    ```

    ```json schemas/read-letter.vibe.json
    { "type": "object", "properties": { "asks": { "type": "string" } } }
    ```

    ```json schemas/read.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    To call the instruction, give the earlier key another name. Otherwise remove the key.
    """

    name: ClassVar[str] = "idle-key"
    severity: ClassVar[Severity] = "warning"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` makes no step: what stands behind it is there already, and nothing reads it by this name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it; to call an instruction whose name is an earlier key, rename that key"
