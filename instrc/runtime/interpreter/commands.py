"""What the interpreter asks the engine to do, and what the engine gives back: plain JSON with types."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict, final

from instrc.jsonvalue import Json

FailureKind: TypeAlias = Literal["failed", "timeout", "invalid", "plan", "limit"]
KINDS: dict[str, FailureKind] = {"failed": "failed", "timeout": "timeout", "invalid": "invalid", "plan": "plan", "limit": "limit"}
"""By their words, which a result may have from anywhere."""


class Complaint(TypedDict):
    """What is wrong with an answer, and where in it, as a JSON Pointer."""

    pointer: str
    message: str


class Attempt(TypedDict):
    """An answer of a model that was not accepted, and why."""

    answer: Json
    complaints: list[Complaint]


class Failure(TypedDict):
    """Why a step failed for good."""

    step: str | None
    kind: FailureKind
    code: str | None
    message: str
    attempts: NotRequired[list[Attempt]]
    """Of an answer that was never accepted."""


class ModelCommand(TypedDict):
    """Fill in one chunk."""

    kind: Literal["model"]
    id: str
    chunk: str
    steps: list[str]
    schema: Json
    """What the model is shown."""
    context: Json
    """What its steps read, nested by their paths."""
    previous: Json
    """The last answer of a chunk that goes round, else `null`."""
    rejected: Json
    """The last answer, if it was not accepted, else `null`."""
    complaints: list[Complaint]
    """Why it was not."""
    model: str | None
    """The model that the project has set for this vibe."""


class ActivityCommand(TypedDict):
    """Call a registered activity, or start the process that serves it, and wait."""

    kind: Literal["activity"]
    id: str
    step: str
    activity: str
    process: str | None
    """The address of a process, where a plan names one."""
    called: str
    """The name it is called by."""
    input: Json
    schema: Json
    """Of the result."""


class FireCommand(TypedDict):
    """Call an activity and do not wait."""

    kind: Literal["fire"]
    id: str
    step: str
    activity: str
    input: Json


class UserCommand(TypedDict):
    """Ask a person."""

    kind: Literal["user"]
    id: str
    chunk: str
    steps: list[str]
    show: Json
    schema: Json
    """Of the answer: that of the step, or an object of steps where the chunk has several."""


class TimerCommand(TypedDict):
    """Wait for a span of time from now on."""

    kind: Literal["timer"]
    id: str
    after: str
    """ISO 8601, as `PT30S`."""


Command: TypeAlias = ModelCommand | ActivityCommand | FireCommand | UserCommand | TimerCommand


@final
class Result(TypedDict, total=False):
    """What came of a command: `ok` with the value, or `error`."""

    ok: Json
    error: Json
    """`{ "kind"?, "code"?, "message" }`: the command failed for good."""
    complaints: list[Complaint]
    """Of a model's answer that the engine itself did not accept: it is asked again."""
    usage: dict[str, int]
    """Tokens: `input_tokens`, `output_tokens`."""
