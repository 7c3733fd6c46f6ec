"""A process that serves an activity ends with the step that waits for it, even if that step ends while the process is started."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from written_processes import DECISION, chunk, process, step

from instrc import Activities
from instrc.engines.dbos.carrying import Live, child_of, journal_of  # a child is begun at a moment that no run can choose
from instrc.runtime.plan import plan_of

ASKING = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt")))
COMMAND: Any = {
    "kind": "activity", "id": "a1", "step": "step1_trip", "activity": "Trip", "process": None,
    "called": "Trip", "input": "now", "schema": {},
}  # fmt: skip


class Host:
    """Carries runs that take as long to start as a test says."""

    def __init__(self, *, known: bool, leaving: bool = False, fails: bool = False) -> None:
        self._leaving, self._fails = leaving, fails
        self.ready, self.asked = asyncio.Event(), asyncio.Event()
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self._known = known
        self.claims: Any = self

    def leaves(self, run: str) -> bool:
        assert run
        return self._leaving

    async def row(self, run: str) -> Any:
        assert run
        return SimpleNamespace(status="PENDING", output=None) if self._known else None

    async def begin(self, launch: Any) -> Live:
        return await self._start(launch["run"])

    async def resume(self, run: str) -> Live:
        return await self._start(run)

    async def _start(self, run: str) -> Live:
        self.asked.set()
        await self.ready.wait()
        if self._fails:
            raise OSError(28, "the disk is full")
        self.started.append(run)
        return Live()

    async def cancel(self, run: str) -> None:
        assert run in self.started, "there is nothing to cancel yet"
        self.cancelled.append(run)


async def stopped_early(host: Host) -> None:
    """Begin a child, end the step that waits for it, and only then let the child be started."""
    launch: Any = {"run": "r1", "name": "r1", "plan": plan_of(json.loads(json.dumps(ASKING))), "inputs": {}, "how": {}}
    waiting = asyncio.ensure_future(
        child_of(host, launch, journal_of(launch, []), Live(), Activities({}))("r1.1", ASKING, COMMAND)
    )
    await host.asked.wait()
    waiting.cancel()
    await asyncio.sleep(0)
    host.ready.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)


@pytest.mark.parametrize("known", [False, True])
def test_a_child_whose_step_ends_while_it_is_started_is_cancelled_once_it_is_there(*, known: bool) -> None:
    async def check() -> Host:
        host = Host(known=known)
        await stopped_early(host)
        return host

    host = asyncio.run(check())
    assert host.started == host.cancelled == ["r1.1"]


def test_a_host_that_leaves_its_runs_leaves_the_child_too() -> None:
    async def check() -> Host:
        host = Host(known=True, leaving=True)
        await stopped_early(host)
        return host

    assert asyncio.run(check()).cancelled == []


def test_a_child_that_could_not_be_started_needs_no_cancelling() -> None:
    async def check() -> Host:
        host = Host(known=False, fails=True)
        await stopped_early(host)
        return host

    assert asyncio.run(check()).cancelled == []
