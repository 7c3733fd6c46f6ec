"""Typed plain JSON for the plan and state of a run, its commands and results."""

from __future__ import annotations

import re
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict, final

from instrc.process.flow import NO_ENGINE, Step
from instrc.text.jsonvalue import Json, JsonObject

FailureKind: TypeAlias = Literal["failed", "timeout", "invalid", "plan", "limit"]
KINDS: dict[str, FailureKind] = {"failed": "failed", "timeout": "timeout", "invalid": "invalid", "plan": "plan", "limit": "limit"}
"""Failure kinds by name; results from outside may use any name."""


class Complaint(TypedDict):
    """An error in an answer, with its place as a JSON Pointer."""

    pointer: str
    message: str


def placed(complaint: Complaint) -> str:
    """Return a complaint with its place, as messages quote it."""
    return f"at `{complaint['pointer'] or '/'}`: {complaint['message']}"


class Attempt(TypedDict):
    """A rejected answer of a model, with the reasons."""

    answer: Json
    complaints: list[Complaint]


class Fault(TypedDict):
    """Why a command failed."""

    kind: FailureKind
    code: str | None
    message: str
    place: NotRequired[str]
    """`FILE:LINE` of the failed code of an activity; programs do not read it."""


class Failure(Fault):
    """The reason why a step failed permanently."""

    step: str | None
    attempts: NotRequired[list[Attempt]]
    """Attempts at an answer that was never accepted."""


class ModelCommand(TypedDict):
    """Command: complete one chunk by a model."""

    kind: Literal["model"]
    id: str
    chunk: str
    steps: list[str]
    schema: Json
    """Schema shown to the model."""
    context: Json
    """Values that its steps read, nested by path."""
    previous: Json
    """Last answer of a chunk in a loop, otherwise `null`."""
    rejected: Json
    """Last answer if it was rejected, otherwise `null`."""
    complaints: list[Complaint]
    """Reasons for the rejection."""
    model: str | None
    """Model that the project sets for this vibe."""


class ActivityCommand(TypedDict):
    """Command: call a registered activity, or start the process that serves it, and wait."""

    kind: Literal["activity"]
    id: str
    step: str
    activity: str
    process: str | None
    """Address of a process named by a plan."""
    called: str
    """Name by which it is called."""
    input: Json
    whole: NotRequired[bool]
    """Whether the input is one object or list that the program passes as it is: its parts are not arguments."""
    schema: Json
    """Schema of the result."""


class FireCommand(TypedDict):
    """Command: call an activity without waiting."""

    kind: Literal["fire"]
    id: str
    step: str
    activity: str
    input: Json


class UserCommand(TypedDict):
    """Command: ask a person."""

    kind: Literal["user"]
    id: str
    chunk: str
    steps: list[str]
    show: Json
    schema: Json
    """Schema of the answer: that of the step, or an object of steps if the chunk has several."""


class TimerCommand(TypedDict):
    """Command: wait for a duration."""

    kind: Literal["timer"]
    id: str
    after: str
    """ISO 8601 duration, such as `PT30S`."""


Command: TypeAlias = ModelCommand | ActivityCommand | FireCommand | UserCommand | TimerCommand


class Author(TypedDict):
    """Who answered a question, and how they were authenticated."""

    who: str
    means: str
    """`key`, `token`, `cookie`, `link`; `local` without authentication."""


@final
class Result(TypedDict, total=False):
    """The result of a command: `ok` with the value, or `error`."""

    ok: Json
    error: Json
    """`{ "kind"?, "code"?, "message", "place"? }`: the final error of the command."""
    complaints: list[Complaint]
    """Reasons why the engine itself rejected a model's answer: the model is asked again."""
    usage: dict[str, int]
    """Token counts: `input_tokens`, `output_tokens`."""
    cost: float
    """Cost in US dollars, if known."""
    cached: bool
    """Whether the answer to an earlier identical request was reused."""
    by: Author
    """Author of an answer given through a service."""


def tokens_of(usage: object) -> int:
    """Return the number of tokens in token counts, if they are any; cached ones are part of the input."""
    counts = usage if isinstance(usage, dict) else {}
    return sum(count for name in ("input_tokens", "output_tokens") if isinstance(count := counts.get(name), int))


PlanKind: TypeAlias = Literal["process", "tool", "steps", "call"]
"""Kind of compiled document; `steps` is a tool whose properties are steps."""


class SpendingLimits(TypedDict, total=False):
    """The spending limits of a run: those of its options, and raised ones, which replace them."""

    requests: int
    tokens: int


class RunOptions(SpendingLimits, total=False):
    """Settings that affect a run."""

    asks: int
    """Maximum number of times that a model is asked again."""
    elements: int | None
    """Maximum concurrent elements of an `each`."""
    pauses: bool
    """`false` to skip every `delay`."""
    fires: dict[str, str]
    """Activities by bare name that also receive what a model fills in."""
    models: dict[str, str]
    step: str
    """Name of the only step of a tool, whose answer has no step key."""
    waits: bool
    """Whether a direct call waits for its activity, which can then fail the run."""
    calls: int
    """Maximum calls of one plan, its tasks and their copies; without it, as in older plans, there is none."""
    labels: bool
    """Whether the command of an activity has `whole`; without it, as in older plans, it never has."""


class PinnedPlan(TypedDict):
    """The plan of a run: process, interpreter version and settings, pinned by a digest."""

    interpreter: str
    kind: PlanKind
    process: JsonObject
    options: RunOptions
    digest: str


class Done(TypedDict):
    """Outcome: the run is done, with the steps by key, and the value of the process."""

    status: Literal["done"]
    output: Json
    value: Json


class Failed(TypedDict):
    """Outcome: a step failed permanently."""

    status: Literal["failed"]
    error: Failure


