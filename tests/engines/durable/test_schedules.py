"""Runs that begin by the clock: each tick once, whoever looks, and none beside one that still goes on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import Database
from test_postgres import PROGRAM, said

import instrc
from instrc.cli import main
from instrc.engines.dbos import schedules, store  # ticks are looked at in a time of the test
from instrc.engines.schedules import Clock
from instrc.text.jsontext import loads

ALWAYS = ["--cron", "* * * * *", "--input", "go", "--model", "sample"]


def moment(text: str, zone: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("cron", "zone", "before", "then"),
    [
        ("0 6 * * 1-5", "Europe/Berlin", "2026-11-27T06:00", "2026-11-30T06:00"),
        ("30 2 * * *", "UTC", "2026-02-28T02:30", "2026-03-01T02:30"),
        ("0 12 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-29T12:00"),
    ],
)
def test_times_are_those_of_the_zone(cron: str, zone: str, before: str, then: str) -> None:
    assert Clock(cron, zone).after(moment(before, zone)) == moment(then, zone)


@pytest.mark.parametrize(
    ("cron", "zone", "before", "times"),
    [
        # Clocks go back: 02:30 comes twice in Berlin, 01:30 in New York.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00+02:00", ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T00:00-04:00", ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"]),
        (
            "0 * * * *",
            "Europe/Berlin",
            "2026-10-25T01:30+02:00",
            ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"],
        ),
        (
            "0 * * * *",
            "America/New_York",
            "2026-11-01T00:30-04:00",
            ["2026-11-01T01:00-04:00", "2026-11-01T01:00-05:00", "2026-11-01T02:00-05:00"],
        ),
        # In the second of the two hours the time of the first is over.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:10+01:00", ["2026-10-26T02:30+01:00"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T01:10-05:00", ["2026-11-02T01:30-05:00"]),
        # Clocks go forward: 02:30 does not come.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T00:00+01:00", ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]),
        ("30 2 * * *", "America/New_York", "2026-03-08T00:00-05:00", ["2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"]),
        ("0 * * * *", "Europe/Berlin", "2026-03-29T00:30+01:00", ["2026-03-29T01:00+01:00", "2026-03-29T03:00+02:00"]),
        ("0 * * * *", "America/New_York", "2026-03-08T00:30-05:00", ["2026-03-08T01:00-05:00", "2026-03-08T03:00-04:00"]),
    ],
)
def test_a_daily_run_comes_once_and_an_hourly_one_each_hour_when_clocks_change(
    cron: str, zone: str, before: str, times: list[str]
) -> None:
    clock, reached = Clock(cron, zone), datetime.fromisoformat(before).timestamp()
    for then in times:
        reached = clock.after(reached)
        assert datetime.fromtimestamp(reached, ZoneInfo(zone)).isoformat(timespec="minutes") == then


@given(
    cron=st.sampled_from(["30 2 * * *", "0 * * * *", "*/20 1-3 * * *", "15 1,2 * * 0", "0 2 25 10 *"]),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "UTC"]),
    before=st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_the_next_time_is_always_later(cron: str, zone: str, before: datetime) -> None:
    assert Clock(cron, zone).after(before.timestamp()) > before.timestamp()


@pytest.mark.parametrize(
    ("cron", "zone", "word"),
    [
        ("* * * *", "UTC", "five fields.*there are 4"),
        ("", "UTC", "five fields.*there are 0"),
        ("60 * * * *", "UTC", "the minute `60` is not within 0 to 59"),
        ("0 25 * * *", "UTC", "the hour `25` is not within 0 to 23"),
        ("0 22-6 * * *", "UTC", "the hour `22-6` is not .* a range upwards"),
        ("0 0 0 * *", "UTC", "the day `0` is not within 1 to 31"),
        ("0 0 * JANUARY *", "UTC", "the month `JANUARY` is not within 1 to 12, or JAN to DEC"),
        ("0 0 * * 8", "UTC", "the weekday `8` is not within 0 to 7, or SUN to SAT"),
        ("*/0 * * * *", "UTC", r"the minute `\*/0`"),
        (f"{'9' * 5000} * * * *", "UTC", "the minute `9"),
        ("0 0 31 2 *", "UTC", "no such day"),
        ("* * * * *", "Berlin", "Europe/Berlin"),
        ("* * * * *", "../../etc/passwd", "Europe/Berlin"),
    ],
)
def test_times_and_zones_that_are_none_are_refused(cron: str, zone: str, word: str) -> None:
    with pytest.raises(instrc.SettingsError, match=word):
        Clock(cron, zone).after(time())


def test_a_folder_keeps_no_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    assert main(["schedule", "add", "daily", "ask.aug", *ALWAYS, "--store", "kept"]) == 1
    assert "let cron begin `instrc run`" in capsys.readouterr().err


def test_a_schedule_is_added_paused_and_removed_and_begins_runs(
    tmp_path: Path, postgres_server: Database, prepared_database: str
) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    place = ["--store", url]
    assert "there are no schedules" in said(tmp_path, "schedule", "list", *place).stderr
    assert said(tmp_path, "schedule", "add", "daily", "ask.aug", *ALWAYS, *place).returncode == 0
    assert "there is one with this name" in said(tmp_path, "schedule", "add", "daily", "ask.aug", *ALWAYS, *place).stderr
    assert "there is none with this name" in said(tmp_path, "schedule", "pause", "weekly", *place).stderr
    assert "paused" in said(tmp_path, "schedule", "pause", "daily", *place).stdout
    noted = [loads(each) for each in said(tmp_path, "audit", "--json", *place).stdout.splitlines()]
    assert [(each["who"], each["action"], each["question"]) for each in noted] == [
        ("local", "pause schedule", "daily"),
        ("local", "add schedule", "daily"),
    ]
    assert loads(said(tmp_path, "schedule", "list", "--json", *place).stdout)["due"] is None
    assert loads(said(tmp_path, "schedule", "list", "--json", *place).stdout)["cron"] == "* * * * *"
    run = said(tmp_path, "schedule", "trigger", "daily", *place).stdout.strip()
    line = [sys.executable, "-m", "instrc", "worker", *place]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as worker:
        try:
            assert worker.stderr is not None
            assert worker.stderr.readline() == "the worker is ready\n"
            assert worker.stderr.readline().split()[1].startswith(run)
        finally:
            worker.terminate()
    assert loads(said(tmp_path, "show", run, *place).stdout)["status"] == "waiting"
    assert said(tmp_path, "schedule", "remove", "daily", *place).returncode == 0
    assert "there are no schedules" in said(tmp_path, "schedule", "list", *place).stderr


def test_of_each_tick_one_run_begins_and_none_beside_one_that_goes_on(
    tmp_path: Path, postgres_server: Database, prepared_database: str
) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    assert said(tmp_path, "schedule", "add", "daily", "ask.aug", *ALWAYS, "--store", url).returncode == 0
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    client = store.client_of(engine)
    goes_on = {"now": False}
    now = time()

    async def looks(count: int) -> list[str]:
        look = [
            asyncio.to_thread(schedules.begin_due, engine, put_into(engine, client), lambda _run: goes_on["now"], now)
            for _ in range(count)
        ]
        await asyncio.gather(*look)
        return [row.workflow_id for row in client.list_workflows(name=store.WORKFLOW)]

    assert asyncio.run(looks(2)) == []
    now += 3600
    assert len(asyncio.run(looks(4))) == 1, "ticks that nobody saw become one, whoever looks first"
    goes_on["now"] = True
    now += 60
    assert len(asyncio.run(looks(2))) == 1, "the last run goes on"
    goes_on["now"] = False
    now += 60
    assert len(set(asyncio.run(looks(2)))) == 2
    client.destroy()
    engine.dispose()


@pytest.mark.parametrize(("overlap", "count", "after_its_end"), [("skip", 1, 1), ("queue", 1, 2), ("both", 2, 2)])
def test_a_tick_while_the_last_run_goes_on_is_skipped_or_queued_or_begins_beside_it(
    tmp_path: Path, postgres_server: Database, prepared_database: str, overlap: str, count: int, after_its_end: int
) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    added = said(tmp_path, "schedule", "add", "daily", "ask.aug", *ALWAYS, "--overlap", overlap, "--json", "--store", url)
    assert loads(added.stdout)["overlap"] == overlap
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    client = store.client_of(engine)
    first = schedules.one(engine, "daily").due
    assert first is not None

    def runs_at(now: float, *, goes_on: bool) -> list[str]:
        schedules.begin_due(engine, put_into(engine, client), lambda _run: goes_on, now)
        return sorted(row.workflow_id for row in client.list_workflows(name=store.WORKFLOW))

    assert len(runs_at(first, goes_on=False)) == 1
    for minute in (1, 2, 3) if overlap == "queue" else (1,):
        assert len(runs_at(first + 60 * minute, goes_on=True)) == count
    ended = runs_at(first + 185, goes_on=False) if overlap == "queue" else runs_at(first + 61, goes_on=False)
    assert len(ended) == after_its_end
    if overlap != "skip":
        assert ended[1] == schedules.one(engine, "daily").run_at(first + 60), "the tick that waited is the first of them"
        assert len(runs_at(first + 186 if overlap == "queue" else first + 62, goes_on=False)) == 2, "only one tick waited"
    [row] = client.list_workflows(workflow_ids=[ended[0]])
    assert "overlap" not in row.input["args"][0]
    client.destroy()
    engine.dispose()


def test_times_that_an_earlier_release_accepted_pause_their_schedule_alone(
    tmp_path: Path, postgres_server: Database, prepared_database: str
) -> None:
    url = postgres_server.fresh(prepared_database)
    (tmp_path / "ask.aug").write_text(PROGRAM)
    for name in ("daily", "nightly"):
        assert said(tmp_path, "schedule", "add", name, "ask.aug", *ALWAYS, "--store", url).returncode == 0
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    client = store.client_of(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE instrc_schedules SET cron = '0 22-6 * * *' WHERE name = 'daily'"))
    schedules.begin_due(engine, put_into(engine, client), lambda _run: False, time() + 120)
    daily, nightly = schedules.schedules_of(engine)
    assert (daily.due, daily.last) == (None, None)
    assert "the hour `22-6` is not within" in str(daily.trouble)
    assert (nightly.trouble, len(client.list_workflows(name=store.WORKFLOW))) == (None, 1)
    client.destroy()
    engine.dispose()


def put_into(engine: sa.Engine, client: Any) -> Callable[[Any], bool]:
    """Return what enqueues a run, each in a transaction of its own."""

    def put(launch: Any) -> bool:
        with engine.begin() as connection:
            return store.enqueue(client, connection, launch)

    return put
