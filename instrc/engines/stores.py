"""What a store of runs gives the engine that carries them, and which store a place means."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from instrc import problems
from instrc.problems.errors import SettingsError, UnavailableError
from instrc.runtime.traces import forget_trace

if TYPE_CHECKING:
    import sqlalchemy as sa  # the extra `durable`

    from instrc.runtime.models.partial import AnswerPart, TellPart
    from instrc.runtime.traces import Event, Sink

USUAL_FOLDER: Final = ".instrc"
"""The folder of runs if no store is named; the traces of a store on a server are there as well."""

STORES: Final = {
    "": "instrc.engines.dbos.sqlite:SqliteStore",
    "postgres": "instrc.engines.dbos.postgres:PostgresStore",
    "postgresql": "instrc.engines.dbos.postgres:PostgresStore",
}
"""What makes the store of a place, by the scheme of its URL (a folder has none): `module:class`, called with the place."""


SHARED: Final = {
    "postgres": "instrc.engines.dbos.store:SharedDatabase",
    "postgresql": "instrc.engines.dbos.store:SharedDatabase",
    "s3": "instrc.engines.temporal.bucket:Bucket",
}
"""What makes a `SharedPlace` of a URL, by its scheme: `module:class`, called with the URL."""


class SharedPlace(Protocol):
    """Where the traces and large values of runs lie that a server keeps: all its workers and commands see it."""

    write: Sink
    """Takes events in, and writes them a moment later."""

    def read(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return the events of a run behind a place, and the place after them."""

    def forget(self, run: str) -> None:
        """Delete the events of a run."""

    def put(self, name: str, data: bytes) -> None:
        """Keep a value by its name, the hash of it."""

    def get(self, name: str) -> bytes | None:
        """Return a value; `None` if there is none of the name."""

    def beside(self, heard: TellPart | None) -> TellPart | None:
        """Return what tells parts of answers here, and to processes that ask this place for them, where it can."""

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:
        """Return what other processes have told since the last time of answers in some runs, in all where one is ""."""

    def close(self) -> None:
        """Write what was taken in, and let the place go."""


class StoreLock(Protocol):
    """The lock of who carries the runs of a store."""

    def release(self) -> None:
        """Give it free."""

    def alone(self) -> AbstractContextManager[None]:
        """Make tables and queues while no other process does."""

    def take(self, run: str) -> str | None:
        """Take a run, by the id of the one that began all others; return the queue of another worker that carries it."""

    def left(self) -> list[str]:
        """Return runs that workers have left which died, and runs that nobody has taken for a while."""

    @property
    def is_locked(self) -> bool:
        """Whether it is still held: that of a server ends with the connection."""

    @property
    def queue(self) -> str | None:
        """The queue by which its holder goes on with runs that are its own; `None` if all runs of the store are."""


class StoreWatch(Protocol):
    """Tells whether anything was written to a store since the last look."""

    is_cheap: bool
    """Whether a look is no query, so that it may be frequent."""

    def changed(self) -> bool:
        """Tell so; a store that cannot tell says yes, and is asked each time."""

    def close(self) -> None:
        """Look no more."""


class RunStore(Protocol):
    """A database that DBOS keeps runs in."""

    folder: Path
    """Of the traces."""
    shown: str
    """How a person is told of it: without a password."""
    address: str
    """The URL by which SQLAlchemy connects, with the password."""
    schema: str | None
    """The schema in which DBOS makes its tables."""
    is_local: bool
    """Whether it is on this machine: a server may end, and be there again later."""

    def exists(self) -> bool:
        """Tell whether there may be runs, without making anything."""

    def open(self) -> sa.Engine:
        """Return an engine whose connections lose nothing and wait for one another; make what has to be there."""

    def lock(self, engine: sa.Engine, *, shared: bool = False) -> StoreLock | None:
        """Return the lock of the store; `None` if another process holds it. It ends with the process that holds it.

        One that is `shared` goes together with others that are: workers, each with runs of its own. A folder has none.
        """

    def watch(self, engine: sa.Engine) -> StoreWatch:
        """Return what tells of writes."""


def scheme_of(place: str | os.PathLike[str]) -> str:
    """Return the scheme of a store's URL, `postgresql` for `postgresql+psycopg://…`; "" for a folder.

    A URL that was a `Path` has one slash left.
    """
    scheme, colon, _ = os.fspath(place).partition(":")
    scheme = scheme.partition("+")[0]
    return scheme if colon and scheme in STORES else ""


def store_of(place: str | os.PathLike[str] | None) -> RunStore:
    """Return the store at a place: a folder, or the URL of a database."""
    place = os.fspath(place or USUAL_FOLDER)
    module, _, name = STORES[scheme_of(place)].partition(":")
    made: RunStore = getattr(import_module(module), name)(place)
    return made


def forget_beside(run: str, folder: Path, place: str | os.PathLike[str]) -> None:
    """Delete what lies beside a run that is deleted: its trace in a folder, and what a service at the place has noted of it."""
    forget_trace(folder, run)
    with suppress(ModuleNotFoundError):  # without SQLAlchemy there was no service
        import_module("instrc.engines.service_tables").forget_run(place, run)


def shared_place(place: str) -> SharedPlace:
    """Return the place of a URL for what lies beside runs; a `SettingsError` if it is none, or its extra is not installed."""
    scheme = place.partition(":")[0].partition("+")[0]
    reason = "it is a URL, as `postgresql://HOST/NAME` or `s3://BUCKET/FOLDER`"
    if "://" in place and scheme in SHARED:
        module, _, name = SHARED[scheme].partition(":")
        try:
            made: SharedPlace = getattr(import_module(module), name)(place)
        except ModuleNotFoundError as error:
            extra = "s3" if scheme == "s3" else "durable"
            reason = f"`{error.name}` is not installed; it comes with `pip install 'instrc[{extra}]'`"
        else:
            return made
    raise SettingsError([problems.runs.UnusableSetting(what="place of traces", word=place, reason=reason)])


_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""What begins as a URL does, also after it was a `Path`; a drive of Windows has one letter."""


def require_place(place: str | os.PathLike[str]) -> None:
    """Refuse a place where no folder is and none can be made; the URL of a database is looked at when it is opened."""
    if scheme_of(place):
        return
    reason = None
    try:
        if not stat.S_ISDIR(os.stat(place).st_mode):  # noqa: PTH116  -- any text, as the user wrote it
            reason = "it is not a folder"
    except FileNotFoundError:
        if _URL.match(os.fspath(place)) is None:
            return
        reason = "runs are kept in a folder, or in the database of a URL such as `postgresql://HOST/NAME`"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        raise UnavailableError([problems.runs.UnusableStore(store=os.fspath(place)[:200], reason=reason)])
