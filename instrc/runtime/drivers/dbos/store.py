"""The store of durable runs: an SQLite file in a folder, or a PostgreSQL database; what is wrong with it is one clear problem."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer

from instrc import problems
from instrc.files import make_unversioned
from instrc.problems.problem import CompileError
from instrc.runtime.engine import UnreachableError

FILE = "runs.sqlite"
LOCAL = ".instrc"
"""Where traces are written if the store is a database."""
APPLICATION = "instrc"
QUEUE = "instrc"
"""The queue by which the process that carries runs gets those that go on, or that another process has begun."""
WORKFLOW = "instrc-run"
SERIALIZER = DBOSPortableJSONSerializer()
_BUSY = 30_000
"""Milliseconds to wait for another process that writes."""


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where runs are kept."""

    folder: Path
    """Of traces and of the lock."""
    url: sa.URL

    @property
    def is_file(self) -> bool:
        """Whether the store is a file, and no database of a server."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path:
        """Where an SQLite store lies."""
        return self.folder / FILE

    @property
    def shown(self) -> str:
        """As a person is told; a password is left out."""
        if self.is_file:
            return self.folder.as_posix()
        return self.url.render_as_string(hide_password=True)


def location_of(store: Path | str | None) -> StoreLocation:
    """Return the location of a folder, or of a URL as `postgresql://…` (a `Path` has only one slash left of it)."""
    text = str(store or LOCAL)
    if text.startswith(("postgres:", "postgresql:", "postgresql+")):
        scheme, _, rest = text.partition(":")
        url = sa.make_url(f"postgresql+psycopg://{rest.lstrip('/')}" if "+" not in scheme else f"{scheme}://{rest.lstrip('/')}")
        return StoreLocation(Path(LOCAL), url)
    folder = Path(text)
    return StoreLocation(folder, sa.URL.create("sqlite", database=(folder / FILE).absolute().as_posix()))


def open_engine(location: StoreLocation) -> sa.Engine:
    """Return the engine of a store, with the settings without which runs are lost or blocked."""
    if not location.is_file:
        said = {"client_encoding": "utf8"}  # a database made where the language is `C` has no encoding: texts would come as bytes
        return sa.create_engine(location.url, pool_size=20, pool_pre_ping=True, connect_args=said)
    with trouble(location):
        make_unversioned(location.folder)
    engine = sa.create_engine(location.url, pool_size=10, connect_args={"check_same_thread": False})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        connection.execute(f"PRAGMA busy_timeout={_BUSY}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    return engine


def close_engine(engine: sa.Engine) -> None:
    """Close all connections to a store, those as well that a thread still uses and gives back later; it may be used again."""
    left = engine.pool
    engine.dispose()

    @sa.event.listens_for(left, "checkin")
    def end(_connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
        record.invalidate()

    left.dispose()  # what was given back between the two


def has_tables(engine: sa.Engine) -> bool:
    """Tell whether anything was ever kept here."""
    schema = None if engine.dialect.name == "sqlite" else "dbos"
    return sa.inspect(engine).has_table("workflow_status", schema=schema) and sa.inspect(engine).has_table("instrc_mail")


def client_of(engine: sa.Engine) -> DBOSClient:
    """Return what reads and writes the store without running anything."""
    return DBOSClient(
        system_database_engine=engine,
        serializer=SERIALIZER,
        application_name=APPLICATION,
        lazy=True,
        retry_connection_errors=False,
    )


@contextmanager
def trouble(location: StoreLocation) -> Iterator[None]:
    """Turn what a database or a disk complains of into a problem."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        raise CompileError([problems.runs.UnusableStore(store=location.shown, reason=reason_of(error))]) from None


@contextmanager
def unreachable() -> Iterator[None]:
    """Say of a store that cannot be used that it may be a moment later: its server may be started again."""
    try:
        yield
    except CompileError as error:
        if any(isinstance(each, problems.runs.UnusableStore) for each in error.problems):
            raise UnreachableError(error.problems) from None
        raise


def reason_of(error: BaseException) -> str:
    """Say in a few words what a database complains of."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    said = str(getattr(error, "orig", None) or error).strip().splitlines()
    return said[0] if said else type(error).__name__
