"""Documents exchanged by workflows, activities and programs through the server."""

from __future__ import annotations

import re
from datetime import timedelta
from hashlib import sha256
from typing import Final, NotRequired, TypeAlias, TypedDict, Unpack, final

from temporalio import workflow

from instrc.runtime.interpreter import documents as interpreter
from instrc.runtime.journal import Journal, JournalEntry
from instrc.runtime.questions import Asker
from instrc.runtime.run_config import LaunchDocument
from instrc.runtime.traces import EventFacts, EventKind, Sink, event_of, tell_sink
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject


class Continued(TypedDict):
    """The state that a run takes into a new history."""

    state: interpreter.State
    due: dict[str, float]
    later: list[str]
    unread: dict[str, interpreter.Result]
    held: NotRequired[dict[str, Json]]
    """Commands that hold the run, with their errors."""
    keys: NotRequired[dict[str, int]]
    entries: NotRequired[list[JournalEntry] | None]
    """Journal; `null` for a run from an earlier release without one."""
    failed: NotRequired[dict[str, Child]]
    """Failed children with their journals, by key."""
    model: NotRequired[str | None]
    """Model chosen by a retry."""


def continued(run: Journal, entries: list[JournalEntry] | None) -> Continued:
    """Return the state that a run takes along when it continues from its journal, or in a new history."""
    return {
        "state": run.state,
        "due": run.due,
        "later": sorted(run.later),
        "unread": {},
        "held": run.held,
        "keys": run.keys,
        "entries": None if entries is None else [*entries],
        "failed": {},
        "model": run.model,
    }


class Launched(LaunchDocument):
    """The argument of a workflow."""

    digest: str
    heartbeat: float
    events: int | None
    """History length at which a new history begins."""
    attributes: NotRequired[bool]
    """Whether the server has the search attributes."""
    carried: NotRequired[Continued]
    failed: NotRequired[dict[str, Child]]
    """Failed children of a failed child that continues."""


class Tick(TypedDict):
    """The argument of each tick of a schedule."""

    launch: Launched
    """Launch of the schedule, from which each tick derives its own run."""
    prefix: str


class RecordedRun(TypedDict):
    """The recorded state of a run."""

    launch: Launched
    """Launch without the state that it was continued with."""
    entries: list[JournalEntry]
    failed: NotRequired[dict[str, Child]]
    """Failed children, by key; a worker of an earlier release does not report them."""


class Child(TypedDict):
    """A process for an activity, as started by its parent."""

    name: str
    plan: interpreter.PinnedPlan
    inputs: JsonObject
    digest: str
    entries: NotRequired[list[JournalEntry]]
    """Journal of a failed one: a retry continues it as it began, whatever serves its activity now."""
    failed: NotRequired[dict[str, Child]]
    """Its failed children, which continue with it."""


class Effect(TypedDict):
    """The argument of an activity."""

    run: str
    digest: str
    command: interpreter.ModelCommand | interpreter.ActivityCommand | interpreter.FireCommand
    number: NotRequired[int]
    """Index of the command's key, if not the first."""
    chosen: NotRequired[str]
    """Model chosen by a retry."""


@final
class Handed(TypedDict):
    """Result of an activity that a process serves: the workflow starts that."""

    launch: Child


@final
class PendingResult(TypedDict):
    """Result of an activity that completes later."""

    pending: bool


ActivityOutcome: TypeAlias = interpreter.Result | Handed | PendingResult
"""Result of an activity."""


class AnswerMessage(TypedDict):
    """An answer to a question."""

    answer: str
    """Command that it answers."""
    tag: NotRequired[str]
    """Tag of the question as it was shown; none in an answer of an earlier release."""
    data: Json
    by: NotRequired[interpreter.Author]


class Ended(TypedDict):
    """The result of a workflow."""

    outcome: interpreter.Outcome
    record: JsonObject
    entries: NotRequired[list[JournalEntry]]
    """Journal of a failed child, with which a retry can continue."""
    failed: NotRequired[dict[str, Child]]


class Standing(TypedDict):
    """The state of a run as reported by its workflow."""

    outcome: interpreter.Outcome | None
    idle: bool
    flying: int
    due: float | None
    questions: list[tuple[str, list[str], Json, Json, Asker]]
    """Id, steps, displayed value, schema, and recipients; a list in JSON."""
    children: list[str]
    record: JsonObject


WORKFLOW = "instrc-run"
"""The only workflow type, which interprets every plan."""
TICK = "instrc-tick"
"""Workflow type that a schedule starts, and that starts a run."""
QUEUE = "instrc"
"""Default task queue."""
ANSWER = "answer"
"""An update with a validator, and a signal where updates are not supported."""
AGAIN = "again"
"""Update that retries what holds the run."""
REPORT, JOURNAL = "report", "journal"
"""Queries for the state of a run and for its journal, also after its end."""
ACTIVITIES = {"model": "instrc-model", "activity": "instrc-activity", "fire": "instrc-fire"}
"""Temporal activities by kind of effect."""
PLAN_ATTRIBUTE, STATUS_ATTRIBUTE = "InstrcPlan", "InstrcStatus"
HISTORY_VALUE_BYTES: Final = 128 * 1024
"""Maximum bytes of a value in a history; Temporal refuses payloads of 2 MB, and histories of 50 MB."""
TASK_TIME: Final = timedelta(seconds=30)
"""Time that the interpreter may need at a stretch; by default the server waits for ten seconds, and the library for two."""
NO_QUESTION, REJECTED = "no-such-question", "rejected-answer"
"""Error types of an update."""


def digest_of(*parts: Json) -> str:
    """Return a digest that is equal for equal parts."""
    return sha256(dumps([*parts], indent=False).encode()).hexdigest()


def pinned(begun: Launched) -> str:
    """Return a digest that is equal for runs with equal launches."""
    forked = begun["how"].get("forked")
    return digest_of(begun["plan"]["digest"], begun["inputs"], *([forked] if forked else []))


def memo_of(begun: Launched) -> JsonObject:
    """Return the data that the server can show of a run without its workers."""
    return {"name": begun["name"], "how": begun["how"], "begun": pinned(begun)}


def run_of_tick(name: str, workflow_id: str) -> str:
    """Return the id of the run that a tick starts, from the server's workflow id: `daily-2026-11-30T06:00:00Z`."""
    return f"{name}-{workflow_id[-20:].replace('-', '').replace(':', '')}"


def tick_of_run(workflow_id: str) -> str:
    """Return the workflow id of the tick that started a run of a schedule."""
    return re.sub(r"(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$", r"\1-\2-\3:\4:\5", workflow_id)


sinks: list[Sink] = []
"""Event sinks of the workers in this process."""


def tell(run: str, event: EventKind, command: str | None = None, **facts: Unpack[EventFacts]) -> None:
    """Send an event."""
    if not workflow.unsafe.is_replaying():
        told = event_of(run, event, command, facts)
        for sink in sinks[-1:]:
            tell_sink(sink, told)
