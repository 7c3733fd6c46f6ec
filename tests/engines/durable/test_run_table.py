"""The table of runs: whoever carries a run writes its row, so that a service which has not begun it knows it at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from written_processes import DECISION, TEXT, chunk, process, step

from instrc.engines.approvals import Opening  # the table, as another process writes it
from instrc.engines.dbos.durable_engine import DurableEngine  # two of them, on one store
from instrc.engines.equip import equip  # what it is made with
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.engines.run_table import JournalMark, RunTable, questions_query, runs_query  # the table, as another process writes it
from instrc.engines.service_tables import CURSORS, QUESTIONS, RUNS, create_tables, service_store  # as another process writes it
from instrc.problems.errors import NotFoundError
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunFault, RunFilter, RunReport
from instrc.vibes.settings import Settings

ASKING = process(userContext1=chunk(step1_approve=step(DECISION, "prompt")))
WRITING = process(llmContext1=chunk(step1_draft=step(TEXT, "prompt")))
ANSWER = {"decision": "Approve"}


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the place of a store."""
    monkeypatch.chdir(tmp_path)
    return str(request.getfixturevalue("postgres_server").fresh() if request.param == "postgres" else tmp_path / "store")


def launch(run: str, document: Any = ASKING) -> Launch:
    return Launcher(Prepared("pay", document, Path(), Settings()), rehearse=True).launch("x", run)


@contextmanager
def engine_at(place: str) -> Iterator[DurableEngine]:
    engine = DurableEngine(place, equip)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def closed(engine: sa.Engine) -> Iterator[None]:
    """Close an engine at the end."""
    try:
        yield
    finally:
        engine.dispose()


@contextmanager
def table_at(place: str) -> Iterator[RunTable]:
    """Open the table as another process does."""
    table = RunTable(service_store(place).open())
    try:
        yield table
    finally:
        table.engine.dispose()


def standing(table: RunTable) -> dict[str, tuple[str, list[str]]]:
    """Return the status and the open questions of each run, as lists and inboxes show them."""
    asked: dict[str, list[str]] = {}
    for row in table.questions(questions_query(), None):
        asked.setdefault(row.run, []).append(row.question.id)
    return {row.run: (row.status, asked.get(row.run, [])) for row in table.runs(runs_query(), None)}


def recorded(reports: list[RunReport]) -> dict[str, tuple[str, list[str]]]:
    """Return the same of their journals."""
    return {report.run: (report.status, [each.id for each in report.questions]) for report in reports}


def test_the_table_says_what_the_journals_say_at_once(place: str) -> None:
    """Whatever is done to a run from Python, no service looking on."""

    async def body() -> None:
        with engine_at(place) as engine, table_at(place) as table:

            async def same(*runs: str) -> None:
                assert standing(table) == recorded([await engine.show(run) for run in runs])

            await engine.start(launch("asks"))
            await same("asks")
            await engine.start(launch("writes", WRITING))
            await same("asks", "writes")
            await engine.answer("asks", "userContext1", ANSWER)
            await same("asks", "writes")
            await engine.start(launch("leaves"))
            await engine.cancel("leaves")
            await same("asks", "writes", "leaves")
            await engine.delete("asks")
            await same("writes", "leaves")
            kinds = [(each.kind, each.run) for each in table.feed(0)]
            assert [kind for kind, run in kinds if run == "asks"] == [
                "run.started",
                "question.opened",
                "run.waiting",
                "question.answered",
                "question.closed",
                "run.done",
                "run.deleted",
            ]
            assert [report.run for report in await engine.runs(RunFilter(status="cancelled"))] == ["leaves"]
            assert await engine.counts() == {"pay": 2}

    asyncio.run(body())


def test_processes_that_begin_at_once_make_the_tables_together(place: str) -> None:
    barrier = threading.Barrier(8)

    def begin() -> int:
        engine = service_store(place).open()
        barrier.wait(60)
        with closed(engine):
            create_tables(engine)
            with engine.connect() as connection:
                return connection.execute(sa.select(sa.func.count()).select_from(RUNS)).scalar_one()

    with ThreadPoolExecutor(8) as pool:
        assert [each.result(60) for each in [pool.submit(begin) for _ in range(8)]] == [0] * 8


