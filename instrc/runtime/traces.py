"""The events of a run, stored as a trace and shown as a timeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import time
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict, TypeGuard, cast

from msgspec import Struct, field

from instrc.runtime.boundary import copy_of, guarded, words_of
from instrc.runtime.interpreter.documents import Author, Complaint, Outcome, tokens_of
from instrc.runtime.secrets import redacted
from instrc.text.callers import warn_caller
from instrc.text.files import make_private, private_opener, read_regular
from instrc.text.jsontext import dumps, value_in
from instrc.text.jsonvalue import Json, JsonObject, without_type

TRACE_BYTES: Final = 1024 * 1024 * 1024
"""Maximum bytes read of a trace; of a longer one the first events are shown."""
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
    "held",
    "again",
    "question",
    "told",
    "repeated",
    "resumed",
    "ended",
]


class EventFacts(TypedDict, total=False):
    """The facts of an event, depending on its kind."""

    steps: list[str] | int
    """Steps of a command; for a resumed run, the number of its entries."""
    chunk: str
    activity: str
    step: str
    child: str
    """Run of a process that serves an activity."""
    key: str
    sent: str
    """Message sent to a model."""
    schema: Json
    show: Json
    input: Json
    answer: Json
    by: Author
    """Author of an answer, if a service knows it."""
    output: Json
    thoughts: JsonObject
    metrics: JsonObject
    usage: dict[str, int]
    cost: float | None
    model: str | None
    repairs: list[str]
    notes: list[str]
    """Notes for people about an answer: settings that were not sent, another model, how it was asked again."""
    text: str
    """Text by a model that contains no value: cut off or unreadable."""
    complaints: list[Complaint]
    error: Json
    code: str | None
    place: str
    """`FILE:LINE` of the failed code of an activity or model."""
    traceback: str
    attempt: int
    seconds: float
    outcome: Outcome | None
    invented: bool
    """Whether the answer or result was generated from its schema, without any call."""
    cached: bool
    """Whether the answer to an earlier identical request was reused, at no cost."""


class Event(EventFacts):
    """An event of a run."""

    event: EventKind
    at: float
    """Time in seconds since 1970."""
    run: str
    id: NotRequired[str]
    """Id of the command concerned."""


TracePage: TypeAlias = "tuple[list[Event], int]"
"""Events of a trace, and the cursor after them."""


def event_of(run: str, kind: EventKind, command: str | None, facts: EventFacts) -> Event:
    """Return the current event, without secrets."""
    about = {"event": kind, "at": time(), "run": run, **({} if command is None else {"id": command})}
    return redacted(cast("Event", {**about, **facts}))


Sink: TypeAlias = Callable[[Event], None]
"""Receives events as they happen: plain JSON, without secrets."""


def is_event(value: Json) -> TypeGuard[Event]:
    """Return whether a value from a file is an event, as far as its common members show."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("event"), str)
        and isinstance(value.get("run"), str)
        and isinstance(value.get("at"), int | float)
        and isinstance(value.get("id", ""), str)
    )


def steps_of(event: Event) -> list[str]:
    """Return the steps of an event's command."""
    steps = event.get("steps")
    return steps if isinstance(steps, list) else []


def trace_file(folder: Path, run: str) -> Path:
    """Return the path of a run's trace."""
    return folder / "traces" / f"{run.partition('/')[0]}.jsonl"


def written_to(folder: Path) -> Callable[[Event], None]:
    """Return a sink that appends events to the traces of their runs; those of a child go to its root run.

    A run does not end if its trace cannot be written: a warning reports the loss.
    """

    def write(event: Event) -> None:
        file, line = trace_file(folder, event["run"]), f"{dumps(event, indent=False)}\n"
        try:
            try:
                _append(file, line)
            except FileNotFoundError:
                make_private(file.parent.parent)
                make_private(file.parent)
                _append(file, line)
        except OSError as error:
            warn_caller(f"the trace of `{event['run']}` is not whole: {error.strerror}")

    return write


def _append(file: Path, line: str) -> None:
    created = os.O_WRONLY | os.O_APPEND | os.O_CREAT  # `open` itself is barred where Temporal replays a workflow
    with os.fdopen(private_opener(str(file), created), "a", encoding="utf-8") as trace:
        trace.write(line)


def join_sinks(*sinks: Sink | None) -> Sink:
    """Return a sink that calls several in order."""
    known = [sink for sink in sinks if sink is not None]

    def tell(event: Event) -> None:
        for sink in known:
            sink(event)

    return tell


def tell_sink(sink: Sink, event: Event) -> None:
    """Send an event; an error of a watcher does not end the run."""
    try:
        with guarded():
            sink(event)
    except Exception as error:  # noqa: BLE001  -- user code may raise anything
        warn_caller(f"an event of `{event['run']}` could not be told: {words_of(error)}")


