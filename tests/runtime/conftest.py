"""The presence of this file makes its neighbours importable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from temporal_server import Server, started


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a real Temporal server."""
    with started(tmp_path_factory.mktemp("temporal")) as server:
        yield server
