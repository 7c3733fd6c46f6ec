"""Problems with values and results that nothing reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem, Severity
from instrc.source import Span


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
        return f"this step receives only the decision, not `{self.word}`, which the decision is about"

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
            return (Label(self.other, "the decision is about this"),)
        return Label(self.other, "this is not shown"), Label(self.carried, "this uses it after the decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleKey(Problem):
    """A key in `Process(…)` is only another name for an earlier value, and nothing reads it.

    An earlier value is not a new step. An earlier key hides an instruction of the same name:
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
        return f"`{self.word}` is only another name for an earlier value, and nothing reads it by this name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it; to call an instruction whose name is an earlier key, rename that key"