def test_a_row_that_a_kill_has_left_behind_is_written_when_its_run_goes_on(place: str) -> None:
    async def body() -> None:
        with engine_at(place) as engine:
            await engine.start(launch("asks"))
        with table_at(place) as table:
            with table.engine.begin() as connection:  # as after a kill between the entry and its row
                connection.execute(sa.delete(QUESTIONS))
                connection.execute(sa.update(RUNS).values(status="running"))
            with engine_at(place) as engine:
                await engine.resume("asks")
            assert standing(table) == {"asks": ("waiting", ["userContext1"])}

    asyncio.run(body())


def test_a_process_that_was_frozen_changes_no_row_of_a_later_entry(place: str) -> None:
    with table_at(place) as table:
        opening = Opening(["*"])
        done = RunReport("r1", "pay", "done", None, began=1.0, ended=2.0)
        table.note(done, lambda _: opening, JournalMark(3))
        assert table.note(RunReport("r1", "pay", "running", None), lambda _: opening, JournalMark(2)) == []
        assert standing(table) == {"r1": ("done", [])}
        table.note(RunReport("r2", "pay", "cancelled", None, began=1.0), lambda _: opening)
        assert table.note(RunReport("r2", "pay", "running", None), lambda _: opening, JournalMark(9)) == []
        assert standing(table)["r2"] == ("cancelled", [])


def test_the_runs_of_an_earlier_release_are_filled_in_once(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.engines.dbos.run_rows.AT_ONCE", 2)

    async def body() -> None:
        with engine_at(place) as engine, table_at(place) as table:
            for number in range(5):
                await engine.start(launch(f"asks-{number}"))
            await engine.answer("asks-1", "userContext1", ANSWER)
            with table.engine.begin() as connection:
                for kept in (QUESTIONS, RUNS, CURSORS):
                    connection.execute(sa.delete(kept))
            last = table.feed_bounds()[1]
            note = table.note
            calls: list[str] = []

            def killed(report: RunReport, *given: Any) -> Any:
                calls.append(report.run)
                if len(calls) == 4:
                    raise KeyboardInterrupt
                return note(report, *given)

            with monkeypatch.context() as patched:
                patched.setattr(RunTable, "note", lambda _, *given: killed(*given))
                with pytest.raises(KeyboardInterrupt):
                    await engine.runs()
            assert len(await engine.runs()) == 5
            assert standing(table) == recorded([await engine.show(f"asks-{number}") for number in range(5)])
            assert table.feed_bounds()[1] in {0, last}, "nobody is told again what happened long ago"
            monkeypatch.setattr(RunTable, "lacking", lambda *_: 1 / 0)  # it is filled
            assert len(await engine.runs(RunFilter(status="waiting"))) == 4

    asyncio.run(body())


def test_many_runs_are_deleted_with_those_below_them(place: str) -> None:
    async def body() -> None:
        with engine_at(place) as engine, table_at(place) as table:
            for number in range(3):
                await engine.start(launch(f"writes-{number}", WRITING))
            await engine.start(launch("asks"))
            await engine.delete_all([f"writes-{number}" for number in range(3)])
            assert [report.run for report in await engine.runs()] == ["asks"]
            assert standing(table) == {"asks": ("waiting", ["userContext1"])}
            with pytest.raises(NotFoundError):
                await engine.show("writes-1")

    asyncio.run(body())


def test_a_retry_is_in_the_table_before_it_returns(place: str) -> None:
    async def body() -> None:
        with engine_at(place) as engine, table_at(place) as table:
            limited = process(llmContext1=chunk(step1_draft=step(TEXT, "prompt")))
            begun = Launcher(Prepared("pay", limited, Path(), Settings()), rehearse=True, requests=0).launch("x", "limited")
            await engine.start(begun)
            assert standing(table) == {"limited": ("held", ["limit"])}
            await engine.retry("limited", RetryOptions(requests=5))
            assert standing(table) == {"limited": ("done", [])}

    asyncio.run(body())


def test_an_error_that_others_word_is_written_whatever_characters_it_has(place: str) -> None:
    """A service gives `Fail` a kind, a message and a step; PostgreSQL holds no character 0."""
    with table_at(place) as table:
        error: Any = {"kind": "no\0", "code": None, "message": "\0 no", "step": "a\0b", "each": None}
        failed = RunReport("fails", "pay", "failed", {"status": "failed", "error": error}, began=1.0, ended=2.0)
        table.note(failed, lambda _: Opening(()))
        assert table.runs(runs_query())[0].fault == RunFault("no\ufffd", "a\ufffdb", "\ufffd no")
