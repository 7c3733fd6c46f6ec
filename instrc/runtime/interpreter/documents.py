"""The plan and the state of a run, its commands and results: plain JSON with types."""

from __future__ import annotations

import re
from typing import Literal, NotRequired, TypeAlias, TypedDict, final

from instrc.text.jsonvalue import Json, JsonObject

FailureKind: TypeAlias = Literal["failed", "timeout", "invalid", "plan", "limit"]
KINDS: dict[str, FailureKind] = {"failed": "failed", "timeout": "timeout", "invalid": "invalid", "plan": "plan", "limit": "limit"}
"""By their words, which a result may have from anywhere."""


class Complaint(TypedDict):
    """An error in an answer, and its place, as a JSON Pointer."""

    pointer: str
    message: str


class Attempt(TypedDict):
    """An answer of a model that was not accepted, and why."""

    answer: Json
    complaints: list[Complaint]


class Failure(TypedDict):
    """The reason why a step failed for good."""

    step: str | None
    kind: FailureKind
    code: str | None
    message: str
    place: NotRequired[str]
    """`FILE:LINE` of the code of an activity that has failed; programs do not read it."""
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


class Author(TypedDict):
    """Who has answered a question, and how that is known."""

    who: str
    means: str
    """`key`, `token`, `cookie`, `link`; `local` where nobody has proved who they are."""


@final
class Result(TypedDict, total=False):
    """The result of a command: `ok` with the value, or `error`."""

    ok: Json
    error: Json
    """`{ "kind"?, "code"?, "message", "place"? }`: the command failed for good."""
    complaints: list[Complaint]
    """Of a model's answer that the engine itself did not accept: it is asked again."""
    usage: dict[str, int]
    """Tokens: `input_tokens`, `output_tokens`."""
    cost: float
    """In US dollars, if it is known."""
    cached: bool
    """The answer was kept from the same request before."""
    by: Author
    """Of an answer that somebody gave through a service."""


PlanKind: TypeAlias = Literal["process", "tool", "steps", "call"]
"""What was compiled; `steps` is a tool whose properties are steps."""


class RunOptions(TypedDict, total=False):
    """The settings that influence a run."""

    asks: int
    """How often a model is asked again."""
    elements: int | None
    """How many of an `each` run at the same time."""
    requests: int
    tokens: int
    entry: Json
    """The answer of the first chunk, where it is filled already."""
    pauses: bool
    """`false` if no `delay` is waited for."""
    fires: dict[str, str]
    """Activities that what a model fills in is also sent to, by their bare names."""
    models: dict[str, str]
    step: str
    """The name of the only step of a tool, whose answer has no key for it."""
    waits: bool
    """Of a direct call: its activity is waited for, and can fail the run; without it nobody waits."""


class PinnedPlan(TypedDict):
    """The plan of a run: process, version of the interpreter and settings, pinned by a digest."""

    interpreter: str
    kind: PlanKind
    process: JsonObject
    options: RunOptions
    digest: str


class Done(TypedDict):
    """The run is done: the steps by their keys, and the value of the process."""

    status: Literal["done"]
    output: Json
    value: Json


class Failed(TypedDict):
    """A step has failed for good."""

    status: Literal["failed"]
    error: Failure


class Stopped(TypedDict):
    """A person has refused."""

    status: Literal["stopped"]
    step: str


Outcome: TypeAlias = Done | Failed | Stopped


class Asking(TypedDict):
    """The progress of a model's chunk."""

    round: int
    """Of a chunk that goes round."""
    asks: int
    """How often it was asked again in this round."""
    previous: Json
    """The answer of the round before."""
    rejected: Json
    complaints: list[Complaint]
    attempts: list[Attempt]


CommandWay: TypeAlias = Literal["run", "delay", "within", "task"]
"""What an open command is for: the work of a unit, its delay, its deadline, one task of a plan."""
Entry = TypedDict(
    "Entry",
    {
        "scope": str,
        "unit": int,
        "as": CommandWay,
        "after": NotRequired[str],
        "task": NotRequired[str],
        "copy": NotRequired[int | None],
        "round": NotRequired[int],
        "asks": NotRequired[int],
        "previous": NotRequired[Json],
        "rejected": NotRequired[Json],
        "complaints": NotRequired[list[Complaint]],
        "attempts": NotRequired[list[Attempt]],
    },
)
"""An open command: its unit; of a timer its span, of a task which one and which copy, of a model how far the asking is."""


