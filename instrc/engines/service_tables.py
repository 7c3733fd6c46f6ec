"""Tables that a service keeps alongside the runs of a store; deleting a run deletes its rows too."""

from __future__ import annotations

import os
from collections.abc import Collection
from time import time
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

from instrc.engines.approvals import ERASED, Vote
from instrc.engines.dbos.sqlite import SqliteStore
from instrc.engines.dbos.store import RUN_TABLE, close_engine, write_in_order
from instrc.engines.places import require_place, scheme_of, store_of
from instrc.engines.stores import SERVICE_FILE, RunStore
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

DELETED: Final = "deleted"
"""Status of a deleted run, of which only the existence is kept."""


UNREADABLE: Final = object()
"""Value of a row that another program has written, or damaged."""


def is_readable(value: object, column: sa.ColumnElement[object]) -> bool:
    """Return whether a value is of the type of its column, and a time is within the calendar: SQLite keeps any value."""
    if column.type.python_type is float:
        return value is None or (isinstance(value, int | float) and (abs(value) < 2.5e11 or not isinstance(column, sa.Column)))
    return value is None or isinstance(value, column.type.python_type)


class JsonColumn(TypeDecorator[Any]):  # `Json`, or `UNREADABLE`
    """A JSON value of a kind as text, with exact numbers and key order."""

    impl = sa.Text
    cache_ok = True
    python_type = object

    def __init__(self, kind: type | tuple[type, ...] = object) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Json, _dialect: object) -> str:
        """Write a value."""
        return dumps(value, indent=False)

    def process_result_value(self, value: str | None, _dialect: object) -> object:
        """Read a value."""
        try:
            found = None if value is None else loads(value)
        except (ValueError, TypeError):
            return UNREADABLE
        return found if value is None or isinstance(found, self.kind) else UNREADABLE


