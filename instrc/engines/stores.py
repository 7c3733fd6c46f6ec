"""The interfaces of stores: what an engine requires of a database of runs."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from instrc.text.files import is_open_to_others

if TYPE_CHECKING:
    import sqlalchemy as sa  # the extra `durable`

USUAL_FOLDER: Final = ".instrc"
"""Folder of runs if no store is named; also holds the traces of a store on a server."""
SERVICE_FILE: Final = "server.sqlite"
"""File in the folder of a store that is not a database of its own, with the tables of a service."""
SECRETS: Final = "INSTRC_SECRETS"
"""Environment variable with the comma-separated secrets for links and sessions; the last one signs."""


def exposed(folder: Path | None, *, signs: bool) -> list[str]:
    """Return a warning for files that other users can read, and for a secret stored next to the data."""
    wide = [] if folder is None else [place for place in (folder, folder / SERVICE_FILE) if is_open_to_others(place)]
    found = [f"`{each}` is open to other users of this machine: `chmod -R go= {each}`" for each in wide]
    is_set = not signs or os.environ.get(SECRETS, "").strip(",")
    return found if is_set else [*found, f"the secret that signs links lies in the store, and in its backups: set `{SECRETS}`"]


class StoreLock(Protocol):
    """The lock on the runs of a store."""

    def release(self) -> None:
        """Release the lock."""

    def alone(self) -> AbstractContextManager[None]:
        """Create tables and queues while no other process does."""

    @property
    def is_locked(self) -> bool:
        """Whether it is still held: a server's lock ends with the connection."""

    @property
    def queue(self) -> str:
        """Return the queue from which the holder takes runs."""


class StoreWatch(Protocol):
    """Reports whether a store was written to since the last check."""

    def changed(self) -> bool:
        """Return whether the store has changed."""

    def close(self) -> None:
        """Stop watching."""


class RunStore(Protocol):
    """A database in which DBOS stores runs."""

    folder: Path
    """Folder of the traces."""
    shown: str
    """Display name, without a password."""
    address: str
    """URL for SQLAlchemy, with the password."""
    schema: str | None
    """Schema in which DBOS creates its tables."""
    is_local: bool
    """Whether it is on this machine: a server may stop and come back later."""

    def exists(self) -> bool:
        """Return whether there may be runs, without creating anything."""

    def open(self) -> sa.Engine:
        """Return an engine whose connections lose no writes and wait for one another; create its tables."""

    def lock(self, engine: sa.Engine) -> StoreLock | None:
        """Return the lock of the store, or `None` if another process holds it. It ends with the holding process.

        Any number of processes hold that of a server; a folder has one holder.
        """

    def holder(self) -> str | None:
        """Return a description of the process that holds the lock, or `None` if unknown."""

    def watch(self, engine: sa.Engine) -> StoreWatch | None:
        """Return an event source for writes, which costs no query; `None` for a server, which is read each time."""
