"""What all stores of durable runs share: names in them, the client of DBOS, errors, and the mail to who carries the runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer

from instrc import problems
from instrc.engines.stores import RunStore
from instrc.problems.problem import CompileError
from instrc.runtime.engine import UnreachableError
from instrc.runtime.secrets import redacted
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
