"""The traces of runs on Temporal in a database that all workers and commands see."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from postgres_server import Database
from written_processes import call, chunk, process

import instrc

DOCUMENT = process(serverContext1=chunk(step1_a=call("Work", "prompt")))


def test_a_trace_is_read_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporal_server: Any, postgres_server: Database, prepared_database: str
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    monkeypatch.setenv("INSTRC_TASK_QUEUE", f"traces-{token_hex(4)}")
    url, run = postgres_server.fresh(prepared_database), f"one-{token_hex(4)}"
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[tool.instrc.run]\ntraces = "{url}"\n')
    monkeypatch.chdir(tmp_path / "here")
    options: Any = {"activities": {"Work": lambda _given: {"text": "done"}}, "model": instrc.Scripted({}), "engine": "temporal"}
    events = instrc.run(DOCUMENT, "x", id=run, **options).trace
    assert [event["event"] for event in events] == ["called", "returned", "ended"]
    instrc.close_stores()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = instrc.find_run(run, engine="temporal")
    assert found.trace == events
    instrc.close_stores()
    (tmp_path / "elsewhere" / "pyproject.toml").write_text("")
    with pytest.warns(RuntimeWarning, match="no trace of"):
        assert instrc.find_run(run, engine="temporal").trace == []
    instrc.close_stores()


def test_a_folder_is_no_place_for_the_traces_of_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.instrc.run]\ntraces = "kept"\n')
    with pytest.raises(instrc.CompileError, match="URL of a database"):
        instrc.find_run("one", engine="temporal")
