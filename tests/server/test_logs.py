"""What `serve` logs as JSON, and what it measures of a queue that workers share."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import httpx
import pytest
from postgres_server import Database
from serving import BOSS, asking, client, go, launcher, service

from instrc.engines.hosts import engine_of
from instrc.engines.retention import keep_swept  # a loop of a worker
from instrc.runtime.engine_protocol import WorkerOptions
from instrc.runtime.telemetry import logged  # what runs tell the log
from instrc.server.a2a import a2a_routes  # the service over A2A
from instrc.server.logs import REQUESTS, log_as_json  # what `serve --log-json` does
from instrc.server.records import Records  # as `serve` opens them
from instrc.server.run_service import RunService  # without a process of its own

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def _usual_log() -> Iterator[None]:
    root = logging.getLogger()
    before, level = [*root.handlers], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    REQUESTS.setLevel(logging.NOTSET)


@pytest.mark.usefixtures("_usual_log")
def test_requests_and_faults_are_lines_of_json_without_what_is_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "a-secret-of-the-environment")
    written = StringIO()
    log_as_json(written)

    async def body() -> None:
        async with client(service(tmp_path)) as http:
            await http.get("/v1/runs?program=what-ann-looks-for")
            await http.get("/v1/runs/the-run-of-ann")

    go(body())
    try:
        int("a-secret-of-the-environment\nin two lines")
    except ValueError:
        logging.getLogger("shop").exception("it broke")
    *requests, fault = [json.loads(line) for line in written.getvalue().splitlines()]
    facts = [(each["operation"], each["method"], each["path"], each["status"]) for each in requests]
    assert facts == [("listRuns", "GET", "/v1/runs", 200), ("getRun", "GET", "/v1/runs/{run}", 404)]
    assert all(each["seconds"] > 0 and each["at"].endswith("Z") for each in requests)
    assert (fault["level"], fault["logger"], fault["message"]) == ("error", "shop", "it broke")
    assert "ValueError" in fault["error"]
    for secret in ("ann", "a-secret-of-the-environment"):
        assert secret not in written.getvalue()


@pytest.mark.long
def test_serve_writes_nothing_but_json(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt"
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    line = [sys.executable, "-m", "instrc", "serve", "--rehearse", "--log-json", "--port", "0"]
    running = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stderr is not None
        entries = [json.loads(running.stderr.readline())]
        while not entries[-1]["message"].startswith("serving"):
            entries.append(json.loads(running.stderr.readline()))
        assert any("share one limit" in each["message"] for each in entries), "all are one caller without authentication"
        address = entries[-1]["message"].split(" at ")[1].split("/v1")[0]
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
    finally:
        running.terminate()
        entries += map(json.loads, running.communicate(timeout=60)[1].splitlines())
    assert [each["path"] for each in entries if each["message"] == "request"] == ["/healthz"]


def test_the_age_of_a_queue_that_nobody_takes_from_is_measured(postgres_server: Database, tmp_path: Path) -> None:
    place = postgres_server.fresh()

    async def body() -> str:
        engine = engine_of("durable", place, worker=WorkerOptions(slots=0))  # type: ignore[arg-type]  # the address of a database
        made = RunService({"ask": launcher("ask", asking())}, engine, Records(str(place)))
        async with client(made, BOSS) as http:
            for run in ("one", "two"):
                assert (await http.post("/v1/runs", json={"program": "ask", "input": "x", "run": run})).status_code == 201
            await asyncio.sleep(0.3)
            return (await http.get("/metrics")).text

    counted = go(body())
    assert re.findall(r"instrc_queue_runs\{.*\} (\d+)", counted) == ["2"]
    [age] = re.findall(r"^instrc_queue_age_seconds (\S+)$", counted, re.MULTILINE)
    assert 0.2 < float(age) < 30
    assert "instrc_workers 0" in counted


def test_the_library_of_a2a_logs_nothing_of_what_was_sent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    parts = [{"text": "a secret"}, {"text": 3}]
    asked: list[tuple[str, object]] = [("GetTask", {"id": "a secret"}), ("SendMessage", {"message": {"parts": parts}})]
    asked += [("GetTask", "a secret"), ("SendStreamingMessage", {"message": {"taskId": "a secret"}})]

    async def body() -> None:
        made = service(tmp_path)
        async with client(made, routes=a2a_routes(made)) as http:
            for method, params in asked:
                sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                assert "error" in (await http.post("/a2a", json=sent, headers={"A2A-Version": "1.0"})).text
            rest = {"A2A-Version": "1.0"}
            assert (await http.get("/a2a/rest/tasks/a%20secret", headers=rest)).status_code == 404
            assert (await http.get("/a2a/rest/tasks?pageSize=secret", headers=rest)).status_code == 400

    go(body())
    assert "secret" not in caplog.text


@pytest.mark.usefixtures("_usual_log")
def test_the_texts_of_errors_are_not_in_the_log(tmp_path: Path) -> None:
    """Activities and services choose them, and may put data of a person into them."""
    written = StringIO()
    log_as_json(written)
    logged({"event": "failed", "at": 0.0, "run": "r", "id": "c", "error": "Ann is ill", "code": "sick", "traceback": "Ann"})  # type: ignore[typeddict-unknown-key]
    error = RuntimeError("Ann")
    error.__cause__ = ExceptionGroup("of Ann", [ValueError("Ann is ill")])
    logging.getLogger("shop").error("it broke", exc_info=error)
    event, fault = [json.loads(line) for line in written.getvalue().splitlines()]
    assert {key: event[key] for key in ("message", "run", "id", "code")} == {
        "message": "failed",
        "run": "r",
        "id": "c",
        "code": "sick",
    }
    assert [word for word in fault["error"].split("\n") if word in {"ValueError", "ExceptionGroup", "RuntimeError"}] == [
        "ValueError",
        "ExceptionGroup",
        "RuntimeError",
    ]
    assert "is ill" not in written.getvalue()


class _Failing:
    """Fails for some calls, and then tells an event of each call."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.loop = asyncio.get_running_loop()
        self.works = asyncio.Event()

    def __call__(self, *_: object) -> tuple[()]:
        self.left -= 1
        if self.left >= 0:
            raise OSError("no store at a-secret-of-the-environment\nSELECT what_ann_wrote")
        if self.left < -1:
            self.loop.call_soon_threadsafe(self.works.set)
        return ()


@pytest.mark.parametrize("place", ["retention", "runs"])
def test_repeated_work_logs_only_its_first_failure_and_its_recovery(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "a-secret-of-the-environment")
    monkeypatch.setattr("instrc.engines.retention._EVERY", 0.0)
    monkeypatch.setattr("instrc.server.run_service.LOOK", 0.001)
    monkeypatch.setattr("instrc.server.run_service._BREATH", 0.0)

    async def body() -> None:
        failing, made = _Failing(3), service(tmp_path, name="memory")
        if place == "retention":
            monkeypatch.setattr("instrc.engines.retention._take_turn", failing)
            loop = asyncio.create_task(keep_swept(made.engine, lambda: made.records, {}))
        else:
            monkeypatch.setattr(made.records, "runs", failing)
            loop = asyncio.create_task(made.begin())
        await failing.works.wait()
        loop.cancel()
        if place == "runs":
            await made.close()

    with caplog.at_level(logging.WARNING, "instrc.engines"):
        go(body())
    work = {"retention": "deleting old data", "runs": "reading the runs of other processes"}[place]
    told = [each.getMessage() for each in caplog.records if each.getMessage().startswith(work)]
    assert told == [f"{work} fails, and is retried: OSError: no store at ***", f"{work} works again"]
