"""What workflows, activities and programs send one another by way of the server."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict, Unpack, final

from temporalio import workflow

from instrc.runtime.engine import Asker, LaunchDocument
from instrc.runtime.interpreter.documents import ActivityCommand, FireCommand, ModelCommand, Outcome, PinnedPlan, Result, State
from instrc.runtime.traces import EventFacts, EventKind, Sink, event_of, tell_sink
from instrc.text.jsonvalue import Json, JsonObject


class Carried(TypedDict):
    """What a run takes along into a new history."""

    due: dict[str, float]
    later: list[str]
    unread: dict[str, Result]


class Continued(Carried):
    """The same with its state."""

    state: State


class Launched(LaunchDocument):
    """What a workflow begins with."""

    digest: str
    heartbeat: float
    events: int | None
    """The length at which a history is begun anew."""
    attributes: NotRequired[bool]
    """Whether the server has the search attributes."""
    carried: NotRequired[Continued]


class Child(TypedDict):
    """A process that serves an activity, as its parent begins it."""

    name: str
    plan: PinnedPlan
    inputs: JsonObject
    digest: str


class Effect(TypedDict):
    """What an activity is given."""

    run: str
    digest: str
    command: ModelCommand | ActivityCommand | FireCommand


@final
class Handed(TypedDict):
    """An activity is served by a process: the workflow begins it."""

    launch: Child


@final
class PendingResult(TypedDict):
    """Somebody gives the result later."""

    pending: bool


ActivityOutcome: TypeAlias = Result | Handed | PendingResult
"""What an activity gives back."""


class AnswerMessage(TypedDict):
    """An answer to a question."""

    answer: str
    """The command that it answers."""
    data: Json


class Ended(TypedDict):
    """What a workflow gives back."""

    outcome: Outcome
    record: JsonObject


class Standing(TypedDict):
    """How a run stands, as its workflow says it."""

    outcome: Outcome | None
    idle: bool
    flying: int
    due: float | None
    questions: list[tuple[str, list[str], Json, Json, Asker]]
    """Id, steps, what is shown, schema, and who is asked; in JSON a list."""
    children: list[str]
    record: JsonObject


WORKFLOW = "instrc-run"
"""The one type of workflow, which interprets every plan."""
QUEUE = "instrc"
"""The task queue, unless another is said."""
ANSWER = "answer"
"""An update with a validator, and a signal where updates are not served."""
REPORT = "report"
"""A query: how the run stands."""
ACTIVITIES = {"model": "instrc-model", "activity": "instrc-activity", "fire": "instrc-fire"}
"""The activities of Temporal, by the kind of effect."""
PLAN_ATTRIBUTE, STATUS_ATTRIBUTE = "InstrcPlan", "InstrcStatus"
NO_QUESTION, REJECTED = "no-such-question", "rejected-answer"
"""The types of the errors of an update."""


# Where a workflow tells what happens: like a log, never twice for what is replayed, and never read by the workflow.


sinks: list[Sink] = []
"""Of the workers in this process."""


def tell(run: str, event: EventKind, command: str | None = None, **facts: Unpack[EventFacts]) -> None:
    """Tell what happens."""
    if not workflow.unsafe.is_replaying():
        told = event_of(run, event, command, facts)
        for sink in sinks[-1:]:
            tell_sink(sink, told)
