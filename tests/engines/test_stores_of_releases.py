"""Runs that an earlier release has left in its store finish in this one, and nothing that was recorded is done again.

`tests/data/releases/VERSION/stores` has them: `waits` waits for a person, `held` is held because a service was down.
The histories of runs on Temporal are replayed by `temporal/test_cluster.py`.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from instrc import Activities, Reply, Request
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.retry import ForkOptions, RetryOptions, fork_of

STORES = sorted((Path(__file__).parents[1] / "data" / "releases").glob("*/stores"))
CALLS: list[Any] = []
OUTPUT = {
    "step1_draft": {"text": "Dear Ann"},
    "step3_each": ["saw 1", "saw 2"],
    "step4_approve": {"decision": "Approve"},
    "step5_send": {"text": "sent"},
}


class Nobody:
    """A model that has answered already."""

    async def answer(self, request: Request) -> Reply:
        CALLS.append(request.key)
        return Reply({})


def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
    def work(given: Any) -> Any:
        CALLS.append(given)
        return {"text": "sent"}

    return Effects(run, Nobody(), Activities({"Look": work, "Send": work}), sink)


@pytest.fixture(
    params=[(store, kind) for store in STORES for kind in ("memory", "durable", "postgres")], ids=lambda each: each[1]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Return an engine on a copy of a store."""
    store, kind = request.param
    CALLS.clear()
    if kind == "memory":
        shutil.copytree(store / "memory", tmp_path / "store")
        yield FolderEngine(tmp_path / "store", equip)
        return
    if kind == "postgres":
        monkeypatch.chdir(tmp_path)
        url = request.getfixturevalue("postgres_server").fresh()
        with psycopg.connect(url, autocommit=True) as database:
            database.execute((store / "postgres.sql").read_bytes())
        made = DurableEngine(url, equip)
        yield made
        made.close()
        return
    (tmp_path / "store").mkdir()
    connection = sqlite3.connect(tmp_path / "store" / "runs.sqlite")
    connection.executescript((store / "durable.sql").read_text(encoding="utf-8"))
    connection.close()
    made = DurableEngine(tmp_path / "store", equip)
    yield made
    made.close()


def test_runs_of_an_earlier_release_finish(engine: Engine) -> None:
    async def body() -> None:
        assert {report.run: report.status for report in await engine.runs()} == {"waits": "waiting", "held": "held"}
        launch, journal = await engine.journal("held")
        assert len(fork_of("held", journal, ForkOptions(), launch.plan, launch.inputs).entries) == 4
        report = await engine.answer("waits", "approve", {"decision": "Approve"})
        assert (report.status, report.outcome and report.outcome.get("output")) == ("done", OUTPUT)
        report = await engine.retry("held", RetryOptions())
        assert (report.status, report.outcome and report.outcome.get("output")) == ("done", OUTPUT)
        assert CALLS == ["Approve", "Approve"], "only what was not done"

    assert STORES
    asyncio.run(asyncio.wait_for(body(), 60))
