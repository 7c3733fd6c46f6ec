"""Traces and large values of runs on Temporal, in a place that all workers and commands see."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from written_processes import TEXT, call, chunk, process

import instrc
from instrc.engines.places import shared_place  # a place without runs

DOCUMENT = process(serverContext1=chunk(step1_a=call("Work", "prompt", TEXT)))
LARGE = "x" * 300_000


@pytest.fixture
def place(postgres_server: Any, prepared_database: Any) -> str:
    """Return the URL of a place."""
    url: str = postgres_server.fresh(prepared_database)
    return url


def test_a_run_is_read_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporal_server: Any, place: str
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    monkeypatch.setenv("INSTRC_TASK_QUEUE", f"traces-{token_hex(4)}")
    run = f"one-{token_hex(4)}"
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[tool.instrc.run]\ntraces = "{place}"\n')
    monkeypatch.chdir(tmp_path / "here")
    options: Any = {"activities": {"Work": lambda _given: {"text": LARGE}}, "model": instrc.Scripted({}), "engine": "temporal"}
    events = instrc.run(DOCUMENT, "x", id=run, **options).trace
    assert [event["event"] for event in events] == ["called", "returned", "ended"]
    instrc.close_stores()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = instrc.find_run(run, engine="temporal")
    assert found.trace == events
    assert found.value == {"text": LARGE}
    found.delete()
    shared = shared_place(place)
    assert shared.read(run) == ([], 0)
    shared.close()
    instrc.close_stores()
    assert not list(tmp_path.rglob("blobs")), "nothing lies on one machine alone"
    (tmp_path / "elsewhere" / "pyproject.toml").write_text("")
    assert instrc.run(DOCUMENT, "x", id=f"{run}-2", **options).trace
    instrc.close_stores()
    (tmp_path / "elsewhere" / "pyproject.toml").write_text(f'[tool.instrc.run]\ntraces = "{place}"\n')
    again = instrc.find_run(f"{run}-2", engine="temporal")
    assert again.value == {"text": LARGE}, "what was put into the folder before is still found"
    instrc.close_stores()


def test_a_store_in_a_database_has_what_all_workers_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporal_server: Any, place: str
) -> None:
    """And no folder with the name, and the password, of the database."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    monkeypatch.setenv("INSTRC_TASK_QUEUE", f"traces-{token_hex(4)}")
    monkeypatch.chdir(tmp_path)
    options: Any = {"activities": {"Work": lambda _given: {"text": LARGE}}, "model": instrc.Scripted({}), "engine": "temporal"}
    run = instrc.run(DOCUMENT, "x", id=f"one-{token_hex(4)}", store=place, **options)
    assert [event["event"] for event in run.trace] == ["called", "returned", "ended"]
    shared = shared_place(place)
    assert len(shared.read(run.id)[0]) == 3
    run.delete()
    assert shared.read(run.id) == ([], 0)
    shared.close()
    instrc.close_stores()
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def event(number: int, run: str = "a/b") -> Any:
    return {"event": "told", "run": run, "at": 1_795_000_000.0 + number, "id": "c"}


def test_a_place_gives_what_is_new(place: str) -> None:
    shared = shared_place(place)
    assert shared.read("a") == ([], 0)
    shared.write(event(0))
    found, there = shared.read("a")
    assert found == [event(0)]
    for number in (1, 2, 3):
        shared.write(event(number))
        shared.write(event(number, "aa"))
    found, end = shared.read("a", there)
    assert found == [event(number) for number in (1, 2, 3)]
    assert shared.read("a", end) == ([], end)
    assert len(shared.read("a")[0]) == 4
    shared.forget("a")
    assert shared.read("a") == ([], 0)
    assert len(shared.read("aa")[0]) == 3
    assert shared.get("0" * 64) is None
    for _ in range(2):
        shared.put("0" * 64, b"\x00large")
    assert shared.get("0" * 64) == b"\x00large"
    shared.close()


@pytest.mark.parametrize("place", ["kept", "sqlite:///kept.db", "s3:kept", "https://kept"])
def test_what_is_no_place_for_the_runs_of_a_cluster(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f'[tool.instrc.run]\ntraces = "{place}"\n')
    with pytest.raises(instrc.SettingsError, match="it is a URL"):
        instrc.find_run("one", engine="temporal")