class Stopped(TypedDict):
    """Outcome: a person refused."""

    status: Literal["stopped"]
    step: str


Outcome: TypeAlias = Done | Failed | Stopped


class Asking(TypedDict, total=False):
    """The progress of a model's chunk."""

    round: int
    """Round of a chunk in a loop."""
    asks: int
    """How often the model was asked again in this round."""
    previous: Json
    """Answer of the previous round."""
    rejected: Json
    complaints: list[Complaint]
    attempts: list[Attempt]


CommandWay: TypeAlias = Literal["run", "delay", "within", "task"]
"""Purpose of an open command: the work of a unit, its delay, its deadline, or one task of a plan."""
_Opened = TypedDict("_Opened", {"scope": str, "unit": int, "as": CommandWay})


class Entry(_Opened, Asking, total=False):
    """An open command: its unit; the span of a timer, the task and copy of a task, the progress of a model request."""

    after: str
    task: str
    copy: int | None


class TaskState(TypedDict):
    """The state of a task in a plan."""

    status: str
    waits: int
    """Number of tasks that it waits for."""
    left: NotRequired[int]
    """Number of unfinished copies."""
    output: NotRequired[Json]
    error: NotRequired[Fault]


class PlanState(TypedDict):
    """The state of a plan in execution."""

    plan: Json
    tasks: dict[str, TaskState]
    left: int
    calls: NotRequired[int]
    """Number of calls begun, where it has a limit."""


class BranchState(TypedDict):
    """State of a `when`, a `try` or a `do`: the current body."""

    branch: NotRequired[int]


class EachState(TypedDict):
    """State of an `each`: the values of its elements so far."""

    items: list[Json]
    next: int
    left: int
    records: list[Json]
    values: list[Json]
    shows: NotRequired[list[Json]]
    """Values as shown to other rounds, if some are shown in part."""


class RepeatState(TypedDict):
    """State of a `repeat`: the values of its rounds so far; an ended one waiting for its `else` has no items or records."""

    items: NotRequired[list[Json] | None]
    round: int
    records: NotRequired[list[Json]]
    values: list[Json]
    shown: list[Json]
    vain: bool
    value: Json
    first: NotRequired[Json]
    """Value of `previous` in the first round, if the program defines it."""
    shows: NotRequired[list[Json]]
    """As in an `each`; without a list, the shown part of the value."""


class RaceState(TypedDict):
    """State of a `race`: the branches that were ready before it, the number that have not failed, and whether it has ended."""

    waiting: list[int]
    begun: bool
    left: int
    over: bool


BlockState: TypeAlias = BranchState | EachState | RepeatState | RaceState | PlanState


class BodyState(TypedDict):
    """State of a body in execution."""

    region: int
    parent: str | None
    left: int
    waits: dict[str, int]
    """Remaining number of awaited units, for units that wait for fewer than at first."""
    record: JsonObject
    values: JsonObject
    shows: NotRequired[JsonObject]
    """Values by key as shown to other rounds, if some are shown in part."""
    names: JsonObject
    blocks: dict[str, BlockState]
    open: dict[str, None]
    children: dict[str, None]
    refused: list[list[int | str]]
    """Steps that people refused: region, key, and 1 if a later round or an `else` gives the value instead."""


Counted: TypeAlias = Literal["requests", "tokens"]
COUNTED: Final[tuple[Counted, ...]] = ("requests", "tokens")
"""What the limits of a run count."""


class Stalled(Asking):
    """A chunk for which no model is called until the limits of the run are raised."""

    scope: str
    unit: int


class State(TypedDict):
    """The state of a run."""

    inputs: JsonObject
    scopes: dict[str, BodyState]
    ready: list[list[str | int]]
    """Scope and unit; a third member `true` means that its delay has passed."""
    queue: list[str | FireCommand]
    """Commands not yet issued: their ids, or whole commands if no result is expected."""
    open: dict[str, Entry]
    spent: dict[Counted, int]
    """The cost of model calls so far."""
    vain: list[str]
    """Rounds that ended without reaching their goal."""
    outcome: Outcome | None
    looked: NotRequired[int]
    """Blocks begun, and elements that they looked at, less what results have given back."""
    withdrawn: NotRequired[list[str]]
    """Commands no longer needed since a block ended while others were issued; the engine removes them."""
    limits: NotRequired[SpendingLimits]
    stalled: NotRequired[list[Stalled]]
    """Chunks that wait until limits are raised; present if a limit holds the run instead of failing it."""


_STEP = re.compile(r"^step\d+_|_item\d+$")


def bare_name(key: str) -> str:
    """Return a key without number and item, normalized for comparison: without case, `_` and `-`."""
    return _STEP.sub("", key).replace("_", "").replace("-", "").casefold()


def use_of(step: str, activity: str) -> str:
    """Return the name of the use of an activity in a step."""
    return f"{step} {bare_name(activity)}"


def bare_instruction(name: str) -> str:
    """Return the name of an instruction or key normalized for comparison: as `bare_name`, without `_Activity` and `_User`."""
    return bare_name(re.sub(r"_(activity|user)$", "", name, flags=re.IGNORECASE))


def spellings(key: str) -> tuple[str, str]:
    """Return how people write the key of a step: in full, and without its number."""
    return key, _STEP.sub("", key)


def may_fire(step: Step) -> bool:
    """Return whether a property of a model's chunk is a step; one of a mixin around steps has no number and reads nothing."""
    return is_numbered(step.key) or step.engine is not NO_ENGINE


def is_numbered(key: str) -> bool:
    """Return whether a key identifies one step, so that it cannot mean another of the same name."""
    return re.match(r"step\d+_", key) is not None
