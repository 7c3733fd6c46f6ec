"""Runs in a database wait in the queue of their project; workers draw them, park those that only wait, and give back the rest."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from postgres_server import Database
from written_processes import DECISION, call, chunk, process, step

import instrc
from instrc.engines import projects  # a worker in this process serves the shop
from instrc.engines.dbos import runner, store  # a query of it is replaced, and a moment that no run can choose
from instrc.engines.dbos.durable_engine import DurableEngine  # one that carries nothing, as that of a service
from instrc.engines.dbos.postgres import WorkerLock  # the server is away for a moment
from instrc.engines.equip import equip  # what it is made with
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.runtime.engine_protocol import WorkerOptions
from instrc.runtime.run_report import RunReport
from instrc.vibes.settings import read_settings

APPROVED = process(
    userContext1=chunk(step1_approve=step(DECISION, "prompt")),
    serverContext1=chunk(step2_send=call("Send_Activity", "step1_approve.decision")),
)
LATER = process(serverContext1=chunk(step1_send={**call("Send_Activity", "prompt"), "delay": "PT3S"}))
TWO = process(
    serverContext1=chunk(step1_send=call("Send_Activity", "prompt"), step2_send=call("Send_Activity", "step1_send.text")),
)
SEND = """
import json, os, time
from instrc import current_call

