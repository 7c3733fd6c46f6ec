"""The interfaces of stores: the needs of an engine from a database of runs."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    import sqlalchemy as sa  # the extra `durable`

    from instrc.runtime.engine_protocol import WorkerInfo

USUAL_FOLDER: Final = ".instrc"
"""Folder of runs if no store is named; also holds the traces of a store on a server."""


class StoreLock(Protocol):
    """The lock of who carries the runs of a store."""

    def release(self) -> None:
        """Give it free."""

    def alone(self) -> AbstractContextManager[None]:
        """Make tables and queues while no other process does."""

    def take(self, run: str) -> str | None:
        """Take a run, by the id of the one that began all others; return the queue of another worker that carries it."""

    @property
    def is_locked(self) -> bool:
        """Whether it is still held: that of a server ends with the connection."""

    @property
    def queue(self) -> str:
        """The queue from which its holder takes runs."""


@runtime_checkable
class SharedLock(StoreLock, Protocol):
    """The lock of a worker that shares a store with others, and the runs that it owns."""

    def own(self, runs: Collection[str], projects: Collection[str]) -> set[str]:
        """Take runs of these projects that no living worker owns; return which of `runs` are its own then."""

    def draw(self, projects: Collection[str], limit: int) -> int:
        """Move runs of these projects from the queues that all workers share to that of this worker; return how many."""

    def rescue(self) -> None:
        """Put runs back into the shared queue that dead workers have left, and parked runs whose timers have ended."""

    def park(self, run: str, due: float | None) -> None:
        """Let go of a run that only waits, until somebody answers or until the moment at which its next timer ends."""

    def hand_over(self, run: str, queue: str, executor: str) -> None:
        """Put a run that DBOS has begun as `executor` into another queue, and let go of it."""

    def give_back(self) -> None:
        """Put all runs of this worker back into the shared queue."""

    def beat(self, worker: WorkerInfo) -> None:
        """Note that this worker lives, and what it does."""


class StoreWatch(Protocol):
    """Tells whether anything was written to a store since the last look."""

    def changed(self) -> bool:
        """Return whether the store has changed."""

    def close(self) -> None:
        """Look no more."""


class RunStore(Protocol):
    """A database that DBOS keeps runs in."""

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
        """Return whether there may be runs, without making anything."""

    def open(self) -> sa.Engine:
        """Return an engine whose connections lose nothing and wait for one another; create its tables."""

    def lock(self, engine: sa.Engine, *, shared: bool = False) -> StoreLock | None:
        """Return the lock of the store, or `None` if another process holds it. It ends with the process that holds it.

        A `shared` lock is compatible with other shared ones: workers, each with runs of its own. A folder has none.
        """

    def holder(self) -> str | None:
        """Return the process that holds the lock, for a person, or `None` where it is not known."""

    def watch(self, engine: sa.Engine) -> StoreWatch | None:
        """Return an event source for writes, which costs no query; `None` for a server, which is read each time."""
