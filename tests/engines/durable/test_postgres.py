"""A store in PostgreSQL, by its URL: several processes use it, and the server may go and come back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from threading import Event, Timer
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from postgres_server import Database, postgres
from written_processes import DECISION, call, chunk, process, step

import instrc
from instrc import ModelError
from instrc.engines.dbos.durable_engine import DurableEngine  # it creates tables here, and runs nothing
from instrc.engines.dbos.postgres import _LIMITS, SharedDatabase  # two writers in one process
from instrc.engines.dbos.store import close_engine, runs_below  # no other function shows which index is read
from instrc.engines.equip import request_table  # what the settings of a project say of models
from instrc.engines.places import store_of  # the database without the engine
from instrc.problems.errors import UnavailableError, UnreachableError
from instrc.runtime.engine_protocol import WorkerOptions
from instrc.runtime.models.catalogue import Limited, model_of, turn  # what all machines share
from instrc.runtime.traces import event_of
from instrc.text.jsontext import dumps, loads
from instrc.vibes.settings import read_settings

PROGRAM = """
const answer = prompt | @{ title: "Approve_User", type: "object", properties: { decision: { enum: ["Approve", "Reject"] } },
  required: ["decision"] };
answer | @{ title: "Sum", type: "object", properties: { text: { type: "string" } }, required: ["text"] }
"""


def said(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "instrc", *words], cwd=folder, capture_output=True, text=True, check=False)


def test_commands_find_a_store_by_its_url(tmp_path: Path, postgres_server: Database, prepared_database: str) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    begun = said(tmp_path, "run", "ask.aug", "--input", "go", "--model", "sample", "--id", "one", "--store", url)
    assert begun.returncode == 3, begun.stderr  # it waits for an answer
    assert loads(begun.stdout)["status"] == "waiting"
    assert "one" in said(tmp_path, "runs", "--store", url).stdout
    line = ["answer", "one", "approve", "--data", '{"decision": "Approve"}', "--store", url]
    done = said(tmp_path, *line)
    assert loads(done.stdout)["status"] == "done", done.stderr
    assert "no-such-question" in said(tmp_path, *line).stderr


def test_a_trace_of_two_writers_is_read_in_order(postgres_server: Database) -> None:
    url = postgres_server.fresh()
    slow, quick, reader = (SharedDatabase(url) for _ in range(3))
    reader.read("r")  # which makes the tables
    slow_one, go_on = Event(), Event()

    @sa.event.listens_for(slow._db(), "commit")
    def wait(_connection: sa.Connection) -> None:
        if not slow_one.is_set():
            slow_one.set()
            assert go_on.wait(60)

    try:
        slow.write(event_of("r", "asked", "slow", {}))
        assert slow_one.wait(60)
        quick.write(event_of("r", "asked", "quick", {}))
        quick.write.flush(0.5)
        seen, place = reader.read("r")
        go_on.set()
        slow.write.flush()
        quick.write.flush()
        seen += reader.read("r", place)[0]
        assert [each.get("id") for each in seen] == ["slow", "quick"]
    finally:
        for each in (slow, quick, reader):
            each.close()


def test_a_trace_and_what_was_used_are_known_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: Database, prepared_database: str
) -> None:
    url = postgres_server.fresh(prepared_database)
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()

    class Counting:
        async def answer(self, request: instrc.Request) -> instrc.Reply:
            wrong = request.command is not None and not request.command["complaints"]
            return instrc.Reply({"text": 5 if wrong else "x"}, usage={"input_tokens": 7, "output_tokens": 2}, cost=0.5)

    monkeypatch.chdir(here)
    program = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
    run = instrc.run(program, "x", model=Counting(), engine="durable", store=url, id="one")
    events = run.trace
    assert [event["event"] for event in events] == ["asked", "answered", "rejected", "asked", "answered", "ended"]
    used = {"requests": 2, "input_tokens": 14, "output_tokens": 4, "cost": 1.0}
    assert run.usage == used
    instrc.close_stores()
    monkeypatch.chdir(elsewhere)
    found = instrc.find_run("one", engine="durable", store=url)
    assert found.usage == used
    assert found.trace == events
    instrc.close_stores()
    shown = said(elsewhere, "trace", "one", "--store", url, "--format", "json")
    assert [loads(line) for line in shown.stdout.splitlines()] == events
    assert not (here / ".instrc" / "traces").exists()


def test_a_database_without_an_encoding_keeps_every_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: Database
) -> None:
    """Such are the databases of a server that was set up where the language is `C`."""
    monkeypatch.chdir(tmp_path)
    url = postgres_server.fresh("template0", "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    run = instrc.run(PROGRAM, "Напиши 🙂", model="sample", engine="durable", store=url, id="one")
    assert "Напиши 🙂" in dumps(run.questions[0].show)
    assert run.answer("approve", {"decision": "Approve"}).status == "done"
    instrc.close_stores()


def test_the_runs_below_others_are_found_by_an_index(tmp_path: Path, postgres_server: Database, prepared_database: str) -> None:
    """Whatever a store is asked of a run asks for these, so it must not read the names of all runs."""
    folder = DurableEngine(tmp_path, lambda *_: None)  # type: ignore[arg-type, return-value]  # it runs nothing
    folder._open()  # creates the tables
    folder.close()
    for place in (str(tmp_path), postgres_server.fresh(prepared_database)):
        location = store_of(place)
        table = sa.table("workflow_status", sa.column("workflow_uuid"), sa.column("status"), schema=location.schema)
        db = location.open()
        with db.begin() as connection:
            for run in ("a", "a/1", "a/1/b", "A/1", "a_", "a_/1", "ab/1", "a0", "a-/1", "aa/1", "я/1", "b/1"):
                connection.execute(sa.insert(table).values(workflow_uuid=run, status="SUCCESS"))
        for runs, below in ((["a"], {"a/1", "a/1/b"}), (["a_", "я", "none"], {"a_/1", "я/1"}), (["a/1"], {"a/1/b"})):
            assert {*runs_below(db, location.schema, runs)} == below
        asked: list[Any] = []
        sa.event.listen(db, "before_cursor_execute", lambda *given, asked=asked: asked.append(given[2:4]))
        runs_below(db, location.schema, ["a"])
        with db.connect() as connection:
            if not location.is_local:
                connection.execute(sa.text("SET enable_seqscan = off"))
            plan = connection.exec_driver_sql(f"EXPLAIN {'QUERY PLAN ' * location.is_local}{asked[0][0]}", asked[0][1]).all()
        assert "instrc_children" in str(plan)
        close_engine(db)


@pytest.mark.long
def test_a_server_that_goes_is_a_problem_and_the_run_goes_on_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.instrc.run]\nreconnect = 0\n")
    with postgres() as server:
        url = server.fresh()
        run = instrc.run(PROGRAM, "go", model="sample", engine="durable", store=url, id="one")
        assert run.status == "waiting"
        server.kill()
        with pytest.raises(instrc.UnavailableError) as raised:
            run.answer("approve", {"decision": "Approve"})
        assert raised.value.problems[0].name == "unusable-store"
        server.begin()
        instrc.close_stores()
        run = instrc.run(PROGRAM, "go", model="sample", engine="durable", store=url, id="one")
        assert run.answer("approve", {"decision": "Approve"}).status == "done"
        instrc.close_stores()


@pytest.mark.long
def test_a_run_waits_for_a_server_that_is_lost_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys: list[str] = []
    with postgres() as server:

        def work(_given: Any) -> Any:
            keys.append(instrc.current_call().key)
            if len(keys) == 1:
                server.kill()
                Timer(2.5, server.begin).start()
            return {"text": "done"}

        document = process(
            serverContext1=chunk(step1_a=call("Work", "prompt")), userContext1=chunk(step2_ok=step(DECISION, "step1_a"))
        )
        options: Any = {"activities": {"Work": work}, "engine": "durable", "store": server.fresh(), "model": instrc.Scripted({})}
        run = instrc.run(document, "go", id="one", **options)
        assert run.status == "waiting"
        assert set(keys) == {"one/serverContext1.step1_a"}
        server.kill()
        Timer(2.5, server.begin).start()
        with pytest.warns(RuntimeWarning) as told:
            assert run.answer("ok", {"decision": "Approve"}).status == "done"
        words = [str(each.message) for each in told]
        assert any("its runs stay unchanged, and continue when it responds" in each for each in words)
        assert any("trying again in 1 s" in each for each in words)
        instrc.close_stores()


def test_no_server_is_a_problem_that_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreachableError) as raised:
        instrc.run(PROGRAM, "go", model="sample", engine="durable", store="postgresql://me:geheim99@127.0.0.1:1/runs")
    [problem] = raised.value.problems
    assert problem.name == "unusable-store"
    assert "geheim99" not in problem.message


@pytest.mark.parametrize("granted", ["", "GRANT CREATE ON SCHEMA public TO {role}"], ids=["table", "schema"])
@pytest.mark.parametrize("slots", [0, 3])
def test_a_role_that_may_not_create_tables_is_told_once_and_leaves_no_connections(
    slots: int, granted: str, postgres_server: Database
) -> None:
    """A process that tried for ever would use up the connections of the server."""
    url, role = postgres_server.fresh(), f"reader_{token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN; {granted.format(role=role)}".encode())
        place, worker = url.replace("://instrc@", f"://{role}@"), WorkerOptions(slots=slots)
        engine = DurableEngine(place, lambda *_: None, worker=worker)  # type: ignore[arg-type, return-value]  # it runs nothing
        for _ in range(3):
            with pytest.raises(UnavailableError, match="permission denied") as refused:
                asyncio.run(engine.claim())
            assert not isinstance(refused.value, UnreachableError)
        engine.close()
        left = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
        for _ in range(500):
            if server.execute(left, [role]).fetchone() == (0,):
                return
            sleep(0.01)
        raise AssertionError("connections are left")


@pytest.mark.long
def test_a_worker_says_that_its_server_is_gone_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    (tmp_path / "ask.aug").write_text(PROGRAM)
    with postgres() as server:
        url = server.fresh()
        line = [sys.executable, "-m", "instrc", "worker", "--store", url]
        with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as worker:
            assert worker.stderr is not None
            try:
                assert "ready" in worker.stderr.readline()
                server.kill()
                assert "continue when it responds" in worker.stderr.readline()
                assert "trying again in 1 s" in worker.stderr.readline()
                server.begin()
                while "ready" not in worker.stderr.readline():
                    assert worker.poll() is None
                begun = said(tmp_path, "run", "ask.aug", "--input", "go", "--model", "sample", "--id", "one", "--store", url)
                assert loads(begun.stdout)["status"] == "waiting", begun.stderr
                worker.terminate()
                assert worker.wait(60) == 0
            finally:
                worker.kill()


def test_a_second_worker_works_beside_the_first_and_takes_its_runs_over(
    tmp_path: Path, postgres_server: Database, prepared_database: str
) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    line = [sys.executable, "-m", "instrc", "worker", "--store", url]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        assert first.stderr.readline() == "the worker is ready\n"
        said(tmp_path, "run", "ask.aug", "--input", "go", "--model", "sample", "--id", "one", "--store", url)
        assert first.stderr.readline().split()[1] == "one/userContext1"
        with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as second:
            try:
                assert second.stderr is not None
                assert second.stderr.readline() == "the worker is ready\n"
                first.kill()
                said(tmp_path, "answer", "one", "approve", "--data", '{"decision": "Approve"}', "--store", url)
                assert loads(said(tmp_path, "resume", "one", "--store", url).stdout)["status"] == "done"
                lines = [second.stderr.readline() for _ in range(4)]
                assert all(each.split()[1].startswith("one") for each in lines)
                second.terminate()
                assert second.wait(60) == 0
            finally:
                first.kill()
                second.kill()


def test_all_machines_of_a_project_with_a_database_count_requests_in_it(tmp_path: Path, postgres_server: Database) -> None:
    url = postgres_server.fresh().replace("postgresql:", "postgresql+psycopg:")
    (tmp_path / "pyproject.toml").write_text(f'[tool.instrc.run]\nstore = "{url}"\nrpm = 60\n')
    table = request_table(read_settings(tmp_path), {})
    model = model_of("llamacpp:m", tmp_path, table)
    assert isinstance(model, Limited)
    assert model.place == url
    with ThreadPoolExecutor(8) as pool:  # the table is made once, whoever comes first
        waits = sorted(pool.map(lambda _: turn(url, "m rpm", 0.003, 1, 20_000.0), range(8)))
    assert [round(wait / 20_000) for wait in waits] == list(range(8))  # none shares the turn of another, however long this took
    assert waits[0] == 0.0
    assert turn(url, "other rpm", 60, 1, 1.0) == 0.0
    with pytest.raises(ModelError, match="does not answer: OperationalError"):
        turn("postgresql://127.0.0.1:9/none", "m rpm", 60, 1, 1.0)


ACTIVITY = """
import sys, time
from pathlib import Path
import instrc