def send(text):
    log = os.open("effects.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, (json.dumps(current_call().key) + "\\n").encode())
    time.sleep({seconds})
    return {{"text": "sent"}}
"""
PYTHON = """
import asyncio
from test_shared_queue import APPROVED, DurableEngine, Launcher, Path, Prepared, equip, read_settings

async def main():
    engine = DurableEngine("{url}", equip)
    launcher = Launcher(Prepared("pay", APPROVED, Path().absolute(), read_settings(Path())))
    first = await engine.start(launcher.launch("x", "r1"))
    await engine.answer("r1", "userContext1", {{"decision": "Approve"}})
    print(first.status, (await engine.resume("r1")).status)
    engine.close()

asyncio.run(main())
"""


class Shop:
    """A project whose runs are begun here, and carried by processes of `instrc worker`."""

    def __init__(self, folder: Path, url: str, name: str) -> None:
        self.folder, self.url, self.name = folder, url, name
        folder.mkdir()
        settings = f'[project]\nname = "{name}"\n[tool.instrc.activities]\nSend_Activity = "{name}_handlers:send"\n'
        (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
        self.takes(0.0)
        self.engine = DurableEngine(url, equip, worker=WorkerOptions(slots=0))
        self.workers: list[subprocess.Popen[str]] = []

    def takes(self, seconds: float) -> None:
        """Let the activity of workers that begin from now on take so long."""
        (self.folder / f"{self.name}_handlers.py").write_text(SEND.format(seconds=seconds), encoding="utf-8")

    def begin(self, document: Any, run: str) -> RunReport:
        launcher = Launcher(Prepared("pay", document, self.folder, read_settings(self.folder)))
        report: RunReport = go(self.engine.start(launcher.launch("x", run)))
        return report

    def worker(self, *words: str) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "instrc", "worker", "--store", self.url, *words]
        self.workers.append(subprocess.Popen(line, cwd=self.folder, stderr=subprocess.PIPE, text=True))
        output = self.workers[-1].stderr
        assert output is not None
        assert output.readline() == "the worker is ready\n"
        return self.workers[-1]

    def until(self, fits: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not fits():
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.05)

    def status(self, run: str) -> str:
        return str(go(self.engine.show(run)).status)

    def effects(self, run: str) -> list[str]:
        """Return the keys of what was done in a run, once for each time."""
        file = self.folder / "effects.jsonl"
        keys = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [key for key in keys if key.startswith(f"{run}/")]

    def end(self) -> None:
        for worker in self.workers:
            with worker:
                worker.kill()
        self.engine.close()


def go(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


@pytest.fixture
def shop(tmp_path: Path, postgres_server: Database, prepared_database: str) -> Iterator[Shop]:
    shop = Shop(tmp_path / "shop", postgres_server.fresh(prepared_database), "shop")
    yield shop
    shop.end()


def test_a_run_waits_for_a_worker_of_its_project(shop: Shop, tmp_path: Path) -> None:
    assert shop.begin(TWO, "r1").status == "running"
    assert go(shop.engine.workers()) == []
    assert go(shop.engine.unserved({"r1": "shop"})) == {"r1": "shop"}
    shop.begin(APPROVED, "asks")
    report = go(shop.engine.show("asks"))
    assert (report.status, report.questions) == ("running", ()), "as the table says: nobody has been asked yet"
    other = Shop(tmp_path / "other", shop.url, "other")
    try:
        other.worker("--name", "elsewhere", "--slots", "3")
        shop.until(lambda: go(shop.engine.workers()))
        [worker] = go(shop.engine.workers())
        assert (worker.name, worker.slots, worker.busy, worker.projects) == ("elsewhere", 3, 0, ["other"])
        time.sleep(1)
        assert shop.effects("r1") == []
        assert go(shop.engine.unserved({"r1": "shop"})) == {"r1": "shop"}
        other.worker("--project", str(shop.folder))
        shop.until(lambda: shop.status("r1") == "done")
        shop.until(lambda: go(shop.engine.unserved({"r1": "shop"})) == {})
        shop.until(lambda: shop.status("asks") == "waiting")
    finally:
        other.end()


def test_a_command_carries_a_run_whose_project_no_worker_serves(shop: Shop, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other", shop.url, "other")
    try:
        other.worker()
        line = [sys.executable, "-c", PYTHON.format(url=shop.url)]
        path = os.pathsep.join(each for each in (str(Path(__file__).parent), *sys.path) if each)
        done = subprocess.run(
            line, cwd=shop.folder, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PYTHONPATH": path}
        )
        assert done.stdout == "waiting done\n"
        assert len(shop.effects("r1")) == 1
    finally:
        other.end()


def test_runs_that_only_wait_hold_no_slot(shop: Shop) -> None:
    for number in range(3):
        shop.begin(APPROVED, f"asks{number}")
    shop.begin(LATER, "late")
    shop.begin(TWO, "acts")
    shop.worker("--slots", "1")
    shop.until(lambda: shop.status("acts") == "done")
    shop.until(lambda: [shop.status(f"asks{number}") for number in range(3)] == ["waiting"] * 3)
    shop.until(lambda: shop.status("late") == "done")
    time.sleep(2)  # they are parked by then
    for number in range(3):
        go(shop.engine.answer(f"asks{number}", "userContext1", {"decision": "Approve"}))
    shop.until(lambda: [shop.status(f"asks{number}") for number in range(3)] == ["done"] * 3)
    assert [len(shop.effects(run)) for run in ("asks0", "asks1", "asks2", "late", "acts")] == [1, 1, 1, 1, 2]
    told = [event["event"] for event in shop.engine.trace_from("asks0")[0]]
    assert (told.count("question"), told.count("told"), told.count("repeated")) == (1, 1, 0)


def test_a_parked_run_is_taken_up_by_another_worker(shop: Shop) -> None:
    shop.begin(APPROVED, "r1")
    first = shop.worker()
    shop.until(lambda: shop.status("r1") == "waiting")
    first.kill()
    first.wait()
    shop.worker()
    go(shop.engine.answer("r1", "userContext1", {"decision": "Approve"}))
    shop.until(lambda: shop.status("r1") == "done")


def test_a_worker_that_is_told_to_stop_lets_effects_end_and_gives_its_runs_back(shop: Shop) -> None:
    shop.takes(3.0)
    first = shop.worker("--drain", "PT20S")
    shop.begin(TWO, "r1")
    shop.until(lambda: len(shop.effects("r1")) == 1)
    shop.takes(0.0)
    shop.worker()
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 0
    shop.until(lambda: shop.status("r1") == "done")
    assert len(shop.effects("r1")) == 2, "the effect in flight was recorded"


def test_effects_that_outlast_the_drain_are_left_and_repeated(shop: Shop) -> None:
    shop.takes(30.0)
    first = shop.worker("--drain", "PT0S")
    shop.begin(TWO, "r1")
    shop.until(lambda: len(shop.effects("r1")) == 1)
    shop.takes(0.0)
    shop.worker()
    first.send_signal(signal.SIGTERM)
    shop.until(lambda: shop.status("r1") == "done")
    assert sorted(shop.effects("r1")) == sorted([shop.effects("r1")[0], *set(shop.effects("r1"))]), "the first one twice"


def test_a_run_that_a_worker_of_another_project_draws_goes_back_to_its_own(shop: Shop, tmp_path: Path) -> None:
    """What a dead worker leaves comes into the queue that the workers of all projects read."""
    shop.takes(30.0)
    first = shop.worker()
    shop.begin(TWO, "r1")
    shop.until(lambda: len(shop.effects("r1")) == 1)
    shop.takes(0.0)
    other = Shop(tmp_path / "other", shop.url, "other")
    try:
        other.worker()
        first.kill()
        first.wait()
        with shop.engine.asker.db().begin() as connection:
            connection.execute(sa.text("DELETE FROM instrc_events"))  # a kill loses the last events of a trace
        shop.until(lambda: go(shop.engine.unserved({"r1": "shop"})) == {"r1": "shop"})
        shop.worker()
        shop.until(lambda: shop.status("r1") == "done")
        [key, *_] = shop.effects("r1")
        shop.until(lambda: [event["key"] for event in shop.engine.trace_from("r1")[0] if event["event"] == "repeated"] == [key])
    finally:
        other.end()


@pytest.mark.long
def test_a_run_goes_back_into_the_queue_if_the_database_fails_while_it_is_taken_up(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DBOS would record the error as the end of the run."""
    monkeypatch.setattr(projects, "_folders", {})  # those of this process, which other tests have
    monkeypatch.chdir(shop.folder)  # where the activity writes
    projects.serve_project(shop.folder)
    read = store.unread
    taken: list[str] = []

    def unread(engine: sa.Engine, run: str | None = None) -> list[store.Letter]:
        taken.extend([run] if run is not None else ())
        if run is not None and len(taken) == 1:
            raise sa.exc.OperationalError("SELECT", {}, OSError("the server has gone away"))
        return read(engine, run)

    async def body() -> RunReport:
        stop = asyncio.Event()
        serving = asyncio.create_task(DurableEngine(shop.url, equip).serve(stop))
        while (report := await shop.engine.show("r1")).status == "running":  # noqa: ASYNC110  -- another process would carry it
            await asyncio.sleep(0.1)
        stop.set()
        await serving
        return report

    monkeypatch.setattr(store, "unread", unread)
    shop.begin(TWO, "r1")
    assert go(body()).status == "done"
    assert taken == ["r1", "r1"]


@pytest.mark.long
def test_a_run_that_has_just_begun_is_not_taken_for_a_lost_one(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins between the look at what is carried and the one at what belongs to this worker."""
    real, calls = WorkerLock.rescue, []

    def late(self: WorkerLock, lost: Iterable[str]) -> set[str]:
        time.sleep(0.3)
        return real(self, lost)

    async def work(n: int) -> int:
        calls.append(n)
        await asyncio.sleep(1.2)
        return n

    monkeypatch.setattr(WorkerLock, "rescue", late)
    vibe: Any = {"type": "object", "properties": {"n": {}, "output": {}}}
    app = instrc.App(engine="durable", store=shop.url, activities={"Work_Activity": work}, vibes={"Work_Activity": vibe})

    async def one(number: int) -> str:
        await asyncio.sleep(number * 0.11)
        return (await app.run("input n; Work_Activity(n: n)", {"n": number}, id=f"r{number}")).status

    async def body() -> list[str]:
        return await asyncio.gather(*map(one, range(24)))

    assert set(go(body())) == {"done"}
    assert sorted(calls) == [*range(24)]


@pytest.mark.long
def test_a_run_that_its_worker_cannot_carry_is_left(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "_folders", {})  # as above
    projects.serve_project(shop.folder)
    real, looks, tries = WorkerLock.rescue, [], []

    def rescue(self: WorkerLock, lost: Iterable[str]) -> set[str]:
        looks.append(len(tries))
        return real(self, lost)

    def unable(*_: object, **__: object) -> Any:
        tries.append(1)
        raise ValueError("a function of the project is missing")

    monkeypatch.setattr(WorkerLock, "rescue", rescue)
    shop.begin(TWO, "r1")

    async def body() -> None:
        stop = asyncio.Event()
        serving = asyncio.create_task(DurableEngine(shop.url, unable).serve(stop))
        while looks.count(1) < 4 and len(tries) < 2:  # noqa: ASYNC110  -- a look has no event
            await asyncio.sleep(0.1)
        stop.set()
        await serving

    go(body())
    assert tries == [1]


@pytest.mark.long
def test_a_run_that_the_database_did_not_let_go_is_taken_up_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker lives, and carries it no more."""
    monkeypatch.setattr(projects, "_folders", {})  # as above
    monkeypatch.setattr(runner, "PARK_AFTER", 0.0)
    projects.serve_project(shop.folder)
    real, faults = WorkerLock.park, [sa.exc.OperationalError("UPDATE", {}, OSError("the server has gone away"))]

    def park(self: WorkerLock, run: str, due: float | None) -> None:
        if faults:
            raise faults.pop()
        real(self, run, due)

    monkeypatch.setattr(WorkerLock, "park", park)
    shop.begin(APPROVED, "r1")

    async def body() -> None:
        stop = asyncio.Event()
        serving = asyncio.create_task(DurableEngine(shop.url, equip).serve(stop))
        while (await shop.engine.asker.row("r1")).queue_name != store.PARKED:  # noqa: ASYNC110  -- another process may write it
            await asyncio.sleep(0.1)
        stop.set()
        await serving

    go(body())
    assert not faults
