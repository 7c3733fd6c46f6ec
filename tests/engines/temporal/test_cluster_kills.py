"""Workers and the server are killed while runs go on: nothing recorded is done again, and each run has one outcome."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from temporal_server import Server, started

sys.path.insert(0, str(Path(__file__).parent))

from outliving import Worker, engine_in

from instrc.problems.errors import InstrcError
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunReport

PROGRAM = Path(__file__).with_name("outliving.py")
WORKERS = ("one", "two")
TOGETHER = 3
"""Runs at the same time: while one waits until a dead worker is missed, the others go on."""


@dataclass
class Killing:
    """A server with two workers, one of which, or the server itself, is killed as soon as enough was done."""

    folder: Path
    server: Server
    kills: int
    random: Random
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    def begin(self, name: str) -> None:
        command = [sys.executable, str(PROGRAM), str(self.folder), "killing"]
        with (self.folder / f"{name}.err").open("ab") as errors:
            self.workers[name] = subprocess.Popen(command, stderr=errors)

    def effects(self) -> list[tuple[str, float]]:
        file = self.folder / "log.jsonl"
        return [(key, at) for _, key, at in map(json.loads, file.read_text().splitlines())] if file.exists() else []

    async def kill(self) -> None:
        """Kill again and again, each time after a few effects."""
        seen = 0
        while self.killed.total() < self.kills:
            await self.until(seen + self.random.randint(1, 6))
            victim = self.random.choices([*WORKERS, "server"], [3, 3, 1])[0]
            if victim == "server":
                self.server.kill()
                await asyncio.to_thread(self.server.begin)
            else:
                self.workers[victim].kill()
                self.workers[victim].wait()
                self.begin(victim)
            self.killed[victim] += 1
            seen = len(self.effects())

    async def until(self, many: int) -> None:
        while len(self.effects()) < many:
            await asyncio.sleep(0.02)
            for name, worker in list(self.workers.items()):
                if worker.poll() is not None:  # it began while there was no server
                    self.begin(name)


@asynccontextmanager
async def killing(folder: Path, server: Server, kills: int) -> AsyncIterator[Killing]:
    made = Killing(folder, server, kills, Random(kills))  # noqa: S311  -- the same kills each time
    for name in WORKERS:
        made.begin(name)
    try:
        yield made
    finally:
        for worker in made.workers.values():
            worker.kill()
            worker.wait()


async def persisted(work: Any, *given: Any, taken: str = "") -> Any:
    """Ask until the server answers, or says that it has taken this in already: it may have died before it could say so."""
    while True:
        try:
            return await work(*given)
        except InstrcError as error:
            if error.problems[0].name == taken:
                return None
            if error.problems[0].name != "unusable-store":
                raise
            await asyncio.sleep(0.3)


async def lived(folder: Path, run: str) -> RunReport:
    """Begin a run and answer what it asks, until it has ended."""
    engine = engine_in(folder, "killing")
    engine.only_asks = True
    plan = plan_of(Worker.document, activities=Worker.fires)
    report = await persisted(engine.start, Launch(run, "dying", plan, Worker.inputs))
    while report.status in {"waiting", "running"}:
        if report.questions:
            asked = report.questions[0]
            data = {"decision": "Approve"} if asked.by == "person" else {"text": "late"}
            await persisted(engine.answer, run, asked.id, data, taken="no-such-question")
        report = await persisted(engine.resume, run)
    return report


async def recorded(folder: Path, run: str) -> dict[str, float]:
    """Return when the server has recorded each effect of a run and its children."""
    client = await engine_in(folder, "killing")._client()
    found: dict[str, float] = {}
    for name in (run, f"{run}/whenContext1.serverContext1.step13_child"):
        ids: dict[int, str] = {}
        async for event in client.get_workflow_handle(f"killing{name}").fetch_history_events():
            if event.HasField("activity_task_scheduled_event_attributes"):
                ids[event.event_id] = event.activity_task_scheduled_event_attributes.activity_id
            elif event.HasField("activity_task_completed_event_attributes"):
                scheduled = event.activity_task_completed_event_attributes.scheduled_event_id
                found[f"{name}/{ids[scheduled]}"] = event.event_time.ToNanoseconds() / 1e9
    return found


async def survived(folder: Path, server: Server, kills: int) -> Counter[str]:
    async with killing(folder, server, 0) as calm:
        report = await lived(folder, "calm")
        expected = {key.removeprefix("calm/") for key, _ in calm.effects()}
    outcome = (report.outcome, report.record)
    ended: dict[str, RunReport] = {}
    async with killing(folder, server, kills) as deadly:
        ending = asyncio.ensure_future(deadly.kill())

        async def lane(number: int) -> None:
            while not ending.done() or number < TOGETHER:
                ended[f"r{number}"] = await lived(folder, f"r{number}")
                number += TOGETHER

        await asyncio.gather(*(lane(number) for number in range(TOGETHER)))
        await ending
    for run, report in ended.items():
        assert (report.outcome, report.record) == outcome, run
        mine = [(key, at) for key, at in deadly.effects() if key.startswith(f"{run}/")]
        assert {key.removeprefix(f"{run}/") for key, _ in mine} == expected, "the same effects, under the same keys"
        known = await recorded(folder, run)
        assert known.keys() >= {key for key, _ in mine}, run
        assert [key for key, at in mine if at > known[key]] == [], "nothing that was recorded was done again"
    (folder / "killed.json").write_text(
        json.dumps({"killed": deadly.killed, "runs": len(ended), "effects": len(deadly.effects())})
    )
    return deadly.killed


SLOW = (pytest.mark.slow, pytest.mark.timeout(7200))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kills", [pytest.param(12, marks=SLOW), pytest.param(200, marks=SLOW)])
def test_runs_survive_kills_of_workers_and_of_the_server(kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(tmp_path) as server:
        if server.kind != "temporal":
            pytest.skip(f"the server `{server.kind}` cannot be killed, or keeps nothing")
        monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
        killed = asyncio.run(survived(tmp_path, server, kills))
    assert killed.total() == kills
    assert killed.keys() == {*WORKERS, "server"}
    gc.collect()  # workflows that the SDK had only begun to replay when it ended complain here, not in another test
