"""Runs, or only their traces and large values, in a PostgreSQL database, `postgresql://USER:PASSWORD@HOST/NAME`.

Each process that carries runs shares the store's lock, an advisory lock of the server.
It also holds a second lock on its own number, which is released with its connection when the process dies;
the table `instrc_owners` records which process owns a run.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import randbits
from time import sleep
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine.interfaces import DBAPIConnection

from instrc.engines.dbos.store import (
    PARKED,
    QUEUE,
    RUN_TABLE,
    WORKFLOW,
    PartExchange,
    close_engine,
    create,
    forget,
    insert_events,
    queue_of,
    trace_from,
    trouble,
)
from instrc.engines.event_writer import EventWriter
from instrc.engines.stores import USUAL_FOLDER
from instrc.runtime.engine_protocol import WorkerInfo
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.traces import TRACE_BYTES, TracePage

_LOCK_NUMBER: Final = 0x696E73747263
"""`instrc` as a number."""
_SETUP_NUMBER: Final = _LOCK_NUMBER + 1
_NUMBER_BITS: Final = 62
"""Bits of a worker's number, above those of the store."""
_KEEPALIVE: Final = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
"""Keepalive settings: a connection whose peer has vanished is dropped after eleven seconds, on both ends."""
_LIMITS: Final = {"idle_in_transaction_session_timeout": 30_000, **{f"tcp_{name}": value for name, value in _KEEPALIVE.items()}}
"""Settings of each connection; the first is how long a transaction in which nothing is done holds others up, in milliseconds."""
_PAUSE: Final = 0.1
"""Seconds between two checks for tables that another process creates."""
_UNTAKEN: Final = 2000
"""Milliseconds within which a process that serves all runs must begin one."""
_AT_ONCE: Final = 100
"""Number of runs recovered at once."""
_SECRETS: Final = ("password", "sslpassword")
"""Parameters of a URL that no message shows."""


class PostgresStore:
    """A database on a server."""

    schema: str | None = "dbos"
    is_local: bool = False

    def __init__(self, place: str) -> None:
        self.folder: Path = Path(USUAL_FOLDER)
        scheme, _, rest = place.partition(":")
        driver = scheme if "+" in scheme else "postgresql+psycopg"
        self._url = sa.make_url(f"{driver}://{rest.lstrip('/')}")
        public = self._url.difference_update_query(_SECRETS)
        self.shown: str = f"{scheme}:{public.render_as_string(hide_password=True).partition(':')[2]}"  # as the user wrote it
        self.address: str = self._url.render_as_string(hide_password=False)

    def exists(self) -> bool:
        """Return `True`: its tables may exist."""
        return True

    def open(self) -> sa.Engine:
        """Return an engine that detects connections closed by the server, which ends those that hold others up."""
        said = {"client_encoding": "utf8"}  # a database created in the locale `C` has no encoding, so texts would arrive as bytes
        engine = sa.create_engine(
            self._url, pool_size=20, pool_pre_ping=True, hide_parameters=True, connect_args={**said, **_KEEPALIVE}
        )
        sa.event.listen(engine, "connect", _limit)
        return engine

    def lock(self, engine: sa.Engine) -> WorkerLock | None:
        """Return an advisory lock held by its connection, or `None` if a process of an earlier release holds it alone."""
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(sa.text(f"SELECT pg_try_advisory_lock_shared({_LOCK_NUMBER})")).scalar():
            connection.close()
            return None
        connection.detach()
        try:
            return WorkerLock(connection, engine)
        except sa.exc.SQLAlchemyError:  # no pool closes the connection
            connection.close()
            raise

    def holder(self) -> str | None:
        """Return `None`: any number of workers may hold it."""
        return None

    def watch(self, engine: sa.Engine) -> None:
        """Return `None`: a server does not tell of writes."""


