"""Event streams for followers of runs: new events of a trace, by number, and partial answers, as far as a caller may see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from time import monotonic
from typing import Final, TypeVar, cast
from weakref import WeakValueDictionary

from msgspec import Struct

from instrc.engines.background import Tolerated
from instrc.engines.run_table import RunChange, TableEngine
from instrc.runtime.engine_protocol import Engine, TracedEngine
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.run_report import OPEN
from instrc.runtime.traces import Event, Timeline, TimelineSpan, TracePage
from instrc.server.access import Caller
from instrc.server.bounds import AT_ONCE, LISTED
from instrc.server.records import Records
from instrc.server.views import RunInfo, standing_json
from instrc.server.visibility import Visibility, may_see
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject

_T = TypeVar("_T")
LOOK: Final = 1.0
"""Seconds between two checks for changes by other processes."""
_LOOK_ANYWAY: Final = 30.0
"""Seconds between two checks of a run without notifications, such as one deleted by another process."""
_LOOKS: Final = 100
"""Maximum streams that poll per second; local changes wake them at once."""
LEAVE: Final[ContextVar[Callable[[], object]]] = ContextVar("LEAVE", default=lambda: None)
"""Ends the turn of the request that is being answered, since it only waits from now on."""
_CLAIMS: Final = frozenset({"question.claimed", "question.released"})
TOLD_PAUSE: Final = 0.2
"""Seconds between two parts of an answer in a stream."""


class EventStreams:
    """Streams the events of runs to those who follow them."""

    def __init__(self, visibility: Visibility, hub: Hub) -> None:
        self.visibility = visibility
        self.engine: Engine = visibility.engine
        self.records: Records = visibility.records
        self.hub = hub
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()

    def events(self, caller: Caller, run: str | None, after: int = 0) -> AsyncGenerator[NumberedEvent]:
        """Yield the events of a run, or of all visible runs, after a number, as they happen.

        Numbers count the events of a run's trace; missing ones are reported as a `gap`. The stream ends with the run.
        A `partial` is a model's answer so far: it has the number of the previous event, and is not stored.
        """
        return self._events_of_all(caller, after) if run is None else self._events_of(caller, run, after)

    async def trace(self, caller: Caller, run: str, place: int = 0) -> tuple[list[Event], int | None]:
        """Return a page of the events of a run after a cursor, and the next one, for callers who see all of the run."""
        await self.visibility.require_whole(caller, run)
        found = await asyncio.to_thread(lambda: [*islice(pages_of(self.engine, run, place), 2)])
        return found[0] if len(found) > 1 else (found[0][0] if found else [], None)

    async def has_told(self, caller: Caller, run: str, after: int) -> bool:
        """Return whether a run has ended, without events after a number."""
        if await self._is_still(run, OPEN):
            return False
        report = await self.visibility.seen(caller, run)
        return report.has_ended and await anext(TraceReading(self.engine, run, after).events({}), None) is None

    async def hear(self) -> None:
        """Receive events and partial answers of runs in other processes, while there are local waiters."""
        number, keeper = 0, self.engine if isinstance(self.engine, TableEngine) else None
        events, parts = (Tolerated(f"receiving {what} of other processes") for what in ("events", "partial answers"))
        while isinstance(self.engine, TracedEngine):
            await asyncio.sleep(TOLD_PAUSE)
            if keeper is not None and keeper.starts_by_queue and self.hub.is_awaited:
                with events:  # waiting clients also poll
                    number = number or (await asyncio.to_thread(self.records.feed_bounds))[1]
                    changes = await asyncio.to_thread(self.records.feed, number)
                    number = changes[-1].number if changes else number
                    self.hub.changed(changes)
            else:
                number = 0
            if followed := [run or "" for run in self.hub.boxes]:
                with parts:  # complete ones are delivered in any case
                    for part in await asyncio.to_thread(self.engine.parts_of, followed):
                        self.hub.take(part)

    async def _events_of(self, caller: Caller, run: str, after: int) -> AsyncGenerator[NumberedEvent]:
        report = await self.visibility.seen(caller, run)
        info = await self.visibility.info_of(caller, report)
        yield NumberedEvent(after, "snapshot", standing_json(info.report))
        if not info.is_whole:
            async for event in self._standings_of(caller, info, after):
                yield event
            return
        status, has_ended, looked, woken = report.status, report.has_ended, monotonic(), True
        reading = TraceReading(self.engine, run, after, turn := self._turn(caller))
        del report, info  # they may be large, and a stream stays open for long
        with self.hub.following(run) as box:
            while True:
                before = reading.after
                async for event in reading.events(box):
                    yield event
                changed = (woken or reading.after != before) and not await self._is_still(run, (status,))
                if has_ended or changed or monotonic() > looked + _LOOK_ANYWAY:
                    async with turn:
                        report, looked = await self.visibility.seen(caller, run), monotonic()
                    was, status, has_ended, now = status, report.status, report.has_ended, standing_json(report)
                    del report
                    async for event in reading.events(box):
                        yield event
                    if has_ended or status != was:
                        yield NumberedEvent(reading.after, "status", now)
                    if has_ended:
                        return
                woken = await self.hub.wait(run, max(LOOK, len(self.hub.boxes) / _LOOKS))

    def _turn(self, caller: Caller) -> asyncio.Semaphore:
        """Return what a stream of a caller holds while it reads stored events: each may be large."""
        turn = self._turns.get(caller.name) or asyncio.Semaphore(AT_ONCE)
        self._turns[caller.name] = turn
        return turn

    async def _is_still(self, run: str, statuses: Collection[str]) -> bool:
        """Return whether the row of a run, written by its carrier, has one of these: a journal costs more with each entry."""
        row = await asyncio.to_thread(self.records.run, run) if isinstance(self.engine, TableEngine) else None
        return row is not None and row.status in statuses

    async def _standings_of(self, caller: Caller, info: RunInfo, after: int) -> AsyncGenerator[NumberedEvent]:
        """Yield the state of a run for a person who only answers a question in it, after each change."""
        before, looked, run = standing_json(info.report), monotonic(), info.report.run
        with self.hub.following(run):
            while not info.report.has_ended:
                woken = await self.hub.wait(run, max(LOOK, len(self.hub.boxes) / _LOOKS))
                if not woken and monotonic() < looked + _LOOK_ANYWAY and await self._is_still(run, (info.report.status,)):
                    continue
                looked = monotonic()
                info = await self.visibility.info_of(caller, await self.visibility.seen(caller, run))
                if (now := standing_json(info.report)) != before:
                    before = now
                    yield NumberedEvent(after, "status", now)

    async def _events_of_all(self, caller: Caller, after: int) -> AsyncGenerator[NumberedEvent]:
        first, last = await asyncio.to_thread(self.records.feed_bounds)
        if after and (after + 1 < first or after > last):
            yield NumberedEvent(max(first - 1, 0), "gap", {"after": after, "before": first})
            after = max(first - 1, 0)
        with self.hub.following(None) as box:
            while True:
                changes = await asyncio.to_thread(self.records.feed, after)
                concerning = await self._concerning(caller, changes)
                for change in changes:
                    after = change.number
                    about = {(change.run, ""), (change.run, str(change.body.get("question")))}
                    if about & concerning or may_see(caller, change.program, None):
                        body: JsonObject = {"run": change.run, "program": change.program, "at": change.at, **change.body}
                        yield NumberedEvent(change.number, change.kind, body)
                while box:
                    part = box.pop(next(iter(box)))
                    row = await asyncio.to_thread(self.records.run, part.run)
                    if row is not None and may_see(caller, row.program, row.starter):
                        yield NumberedEvent(after, "partial", {"program": row.program, **part_json(part)})
                await self.hub.wait(None, LOOK)

    async def _concerning(self, caller: Caller, changes: Iterable[RunChange]) -> set[tuple[str, str]]:
        """Return the runs among those of changes that the caller has started, and the questions that they may answer."""
        others = [each for each in changes if not may_see(caller, each.program, None)]
        started = {each.run for each in others if caller.may("starter", each.program)}
        asked = {each.run for each in others if each.kind.startswith("question.") and caller.may("answerer", each.program)}
        if not started | asked:
            return set()
        return await asyncio.to_thread(self.records.concerning, caller.name, caller.as_candidates, started, asked)


class NumberedEvent(Struct, frozen=True):
    """An event of a stream: its number grows by one, so that a reader notices a lost one."""

    number: int
    kind: str
    body: JsonObject


class TraceReading:
    """Reads and numbers new events of a trace, few at a time; a trace that has become shorter is reported as a `gap`."""

    def __init__(self, engine: Engine, run: str, after: int, turn: asyncio.Semaphore | None = None) -> None:
        self._turn = turn or asyncio.Semaphore()
        self.engine = engine
        self.run = run
        self.after = after
        """Number of the last event sent."""
        self._seen = 0
        self._place = 0
        self._asked: set[str] = set()

    async def events(self, box: dict[str, AnswerPart]) -> AsyncGenerator[NumberedEvent]:
        """Yield the undelivered events, and the new parts of incomplete answers in a box."""
        pages = pages_of(self.engine, self.run, self._place)
        while True:
            async with self._turn:
                page = await asyncio.to_thread(next, pages, None)
            if page is None:
                break
            events, self._place = page
            for event in events:
                self._seen += 1
                (self._asked.add if event["event"] == "asked" else self._asked.discard)(f"{event['run']}/{event.get('id')}")
                if self._seen > self.after:
                    self.after = self._seen
                    yield NumberedEvent(self._seen, event["event"], cast("JsonObject", dict(event)))
        if self.after > self._seen:
            yield NumberedEvent(self._seen, "gap", {"after": self._seen, "before": self.after})
            self.after = self._seen
        for key in [key for key in box if key.partition("~")[0] in self._asked]:
            yield NumberedEvent(self.after, "partial", part_json(box.pop(key)))


class Timelines:
    """Holds the timelines of the runs that were read last, so that a page that follows its run reads only new events."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._held: dict[str, tuple[int, int, Timeline]] = {}
        """The cursor after the last event, the characters left, and the timeline, by run, in order of use."""

    def read(self, run: str) -> tuple[list[TimelineSpan], int]:
        """Return the spans of a run as they are now, and the number of its last event."""
        place, left, timeline = self._held.pop(run, (0, _WHOLE, Timeline()))  # one thread continues it; others begin anew
        for events, after in pages_of(self.engine, run, place):
            place = after
            for event in events:
                left -= len(dumps(event, indent=False)) if left > 0 else 0
                timeline.add([event if left > 0 else _cut(event)])
        if timeline.count <= _EVENTS:
            self._held[run] = (place, left, timeline)
        for other in [*self._held][:-_HELD]:
            self._held.pop(other, None)
        return [*timeline.spans.values()], timeline.count


