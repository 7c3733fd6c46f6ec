"""Whoever begins, answers, retries or cancels a run: list, inbox, feed and metrics say what its own record says, at once."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Database
from serving import BOSS, client, opened

from instrc.engines.hosts import engine_of
from instrc.engines.launch import Launcher
from instrc.engines.prepare import prepare
from instrc.runtime.engine_protocol import WorkerOptions
from instrc.server.records import Records  # the room behind its commands
from instrc.server.run_service import RunService  # the room behind its commands
from instrc.server.streams import Hub  # the room behind its commands

AT_ONCE = 1.0
"""Seconds in which a change is to be seen."""
LOOKS = 8
"""Looks that it may take where a look alone takes long, as on a machine that does much else."""
PROGRAM = """
const approval = Approve_User(prompt);
Send_Activity(approval)
"""
SETTINGS = """
[project]
name = "shop"
[tool.instrc.run]
engine = "durable"
[tool.instrc.activities]
Send_Activity = "account_handlers:send"
"""
HANDLERS = """
import os

def send(given):
    if not os.path.exists("mended"):
        raise ValueError("it is out of order")
    return {"text": "sent"}
"""
PYTHON = """
import sys, instrc
action, run, store = sys.argv[1:]
if action == "start":
    instrc.run("pay.aug", "x", id=run, engine="durable", store=store)
elif action == "answer":
    instrc.find_run(run, engine="durable", store=store).answer("approve", {"decision": "Approve"})
elif action == "cancel":
    instrc.find_run(run, engine="durable", store=store).cancel()
else:
    instrc.find_run(run, engine="durable", store=store).retry()