def _limit(connection: DBAPIConnection, _record: object) -> None:
    """Let the server end what a machine that has vanished, or a process that is paused in a transaction, holds."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("; ".join(f"SET {name} = {value}" for name, value in _LIMITS.items()))
    connection.commit()


_LIVING = """(SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""
"""Query for the numbers of all live workers."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS instrc_owners (run TEXT PRIMARY KEY, worker BIGINT NOT NULL)",
    "ALTER TABLE instrc_owners ADD COLUMN IF NOT EXISTS due DOUBLE PRECISION",
    "CREATE TABLE IF NOT EXISTS instrc_workers (worker BIGINT PRIMARY KEY, seen DOUBLE PRECISION NOT NULL, body TEXT NOT NULL)",
)
_OWN = f"""ON CONFLICT (run) DO UPDATE SET due = NULL,
  worker = CASE WHEN o.worker IN {_LIVING} THEN o.worker ELSE :me END RETURNING run, worker"""
_TAKE = f"INSERT INTO instrc_owners AS o (run, worker) VALUES (:run, :me) {_OWN}"  # noqa: S608  -- constants of this module
_TAKE_ALL = f"""INSERT INTO instrc_owners AS o (run, worker) SELECT r, :me FROM unnest(CAST(:runs AS text[])) r
  LEFT JOIN {RUN_TABLE} i ON i.run = r WHERE i.project IS NULL OR i.project = ANY(:projects) {_OWN}"""  # noqa: S608  -- as above
_NOW = "CAST(extract(epoch FROM now()) * 1000 AS bigint)"
_ANEW = f"status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL, updated_at = {_NOW}"
_DRAW = f"""WITH next AS (SELECT workflow_uuid FROM dbos.workflow_status
  WHERE status = 'ENQUEUED' AND queue_name = ANY(:queues) ORDER BY priority, created_at LIMIT :most FOR UPDATE SKIP LOCKED),
  owned AS (INSERT INTO instrc_owners AS o (run, worker) SELECT workflow_uuid, :me FROM next {_OWN})
  UPDATE dbos.workflow_status w SET queue_name = '{QUEUE}-' || to_hex(owned.worker), updated_at = {_NOW}
  FROM owned WHERE w.workflow_uuid = owned.run RETURNING owned.worker"""  # noqa: S608  -- as above
_RESCUE = f"""UPDATE dbos.workflow_status SET {_ANEW}, queue_name = '{QUEUE}' WHERE status IN ('PENDING', 'ENQUEUED')
  AND workflow_uuid IN (SELECT run FROM instrc_owners WHERE due <= extract(epoch FROM now()) UNION ALL
    SELECT w.workflow_uuid FROM dbos.workflow_status w LEFT JOIN instrc_owners o ON o.run = w.workflow_uuid
    WHERE w.name = '{WORKFLOW}' AND w.status IN ('PENDING', 'ENQUEUED') AND position('/' IN w.workflow_uuid) = 0
    AND NOT (w.status = 'ENQUEUED' AND (w.queue_name IN ('{QUEUE}', '{PARKED}') OR starts_with(w.queue_name, '{QUEUE}/')))
    AND CASE WHEN o.worker IS NULL THEN w.updated_at < {_NOW} - {_UNTAKEN}
      WHEN o.worker = :me THEN w.status = 'PENDING' AND w.workflow_uuid = ANY(CAST(:lost AS text[]))
      ELSE o.worker NOT IN {_LIVING} END
    LIMIT {_AT_ONCE})"""  # noqa: S608  -- as above
_HELD = """SELECT o.run FROM instrc_owners o JOIN dbos.workflow_status w ON w.workflow_uuid = o.run
  WHERE o.worker = :me AND w.status = 'PENDING'"""
_ENDED = f"""DELETE FROM instrc_owners o USING dbos.workflow_status w WHERE o.run = w.workflow_uuid
  AND (o.worker = :me OR o.worker NOT IN {_LIVING})
  AND w.status NOT IN ('PENDING', 'ENQUEUED')"""  # noqa: S608  -- as above
_PARK = f"""WITH own AS (UPDATE instrc_owners SET worker = 0, due = :due WHERE run = :run AND worker = :me RETURNING run)
  UPDATE dbos.workflow_status w SET {_ANEW}, queue_name = '{PARKED}' FROM own
  WHERE w.workflow_uuid = own.run AND w.status = 'PENDING'"""  # noqa: S608  -- as above
_HAND_OVER = f"""WITH own AS (DELETE FROM instrc_owners WHERE run = :run AND worker = :me)
  UPDATE dbos.workflow_status SET {_ANEW}, queue_name = :queue, recovery_attempts = recovery_attempts - 1
  WHERE workflow_uuid = :run AND status = 'PENDING' AND executor_id = :executor"""  # noqa: S608  -- as above
_GIVE_BACK = f"""WITH own AS (DELETE FROM instrc_owners WHERE worker = :me RETURNING run)
  UPDATE dbos.workflow_status w SET {_ANEW}, queue_name = '{QUEUE}' FROM own
  WHERE w.workflow_uuid = own.run AND w.status IN ('PENDING', 'ENQUEUED')"""  # noqa: S608  -- as above
_BEAT = f"""WITH dead AS (DELETE FROM instrc_workers WHERE worker NOT IN {_LIVING})
  INSERT INTO instrc_workers (worker, seen, body) VALUES (:me, extract(epoch FROM now()), :body)
  ON CONFLICT (worker) DO UPDATE SET seen = EXCLUDED.seen, body = EXCLUDED.body"""  # noqa: S608  -- as above
_WORKERS = f"SELECT seen, body FROM instrc_workers WHERE worker IN {_LIVING}"  # noqa: S608  -- as above


class WorkerLock:
    """The lock of a process that shares the store, held by a connection, and the runs that it owns."""

    def __init__(self, connection: sa.Connection, engine: sa.Engine) -> None:
        self.connection = connection
        self._engine = engine
        self._number = randbits(_NUMBER_BITS) | 1 << (_NUMBER_BITS - 1)
        self.queue: str = _queue_of(self._number)
        connection.execute(sa.text(f"SELECT pg_advisory_lock({self._number})"))
        with self.alone():
            for statement in _TABLES:
                connection.execute(sa.text(statement))

    def release(self) -> None:
        """Release the lock at once, and close the connection; a lost server has already done so."""
        with suppress(sa.exc.SQLAlchemyError):
            self.connection.execute(sa.text("SELECT pg_advisory_unlock_all()"))
        self.connection.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Create tables and queues while no other process does.

        It polls rather than blocks: a waiting statement holds a snapshot, and `CREATE INDEX CONCURRENTLY` in the process that
        creates the tables waits for all snapshots.
        """
        while not self.connection.execute(sa.text(f"SELECT pg_try_advisory_lock({_SETUP_NUMBER})")).scalar():
            sleep(_PAUSE)
        try:
            yield
        finally:
            self.connection.execute(sa.text(f"SELECT pg_advisory_unlock({_SETUP_NUMBER})"))

    @property
    def is_locked(self) -> bool:
        """Whether the connection is alive."""
        try:
            self.connection.execute(sa.text("SELECT 1"))
        except sa.exc.SQLAlchemyError:
            return False
        return True

    def take(self, run: str) -> str | None:
        """Take a run, unless a live worker owns it: then return that worker's queue."""
        [(_, owner)] = self._do(_TAKE, run=run)
        return None if owner == self._number else _queue_of(owner)

    def own(self, runs: Collection[str], projects: Collection[str]) -> set[str]:
        """Take runs of these projects that no live worker owns; return which of `runs` it owns then."""
        rows = self._do(_TAKE_ALL, runs=list(runs), projects=list(projects)) if runs else []
        return {run for run, owner in rows if owner == self._number}

    def draw(self, projects: Collection[str], limit: int) -> int:
        """Move runs of these projects from the shared queues to this worker's queue; return how many."""
        queues = [queue_of(project) for project in (None, *projects)]
        return sum(owner == self._number for (owner,) in self._do(_DRAW, queues=queues, most=limit))

    def rescue(self, lost: Iterable[str]) -> set[str]:
        """Requeue runs of dead workers, parked ones whose timers have ended, and own ones that are `lost`.

        Return the own ones that have begun and not ended.
        """
        return {run for (run,) in self._do(_ENDED, _RESCUE, _HELD, lost=[*lost])}

    def park(self, run: str, due: float | None) -> None:
        """Release a waiting run until it is answered or its next timer ends."""
        self._do(_PARK, run=run, due=due)

    def hand_over(self, run: str, queue: str, executor: str) -> None:
        """Move a run that DBOS started as `executor` to another queue, and release it."""
        self._do(_HAND_OVER, run=run, queue=queue, executor=executor)

    def give_back(self) -> None:
        """Return all runs of this worker to the shared queue."""
        self._do(_GIVE_BACK)

    def beat(self, worker: WorkerInfo) -> None:
        """Record that this worker is alive, and its state."""
        self._do(_BEAT, body=msgspec.json.encode(worker).decode())

    def _do(self, *statements: str, **values: object) -> Sequence[Any]:  # rows of any columns
        with self._engine.begin() as connection:
            *_, result = [connection.execute(sa.text(each), {"me": self._number, **values}) for each in statements]
            return result.all() if result.returns_rows else []


def workers_of(engine: sa.Engine) -> list[WorkerInfo]:
    """Return the live workers of a database."""
    if not sa.inspect(engine).has_table("instrc_workers"):
        return []
    with engine.connect() as connection:
        rows = connection.execute(sa.text(_WORKERS)).all()
    return [msgspec.structs.replace(msgspec.json.decode(body, type=WorkerInfo), seen=seen) for seen, body in rows]


def _queue_of(worker: int) -> str:
    """Return the queue that only this worker reads."""
    return f"{QUEUE}-{worker:x}"


class SharedDatabase:
    """A database for traces and large values of runs that are stored elsewhere: a `SharedPlace`."""

    def __init__(self, place: str) -> None:
        self._store = PostgresStore(place)
        self._engine: sa.Engine | None = None
        self._gate = threading.Lock()
        self.write: EventWriter = EventWriter(partial(insert_events, self._db))
        self._parts: PartExchange = PartExchange(self._db)

    def _db(self) -> sa.Engine:
        with self._gate:
            if self._engine is None:
                engine = self._store.open()
                create(engine)
                _VALUES.create(engine, checkfirst=True)
                self._engine = engine
            return self._engine

    def read(self, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
        """Return the events of a run after a cursor, and the new cursor."""
        self.write.flush()
        with trouble(self._store):
            return trace_from(self._store, self._db(), run, place, most)

    def forget(self, run: str) -> None:
        """Delete the events of a run."""
        self.write.flush()
        with trouble(self._store):
            forget(self._db(), [run])

    def put(self, name: str, data: bytes) -> None:
        """Store a value by name, unless it exists."""
        with trouble(self._store), self._db().begin() as connection:
            connection.execute(insert(_VALUES).values(name=name, body=data).on_conflict_do_nothing())

    def get(self, name: str) -> bytes | None:
        """Return a value, or `None` for an unknown name."""
        with trouble(self._store), self._db().connect() as connection:
            data: bytes | None = connection.execute(sa.select(_VALUES.c.body).where(_VALUES.c.name == name)).scalar()
            return data

    def beside(self, heard: TellPart | None) -> TellPart | None:
        """Return the exchange of partial answers with other processes."""
        return self._parts.beside(heard)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:
        """Return partial answers sent by other processes since the last call, for the given runs, or for all if one is ""."""
        with trouble(self._store):
            return self._parts.read(self._db(), runs)

    def close(self) -> None:
        """Write pending data, and close the database."""
        self.write.close()
        self._parts.close()
        if self._engine is not None:
            close_engine(self._engine)
            self._engine = None


_VALUES = sa.Table(
    "instrc_values",
    sa.MetaData(),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Large values of runs, stored separately by hash."""
