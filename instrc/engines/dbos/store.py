"""The store of durable runs, its lock, and the mail to the process that carries them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer
from filelock import FileLock, Timeout

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.runtime.engine import UnreachableError
from instrc.runtime.secrets import redacted
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_object
from instrc.vibes.find_files import make_unversioned

# The store of durable runs: an SQLite file in a folder, or a PostgreSQL database; what is wrong with it is one clear problem.


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


# The lock that lets one process carry the runs of a store: of a file, or an advisory one of PostgreSQL.


LOCK_FILE = "runner.lock"
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
            lock = FileLock(location.folder / LOCK_FILE, timeout=0, thread_local=False)
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


# What processes that do not carry a run send to the one that does: a table beside those of DBOS.


LetterVerdict: TypeAlias = Literal["open", "taken", "refused"]
_VERDICTS: tuple[LetterVerdict, ...] = ("open", "taken", "refused")
_TABLE = sa.Table(
    "instrc_mail",
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("verdict", sa.Integer, nullable=False, default=0, index=True),
)


@dataclass(frozen=True, slots=True)
class Letter:
    """An answer to a question of a run, or the wish to end it."""

    id: str
    run: str
    body: dict[str, Json]
    """`{"answer": ID, "data": …}` or `{"cancel": true}`."""


def create(engine: sa.Engine) -> None:
    """Make the table, if it is not there."""
    _TABLE.create(engine, checkfirst=True)


def send(engine: sa.Engine, letter: Letter) -> None:
    """Put a letter in."""
    text = dumps(redacted(letter.body), indent=False)
    with engine.begin() as connection:
        connection.execute(sa.insert(_TABLE).values(id=letter.id, run=letter.run, body=text, verdict=0))


def unread(engine: sa.Engine) -> list[Letter]:
    """Return the letters that nobody has dealt with, the oldest first."""
    with engine.connect() as connection:
        query = sa.select(_TABLE.c.id, _TABLE.c.run, _TABLE.c.body).where(_TABLE.c.verdict == 0).order_by(_TABLE.c.number)
        return [Letter(row.id, row.run, as_object(loads(row.body))) for row in connection.execute(query)]


class Watch:
    """Tells whether anything was written to a store since it was looked at: without a query, where the store is a file."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.PoolProxiedConnection | None = None
        self._version: object = None

    @property
    def is_cheap(self) -> bool:
        """Whether a look is no query."""
        return self._engine.dialect.name == "sqlite"

    def changed(self) -> bool:
        """Tell so; a server cannot say, and is asked each time."""
        if not self.is_cheap:
            return True
        if self._connection is None:
            self._connection = self._engine.raw_connection()
        before, [self._version] = self._version, self._connection.cursor().execute("PRAGMA data_version").fetchone()
        return before != self._version

    def close(self) -> None:
        """Look no more."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def settle(engine: sa.Engine, letter: str, verdict: LetterVerdict) -> None:
    """Note what has become of a letter; its text is not needed any more."""
    with engine.begin() as connection:
        update = sa.update(_TABLE).where(_TABLE.c.id == letter).values(verdict=_VERDICTS.index(verdict), body="{}")
        connection.execute(update)


def verdict_of(engine: sa.Engine, letter: str) -> LetterVerdict:
    """Return what has become of a letter."""
    with engine.connect() as connection:
        found = connection.execute(sa.select(_TABLE.c.verdict).where(_TABLE.c.id == letter)).scalar()
    return _VERDICTS[found or 0]
