"""Events as spans: what was done from when to when, by whom, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from instrc.jsonvalue import JsonObject, without_type
from instrc.runtime.events import Event

TimelineLane: TypeAlias = Literal["model", "server", "process", "person"]
SpanState: TypeAlias = Literal["done", "failed", "open", "rejected", "cancelled"]
"""`cancelled`: the run, or a block around it, ended before it."""
_BEGINS: dict[str, TimelineLane] = {
    "asked": "model",
    "called": "server",
    "launched": "process",
    "question": "person",
    "told": "person",
}
_ENDS = frozenset({"answered", "returned", "failed", "told"})
_NOT_SHOWN = frozenset({"event", "at", "run", "id", "seconds"})


@dataclass(slots=True)
class TimelineSpan:
    """One command of a run, or of a child of it."""

    id: str
    lane: TimelineLane
    began: float
    """Seconds since the run began."""
    ended: float | None = None
    state: SpanState = "open"
    retries: list[str] = field(default_factory=list)
    """The errors after which it was tried again."""
    facts: JsonObject = field(default_factory=dict)
    """What the events say, by their own words."""

    @property
    def label(self) -> str:
        """What is done, in a few words."""
        steps = self.facts.get("steps")
        if isinstance(steps, list) and steps:
            return ", ".join(map(str, steps))
        return str(self.facts.get("activity") or self.facts.get("child") or self.id)


def spans_of(events: Iterable[Event]) -> list[TimelineSpan]:
    """Return the spans of a run, in the order in which they began."""
    found: dict[str, TimelineSpan] = {}
    start: float | None = None
    for event in events:
        start = event["at"] if start is None else start
        child = event["run"].partition("/")[2]
        if event["event"] == "ended":
            _end(found.values(), f"{child}/" if child else "", event["at"] - start)
        if "id" not in event:
            continue
        key = f"{child}/{event['id']}" if child else event["id"]
        kind = event["event"]
        span = found.get(key)
        if span is None or (kind == "asked" and span.ended is not None):
            span = found[key] = TimelineSpan(key, _BEGINS.get(kind, "server"), event["at"] - start)
        elif kind == "launched":
            span.lane = "process"
        if kind == "retried":
            span.retries.append(str(event["error"]))
            continue
        if kind == "rejected":
            span.state = "rejected"
        span.facts |= {name: value for name, value in without_type(event).items() if name not in _NOT_SHOWN}
        if kind in _ENDS:
            span.ended = event["at"] - start
            span.state = "failed" if kind == "failed" or "error" in event else "done"
    return list(found.values())


def _end(spans: Iterable[TimelineSpan], prefix: str, at: float) -> None:
    """Let what is still open end with its run: nobody waits for it any more."""
    for span in spans:
        if span.ended is None and span.state == "open" and span.id.startswith(prefix):
            span.ended, span.state = at, "cancelled"