def work(_given):
    with open("log", "a") as log:
        log.write(f"{sys.argv[1]} {instrc.current_call().key}\\n")
    while not Path("go").exists():
        time.sleep(0.05)
    return {"text": sys.argv[1]}
"""
PROCESS = """
import sys
import instrc
from acts import work

name, url = sys.argv[1:]
program = DOCUMENT
options = {"engine": "durable", "store": url, "model": "sample"}
if OBJECTS:
    options |= {"activities": {"Work": work}}
print(instrc.run(program, "go", id=name, **options).status, flush=True)
options.pop("model")  # that of the run
while (run := instrc.find_run("a", **options)).status != "done":
    run.resume()
instrc.close_stores()
"""


@pytest.mark.long
@pytest.mark.parametrize("objects", [False, True])
def test_two_processes_share_a_server_and_one_takes_over_the_runs_of_the_other(
    tmp_path: Path, postgres_server: Database, *, objects: bool
) -> None:
    """At once, if the project names its activities; if they are objects of a program, when it asks for the run."""
    url, log = postgres_server.fresh(), tmp_path / "log"
    document = process(serverContext1=chunk(step1_a=call("Work", "prompt")))
    (tmp_path / "own.py").write_text(PROCESS.replace("DOCUMENT", repr(document)).replace("OBJECTS", repr(objects)))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n[tool.instrc.activities]\nWork = "acts:work"\n')
    (tmp_path / "acts.py").write_text(ACTIVITY)

    def until(line: str) -> None:
        end = monotonic() + 60
        while not log.exists() or line not in log.read_text().splitlines():
            assert monotonic() < end, log.read_text() if log.exists() else "nothing was begun"
            sleep(0.1)

    began = [
        subprocess.Popen([sys.executable, "own.py", name, url], cwd=tmp_path, stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    try:
        until("a a/serverContext1.step1_a")
        until("b b/serverContext1.step1_a")  # both are under way at once
        began[0].kill()
        if not objects:
            until("b a/serverContext1.step1_a")
        (tmp_path / "go").touch()
        assert began[1].communicate(timeout=60)[0] == "done\n"
        assert began[1].returncode == 0
        assert sorted(log.read_text().split()[1::2]) == [*["a/serverContext1.step1_a"] * 2, "b/serverContext1.step1_a"]
    finally:
        for each in began:
            each.kill()
            each.communicate()


@pytest.mark.long
def test_a_second_worker_of_a_folder_says_so_before_it_is_ready(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "instrc", "worker", "--store", "kept"]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stderr is not None
            assert first.stderr.readline() == "the worker is ready\n"
            second = said(tmp_path, "worker", "--store", "kept")
            assert second.returncode == 1
            assert "the worker is ready" not in second.stderr
            assert "store-in-use" in second.stderr
        finally:
            first.terminate()
            first.wait(60)


def test_a_transaction_in_which_nothing_is_done_holds_no_other_up_for_long(
    postgres_server: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may be paused in it, and a machine may vanish."""
    monkeypatch.setitem(_LIMITS, "idle_in_transaction_session_timeout", 100)
    engine = store_of(postgres_server.fresh()).open()
    paused, other = engine.connect(), engine.connect()
    other.execute(sa.text("SET statement_timeout = 20000"))
    for connection in (paused, other):
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(1)"))
    with pytest.raises(sa.exc.DBAPIError):
        paused.execute(sa.text("SELECT 1"))
    other.close()
    close_engine(engine)
