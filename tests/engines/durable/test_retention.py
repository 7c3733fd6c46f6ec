"""What is older than the settings keep is deleted, in batches, and what others still read is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import time
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec import structs
from written_processes import DECISION, TEXT, chunk, process, step

from instrc.engines.approvals import Opening  # the table, as a service writes it
from instrc.engines.dbos.durable_engine import DurableEngine  # the store of the runs
from instrc.engines.equip import equip  # what it is made with
from instrc.engines.hosts import engine_of
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.engines.retention import keep_swept, sweep  # what a worker does each hour
from instrc.engines.run_table import RunTable  # the table, as a service writes it
from instrc.engines.service_tables import (  # the tables, as they are written
    AUDIT,
    FEED,
    HOOKS,
    MESSAGES,
    NONCES,
    REQUESTS,
    RUNS,
    service_store,
)
from instrc.problems.errors import ConflictError, NotFoundError, SettingsError
from instrc.runtime.run_config import Launch
from instrc.vibes.service_settings import RetentionSettings  # without a file
from instrc.vibes.settings import Settings, read_settings

ASKING = process(userContext1=chunk(step1_approve=step(DECISION, "prompt")))
WRITING = process(llmContext1=chunk(step1_draft=step(TEXT, "prompt")))
DAY = 86400.0


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the place of a store."""
    monkeypatch.chdir(tmp_path)
    return str(request.getfixturevalue("postgres_server").fresh() if request.param == "postgres" else tmp_path / "store")


def kept(**spans: float) -> dict[str, float | None]:
    return structs.asdict(RetentionSettings(**spans))


def launch(run: str, document: Any) -> Launch:
    return Launcher(Prepared("pay", document, Path(), Settings()), rehearse=True).launch("x", run)


def count(engine: DurableEngine, table: sa.Table) -> int:
    with engine.table().engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


def aged(engine: DurableEngine, table: sa.Table, column: str, days: float, **where: Any) -> None:
    """Make rows of a table as old as they would be after some days."""
    with engine.table().engine.begin() as connection:
        meant = [table.c[name] == value for name, value in where.items()]
        connection.execute(sa.update(table).where(*meant).values({column: time() - days * DAY}))


def test_a_run_that_is_continued_while_it_is_about_to_be_deleted_stays(place: str) -> None:
    async def body() -> None:
        engine = DurableEngine(place, equip)
        try:
            for run, document in (("asks", ASKING), ("done", WRITING)):
                await engine.start(launch(run, document))
            with pytest.raises(ConflictError):
                await engine.delete_all(["asks", "done"])  # as listed before
            aged(engine, RUNS, "ended", 40)
            with engine.table().engine.begin() as connection:  # a moment ago
                connection.execute(sa.update(RUNS).where(RUNS.c.run == "asks").values(status="running"))
            await sweep(engine, engine.table(), kept(runs=30 * DAY))
            assert (await engine.show("asks")).status == "waiting"
            with pytest.raises(NotFoundError):
                await engine.show("done")
        finally:
            engine.close()

    asyncio.run(body())


