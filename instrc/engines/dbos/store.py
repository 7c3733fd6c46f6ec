"""What all stores of durable runs share: names in them, the client of DBOS, errors, and the mail to who carries the runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, TypeAlias
from zlib import compress, decompress

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from sqlalchemy.dialects.postgresql import insert

from instrc import problems
from instrc.engines.event_writer import EventWriter
from instrc.engines.stores import RunStore, store_of
from instrc.problems.problem import CompileError
from instrc.runtime.engine import LaunchDocument, UnreachableError
from instrc.runtime.interpreter.documents import Result
from instrc.runtime.traces import Event, is_event, read_events, trace_file
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_object

APPLICATION = "instrc"
QUEUE = "instrc"
"""The queue by which the process that carries runs gets those that go on, or that another process has begun."""
WORKFLOW = "instrc-run"
SERIALIZER = DBOSPortableJSONSerializer()


def close_engine(engine: sa.Engine) -> None:
    """Close all connections to a store, those as well that a thread still uses and gives back later; it may be used again."""
    left = engine.pool
    engine.dispose()

    @sa.event.listens_for(left, "checkin")
    def end(_connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
        record.invalidate()

    left.dispose()  # what was given back between the two


def enqueue(client: DBOSClient, launch: LaunchDocument) -> None:
    """Ask whoever carries the runs to begin one; of one id only the first begins."""
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": QUEUE,
        "workflow_id": launch["run"],
        "app_version": APPLICATION,
    }
    client.enqueue(options, launch)


def has_tables(store: RunStore, engine: sa.Engine) -> bool:
    """Tell whether anything was ever kept in a store."""
    return sa.inspect(engine).has_table("workflow_status", schema=store.schema) and sa.inspect(engine).has_table("instrc_mail")


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
def trouble(store: RunStore) -> Iterator[None]:
    """Turn what a database or a disk complains of into a problem; of a server that may be there again, an `UnreachableError`."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        raise unusable(store, reason_of(error)) from None


def unusable(store: RunStore, reason: str) -> CompileError:
    """Return that a store cannot be used; the server of a database may be there again a moment later."""
    made = CompileError if store.is_local else UnreachableError
    return made([problems.runs.UnusableStore(store=store.shown, reason=reason)])


def reason_of(error: BaseException) -> str:
    """Say in a few words what a database complains of."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    said = str(getattr(error, "orig", None) or error).strip().splitlines()
    return said[0] if said else type(error).__name__


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
    """An answer to a question of a run, or the wish to go on with it or to end it."""

    id: str
    run: str
    body: dict[str, Json]
    """`{"answer": ID, "data": …}`, `{"again": …}` or `{"cancel": true}`."""


def create(engine: sa.Engine) -> None:
    """Make the tables, if they are not there."""
    for table in (_TABLE, _EVENTS):
        table.create(engine, checkfirst=True)


def send(engine: sa.Engine, letter: Letter) -> None:
    """Put a letter in."""
    text = dumps(letter.body, indent=False)
    with engine.begin() as connection:
        connection.execute(sa.insert(_TABLE).values(id=letter.id, run=letter.run, body=text, verdict=0))


def unread(engine: sa.Engine, run: str | None = None) -> list[Letter]:
    """Return the letters, or those to one run, that nobody has dealt with, the oldest first."""
    with engine.connect() as connection:
        query = sa.select(_TABLE.c.id, _TABLE.c.run, _TABLE.c.body).where(_TABLE.c.verdict == 0).order_by(_TABLE.c.number)
        query = query if run is None else query.where(_TABLE.c.run == run)
        return [Letter(row.id, row.run, as_object(loads(row.body))) for row in connection.execute(query)]


def settle(engine: sa.Engine, letter: str, verdict: LetterVerdict) -> None:
    """Note what has become of a letter; its text is not needed any more."""
    with engine.begin() as connection:
        update = sa.update(_TABLE).where(_TABLE.c.id == letter, _TABLE.c.verdict == 0)
        connection.execute(update.values(verdict=_VERDICTS.index(verdict), body="{}"))


def verdict_of(engine: sa.Engine, letter: str) -> LetterVerdict:
    """Return what has become of a letter."""
    with engine.connect() as connection:
        found = connection.execute(sa.select(_TABLE.c.verdict).where(_TABLE.c.id == letter)).scalar()
    return _VERDICTS[found or 0]


def forget(engine: sa.Engine, runs: list[str]) -> None:
    """Delete the letters to runs, and their events."""
    with engine.begin() as connection:
        connection.execute(sa.delete(_TABLE).where(_TABLE.c.run.in_(runs)))
        if sa.inspect(connection).has_table(_EVENTS.name):
            connection.execute(sa.delete(_EVENTS).where(_EVENTS.c.run.in_(runs)))


# The traces of a store on a server: a table beside the mail, so that every machine shows them. Those of a folder lie in it.


TRACE_EVENTS: Final = 1_000_000
"""Events of a trace that is read, the first ones."""
_EVENTS = sa.Table(
    "instrc_events",
    sa.MetaData(),
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("run", sa.Text, nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""`run` is the one that has begun all others; `body` is the JSON of an event, deflated."""