_HELD: Final = 4
"""Maximum timelines held."""
_EVENTS: Final = 100_000
"""Maximum events of a timeline that is held."""
_WHOLE: Final = 4 * LISTED
"""Characters of a trace whose values are whole in its timeline; later ones are cut, as they are on pages."""
_CUT: Final = 1_000


def pages_of(engine: Engine, run: str, place: int = 0) -> Iterator[TracePage]:
    """Yield the events of a run after a cursor, a page at a time, each with the cursor after it."""
    while (page := engine.trace_from(run, place, LISTED))[1] != place:
        yield page
        place = page[1]


def _cut(event: Event) -> Event:
    """Return an event with the beginnings of long values."""
    texts = {name: dumps(cast("Json", value), indent=False) for name, value in event.items()}
    return cast("Event", {**event, **{name: f"{text[:_CUT]}…" for name, text in texts.items() if len(text) > _CUT}})


def part_json(part: AnswerPart) -> JsonObject:
    """Return a model's answer so far in event form."""
    return {"run": part.run, "id": part.key, "steps": [*part.steps], "value": part.value, "complete": [*part.complete]}


class Hub:
    """Wakes the waiters for events of a run, from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, set[asyncio.Future[None]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.touched: set[str] = set()
        """Runs to which something has happened since they were looked at, if anybody looks."""
        self._looks = True
        self.boxes: dict[str | None, list[dict[str, AnswerPart]]] = {}
        """Text written by models since each follower last looked, by run; `None` stands for all runs."""
        self._telling: set[str | None] = set()
        self.under_way: set[asyncio.Task[object]] = set()

    @property
    def is_awaited(self) -> bool:
        """Whether there are waiters for events."""
        return bool(self._waiting)

    def bind(self, *, looks: bool = True) -> None:
        """Bind to the running loop; `looks` means that a service looks at what was touched, and empties it."""
        self._loop, self._looks = asyncio.get_running_loop(), looks

    def begin(self, run: str, work: Coroutine[object, object, _T]) -> asyncio.Task[_T]:
        """Begin work on a run that goes on without its caller; its end wakes the waiters."""
        task = asyncio.create_task(work)
        self.under_way.add(task)
        task.add_done_callback(lambda done: self._ended(run, done))
        return task

    def _ended(self, run: str, task: asyncio.Task[object]) -> None:
        self.under_way.discard(task)
        self.wake(run)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not complain

    def saw(self, event: Event) -> None:
        """Process an event of a run: a sink for engines."""
        self._call(self.wake, event["run"].partition("/")[0])

    def changed(self, changes: Iterable[RunChange]) -> None:
        """Wake the waiters of runs whose rows have changed, from any thread; a claim changes none, and wakes those of any run."""
        kinds = {(change.run, change.kind in _CLAIMS) for change in changes}
        self._call(lambda runs: self.touched.update(runs), {run for run, _ in kinds if self._looks})  # noqa: PLW0108  -- another set after each look
        for run in {run for run, is_claim in kinds if not is_claim}:
            self._call(self.wake, run)
        self._call(self._release, None)

    def heard(self, part: AnswerPart) -> None:
        """Receive a model's answer so far, from engines."""
        if {None, part.run} & self.boxes.keys():
            self._call(self.take, part)

    def _call(self, callback: Callable[[_T], None], given: _T) -> None:
        """Call a function in the loop, from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(callback, given)

    def take(self, part: AnswerPart) -> None:
        """Keep a part for followers of its run, and wake them shortly afterwards."""
        for run in (part.run, None):
            for box in self.boxes.get(run, ()):
                box[part.key] = part
            if run in self.boxes and run not in self._telling:
                self._telling.add(run)
                asyncio.get_running_loop().call_later(TOLD_PAUSE, self._tell_parts, run)

    def _tell_parts(self, run: str | None) -> None:
        self._telling.discard(run)
        self._release(run)

    def wake(self, run: str) -> None:
        """Wake the waiters of a run, and those of any run."""
        if self._looks:
            self.touched.add(run)
        self._release(run)
        self._release(None)

    def _release(self, run: str | None) -> None:
        for future in self._waiting.pop(run, ()):
            if not future.done():
                future.set_result(None)

    async def wait(self, run: str | None, seconds: float) -> bool:
        """Wait, with a time limit, for an event of a run, or of any; return whether there was one."""
        LEAVE.get()()
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run, set()).add(future)
        try:
            done, _ = await asyncio.wait({future}, timeout=seconds)
        finally:
            waiting = self._waiting.get(run, set())
            waiting.discard(future)
            if not waiting:
                self._waiting.pop(run, None)
        return bool(done)

    @contextmanager
    def following(self, run: str | None) -> Iterator[dict[str, AnswerPart]]:
        """Yield a dict that collects the newest parts of a run, or of all runs, during the context."""
        box: dict[str, AnswerPart] = {}
        self.boxes.setdefault(run, []).append(box)
        try:
            yield box
        finally:
            self.boxes[run] = [each for each in self.boxes[run] if each is not box]
            if not self.boxes[run]:
                del self.boxes[run]
