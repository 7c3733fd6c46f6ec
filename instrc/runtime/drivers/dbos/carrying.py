"""Carry one run to its end: read what is recorded of it, go on from there, and record each result before it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeAlias

import sqlalchemy as sa
from dbos import DBOS

from instrc import problems
from instrc.jsonvalue import JsonObject
from instrc.problems.problem import CompileError
from instrc.runtime.drive import drive
from instrc.runtime.drivers.dbos import store
from instrc.runtime.drivers.dbos.children import RunHost, child_of
from instrc.runtime.drivers.dbos.claims import Claims
from instrc.runtime.drivers.dbos.journal import STEP, JournalEntry, entries_of, rebuild_journal
from instrc.runtime.drivers.dbos.live import Live
from instrc.runtime.drivers.dbos.port import DurablePort
from instrc.runtime.effects import Effects
from instrc.runtime.engine import LaunchDocument
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan
from instrc.runtime.questions import People
from instrc.runtime.traces import begun_before, read_trace

MakeEffects: TypeAlias = "Callable[[str, PinnedPlan, JsonObject], Effects]"
"""Makes what a run does outside, from its id, its plan, and how it was launched."""


class RunCarrier(RunHost, Protocol):
    """What carries runs, with what each run needs."""

    location: store.StoreLocation
    claims: Claims
    make_effects: MakeEffects
    people: People | None


async def carry(carrier: RunCarrier, launch: LaunchDocument) -> Outcome | None:
    """Carry a run to its end; whatever goes wrong in this process leaves it as it is, to be continued."""
    task = asyncio.current_task()
    assert task is not None
    live = carrier.claims.carried_by(launch["run"], task)
    if live is None:
        raise asyncio.CancelledError
    try:
        return await _interpret(carrier, launch, live)
    except sa.exc.SQLAlchemyError as error:
        live.error = CompileError([problems.runs.UnusableStore(store=carrier.location.shown, reason=store.reason_of(error))])
    except Exception as error:  # noqa: BLE001  -- told to whoever waits
        live.error = error
    raise asyncio.CancelledError


async def _interpret(carrier: RunCarrier, launch: LaunchDocument, live: Live) -> Outcome | None:
    """Rebuild the state of a run from its journal, and drive it to its end."""
    run, plan = launch["run"], launch["plan"]
    steps = await asyncio.to_thread(carrier.client.list_workflow_steps, run)
    journal = rebuild_journal(plan, launch["inputs"], entries_of(steps))
    for _ in range(max((step["function_id"] for step in steps), default=0)):
        DBOS.reserve_step()
    effects = carrier.make_effects(run, plan, launch["how"])
    effects = replace(effects, child=child_of(carrier, launch, live, effects.activities))
    port = live.port = DurablePort(effects, carrier.people, journal, _record, live.resting)
    if steps:
        effects.tell("resumed", steps=len(steps))
    port.begun = begun_before(read_trace(carrier.location.folder, run), run)
    for command in journal.unfired.values():
        await port.fire(command)
    outcome = await drive(plan, journal.state, port)
    await port.drain()
    effects.tell("ended", outcome=outcome)
    return outcome


async def _record(entry: JournalEntry) -> None:
    """Write an entry into the journal of the run, as a step of DBOS."""
    await DBOS.run_step_async({"name": STEP}, _resolved, entry)


async def _resolved(entry: JournalEntry) -> JournalEntry:
    return entry