class Fault(TypedDict):
    """Why a command has failed."""

    kind: FailureKind
    code: str | None
    message: str
    place: NotRequired[str]


class TaskState(TypedDict):
    """A task of a plan that is carried out."""

    status: str
    waits: int
    """For how many other tasks."""
    left: NotRequired[int]
    """How many of its copies are not done."""
    output: NotRequired[Json]
    error: NotRequired[Fault]


class PlanState(TypedDict):
    """A plan that is carried out."""

    plan: Json
    tasks: dict[str, TaskState]
    left: int


class BranchState(TypedDict):
    """A `when`, a `try` or a `do`: the body it has entered."""

    branch: NotRequired[int]


class EachState(TypedDict):
    """An `each`: the values of its elements so far."""

    items: list[Json]
    next: int
    left: int
    records: list[Json]
    values: list[Json]
    shows: NotRequired[list[Json]]
    """What rounds show of the values, where they show less of some."""


class RepeatState(TypedDict):
    """A `repeat`: the values of its rounds so far; one that has ended waits for its `else` without items and records."""

    items: NotRequired[list[Json] | None]
    round: int
    records: NotRequired[list[Json]]
    values: list[Json]
    shown: list[Json]
    vain: bool
    value: Json
    first: NotRequired[Json]
    """What `previous` is in the first round, where the program says it."""
    shows: NotRequired[list[Json]]
    """As of an `each`; without a list what they show of the value, alone."""


class RaceState(TypedDict):
    """A `race`: which branches could begin before it did, how many have not failed, and whether it has ended."""

    waiting: list[int]
    begun: bool
    left: int
    over: bool


BlockState: TypeAlias = BranchState | EachState | RepeatState | RaceState | PlanState


class BodyState(TypedDict):
    """A body that is being carried out."""

    region: int
    parent: str | None
    left: int
    waits: dict[str, int]
    """How many units those units still wait for that wait for fewer than at first."""
    record: JsonObject
    values: JsonObject
    shows: NotRequired[JsonObject]
    """What rounds show of values, by their keys, where they show less of some."""
    names: JsonObject
    blocks: dict[str, BlockState]
    open: dict[str, None]
    children: dict[str, None]
    refused: list[list[int | str]]
    """Steps of persons who have refused: region and key."""


class Spent(TypedDict):
    """The cost of models so far."""

    requests: int
    tokens: int


class Stalled(Asking):
    """A chunk for which no model is asked until the limits of the run are raised."""

    scope: str
    unit: int


class SpendingLimits(TypedDict, total=False):
    """The spending limits of a run since they were raised, in place of its options."""

    requests: int
    tokens: int


class State(TypedDict):
    """The state of a run."""

    inputs: JsonObject
    scopes: dict[str, BodyState]
    ready: list[list[str | int]]
    """Scope and unit; with a third member, `true`, its delay has passed."""
    queue: list[str | FireCommand]
    """Commands that are not issued yet: by their ids, or whole where nobody answers them."""
    open: dict[str, Entry]
    spent: Spent
    vain: list[str]
    """Rounds that have ended without what they were to reach."""
    outcome: Outcome | None
    withdrawn: NotRequired[list[str]]
    """Commands that nobody waits for any more since a block ended while others were issued; the engine takes them from here."""
    limits: NotRequired[SpendingLimits]
    stalled: NotRequired[list[Stalled]]
    """Chunks that wait until limits are raised; it is there where a limit holds the run instead of failing it."""


_STEP = re.compile(r"^step\d+_|_item\d+$")


def bare_name(key: str) -> str:
    """Return a key without number and item, in the form in which names are compared: without case, `_` and `-`."""
    return _STEP.sub("", key).replace("_", "").replace("-", "").casefold()


def bare_instruction(name: str) -> str:
    """Return the name of an instruction or a key as the two are compared: as `bare_name`, without `_Activity` and `_User`."""
    return bare_name(re.sub(r"_(activity|user)$", "", name, flags=re.IGNORECASE))


def spellings(key: str) -> tuple[str, str]:
    """Return how people write the key of a step: whole, and without its number."""
    return key, _STEP.sub("", key)


def is_numbered(key: str) -> bool:
    """Return whether a key names one step exactly, so that it cannot mean another of the same name."""
    return re.match(r"step\d+_", key) is not None
