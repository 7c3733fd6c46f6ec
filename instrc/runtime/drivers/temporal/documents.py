"""What workflow, activities and programs send one another by way of the server: plain JSON with types."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict, final

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.engine import LaunchDocument
from instrc.runtime.interpreter.commands import ActivityCommand, FireCommand, ModelCommand, Result
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan, State
from instrc.runtime.questions import Asker


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
