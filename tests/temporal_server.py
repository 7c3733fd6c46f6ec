"""A real Temporal server for the tests: the first that answers, or the reason why there is none."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

JAVA_JARS = "TEMPORAL_TEST_SERVER_JARS"
"""Of the environment: a folder with `io.temporal:temporal-test-server` and what it needs."""


@dataclass
class Server:
    """A server that answers at an address."""

    address: str
    kind: str
    """`address`, `temporal`, `java` or `local`."""
    command: list[str] | None = None
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] | None = None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def begin(self) -> None:
        assert self.command is not None
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        deadline = time.monotonic() + 60
        while not asyncio.run(answers(self.address)):
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)


async def answers(address: str) -> bool:
    """Tell whether a server of Temporal answers at an address."""
    from temporalio.client import Client

    try:
        client = await asyncio.wait_for(Client.connect(address, lazy=False), 60)
        return await client.service_client.check_health() or True
    except (RuntimeError, TimeoutError):
        return False


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def started(folder: Path) -> Iterator[Server]:
    """Return the first server that answers; where none does, skip, but fail where tests must be complete."""
    server = _elsewhere() or _binary(folder) or _java()
    if server is None:
        reason = "no Temporal server: no TEMPORAL_ADDRESS, no `temporal` on PATH, no Java test server"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    if server.command is not None:
        server.begin()
    try:
        yield server
    finally:
        if server.process is not None:
            server.kill()


def _elsewhere() -> Server | None:
    address = os.environ.get("TEMPORAL_ADDRESS")
    return Server(address, "address") if address and asyncio.run(answers(address)) else None


def _binary(folder: Path) -> Server | None:
    found = shutil.which("temporal")
    if found is None:
        return None
    port = free_port()
    command = [found, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port), "--log-level", "error"]
    home = {**os.environ, "HOME": str(folder)}  # it looks for its settings there, and refuses a home that cannot be read
    return Server(f"127.0.0.1:{port}", "temporal", [*command, "--db-filename", str(folder / "temporal.db")], environment=home)


def _java() -> Server | None:
    jars, java = os.environ.get(JAVA_JARS), shutil.which("java")
    if not jars or java is None:
        return None
    port = free_port()
    return Server(f"127.0.0.1:{port}", "java", [java, "-cp", f"{jars}/*", "io.temporal.testserver.TestServer", str(port)])
