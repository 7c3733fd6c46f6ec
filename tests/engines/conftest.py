"""The presence of this file makes its neighbours importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from postgres_server import Database, postgres
from temporal_server import Server, started


@pytest.fixture(autouse=True)
def _runners_are_closed() -> Iterator[None]:
    """Close the store that a failed test has left open, which would make the tests after it fail too."""
    yield
    if (runner := sys.modules.get("instrc.engines.dbos.runner")) is not None and runner.Runner.current is not None:
        runner.Runner.current.close()


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a real Temporal server."""
    with started(tmp_path_factory.mktemp("temporal")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Database]:
    """Return a real PostgreSQL server."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def prepared_database(postgres_server: Database) -> str:
    """Return the name of a database with the tables of runs, to be copied."""
    from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test

    url = postgres_server.fresh()
    engine = DurableEngine(url, lambda *_: None)  # type: ignore[arg-type, return-value]  # it runs nothing
    assert engine._open() is not None
    engine.close()
    return url.rpartition("/")[2]
