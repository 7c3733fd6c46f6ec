"""What happens in a run, as it is told and kept in its trace: plain JSON with types."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Literal, NotRequired, TypeAlias, TypedDict, TypeGuard, cast

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.interpreter.commands import Complaint
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.secrets import redacted

EventKind: TypeAlias = Literal[
    "asked",
    "answered",
    "rejected",
    "retried",
    "called",
    "launched",
    "pending",
    "returned",
    "failed",
    "question",
    "told",
    "repeated",
    "resumed",
    "ended",
]


class EventFacts(TypedDict, total=False):
    """What an event says; which of it depends on its kind."""

    steps: list[str] | int
    """The steps of a command; of a run that goes on, how many entries there are."""
    chunk: str
    activity: str
    step: str
    child: str
    """The run of a process that serves an activity."""
    key: str
    sent: str
    """What a model is sent."""
    schema: Json
    show: Json
    input: Json
    answer: Json
    output: Json
    thoughts: JsonObject
    metrics: JsonObject
    usage: dict[str, int]
    cost: float | None
    model: str | None
    repairs: list[str]
    complaints: list[Complaint]
    error: Json
    code: str | None
    attempt: int
    seconds: float
    outcome: Outcome | None


class Event(EventFacts):
    """One thing that happens."""

    event: EventKind
    at: float
    """Seconds since 1970."""
    run: str
    id: NotRequired[str]
    """The command that it happens to."""


def event_of(run: str, kind: EventKind, command: str | None, facts: EventFacts) -> Event:
    """Return what happens now, without secrets."""
    about = {"event": kind, "at": time(), "run": run, **({} if command is None else {"id": command})}
    return redacted(cast("Event", {**about, **facts}))


Sink: TypeAlias = Callable[[Event], None]
"""Is given what happens, as it happens: plain JSON, without secrets."""


def is_event(value: Json) -> TypeGuard[Event]:
    """Tell whether a value from a file is an event, as far as everybody looks at it."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("event"), str)
        and isinstance(value.get("run"), str)
        and isinstance(value.get("at"), int | float)
        and isinstance(value.get("id", ""), str)
    )


def steps_of(event: Event) -> list[str]:
    """Return the steps of a command that an event tells of."""
    steps = event.get("steps")
    return steps if isinstance(steps, list) else []
