"""The lock that lets one process carry the runs of a store: of a file, or an advisory one of PostgreSQL."""

from __future__ import annotations

from typing import Protocol

import sqlalchemy as sa
from filelock import FileLock, Timeout

from instrc.runtime.drivers.dbos.store import StoreLocation, trouble

FILE = "runner.lock"
_NUMBER = 0x696E73747263
"""`instrc` as a number."""


class HeldLock(Protocol):
    """A lock that is held."""

    def release(self) -> None:
        """Give it free."""

    @property
    def is_locked(self) -> bool:
        """Whether it is still held: that of a server ends with the connection."""


class _Advisory:
    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection

    def release(self) -> None:
        self.connection.close()

    @property
    def is_locked(self) -> bool:
        try:
            self.connection.execute(sa.text("SELECT 1"))
        except sa.exc.SQLAlchemyError:
            return False
        return True


def acquired(location: StoreLocation, engine: sa.Engine) -> HeldLock | None:
    """Return the lock of a store; `None` if another process holds it. It ends with the process that holds it."""
    with trouble(location):
        if location.is_file:
            lock = FileLock(location.folder / FILE, timeout=0, thread_local=False)
            try:
                lock.acquire()
            except Timeout:
                return None
            return lock
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.execute(sa.text(f"SELECT pg_try_advisory_lock({_NUMBER})")).scalar():
            connection.detach()
            return _Advisory(connection)
        connection.close()
        return None
