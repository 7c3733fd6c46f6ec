"""A store of the last commit before carriers wrote the table of runs: it opens, and what waits in it is listed and finishes.

`tests/data/stores/0.2.0-index` has three runs of one question; the index of its service knew all but `unseen`.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from serving import ANSWER, BOB, BOSS, RunService, asking, on, service, settled

from instrc.engines.dbos import run_rows  # how many runs are read at once
from instrc.engines.dbos.durable_engine import DurableEngine  # whose table is looked at
from instrc.engines.run_table import FILLED  # the cursor of the filling

STORE = Path(__file__).parents[1] / "data" / "stores" / "0.2.0-index"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    for name in ("runs", "server"):
        connection = sqlite3.connect(tmp_path / f"{name}.sqlite")
        connection.executescript((STORE / f"{name}.sql").read_text(encoding="utf-8"))
        connection.close()
    return tmp_path


def test_what_waits_in_an_old_store_is_listed_and_finishes(old: Path) -> None:
    async def body(made: RunService) -> None:
        assert isinstance(made.engine, DurableEngine)
        await made.engine.fill()
        listed = {row.run: (row.status, row.starter, dict(row.metadata)) for row in (await made.runs(BOSS)).rows}
        assert listed == {
            "waits": ("waiting", "boss", {"team": "red"}),
            "ended": ("done", "boss", {}),
            "unseen": ("waiting", None, {}),
        }
        assert {each.run for each in (await made.questions(BOSS)).rows} == {"waits", "unseen"}
        for run in ("waits", "unseen"):
            await made.answer(BOB, run, "userContext1", ANSWER)
            await settled(made, run, "done")
        assert {row.status for row in (await made.runs(BOSS)).rows} == {"done"}

    on(service(old, name="durable", records=str(old), pay=asking()), body)


def test_an_interrupted_reading_of_an_old_store_goes_on_where_it_was(
    old: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_rows, "AT_ONCE", 1)
    monkeypatch.setattr(run_rows, "_TOLD", 1)

    async def body(made: RunService) -> None:
        engine = made.engine
        assert isinstance(engine, DurableEngine)
        noted: list[str] = []
        real = engine._report_of

        async def report(row: object) -> object:
            noted.append(row.workflow_id)  # type: ignore[attr-defined]  # a row of DBOS
            if len(noted) == 2:
                raise OSError(5, "the disk is away")
            return await real(row)  # type: ignore[arg-type]  # as above

        made.records.move_cursor(FILLED, "0")
        monkeypatch.setattr(engine, "_report_of", report)
        with pytest.raises(OSError, match="away"):
            await engine.fill()
        await engine.fill()
        assert noted == ["waits", "unseen", "unseen"]
        assert made.records.cursor(FILLED) == run_rows.ALL
        assert "runs of an earlier release that were read into the table of runs: 2" in caplog.text

    made = service(old, name="durable", records=str(old), pay=asking())
    monkeypatch.setattr(made, "_look", made.event_streams.hear)  # which would read the store at the same time
    on(made, body)
