"""What processes that do not carry a run send to the one that does: a table beside those of DBOS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import sqlalchemy as sa

from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, as_object
from instrc.runtime.secrets import redacted

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
