"""What a program does with a run that another process carries; the other process is played here, one look after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from instrc.engines.dbos import durable_engine as dbos  # processes are stopped between two steps of it
from instrc.engines.dbos import store  # the queue of parked runs
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.runtime.run_config import RunConfig


class Watched(DurableEngine):
    """Sees one status of the store, and one of the run, at each look; the store is free after `held` looks."""

    def __init__(self, folder: Path, looks: list[tuple[str, str]], held: int) -> None:
        super().__init__(folder, lambda *_given: pytest.fail("nothing is begun here"))
        self.looks, self.held = looks, held
        self.asker.row = self._row  # type: ignore[method-assign]

    async def _row(self, _run: str) -> Any:
        self.status, self.shown = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        queue = store.PARKED if self.status == "PARKED" else "instrc"
        status = "ENQUEUED" if self.status == "PARKED" else self.status
        return SimpleNamespace(status=status, queue_name=queue, input={"args": [{"how": RunConfig().to_json()}]})

    async def show(self, run: str) -> Any:
        return SimpleNamespace(run=run, status=self.shown)

    async def resume(self, run: str) -> Any:
        return SimpleNamespace(run=run, status="carried here")

    @asynccontextmanager
    async def _carrier(self, _run: str | None = None, _project: str | None = None) -> AsyncIterator[Any]:
        self.held -= 1
        yield None if self.held >= 0 else "a carrier"


def attended(folder: Path, looks: list[tuple[str, str]], held: int = 100) -> tuple[str, int]:
    made = Watched(folder, looks, held)
    return asyncio.run(asyncio.wait_for(made._attend("r1", 0), 60)).status, held - made.held


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbos, "POLL", 0)


@pytest.mark.parametrize("ended", ["SUCCESS", "ERROR", "CANCELLED"])
def test_it_waits_until_the_run_has_ended(tmp_path: Path, ended: str) -> None:
    looks = [("ENQUEUED", "waiting"), ("PENDING", "running"), ("PENDING", "running"), (ended, "done")]
    assert attended(tmp_path, looks) == ("done", 3)


@pytest.mark.parametrize("status", ["PENDING", "PARKED"])
def test_it_waits_until_the_run_waits_for_somebody(tmp_path: Path, status: str) -> None:
    assert attended(tmp_path, [("PENDING", "running"), (status, "running"), (status, "waiting")]) == ("waiting", 2)


def test_it_goes_on_with_the_run_when_the_other_process_has_ended(tmp_path: Path) -> None:
    assert attended(tmp_path, [("PENDING", "running")], held=2) == ("carried here", 3)


def test_the_watcher_gets_the_events_of_the_other_process(tmp_path: Path) -> None:
    made = Watched(tmp_path, [("PENDING", "running"), ("PENDING", "running"), ("SUCCESS", "done")], 100)
    seen: list[Any] = []
    made.watch = seen.append
    made.trace_from = lambda _run, place=0: ([place], place + 1)  # type: ignore[method-assign, assignment, list-item]
    asyncio.run(asyncio.wait_for(made._attend("r1", 7), 60))
    assert seen == [7, 8, 9]
