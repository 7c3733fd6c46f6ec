"""How much of the tests a run takes, and in how many processes; here also so that all folders import its neighbours."""

from __future__ import annotations

import compileall
import gc
import os
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("full", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The same examples in every run: a change fails by what it changes, never by chance or by the load of a machine."""
settings.register_profile("quick", settings.get_profile("full"), max_examples=10)
"""A tenth of the examples: the default."""
settings.register_profile("hunt", settings.get_profile("full"), derandomize=False, max_examples=1000, print_blob=True)
"""Other examples in every run, ten times as many, and with a failure the line that brings it back."""
settings.load_profile("quick")  # `--hypothesis-profile` is read after this

sys.dont_write_bytecode = False  # else every process compiles anew what it imports, and pytest every file of tests
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"  # else pages that install something print its notice, on some days

_SERVERS = {"temporal", "temporal_server", "postgres", "postgres_server"}
"""Fixtures and parameters of tests that start a server."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start no workers for files that are given by name, and else two more than there are cores, as many tests wait.

    With one more, a fifth of two cores stood idle.
    """
    if all((config.invocation_params.dir / argument.partition("::")[0]).is_file() for argument in config.args):
        return 0
    return 2 + (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)


def pytest_configure(config: pytest.Config) -> None:
    """Let a hunt take as long as it takes: the limit of a test is for the gate."""
    if config.getoption("--hypothesis-profile") == "hunt" and config.getoption("--timeout") is None:
        config.option.timeout = 0


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the package once, before workers and the commands that tests start would each do so."""
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(Path(__file__).parent.parent / "instrc", quiet=1, workers=0)
        if session.config.getoption("numprocesses", None) and hasattr(os, "fork"):
            _rewrite_tests_once(session.config)


def _rewrite_tests_once(config: pytest.Config) -> None:
    """Rewrite the assertions of all tests, a part on each core: else each worker of a fresh clone does so for all of them.

    pytest has no public function for it; without one of these, a run is only slower.
    """
    from _pytest.assertion import rewrite  # as above

    files = sorted(file for file in Path(__file__).parent.rglob("test_*.py") if "node_modules" not in file.parts)
    children = []
    for core in range(cores := os.cpu_count() or 1):
        if (child := os.fork()) == 0:
            with suppress(Exception):
                for file in files[core::cores]:
                    kept = rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"
                    if rewrite._read_pyc(file, kept) is None:
                        kept.parent.mkdir(exist_ok=True)
                        source, code = rewrite._rewrite_test(file, config)
                        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave the modules and tests of a run to no search for garbage: none of them ever is."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a server of PostgreSQL or Temporal as `long`; begin with types, as they take the longest."""
    items.sort(key=lambda item: item.path.name not in {"test_style.py", "test_user_types.py"})
    for item in items:
        values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        if any(isinstance(value, str) and value in _SERVERS for value in [*values, *getattr(item, "fixturenames", ())]):
            item.add_marker("long")


@pytest.fixture(autouse=True, scope="module")
def _stores_are_closed() -> Generator[None]:
    """Close the stores that a file of tests has opened: their threads draw random numbers, which disturbs later laws.

    What remains is left to no search for garbage, as after the collection: else each search takes longer than the last.
    """
    yield
    if "instrc.engines.hosts" in sys.modules:
        from instrc.engines.hosts import close_stores

        close_stores()
    gc.collect()
    gc.freeze()
