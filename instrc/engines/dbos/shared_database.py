"""A PostgreSQL database for the traces and large values of runs that are stored elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Collection
from functools import partial

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from instrc.engines.dbos.postgres import PostgresStore
from instrc.engines.dbos.store import PartExchange, close_engine, create, forget, insert_events, trace_from, trouble
from instrc.engines.event_writer import EventWriter
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.traces import Event


class SharedDatabase:
    """A database for the traces and the large values of runs that are kept elsewhere: a `SharedPlace`."""

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
            data: bytes | None = connection.execute(sa.select(_VALUES.c.body).where(_VALUES.c.name == name)).scalar()
            return data

    def beside(self, heard: TellPart | None) -> TellPart | None:
        """Return what tells parts of answers here and to other processes."""
        return self._parts.beside(heard)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:
        """Return what other processes have told since the last time of answers in some runs, in all where one is ""."""
        with trouble(self._store):
            return self._parts.read(self._db(), runs)

    def close(self) -> None:
        """Write what was taken in, and close the database."""
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
"""Large values of runs that are kept elsewhere, by their hash."""
