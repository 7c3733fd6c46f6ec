"""Several workers of one database: each carries runs, one that dies loses its runs to the others, and none is carried twice."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from postgres_server import Database

sys.path.insert(0, str(Path(__file__).parent))

from dying import DOCUMENT, INPUTS
from sharing import Slow

from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.dbos.postgres import PostgresStore  # its locks are taken by two in one process
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunReport

TAKEN_OVER = 30.0
"""Seconds in which the runs of a dead worker are carried by others."""
STANDS_STILL = TAKEN_OVER + 5


class Workers:
    """Three workers of a database, of which one is killed now and then."""

    def __init__(self, folder: Path, url: str) -> None:
        self.line = [sys.executable, str(Path(__file__).with_name("sharing.py")), str(folder), url]
        self.living = [self.begin() for _ in range(3)]

    def begin(self) -> subprocess.Popen[str]:
        """Start a worker, and wait until it is ready."""
        worker = subprocess.Popen(self.line, stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return worker

    def kill(self, number: int) -> None:
        """Kill a worker, and start another."""
        with self.living[number] as worker:  # which closes its output, and waits
            worker.kill()
        self.living[number] = self.begin()

    def stop(self, number: int) -> None:
        """Let a worker stand still for longer than it takes to lose the runs of one that has died, and then go on."""
        self.living[number].send_signal(signal.SIGSTOP)
        time.sleep(STANDS_STILL)
        self.living[number].send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill all."""
        for each in self.living:
            with each as worker:
                worker.kill()


async def ended(engine: DurableEngine, run: str) -> RunReport:
    """Begin a run that workers carry, and answer what it asks."""
    report = await engine.start(Launch(run, "dying", plan_of(DOCUMENT, activities=("Plan",)), INPUTS))
    while report.status == "waiting":
        asked = report.questions[0]
        await engine.answer(run, asked.id, {"decision": "Approve"} if asked.by == "person" else {"text": "late"})
        report = await engine.resume(run)
    return report


def told(report: RunReport) -> str:
    """Return how a run has ended, whatever was done at the same time."""
    return json.dumps([report.outcome, report.record], sort_keys=True)


async def harmed_meanwhile(
    engine: DurableEngine, harm: Callable[[int], None], runs: int, kills: int
) -> tuple[list[RunReport], float]:
    """Let so many runs go on at a time while workers are harmed; return how they ended, and the longest of them in seconds."""
    random, done, reports, longest = Random(kills), 0, list[RunReport](), 0.0  # noqa: S311  -- the same kills each time

    async def one(number: int) -> None:
        nonlocal longest
        began = time.monotonic()
        reports.append(await asyncio.wait_for(ended(engine, f"r{number}"), 3 * TAKEN_OVER))
        longest = max(longest, time.monotonic() - began)

    under_way, number = set[asyncio.Task[None]](), 0
    while done < kills or under_way:
        while done < kills and len(under_way) < runs:
            under_way.add(asyncio.create_task(one(number)))
            number += 1
        if done < kills:
            await asyncio.sleep(random.uniform(0.2, 1.0))
            await asyncio.to_thread(harm, random.randrange(3))
            done += 1
        finished, under_way = await asyncio.wait(under_way, timeout=0.05)
        for each in finished:
            each.result()
    return reports, longest


SLOW = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.mark.long
@pytest.mark.parametrize(
    ("harm", "kills"),
    [("kill", 4), pytest.param("kill", 110, marks=SLOW), pytest.param("stop", 3, marks=SLOW)],
)
def test_workers_that_are_harmed_carry_nothing_twice(
    harm: str, kills: int, tmp_path: Path, postgres_server: Database, prepared_database: str
) -> None:
    """One that is killed loses its runs to the others; one that stands still keeps them, as its connection does."""
    url = postgres_server.fresh(prepared_database)
    calm = DurableEngine(tmp_path / "store", Slow(tmp_path, None).equip)
    expected = asyncio.run(ended(calm, "calm"))
    calm.close()
    workers = Workers(tmp_path, url)
    engine = DurableEngine(url, Slow(tmp_path, None).equip)
    try:
        reports, longest = asyncio.run(harmed_meanwhile(engine, getattr(workers, harm), 4, kills))
        assert {told(report) for report in reports} == {told(expected)}
        assert longest < 2 * TAKEN_OVER
        noted = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        recorded: set[str] = set()
        effects: Counter[str] = Counter()
        for what, key in noted:
            assert what != "effect" or key not in recorded, "a recorded step was carried out again"
            recorded |= {key} if what == "recorded" else set()
            effects.update([key] if what == "effect" else [])
        wanted = {key.removeprefix("calm") for key in effects if key.startswith("calm/")}
        for report in reports:
            mine = {key for key in effects if key.startswith(f"{report.run}/")}
            assert {key.removeprefix(report.run) for key in mine} == wanted, "the same effects, under the same keys"
            repeated = {event["key"] for event in engine.trace_from(report.run)[0] if event["event"] == "repeated"}
            assert {key for key in mine if effects[key] > 1} <= repeated, "what was perhaps done twice is reported"
    finally:
        workers.end()
        engine.close()


def test_who_carries_a_run_is_known_to_all_workers(postgres_server: Database, prepared_database: str) -> None:
    store: Any = PostgresStore(postgres_server.fresh(prepared_database))
    engine: sa.Engine = store.open()
    first, second = store.lock(engine), store.lock(engine)
    assert first.take("a") is None
    assert second.take("a") == first.queue
    assert first.take("a") is None
    first.release()
    assert second.take("a") is None, "its worker has died"
    second.release()
    engine.dispose()


def test_who_waits_for_tables_does_not_hold_up_who_makes_them(postgres_server: Database, prepared_database: str) -> None:
    """An index that is made concurrently waits for all statements that have begun: none may wait for the one who makes it."""
    store: Any = PostgresStore(postgres_server.fresh(prepared_database))
    engine: sa.Engine = store.open()
    makes, waits = store.lock(engine), store.lock(engine)
    inside = threading.Event()

    def wait() -> None:
        with waits.alone():
            inside.set()

    other = threading.Thread(target=wait)
    with makes.alone(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        other.start()
        assert not inside.wait(0.2)
        connection.execute(sa.text("SET statement_timeout = '10s'"))
        connection.execute(sa.text("CREATE INDEX CONCURRENTLY it ON instrc_owners (worker)"))
        assert not inside.is_set()
    other.join(60)
    assert inside.is_set()
    for lock in (makes, waits):
        lock.release()
    engine.dispose()