TABLES = sa.MetaData()
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
RUNS = sa.Table(
    RUN_TABLE,
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("program", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("began", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
    sa.Column("starter", sa.Text),
    sa.Column("seen", sa.Float, nullable=False),
    sa.Column("entries", sa.Integer),
    sa.Column("origin", sa.Text),
    sa.Column("project", sa.Text),
    sa.Column("digest", sa.String(64)),
    sa.Column("error_kind", sa.String(64)),
    sa.Column("error_step", sa.Text),
    sa.Column("error_message", sa.Text),
    sa.Column("tokens", sa.Float),
    sa.Column("cost", sa.Float),
    sa.Index("instrc_index_status", "status", "began", "run"),
    sa.Index("instrc_index_program", "program", "began", "run"),
    sa.Index("instrc_index_program_status", "program", "status", "began", "run"),
    sa.Index("instrc_index_began", "began", "run"),
    sa.Index("instrc_index_error", "error_kind", "began", "run"),
    sa.Index("instrc_index_ended", "ended"),
)
"""`entries` is the recorded length of the run's journal, `origin` the run it was forked from; workers serve its `project`.

`digest` is that of its plan and differs between versions of the program."""
USAGE = sa.Table(
    "instrc_usage",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("below", sa.Text, primary_key=True),
    sa.Column("tokens", sa.Float, nullable=False),
    sa.Column("cost", sa.Float),
)
"""Model usage of a run itself (`below` is empty), and of each process that serves an activity of it."""
METADATA = sa.Table(
    "instrc_metadata",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Index("instrc_metadata_value", "key", "value", "run"),
)
QUESTIONS = sa.Table(
    "instrc_questions",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("question", sa.Text, primary_key=True),
    sa.Column("program", sa.Text, nullable=False),
    sa.Column("by", sa.String(8), nullable=False),
    sa.Column("steps", JsonColumn(list), nullable=False),
    sa.Column("show", JsonColumn, nullable=False),
    sa.Column("schema", JsonColumn((dict, bool)), nullable=False),
    sa.Column("tag", sa.String(24)),
    sa.Column("opened", sa.Float, nullable=False),
    sa.Column("due", sa.Float),
    sa.Index("instrc_questions_opened", "opened", "run", "question"),
    sa.Index("instrc_questions_due", "due"),
)
CANDIDATES = sa.Table(
    "instrc_candidates",
    TABLES,
    sa.Column("who", sa.Text, primary_key=True),
    sa.Column("opened", sa.Float, primary_key=True),
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("question", sa.Text, primary_key=True),
)
"""Who may answer a question: a name, `group:NAME`, or `*`; in the order in which the questions were opened."""
CLAIMS = sa.Table(
    "instrc_claims",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("question", sa.Text, primary_key=True),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("given", sa.Boolean),
)
"""Who holds a question; `given` means that it was delegated to them."""
VOTES = sa.Table(
    "instrc_votes",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("question", sa.Text, primary_key=True),
    sa.Column("who", sa.Text, primary_key=True),
    sa.Column("means", sa.String(8), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("data", JsonColumn, nullable=False),
    sa.Column("comment", sa.Text),
    sa.Column("sender", sa.Text),
    sa.Column("excludes", sa.Boolean),
)
"""Answer of each person; kept when the question is closed."""
FILES = sa.Table(
    "instrc_files",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("file", sa.String(80), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
"""Files of answers; `file` is the SHA-256 of the data with an extension."""
REQUESTS = sa.Table(
    "instrc_requests",
    TABLES,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False, index=True),
)
"""Idempotency keys, with the runs that they began."""
FEED = sa.Table(
    "instrc_feed",
    TABLES,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("program", sa.Text, nullable=False),
    sa.Column("body", JsonColumn(dict), nullable=False),
)
"""Events of all runs, in order: the source of event streams and webhooks."""
AUDIT = sa.Table(
    "instrc_audit",
    TABLES,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("means", sa.String(8), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("run", sa.Text),
    sa.Column("question", sa.Text),
    sa.Column("digest", sa.String(64)),
    sa.Index("instrc_audit_run", "run", "number"),
    sa.Index("instrc_audit_who", "who", "number"),
)
"""Who did what, by which means, with only a digest of the data sent. Rows never change, except that names of erased
runs become pseudonyms."""
RATES = sa.Table(
    "instrc_rates",
    TABLES,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("minute", sa.Integer, primary_key=True),
    sa.Column("count", sa.Integer, nullable=False),
)
"""Number of starts and answers per caller and minute, where several services count together."""
SPENT = sa.Table(
    "instrc_spent",
    TABLES,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("day", sa.String(10), nullable=False, index=True),
    sa.Column("run", sa.Text, nullable=False, index=True),
    sa.Column("program", sa.Text, nullable=False, index=True),
    sa.Column("project", sa.Text, nullable=False),
    sa.Column("cost", sa.Float, nullable=False),
)
"""Actual or possible model costs, in a database where several machines count together."""
RAISED = sa.Table(
    "instrc_raised",
    TABLES,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("scope", sa.String(16), primary_key=True),
    sa.Column("cost", sa.Float, nullable=False),
)
KEYS = sa.Table(
    "instrc_keys",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("roles", JsonColumn(list), nullable=False),
    sa.Column("groups", JsonColumn(list), nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("expires", sa.Float),
    sa.Column("used", sa.Float),
)
"""API keys, stored as digests."""
SESSIONS = sa.Table(
    "instrc_sessions",
    TABLES,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("groups", JsonColumn(list), nullable=False),
    sa.Column("key", sa.String(32)),
    sa.Column("expires", sa.Float, nullable=False),
)
"""Sessions of pages, stored as digests: of a key, or of a token with its groups."""
NONCES = sa.Table(
    "instrc_nonces",
    TABLES,
    sa.Column("nonce", sa.String(64), primary_key=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
)
"""Signed links that were used."""
CURSORS = sa.Table(
    "instrc_cursors", TABLES, sa.Column("name", sa.String(32), primary_key=True), sa.Column("value", sa.Text, nullable=False)
)

HOOKS = sa.Table(
    "instrc_webhooks",
    TABLES,
    sa.Column("id", sa.String(300), primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("events", JsonColumn(list), nullable=False),
    sa.Column("programs", JsonColumn(list), nullable=False),
    sa.Column("run", sa.String(200), index=True),
    sa.Column("form", sa.String(20), nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("disabled", sa.Text),
    sa.Column("details", JsonColumn(dict), nullable=False),
)
DELIVERIES = sa.Table(
    "instrc_webhook_deliveries",
    TABLES,
    sa.Column("message", sa.String(64), primary_key=True),
    sa.Column("hook", sa.String(300), primary_key=True, index=True),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due", sa.Float, index=True),
    sa.Column("last", sa.Float),
    sa.Column("code", sa.Integer),
    sa.Column("error", sa.Text),
    sa.Column("number", sa.Integer),
)
"""Delivery state of webhook messages; `number` counts those of one run to one webhook."""
MESSAGES = sa.Table(
    "instrc_webhook_messages",
    TABLES,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("type", sa.String(40), nullable=False),
    sa.Column("run", sa.String(200), nullable=False, index=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("body", sa.Text, nullable=False),
)


def create_tables(engine: sa.Engine) -> None:
    """Create missing tables, and add columns and indexes that those of earlier releases lack; if that fails, close the engine."""
    try:
        _create_beside_others(engine)
    except sa.exc.SQLAlchemyError:
        close_engine(engine)
        raise


def _create_beside_others(engine: sa.Engine) -> None:
    for _ in TABLES.tables:  # in a new folder, several processes may each create some of them
        try:
            return _create(engine)
        except (sa.exc.IntegrityError, sa.exc.ProgrammingError):
            pass
        except sa.exc.OperationalError as error:
            if "already exists" not in str(error) and "duplicate column" not in str(error):
                raise
    return _create(engine)


def _create(engine: sa.Engine) -> None:
    TABLES.create_all(engine)
    look, names = sa.inspect(engine), [*TABLES.tables]
    columns, indexes = look.get_multi_columns(filter_names=names), look.get_multi_indexes(filter_names=names)
    for table in TABLES.sorted_tables:
        known = {column["name"] for column in columns[None, table.name]}
        missing = [column for column in table.columns if column.name not in known]
        present = {index["name"] for index in indexes[None, table.name]}
        unindexed = [index for index in table.indexes if index.name not in present]
        if not missing and not unindexed:
            continue
        with engine.begin() as connection:
            for column in missing:
                kind = column.type.compile(engine.dialect)
                connection.execute(sa.text(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}"))
            for index in unindexed:
                index.create(connection)


def service_store(place: str | os.PathLike[str]) -> RunStore:
    """Return the store of the tables: the database of the runs, or else a file next to them."""
    require_place(place)
    return store_of(place) if scheme_of(place) else SqliteStore(os.fspath(place), SERVICE_FILE)


def forget(connection: sa.Connection, runs: Collection[str]) -> None:
    """Delete the data of runs and the addresses told of them, except that the runs existed, and the audit log."""
    is_known = sa.and_(RUNS.c.run.in_(runs), RUNS.c.status != DELETED)
    found = connection.execute(sa.select(RUNS.c.run, RUNS.c.program).where(is_known).with_for_update())
    known = {row.run: row.program for row in found}
    if not known:
        return
    for table in (QUESTIONS, CANDIDATES, CLAIMS, VOTES, FILES, METADATA, USAGE, HOOKS):
        connection.execute(sa.delete(table).where(table.c.run.in_(known)))
    forks = RUNS.alias()  # in a fork, `x-not` also excludes the starter of the original run
    is_forked = sa.exists().where(forks.c.origin == RUNS.c.run)
    starter = sa.case((sa.or_(is_forked, RUNS.c.starter.is_(None)), RUNS.c.starter), else_=ERASED)  # a fork may be under way
    left = {"status": DELETED, "starter": starter, **dict.fromkeys(("error_kind", "error_step", "error_message"))}
    connection.execute(sa.update(RUNS).where(RUNS.c.run.in_(known)).values(left))
    write_in_order(connection, FEED)
    told = {"at": time(), "kind": "run.deleted", "body": {}}
    connection.execute(sa.insert(FEED), [{**told, "run": run, "program": program} for run, program in known.items()])


def votes_of(
    connection: sa.Connection, run: str, question: str | None, since: float, most: int | None = None
) -> dict[str, list[Vote]]:
    """Return the votes of a run since a time, by question, in order, or the first `most`."""
    query = sa.select(VOTES).where(VOTES.c.run == run, VOTES.c.at >= since).order_by(VOTES.c.at).limit(most)
    found: dict[str, list[Vote]] = {}
    for row in connection.execute(query if question is None else query.where(VOTES.c.question == question)):
        found.setdefault(row.question, []).append(vote_in(row))
    return found


def vote_in(row: sa.Row[*tuple[object, ...]]) -> Vote:
    """Return the vote of a row."""
    return Vote(row.who, row.means, row.at, row.data, row.comment, row.sender, row.excludes)
