"""Servers that tests of the service share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Database, postgres
from temporal_server import Server, started

from instrc.server.records import Records
from instrc.server.run_service import RunService  # what a test has opened is closed


@pytest.fixture(autouse=True)
def _stores_of_services_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the tables and the engines that a test has opened: connections that are collected open warn in a later test."""
    opened: list[object] = []

    def noted(kind: type) -> None:
        begin = kind.__init__

        def begin_and_note(self: object, *given: Any, **named: Any) -> None:
            begin(self, *given, **named)
            opened.append(getattr(self, "engine", self) if kind is RunService else self)

        monkeypatch.setattr(kind, "__init__", begin_and_note)

    noted(Records)
    noted(RunService)
    yield
    for each in opened:
        close = getattr(each, "close", None)
        if close is not None:
            close()


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
