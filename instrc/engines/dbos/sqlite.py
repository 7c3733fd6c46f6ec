"""Runs in a folder: an SQLite file and its lock file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from socket import gethostname
from time import sleep, time

import sqlalchemy as sa
from filelock import BaseFileLock, FileLock, Timeout

from instrc.engines.dbos.store import QUEUE, trouble
from instrc.engines.stores import StoreLock
from instrc.text.files import make_unversioned, private_opener
from instrc.text.visible import visible

FILE = "runs.sqlite"
LOCK_FILE = "runner.lock"
HOLDER_FILE = "runner.txt"
"""File that names the process holding the lock; a lock on Windows prevents others from reading the locked file."""
_LONGEST = 300
_BUSY = 30_000
"""Milliseconds to wait for another process that writes."""
_PAUSE = 50
_WITH_FRACTIONS = (3, 42)
"""SQLite version with `unixepoch('subsec')`, which DBOS tables use from Python 3.12 on, whatever the SQLite version."""


class FileWatch:
    """Reports whether another connection has written to a file."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.PoolProxiedConnection | None = None
        self._version: object = None

    def changed(self) -> bool:
        """Return whether anything was written since the last call; the first call returns `True`."""
        if self._connection is None:
            self._connection = self._engine.raw_connection()
        before, [self._version] = self._version, self._connection.cursor().execute("PRAGMA data_version").fetchone()
        return before != self._version

    def close(self) -> None:
        """Return the connection to the pool."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class SqliteStore:
    """A folder with an SQLite file."""

    schema: str | None = None
    is_local: bool = True

    def __init__(self, place: str, file: str = FILE) -> None:
        self.file = file
        self.folder: Path = Path(place)
        self.shown: str = self.folder.as_posix()
        self._url = sa.URL.create("sqlite", database=(self.folder / file).absolute().as_posix())
        self.address: str = self._url.render_as_string()

    def exists(self) -> bool:
        """Return whether the file is there."""
        return (self.folder / self.file).exists()

    def open(self) -> sa.Engine:
        """Create the folder if necessary, and return an engine with settings that prevent lost writes and blocking."""
        with trouble(self):
            make_unversioned(self.folder)
            with open(self.folder / self.file, "ab", opener=private_opener):
                pass
        engine = sa.create_engine(self._url, pool_size=10, hide_parameters=True, connect_args={"check_same_thread": False})

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: sqlite3.Connection, _record: object) -> None:
            connection.isolation_level = "IMMEDIATE"
            connection.execute(f"PRAGMA busy_timeout={_BUSY}")
            _use_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")
            if sqlite3.sqlite_version_info < _WITH_FRACTIONS:
                connection.create_function("unixepoch", 1, lambda _how: round(time(), 3))

        return engine

    def lock(self, engine: sa.Engine) -> StoreLock | None:  # noqa: ARG002  -- a file, used by one process
        """Return the lock of the folder, or `None` if another process holds it."""
        lock = FileLock(self.folder / LOCK_FILE, timeout=0, thread_local=False, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            return None
        place = self.folder / HOLDER_FILE  # only for people to read
        with suppress(OSError), open(place, "w", encoding="utf-8", opener=private_opener) as holder:
            holder.write(f"process {os.getpid()} on {gethostname()}")
        return FolderLock(lock)

    def holder(self) -> str | None:
        """Return the last process that took the lock."""
        try:
            return visible((self.folder / HOLDER_FILE).read_text(encoding="utf-8")[:_LONGEST]).strip() or None
        except (OSError, UnicodeError):
            return None

    def watch(self, engine: sa.Engine) -> FileWatch:
        """Return an event source based on SQLite's data version counter."""
        return FileWatch(engine)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL; if another process does so at the same time, SQLite fails at once instead of waiting."""
    for pause in [_PAUSE] * (_BUSY // _PAUSE) + [0]:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not pause or "locked" not in str(error):
                raise
            sleep(pause / 1000)
        else:
            return


class FolderLock:
    """The lock of a folder: the process that holds it owns all runs."""

    queue: str = QUEUE

    def __init__(self, lock: BaseFileLock) -> None:
        self._lock = lock

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

    def alone(self) -> AbstractContextManager[None]:
        """Return an empty context: there are no other processes."""
        return nullcontext()

    @property
    def is_locked(self) -> bool:
        """Whether it is still held."""
        return self._lock.is_locked
