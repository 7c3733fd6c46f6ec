"""The events of runs as they happen, as far as a caller may see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from time import monotonic
from typing import Final

from instrc.runtime.engine_protocol import Engine
from instrc.server.access import Caller
from instrc.server.records import Records
from instrc.server.streams import Hub, NumberedEvent, TraceReading, part_json
from instrc.server.views import RunInfo, standing_json
from instrc.server.visibility import Visibility, may_see
from instrc.text.jsonvalue import JsonObject

LOOK: Final = 1.0
"""Seconds between two checks for changes by other processes."""
_LOOK_ANYWAY: Final = 30.0
"""Seconds between two checks of a run without notifications, such as one deleted by another process."""
_LOOKS: Final = 100
"""Maximum streams that poll per second; local changes wake them at once."""


class EventStreams:
    """Streams the events of runs to those who follow them."""

    def __init__(self, visibility: Visibility, hub: Hub) -> None:
        self.visibility = visibility
        self.engine: Engine = visibility.engine
        self.records: Records = visibility.records
        self.hub = hub

    def events(self, caller: Caller, run: str | None, after: int = 0) -> AsyncGenerator[NumberedEvent]:
        """Yield the events of a run, or of all visible runs, after a number, as they happen.

        Numbers count the events of a run's trace; missing ones are reported as a `gap`. The stream ends with the run.
        A `partial` is a model's answer so far: it has the number of the previous event, and is not stored.
        """
        return self._events_of_all(caller, after) if run is None else self._events_of(caller, run, after)

    async def has_told(self, caller: Caller, run: str, after: int) -> bool:
        """Return whether a run has ended, without events after a number."""
        report = await self.visibility.seen(caller, run)
        return report.has_ended and not await asyncio.to_thread(TraceReading(self.engine, run, after).events)

    async def _events_of(self, caller: Caller, run: str, after: int) -> AsyncGenerator[NumberedEvent]:
        report = await self.visibility.seen(caller, run)
        info = await self.visibility.info_of(caller, report)
        yield NumberedEvent(after, "snapshot", standing_json(info.report))
        if not info.is_whole:
            async for event in self._standings_of(caller, info, after):
                yield event
            return
        status, looked, woken, reading = report.status, monotonic(), True, TraceReading(self.engine, run, after)
        with self.hub.following(run) as box:
            while True:
                found = await asyncio.to_thread(reading.events)
                for event in (*found, *reading.parts(box)):
                    yield event
                if found or woken or monotonic() > looked + _LOOK_ANYWAY:
                    report, looked = await self.visibility.seen(caller, run), monotonic()
                    for event in await asyncio.to_thread(reading.events) if report.has_ended else ():
                        yield event
                    if report.has_ended or report.status != status:
                        status = report.status
                        yield NumberedEvent(reading.after, "status", standing_json(report))
                    if report.has_ended:
                        return
                woken = await self.hub.wait(run, max(LOOK, len(self.hub.boxes) / _LOOKS))

    async def _standings_of(self, caller: Caller, info: RunInfo, after: int) -> AsyncGenerator[NumberedEvent]:
        """Yield the state of a run for a person who only answers a question in it, after each change."""
        before = standing_json(info.report)
        with self.hub.following(info.report.run):
            while not info.report.has_ended:
                await self.hub.wait(info.report.run, max(LOOK, len(self.hub.boxes) / _LOOKS))
                info = await self.visibility.info_of(caller, await self.visibility.seen(caller, info.report.run))
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
                for change in await asyncio.to_thread(self.records.feed, after):
                    after = change.number
                    if await self._follows(caller, change.program, change.run):
                        body: JsonObject = {"run": change.run, "program": change.program, "at": change.at, **change.body}
                        yield NumberedEvent(change.number, change.kind, body)
                while box:
                    part = box.pop(next(iter(box)))
                    row = await asyncio.to_thread(self.records.run, part.run)
                    if row is not None and may_see(caller, row.program, row.starter):
                        yield NumberedEvent(after, "partial", {"program": row.program, **part_json(part)})
                await self.hub.wait(None, LOOK)

    async def _follows(self, caller: Caller, program: str, run: str) -> bool:
        if may_see(caller, program, None) or not caller.may("starter", program):
            return may_see(caller, program, None)
        row = await asyncio.to_thread(self.records.run, run)
        return row is not None and row.starter == caller.name