def told_apart(watch: Sink | None) -> Sink | None:
    """Return a sink that passes a copy of each event to the watchers, so that their changes affect no other sink."""
    return None if watch is None else lambda event: tell_sink(watch, copy_of(event))


def read_trace(folder: Path, run: str) -> list[Event]:
    """Return the events of a run, without an incomplete last line."""
    return read_events(trace_file(folder, run))[0]


def read_events(file: Path, start: int = 0, most: int = TRACE_BYTES) -> TracePage:
    """Return the events in a file after its first `start` bytes, and the end of the last complete line.

    At most `most` bytes are read, or more for one complete line.
    """
    try:
        data = read_regular(str(file), most, start)
        while len(data) >= most and b"\n" not in data and most < TRACE_BYTES:
            data = read_regular(str(file), most := 8 * most, start)
    except (OSError, ValueError):
        return [], start
    end = data.rfind(b"\n") + 1  # why the beginning of a line is no JSON takes long to find out
    events = [event for line in data[:end].splitlines() if is_event(event := value_in(line))]
    return events, start + end


def usage_of(results: Iterable[Mapping[str, object]]) -> dict[str, float]:
    """Return the model usage from recorded results: `requests`, tokens by kind, `cost`, and how many were `cached`."""
    used: dict[str, float] = {"requests": 0}
    for result in results:
        counts = result.get("usage")
        if isinstance(counts, dict):
            used["requests"] += 1
            cached = [("cached", 1)] if result.get("cached") else []
            for name, count in (*counts.items(), ("cost", result.get("cost")), *cached):
                if isinstance(count, int | float):
                    used[name] = used.get(name, 0) + count
    return used


TimelineLane: TypeAlias = Literal["model", "server", "process", "person"]
SpanState: TypeAlias = Literal["done", "failed", "open", "rejected", "cancelled"]
"""State of a span; `cancelled`: the run or an enclosing block ended before it."""
_BEGINS: dict[str, TimelineLane] = {
    "asked": "model",
    "called": "server",
    "launched": "process",
    "question": "person",
    "told": "person",
}
_ENDS = frozenset({"answered", "returned", "failed", "told"})
_NOT_SHOWN = frozenset({"event", "at", "run", "id", "seconds"})


class TimelineSpan(Struct):
    """A command of a run or a child run."""

    id: str
    lane: TimelineLane
    began: float
    """Start, in seconds since the run began."""
    ended: float | None = None
    state: SpanState = "open"
    retries: list[str] = field(default_factory=list)
    """Errors after which it was retried."""
    facts: JsonObject = field(default_factory=dict)
    """Facts of its events, by name."""

    @property
    def tokens(self) -> int:
        """The tokens read and written by a model."""
        return tokens_of(self.facts.get("usage"))

    @property
    def cost(self) -> float:
        """The known cost of a model in US dollars."""
        cost = self.facts.get("cost")
        return cost if isinstance(cost, int | float) else 0


def spans_of(events: Iterable[Event]) -> list[TimelineSpan]:
    """Return the spans of a run in order of their start."""
    timeline = Timeline()
    timeline.add(events)
    return list(timeline.spans.values())


class Timeline(Struct):
    """The spans of a run, built from its events as they are read."""

    spans: dict[str, TimelineSpan] = field(default_factory=dict)
    """Spans by command, in order of their start."""
    count: int = 0
    """Number of events read."""
    start: float | None = None

    def add(self, events: Iterable[Event]) -> None:
        """Add the next events; facts are replaced, not changed, so that others may read the spans meanwhile."""
        for event in events:
            self.count += 1
            start = self.start = event["at"] if self.start is None else self.start
            child = event["run"].partition("/")[2]
            if event["event"] == "ended":
                prefix = f"{child}/" if child else ""
                for other in self.spans.values():
                    if other.ended is None and other.state == "open" and other.id.startswith(prefix):
                        other.ended, other.state = event["at"] - start, "cancelled"
            if "id" not in event:
                continue
            key = f"{child}/{event['id']}" if child else event["id"]
            kind = event["event"]
            span = self.spans.get(key)
            if span is None or (kind in {"asked", "called"} and span.ended is not None):
                span = self.spans[key] = TimelineSpan(key, _BEGINS.get(kind, "server"), event["at"] - start)
            elif kind == "launched":
                span.lane = "process"
            if kind == "retried":
                span.retries.append(str(event.get("error")))
                continue
            if kind == "rejected":
                span.state = "rejected"
            span.facts = {**span.facts, **{name: fact for name, fact in without_type(event).items() if name not in _NOT_SHOWN}}
            if kind in _ENDS:
                span.ended = event["at"] - start
                span.state = "failed" if kind == "failed" or "error" in event else "done"
