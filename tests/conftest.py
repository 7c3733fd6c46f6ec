"""How much chance the laws are given; the presence of this file also makes its neighbours importable from all parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("gate", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The same examples in every run: a change fails by what it changes, never by chance or by the load of a machine."""
settings.register_profile("hunt", settings.get_profile("gate"), derandomize=False, max_examples=1000, print_blob=True)
"""Other examples in every run, ten times as many, and with a failure the line that brings it back."""
settings.register_profile("quick", settings.get_profile("gate"), max_examples=10)
"""A tenth of the examples, for the quick loop of a room."""
settings.load_profile("gate")  # `--hypothesis-profile` is read after this


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out `long` tests, and try laws on a tenth of their examples")


_SERVERS = {"temporal", "temporal_server", "postgres", "postgres_server"}
"""Fixtures and parameters of tests that start a server."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        left_out = [item for item in items if _is_long(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_long(item)]


def _is_long(item: pytest.Item) -> bool:
    values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    starts = any(isinstance(value, str) and value in _SERVERS for value in [*values, *getattr(item, "fixturenames", ())])
    return starts or item.get_closest_marker("long") is not None


def pytest_configure(config: pytest.Config) -> None:
    """Let a hunt take as long as it takes: the limit of a test is for the gate."""
    if config.getoption("--quick"):
        settings.load_profile("quick")
    if config.getoption("--hypothesis-profile") == "hunt" and config.getoption("--timeout") is None:
        config.option.timeout = 0


@pytest.fixture(autouse=True, scope="module")
def _stores_are_closed() -> Iterator[None]:
    """Close the stores that a file of tests has opened: their threads draw random numbers, which disturbs later laws."""
    yield
    if "instrc.engines.launch" in sys.modules:
        from instrc.engines.launch import close_stores

        close_stores()
