"""Stores that are full, read-only, damaged or in use: one clear problem, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from written_processes import ASK, TEXT, call, chunk, process

from instrc import Activities, Sample
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.dbos.sqlite import FILE  # the file is damaged, locked and read here
from instrc.engines.dbos.store import close_engine  # as above
from instrc.engines.hosts import engine_of  # the front door of all engines
from instrc.engines.places import store_of  # as above
from instrc.problems.errors import InstrcError
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch

FOLDERS = [str(Path(__file__).parents[above]) for above in range(3)]
"""Where another process finds what is imported here."""
CALLS = process(serverContext1=chunk(step1_a=call("Send", "prompt")), serverContext2=chunk(step2_b=call("Send", "step1_a.text")))


def engine(folder: Path, *, send: Callable[[Any], Any] = lambda _given: {"text": "sent"}) -> DurableEngine:
    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, Sample(), Activities({"Send": send}), sink)

    return DurableEngine(folder, equip)


def go(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


def begin(carrier: DurableEngine, document: Any, run: str = "r1", prompt: Any = "go") -> Any:
    return go(carrier.start(Launch(run, "test", plan_of(document), {"prompt": prompt})))


def problem_of(work: Callable[[], Any]) -> Any:
    with pytest.raises(InstrcError) as raised:
        work()
    [problem] = raised.value.problems
    return problem


def test_a_full_disk_is_a_problem_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    carrier = engine(tmp_path)
    begin(carrier, ASK, "r0")

    def fill(given: Any) -> Any:
        """Take away the room between two effects."""
        with carrier.asker.db().connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        carrier.asker.db().dispose()
        limits.append(pages)
        return {"text": "x" * 200_000}

    limits: list[int] = []
    import sqlalchemy as sa

    @sa.event.listens_for(carrier.asker.db(), "connect")
    def limit(connection: Any, _record: Any) -> None:
        if limits:
            connection.execute(f"PRAGMA max_page_count={limits[-1]}")

    carrier.equip = lambda run, _plan, _how, sink: Effects(run, Sample(), Activities({"Send": fill}), sink)
    problem = problem_of(lambda: begin(carrier, CALLS))
    assert problem.name == "unusable-store"
    assert "full" in problem.message
    carrier.close()

    calls: list[Any] = []
    again = engine(tmp_path, send=lambda given: calls.append(given) or {"text": "sent"})
    assert go(again.show("r0")).status == "waiting"
    assert go(again.resume("r1")).status == "done"
    assert len(calls) == 2
    again.close()


def test_a_store_that_may_not_be_written_is_a_problem(tmp_path: Path) -> None:
    first = engine(tmp_path)
    begin(first, ASK)
    first.close()
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]; import test_stores as t; from pathlib import Path\n"
        "print(t.problem_of(lambda: t.go(t.engine(Path(sys.argv[1])).answer('r1', 'confirm', {'decision': 'Approve'}))).name)"
    )
    for file in [*tmp_path.iterdir(), tmp_path]:
        file.chmod(0o555 if file.is_dir() else 0o444)
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    command = [sys.executable, "-c", script, str(tmp_path), *FOLDERS]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.stdout.strip() == "unusable-store", said.stderr


def test_a_damaged_store_is_a_problem_and_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database, but somebody may want it back" * 200)
    before = (tmp_path / FILE).read_bytes()
    for work in (lambda: go(engine(tmp_path).runs()), lambda: begin(engine(tmp_path), ASK)):
        problem = problem_of(work)
        assert problem.name == "unusable-store"
        assert "not a database" in problem.message
    assert (tmp_path / FILE).read_bytes() == before


def test_a_file_where_the_folder_should_be_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert problem_of(lambda: begin(engine(tmp_path / "file"), ASK)).name == "unusable-store"


@pytest.mark.parametrize("place", ["mysql://me@host/runs", "sqlite:///runs.db", "postgress://host/runs"])
def test_the_url_of_another_database_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("durable", "memory"):
        problem = problem_of(lambda name=name: engine_of(name, Path(place)))  # type: ignore[misc]  # a default is not inferred
        assert problem.name == "unusable-store"
        assert "postgresql://HOST/NAME" in problem.message
    assert not list(tmp_path.iterdir())


def test_only_one_process_carries_a_store_and_others_work_beside_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]; import asyncio, test_stores as t; from pathlib import Path\n"
        "e = t.engine(Path(sys.argv[1])); t.begin(e, t.ASK); print('ready', flush=True)\n"
        "sys.stdin.read(1); e.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), *FOLDERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        here = engine(tmp_path)
        problem = problem_of(lambda: go(here.serve(asyncio.Event())))
        assert problem.name == "store-in-use"
        assert problem.message.startswith(f"process {other.pid} on {gethostname()} already carries out")
        assert go(here.show("r1")).status == "waiting"
        assert go(here.answer("r1", "confirm", {"decision": "Approve"})).status in {"done", "running"}
        assert problem_of(lambda: go(here.answer("r1", "confirm", {"decision": "Approve"}))).name == "no-such-question"
        assert begin(here, CALLS, "r2").status == "done"
        other.kill()
    assert begin(here, CALLS, "r3").status == "done", "the store is free when its process has ended"
    here.close()


def test_the_same_run_begun_twice_is_one_and_another_of_its_name_is_refused(tmp_path: Path) -> None:
    calls: list[Any] = []
    carrier = engine(tmp_path, send=lambda given: calls.append(given) or {"text": "sent"})
    assert begin(carrier, CALLS).status == begin(carrier, CALLS).status == "done"
    assert len(calls) == 2
    assert problem_of(lambda: begin(carrier, CALLS, prompt="other")).name == "run-exists"
    carrier.close()


def test_a_journal_is_kept_safe_against_power_failure(tmp_path: Path) -> None:
    carrier = engine(tmp_path)
    begin(carrier, ASK)
    with carrier.asker.db().connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    carrier.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        [(version,)] = connection.execute("SELECT DISTINCT application_version FROM workflow_status").fetchall()
        assert version == "instrc"
        [(kind,)] = connection.execute("SELECT DISTINCT serialization FROM workflow_status").fetchall()
        assert kind == "portable_json"


def test_a_store_that_is_closed_leaves_no_connection_open_that_a_thread_gives_back_later(tmp_path: Path) -> None:
    opened = store_of(tmp_path / "store").open()
    late = opened.connect()
    raw = late.connection.dbapi_connection
    assert raw is not None
    close_engine(opened)
    late.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        raw.cursor()
    with opened.connect() as later:  # a thread that had not begun yet: what it gives back is closed too
        taken = later.connection.dbapi_connection
    assert taken is not None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        taken.cursor()


def test_a_database_is_named_by_its_url_and_its_password_is_never_shown() -> None:
    location = store_of(Path("postgresql://me:secret@host/runs"))
    assert location.address == "postgresql+psycopg://me:secret@host/runs"
    assert location.shown == "postgresql://me:***@host/runs", "as it is written"
    location = store_of(Path("postgresql://host/runs?user=me&password=secret&sslpassword=secret"))
    assert "password=secret" in location.address
    assert location.shown == "postgresql://host/runs?user=me"


def test_a_store_of_files_is_shown_by_its_folder(tmp_path: Path) -> None:
    assert store_of(tmp_path / "store").shown == (tmp_path / "store").as_posix()


def test_a_connection_waits_for_others_writes_all_to_the_disk_and_keeps_references(tmp_path: Path) -> None:
    opened = store_of(tmp_path / "store").open()
    with opened.connect() as connection:
        said = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("busy_timeout", "synchronous", "foreign_keys")
        }
        assert said == {"busy_timeout": 30_000, "synchronous": 2, "foreign_keys": 1}
        assert connection.connection.dbapi_connection.isolation_level == "IMMEDIATE"
    close_engine(opened)


@pytest.mark.long
def test_a_secret_is_found_nowhere_in_the_store_of_a_run_that_fails_in_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-very-secret-987654"
    monkeypatch.setenv("PROVIDER_API_KEY", secret)

    def leak(given: Any) -> Any:
        if given == "raise":
            message = f"401 for {secret}"
            raise RuntimeError(message)
        return {"text": secret, secret: object() if given == "odd" else 1}

    carrier = engine(tmp_path, send=leak)
    document = process(serverContext1=chunk(step1_a=call("Send", "prompt", TEXT)))
    seen = []
    for number, prompt in enumerate(("raise", "return", "odd", secret)):
        report = go(carrier.start(Launch(f"r{number}", "test", plan_of(document), {"prompt": prompt})))
        seen.append(str(report))
    carrier.close()
    assert secret not in "".join(seen)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


@pytest.mark.parametrize(("name", "there", "left_out"), [(".instrc", True, True), ("runs", False, True), ("runs", True, False)])
def test_runs_are_left_out_of_version_control(tmp_path: Path, name: str, *, there: bool, left_out: bool) -> None:
    """They hold what people and models said; a folder that was there and is not hidden may be the whole project."""
    folder = tmp_path / name
    if there:
        folder.mkdir()
    carrier = engine(folder)
    begin(carrier, ASK)
    carrier.close()
    assert (folder / FILE).exists()
    assert (folder / ".gitignore").exists() is left_out


def test_the_engine_in_memory_does_not_take_a_database_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problem = problem_of(lambda: engine_of("memory", Path("postgresql://user:word@host/runs")))
    assert problem.name == "unusable-setting"
    assert "choose `durable`" in problem.message
    assert "word@" not in problem.message
    assert list(tmp_path.iterdir()) == []


def test_an_old_sqlite_knows_the_time_as_tables_of_dbos_ask_for_it(tmp_path: Path) -> None:
    """Where Python is 3.12 or later, they do; of SQLite before 3.42 that was `NULL`, and no run could begin."""
    made = store_of(tmp_path).open()
    with made.connect() as connection:
        now = connection.exec_driver_sql("SELECT unixepoch('subsec') * 1000").scalar_one()
    close_engine(made)
    assert abs(now / 1000 - time.time()) < 60
