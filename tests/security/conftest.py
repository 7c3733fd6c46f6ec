"""The service in the process of a test is that of `tests/server`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import Database, postgres

from instrc.server.records import Records  # the room behind its commands

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Database]:
    with postgres() as server:
        yield server


@pytest.fixture(autouse=True)
def _records_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the tables that a test has opened."""
    made: list[Records] = []
    begin = Records.__init__

    def begin_and_note(self: Records, place: str | None) -> None:
        begin(self, place)
        made.append(self)

    monkeypatch.setattr(Records, "__init__", begin_and_note)
    yield
    for each in made:
        each.close()
