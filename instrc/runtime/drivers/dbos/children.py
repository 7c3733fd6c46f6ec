"""Processes that serve activities: runs of their own, which their parents wait for."""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import Protocol

from dbos import DBOSClient

from instrc.jsonvalue import Json
from instrc.runtime.activities import Activities
from instrc.runtime.child_runs import child_inputs, child_result
from instrc.runtime.drivers.dbos.live import Live
from instrc.runtime.effects import RunChild
from instrc.runtime.engine import LaunchDocument
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.plan import has_pauses, plan_of


class RunHost(Protocol):
    """What carries runs."""

    client: DBOSClient

    @property
    def leaving(self) -> bool:
        """Whether it leaves its runs as they are, to be continued."""

    async def begin(self, launch: LaunchDocument) -> Live:
        """Begin a run."""

    async def resume(self, run: str) -> Live:
        """Go on with a run."""

    async def cancel(self, run: str) -> None:
        """End a run."""


def child_of(carrier: RunHost, launch: LaunchDocument, parent: Live, activities: Activities) -> RunChild:
    """Return what runs a process that serves an activity: as a run of its own, which is waited for."""

    async def child(run: str, process: Json, command: ActivityCommand) -> Result:
        found = await asyncio.to_thread(carrier.client.list_workflows, workflow_ids=[run])
        if found and found[0].status == "SUCCESS":
            return child_result(_ended(found[0].output), command)
        if found:
            starting = asyncio.create_task(carrier.resume(run))
        else:
            pauses = has_pauses(launch["plan"])
            plan = plan_of(process, activities=activities.names(), pauses=pauses)
            inputs = child_inputs(command, process)
            begun: LaunchDocument = {**launch, "run": run, "name": command["called"], "plan": plan, "inputs": inputs}
            starting = asyncio.create_task(carrier.begin(begun), context=Context())
        try:
            live = await asyncio.shield(starting)
            return child_result(await _outcome_of(live, parent, carrier), command)
        except asyncio.CancelledError:
            if carrier.leaving:
                starting.cancel()
                await asyncio.wait([starting])
            else:
                await asyncio.shield(_cancel(carrier, run, starting))
            raise

    return child


async def _cancel(carrier: RunHost, run: str, starting: asyncio.Task[Live]) -> None:
    """Cancel a child, once it has been started: what is only being started could not be found, and would go on by itself."""
    await asyncio.wait([starting])
    if starting.exception() is None:
        await carrier.cancel(run)


async def _outcome_of(live: Live, parent: Live, carrier: RunHost) -> Outcome:
    """Wait for a child; while it waits for people, its parent does as well."""
    port = parent.port
    assert port is not None
    while not live.over:
        await live.rest.wait()
        if not live.over:
            with port.child_rests():
                while live.rest.is_set() and not live.over:
                    live.change.clear()
                    await live.change.wait()
    if live.error is not None:
        raise live.error
    if live.task is None or live.task.cancelled():
        if carrier.leaving:
            raise asyncio.CancelledError
        return {"status": "failed", "error": {"step": None, "kind": "failed", "code": "cancelled", "message": "it was cancelled"}}
    return _ended(live.task.result())


def _ended(outcome: Outcome | None) -> Outcome:
    """Return the outcome of a run that was carried to its end."""
    assert outcome is not None
    return outcome
