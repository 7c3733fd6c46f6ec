"""A real PostgreSQL server for the tests, or the reason why there is none."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

import psycopg
import pytest
from temporal_server import free_port

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
"""Where Debian and the makefile put it, beside `PATH`."""
USER = "instrc"


@dataclass
class Database:
    """A server, by the address of its first database."""

    address: str
    """As `postgresql://instrc@127.0.0.1:5432`."""
    command: list[str | Path]
    owner: str | None
    process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the server, and wait until it answers."""
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self.owner,
        )
        deadline = time.monotonic() + 60
        while not _answers(self):
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)

    def kill(self) -> None:
        """End the server at once; its data stay."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def fresh(self, like: str = "template1", how: str = "") -> str:
        """Return the URL of a new database, a copy of another one."""
        name = f"runs_{token_hex(4)}"
        with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}" {how}'.encode())
        return f"{self.address}/{name}"


@contextmanager
def postgres() -> Iterator[Database]:
    """Return a server with nothing in it; without an installation of PostgreSQL the test is skipped.

    Its data are not below the folders of pytest: each run that begins takes those away from all other users, while the server of
    another run may be at work there.
    """
    tools = [shutil.which("initdb"), *sorted(str(file) for place in _PLACES for file in Path("/").glob(f"{place[1:]}/initdb"))]
    initdb = next((tool for tool in reversed(tools) if tool), None)
    if initdb is None:
        pytest.skip("no PostgreSQL: no `initdb` on PATH or in /usr/lib/postgresql")
    owner = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not serve the administrator
    with TemporaryDirectory(prefix="instrc-postgres-", ignore_cleanup_errors=True) as name:
        data, port = Path(name), free_port()
        if owner is not None:
            shutil.chown(data, owner)
        subprocess.run(
            [initdb, "-D", data, "-U", USER, "--auth=trust", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=owner,
        )
        server = Path(initdb).with_name("postgres")
        command = [server, "-D", data, "-p", str(port), "-k", data, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        made = Database(f"postgresql://{USER}@127.0.0.1:{port}", command, owner)
        made.begin()
        try:
            yield made
        finally:
            made.kill()


def _answers(database: Database) -> bool:
    try:
        psycopg.connect(f"{database.address}/postgres", connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
