"""Servers that tests of the service share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import Database, postgres
from temporal_server import Server, started

from instrc.server.records import Records


@pytest.fixture(autouse=True)
def _records_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the tables that a test has opened: Python 3.13 warns of databases that are only forgotten."""
    made: list[Records] = []
    begin = Records.__init__

    def begin_and_note(self: Records, place: str | None) -> None:
        begin(self, place)
        made.append(self)

    monkeypatch.setattr(Records, "__init__", begin_and_note)
    yield
    for each in made:
        each.close()


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("temporal")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Database]:
    with postgres() as server:
        yield server


@pytest.fixture(params=["memory", "durable", "postgres", "temporal"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path | str]:
    """Return the name of an engine, and the place of its store."""
    monkeypatch.chdir(tmp_path)
    if request.param == "temporal":
        monkeypatch.setenv("TEMPORAL_ADDRESS", request.getfixturevalue("temporal_server").address)
        monkeypatch.setenv("INSTRC_TASK_QUEUE", tmp_path.name[-40:])
    if request.param == "postgres":
        return "durable", request.getfixturevalue("postgres_server").fresh()
    return request.param, tmp_path / "store"