def trace_from(store: RunStore, engine: sa.Engine, run: str, place: int = 0) -> tuple[list[Event], int]:
    """Return the events of a run behind a place, and the place after them: the number of a row, or less than 0 in a file.

    Of a server also those are returned that an earlier release has noted on this machine.
    """
    found: list[Event] = []
    if not store.is_local and place >= 0:
        of_run = (_EVENTS.c.run == run.partition("/")[0], _EVENTS.c.number > place)
        query = sa.select(_EVENTS.c.number, _EVENTS.c.body).where(*of_run).order_by(_EVENTS.c.number).limit(TRACE_EVENTS)
        with suppress(sa.exc.SQLAlchemyError), engine.connect() as connection:
            for number, body in connection.execute(query):
                event, place = loads(decompress(body)), number
                found += [event] if is_event(event) else []
        if place:
            return found, place
    events, end = read_events(trace_file(store.folder, run), -place)
    return events, -end


def insert_events(engine: Callable[[], sa.Engine], events: list[Event]) -> str | None:
    """Write events; return why that cannot be done. `engine` is asked now: the store may have been closed since the last time."""
    rows = [{"run": each["run"].partition("/")[0], "body": compress(dumps(each, indent=False).encode())} for each in events]
    try:
        with engine().begin() as connection:
            connection.execute(sa.insert(_EVENTS), rows)
    except sa.exc.SQLAlchemyError as error:
        return reason_of(error)
    return None


_VALUES = sa.Table(
    "instrc_values",
    sa.MetaData(),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Large values of runs that are kept elsewhere, by their hash."""


class SharedDatabase:
    """A database for the traces and the large values of runs that are kept elsewhere: a `SharedPlace`."""

    def __init__(self, place: str) -> None:
        self._store = store_of(place)
        self._engine: sa.Engine | None = None
        self._gate = threading.Lock()
        self.write: EventWriter = EventWriter(partial(insert_events, self._db))

    def _db(self) -> sa.Engine:
        with self._gate:
            if self._engine is None:
                engine = self._store.open()
                create(engine)
                _VALUES.create(engine, checkfirst=True)
                self._engine = engine
            return self._engine

    def read(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return the events of a run behind a place, and the place after them."""
        self.write.flush()
        with trouble(self._store):
            return trace_from(self._store, self._db(), run, place)

    def forget(self, run: str) -> None:
        """Delete the events of a run."""
        self.write.flush()
        with trouble(self._store):
            forget(self._db(), [run])

    def put(self, name: str, data: bytes) -> None:
        """Keep a value by its name, if it is not there."""
        with trouble(self._store), self._db().begin() as connection:
            connection.execute(insert(_VALUES).values(name=name, body=data).on_conflict_do_nothing())

    def get(self, name: str) -> bytes | None:
        """Return a value; `None` if there is none of the name."""
        with trouble(self._store), self._db().connect() as connection:
            found: bytes | None = connection.execute(sa.select(_VALUES.c.body).where(_VALUES.c.name == name)).scalar()
            return found

    def close(self) -> None:
        """Write what was taken in, and close the database."""
        self.write.close()
        if self._engine is not None:
            close_engine(self._engine)
            self._engine = None


def usage_of(results: Iterable[Result]) -> dict[str, float]:
    """Return what models have used, by the results of a run that are recorded."""
    used: dict[str, float] = {"requests": 0}
    for result in results:
        counts = result.get("usage")
        if counts is not None:
            used["requests"] += 1
            cached = [("cached", 1)] if result.get("cached") else []
            for name, count in (*counts.items(), ("cost", result.get("cost")), *cached):
                if isinstance(count, int | float):
                    used[name] = used.get(name, 0) + count
    return used