def test_what_is_too_old_goes_and_all_else_stays(place: str) -> None:
    async def body() -> None:
        engine = DurableEngine(place, equip)
        try:
            for run, document in (("old", WRITING), ("new", WRITING), ("asks", ASKING), ("other", WRITING)):
                await engine.start(launch(run, document))
            aged(engine, RUNS, "ended", 40, run="other")
            with engine.table().engine.begin() as connection:
                connection.execute(sa.update(RUNS).where(RUNS.c.run == "other").values(project="other"))
            table = engine.table()
            assert await sweep(engine, table, kept()) == 0, "without settings all is kept"
            aged(engine, RUNS, "ended", 40, run="old")
            aged(engine, RUNS, "began", 40)
            with table.engine.begin() as connection:
                for number, days in enumerate((40, 1)):
                    at = time() - days * DAY
                    connection.execute(sa.insert(REQUESTS).values(key=f"k{number}", digest="d", run="old", at=at))
                    connection.execute(sa.insert(NONCES).values(nonce=f"n{number}", at=at))
                    connection.execute(sa.insert(AUDIT).values(at=at, who="ann", means="key", action="start"))
                for run in ("old", "asks"):
                    message = {"id": f"m-{run}", "type": "run.done", "run": run, "at": time() - 40 * DAY, "body": "{}"}
                    connection.execute(sa.insert(MESSAGES).values(message))
                for of in (None, "new", "asks"):  # the address of all runs, and push settings of a task
                    hook: dict[str, Any] = {"id": f"h-{of}", "url": "https://x", "secret": "s", "events": [], "programs": []}
                    hook |= {"run": of, "form": "a2a", "owner": "ann", "made": time() - 40 * DAY, "details": {}}
                    connection.execute(sa.insert(HOOKS).values(hook))
            spans = kept(runs=30 * DAY, feed=30 * DAY, idempotency_keys=7 * DAY, links=8 * DAY, audit=7 * DAY, messages=30 * DAY)
            await sweep(engine, table, spans)
            with pytest.raises(NotFoundError):
                await engine.show("old")
            assert (await engine.show("new")).status == "done"
            assert (await engine.show("other")).status == "done", "the settings of its project are for it"
            assert (await engine.show("asks")).status == "waiting", "what goes on is not too old"
            assert [count(engine, each) for each in (REQUESTS, NONCES, AUDIT, MESSAGES)] == [1, 1, 1, 1]
            with table.engine.connect() as connection:
                left = connection.execute(sa.select(HOOKS.c.id).order_by(HOOKS.c.id)).scalars()
                assert [*left] == ["h-None", "h-asks"], "who waits for a task that goes on is told of it"
            aged(engine, FEED, "at", 40)
            last = table.feed_bounds()[1]
            await sweep(engine, table, spans)
            assert table.feed_bounds() == (last, last), "numbers go on behind the last one"
        finally:
            engine.close()

    asyncio.run(body())


def test_a_run_that_cannot_be_deleted_keeps_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of a run may say that it has ended, while the engine knows better."""
    monkeypatch.chdir(tmp_path)
    engine, table = engine_of("memory", tmp_path / "store"), RunTable(service_store(tmp_path / "store").open())

    async def body() -> None:
        for number, (run, document) in enumerate((("asks", ASKING), ("old", WRITING), ("older", WRITING))):
            report = await engine.start(launch(run, document))
            stale = structs.replace(report, status="done", questions=(), ended=time() - 40 * DAY + number)
            table.note(stale, lambda _: Opening(()))
        table.execute(sa.insert(NONCES).values(nonce="n", at=time() - 40 * DAY))
        assert await sweep(engine, table, kept(runs=DAY, links=8 * DAY)) == 3, "two runs, and a link"
        assert [report.run for report in await engine.runs()] == ["asks"]

    asyncio.run(body())
    table.engine.dispose()


def test_one_of_several_processes_sweeps_in_an_hour(place: str) -> None:
    async def body() -> None:
        engine = DurableEngine(place, equip)
        try:
            await engine.start(launch("a", WRITING))
            for run, gone in (("a", True), ("b", False)):
                if run == "b":
                    await engine.start(launch("b", WRITING))
                aged(engine, RUNS, "ended", 2, run=run)
                task = asyncio.create_task(keep_swept(engine, engine.table, kept(runs=DAY)))
                for _ in range(200 if gone else 20):
                    if gone and await engine.asker.find(run) is None:
                        break
                    await asyncio.sleep(0.05)
                task.cancel()
                assert (await engine.asker.find(run) is None) == gone
        finally:
            engine.close()

    asyncio.run(body())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('links = "P1D"', "longer than links are valid"),
        ('runs = "soon"', "time span"),
        ('feeds = "P1D"', "there is no such setting"),
    ],
)
def test_spans_that_cannot_be_used_are_refused(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.instrc.serve.retention]\n{line}\n")
    with pytest.raises(SettingsError, match=said):
        read_settings(tmp_path)
