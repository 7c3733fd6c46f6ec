"""Schedules on a server: each tick starts a small workflow, which starts a run whose id contains the time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from time import time
from typing import Final, cast

import temporalio.client as sdk
from temporalio.api.common.v1 import Payload
from temporalio.service import RPCError, RPCStatusCode

from instrc.engines.schedules import Clock, Overlap, Schedule, misread, missing, taken
from instrc.engines.temporal import documents
from instrc.engines.temporal.connection import trouble

_POLICIES: Final[dict[Overlap, sdk.ScheduleOverlapPolicy]] = {
    "skip": sdk.ScheduleOverlapPolicy.SKIP,
    "queue": sdk.ScheduleOverlapPolicy.BUFFER_ONE,
    "both": sdk.ScheduleOverlapPolicy.ALLOW_ALL,
}


async def schedules_of(client: sdk.Client, prefix: str, queue: str) -> list[Schedule]:
    """Return the schedules of a task queue whose ids begin with a prefix, by name."""
    with trouble():
        names = [each.id.removeprefix(prefix) async for each in await client.list_schedules() if each.id.startswith(prefix)]
        found = [(name, await client.get_schedule_handle(prefix + name).describe()) for name in sorted(names)]
        return [await _schedule(name, each) for name, each in found if _is_of(queue, each)]


async def _schedule(name: str, described: sdk.ScheduleDescription) -> Schedule:
    memo, info = await described.memo(), described.info
    began = [cast("sdk.ScheduleActionExecutionStartWorkflow", each.action).workflow_id for each in info.recent_actions]
    due = None if described.schedule.state.paused or not info.next_action_times else info.next_action_times[0].timestamp()
    last = documents.run_of_tick(name, began[-1]) if began else None
    policy = described.schedule.policy.overlap
    overlap: Overlap = next((each for each, known in _POLICIES.items() if known == policy), "skip")
    return Schedule(name, Clock(memo["cron"], memo["zone"]), memo["program"], due, last, overlap=overlap)


def _is_of(queue: str, described: sdk.ScheduleDescription) -> bool:
    action = described.schedule.action
    kind = sdk.ScheduleActionStartWorkflow
    return isinstance(action, kind) and (action.workflow, action.task_queue) == (documents.TICK, queue)


async def add(client: sdk.Client, queue: str, name: str, clock: Clock, tick: documents.Tick, overlap: Overlap) -> Schedule:
    """Add a schedule; raise if the name exists, or if the server interprets the times differently."""
    clock.after(time())
    minute, hour, day, month, weekday = clock.cron.split()
    both = day.startswith("*") or weekday.startswith("*")  # else either is enough, as for cron
    days = [(day, weekday)] if both else [(day, "*"), ("*", weekday)]
    crons = [f"{minute} {hour} {each} {month} {other}" for each, other in days]
    key = tick["prefix"] + name
    action = sdk.ScheduleActionStartWorkflow(documents.TICK, tick, id=key, task_queue=queue)
    spec = sdk.ScheduleSpec(cron_expressions=crons, time_zone_name=clock.zone)
    policy = sdk.SchedulePolicy(overlap=_POLICIES[overlap])
    about = {"cron": clock.cron, "zone": clock.zone, "program": tick["launch"]["name"]}
    with trouble():
        try:
            handle = await client.create_schedule(key, sdk.Schedule(action, spec, policy=policy), memo=about)
        except sdk.ScheduleAlreadyRunningError:
            raise taken(name) from None
        except RPCError as error:
            if error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            raise misread(clock) from None
        described = await handle.describe()
        times = [each.timestamp() for each in described.info.next_action_times]
        pairs = pairwise([times[0] - 1, *times]) if times else ()
        apart = [clock.after(before) != then for before, then in pairs if clock.offset(before) == clock.offset(then)]
        if not times or any(apart):  # when clocks change, the server leaves times out, and repeats others
            await handle.delete()
            raise misread(clock)
    return await _schedule(name, described)


async def pause(client: sdk.Client, prefix: str, queue: str, name: str, *, paused: bool) -> Schedule:
    """Pause a schedule, or resume it from now on."""
    async with _of(client, prefix, queue, name) as handle:
        await (handle.pause() if paused else handle.unpause())
        return await _schedule(name, await handle.describe())


@asynccontextmanager
async def _of(client: sdk.Client, prefix: str, queue: str, name: str) -> AsyncIterator[sdk.ScheduleHandle]:
    """Yield a schedule of a task queue, and raise if there is none, also later on."""
    try:
        with trouble():
            handle = client.get_schedule_handle(prefix + name)
            if not _is_of(queue, await handle.describe()):
                raise missing(name)
            yield handle
    except RPCError:  # all others are problems already
        raise missing(name) from None


async def remove(client: sdk.Client, prefix: str, queue: str, name: str) -> None:
    """Remove a schedule."""
    async with _of(client, prefix, queue, name) as handle:
        await handle.delete()


async def tick_of(client: sdk.Client, prefix: str, queue: str, name: str) -> tuple[Schedule, documents.Tick]:
    """Return a schedule, and the argument of its ticks."""
    async with _of(client, prefix, queue, name) as handle:
        described = await handle.describe()
        action = cast("sdk.ScheduleActionStartWorkflow", described.schedule.action)
        [given] = await client.data_converter.decode(cast("list[Payload]", action.args), [documents.Tick])
        return await _schedule(name, described), given