"""


class Stage:
    """A service in this process, on a folder or beside a worker on a database, and what acts on its runs."""

    def __init__(self, folder: Path, place: str) -> None:
        self.folder, self.place = folder, place
        text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        decision = {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]}
        (folder / "schemas").mkdir()
        for name, schema in (("send_Activity", text), ("approve_User", decision)):
            (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
        for name, content in (("pay.aug", PROGRAM), ("pyproject.toml", SETTINGS), ("account_handlers.py", HANDLERS)):
            (folder / name).write_text(content)
        (folder / "act.py").write_text(PYTHON)
        hub = Hub()
        options = WorkerOptions(slots=0)
        engine = engine_of("durable", place, watch=hub.saw, parts=hub.heard, worker=options)  # type: ignore[arg-type]  # a URL, too
        self.service = RunService({"pay": Launcher(prepare("pay.aug"))}, engine, Records(place), hub=hub)
        self.engine: Any = engine

    def do(self, *words: str) -> str:
        """Run a command, which may end with any status of a run."""
        done = subprocess.run([sys.executable, *words], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in {0, 1, 3, 4, 6}, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        return done.stdout

    def command(self, *words: str) -> str:
        return self.do("-m", "instrc", *words, "--store", self.place)

    async def act(self, who: str, action: str, run: str) -> None:
        """Let somebody do something with a run."""
        service = self.service
        question = f"{run}:userContext1"
        said = {"start": ["run", "pay.aug", "--id", run, "--input", "prompt=x"], "answer": ["answer", run, "approve"]}
        said["answer"] += ["--data", '{"decision": "Approve"}']
        if who == "python":
            await asyncio.to_thread(self.do, "act.py", action, run, self.place)
        elif who == "command":
            await asyncio.to_thread(self.command, *said.get(action, [action, run]))
        elif action == "start":
            await service.start(BOSS, "pay", {"prompt": "x"}, run=run, wait=10)
        elif action == "answer":
            await service.answer(BOSS, run, question.partition(":")[2], {"decision": "Approve"})
        elif action == "cancel":
            await service.cancel(BOSS, run)
        else:
            from instrc.runtime.retry import RetryOptions

            await service.retry(BOSS, run, RetryOptions())

    async def account(self, http: Any) -> dict[str, dict[str, Any]]:
        """Return what list, inbox, feed and metrics say."""
        runs = (await http.get("/v1/runs?limit=200")).json()["items"]
        asked = (await http.get("/v1/questions?limit=200")).json()["items"]
        feed: dict[str, str] = {}
        for change in self.service.records.feed(0, 10_000):
            if change.kind.startswith("run."):
                feed[change.run] = change.kind.removeprefix("run.")
        text = (await http.get("/metrics")).text
        counts = {status: int(count) for status, count in re.findall(r'instrc_runs\{status="(\w+)"\} (\d+)', text)}
        return {
            "list": {each["run"]: each["status"] for each in runs},
            "inbox": dict(Counter(each["run"] for each in asked)),
            "feed": feed,
            "metrics": {status: count for status, count in counts.items() if count},
        }

    async def record(self, runs: list[str]) -> dict[str, dict[str, Any]]:
        """Return the same by the records of the runs."""
        reports = [await self.engine.show(run) for run in runs]
        statuses = {report.run: report.status for report in reports}
        asked = {report.run: len(report.questions) for report in reports if report.questions}
        return {"list": statuses, "inbox": asked, "feed": statuses, "metrics": dict(Counter(statuses.values()))}

    async def agrees(self, http: Any, runs: list[str], what: str) -> None:
        end, looks = time.monotonic() + AT_ONCE, 0
        while (seen := await self.account(http)) != (known := await self.record(runs)):
            looks += 1
            assert time.monotonic() < end or looks < LOOKS, (what, seen, known)
            await asyncio.sleep(0.05)


async def settled(stage: Stage, run: str, *statuses: str) -> None:
    end = time.monotonic() + 60
    while (report := await stage.engine.show(run)).status not in statuses:
        assert time.monotonic() < end, report
        await asyncio.sleep(0.05)


async def everything(stage: Stage, schedule: Callable[[], Awaitable[str]] | None) -> None:
    """Let each of them do each thing, and compare after each."""
    runs: list[str] = []
    async with opened(stage.service), client(stage.service) as http:
        await stage.engine.claim()
        for number, who in enumerate(["service", "command", "python"]):
            other, third = [each for each in ("service", "command", "python") if each != who]
            (stage.folder / "mended").unlink(missing_ok=True)
            run, dropped = f"{who}-{number}", f"dropped-{number}"
            runs += [run, dropped]
            for each in (run, dropped):
                await stage.act(who, "start", each)
            await settled(stage, dropped, "waiting")
            await stage.agrees(http, runs, f"{who} has begun")
            await stage.act(other, "cancel", dropped)
            await stage.agrees(http, runs, f"{other} has cancelled")
            await stage.act(third, "answer", run)
            await settled(stage, run, "failed", "held")
            await stage.agrees(http, runs, f"{third} has answered")
            answered = [change.run for change in stage.service.records.feed(0, 10_000) if change.kind == "question.answered"]
            assert answered == [each for each in runs if not each.startswith("dropped")], f"{third} has answered"
            (stage.folder / "mended").touch()
            await stage.act(other, "retry", run)
            await settled(stage, run, "done")
            await stage.agrees(http, runs, f"{other} has retried")
        if schedule is not None:
            runs.append(await schedule())
            await stage.agrees(http, runs, "a schedule has begun")
            await settled(stage, runs[-1], "waiting")
            await stage.agrees(http, runs, "what a schedule has begun asks")


@pytest.mark.long
def test_all_accounts_agree_on_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(asyncio.wait_for(everything(Stage(tmp_path, str(tmp_path / "store")), None), 240))


@pytest.mark.long
def test_all_accounts_agree_on_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: Database) -> None:
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path, postgres_server.fresh())

    async def schedule() -> str:
        times = ["--cron", "0 0 1 1 *", "--input", "prompt=x"]
        await asyncio.to_thread(stage.command, "schedule", "add", "yearly", "pay.aug", *times)
        return (await asyncio.to_thread(stage.command, "schedule", "trigger", "yearly")).split()[0]

    line = [sys.executable, "-m", "instrc", "worker", "--store", stage.place]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as worker:
        try:
            assert worker.stderr is not None
            worker.stderr.readline()
            asyncio.run(asyncio.wait_for(everything(stage, schedule), 240))
        finally:
            worker.kill()
