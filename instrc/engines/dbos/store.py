"""Common parts of all stores of durable runs: names, the DBOS client, errors, and messages to the owning process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast
from zlib import compress, decompress

import sqlalchemy as sa
from msgspec import Struct

from instrc import problems
from instrc.engines.stores import RunStore
from instrc.problems.errors import UnavailableError, UnreachableError
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.journal import Journal, JournalEntry, rebuild_journal
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.run_config import LaunchDocument, holds
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import TRACE_BYTES, Event, TracePage, is_event, read_events, trace_file
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_array, as_object, as_texts

if TYPE_CHECKING:
    from dbos import DBOSClient, EnqueueOptions, StepInfo

APPLICATION = "instrc"
QUEUE = "instrc"
"""Queue of resumed runs and of runs started by another process; `instrc/NAME` belongs to a project."""
CANCELLED: Final[Outcome] = {
    "status": "failed",
    "error": {"step": None, "kind": "failed", "code": "cancelled", "message": "it was cancelled"},
}
"""Outcome of a process that was cancelled, for its caller."""
PARKED = "instrc-parked"
"""Queue of waiting runs, which are not taken from it until they resume."""
WORKFLOW = "instrc-run"
RUN_TABLE = "instrc_index"
"""Table of runs that a database keeps in addition."""


STEP = "instrc"
"""Name of the steps."""


def recorded_entries(steps: Iterable[StepInfo]) -> list[JournalEntry]:
    """Return the journal entries among the steps recorded by DBOS, in order.

    DBOS may record a failure to write an entry, in which case nothing of it was applied.
    """
    return [step["output"] for step in steps if step["function_name"] == STEP and step["output"] is not None]


def entries_of(launch: LaunchDocument, steps: Iterable[StepInfo]) -> list[JournalEntry]:
    """Return the entries of a run: the initial ones, and those recorded later."""
    return [*launch.get("entries", ()), *recorded_entries(steps)]


def journal_of(launch: LaunchDocument, steps: Iterable[StepInfo]) -> Journal:
    """Return the journal of a run."""
    return rebuild_journal(launch["plan"], launch["inputs"], entries_of(launch, steps), holds=holds(launch))


def close_engine(engine: sa.Engine) -> None:
    """Close all connections to a store, including those in use by a thread when it returns them."""
    left = engine.pool
    engine.dispose()
    for pool in (left, engine.pool):

        @sa.event.listens_for(pool, "checkin")
        def end(_connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
            record.invalidate()

    left.dispose()  # connections returned between the two


def enqueue(client: DBOSClient, connection: sa.Connection, launch: LaunchDocument, *, is_local: bool = False) -> bool:
    """Enqueue a run in a transaction; return `False` if there is one with its id."""
    from dbos._error import DBOSWorkflowIDInUseError  # has no public name; the tables of a service need the database alone

    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": queue_for(launch, is_local=is_local),
        "workflow_id": launch["run"],
        "app_version": APPLICATION,
        "workflow_id_reuse_policy": "reject",
    }
    try:
        client.enqueue_in_transaction(connection, options, launch)
    except DBOSWorkflowIDInUseError:
        return False
    return True


def queue_for(launch: LaunchDocument, *, is_local: bool) -> str:
    """Return the queue of a run: that of its project; a folder has one queue for all."""
    return QUEUE if is_local else queue_of(cast("str | None", launch["how"].get("project")))


def queue_of(project: str | None) -> str:
    """Return the queue of a project's runs."""
    return QUEUE if project is None else f"{QUEUE}/{project}"


def has_queued(engine: sa.Engine, schema: str | None, queue: str) -> bool:
    """Return whether a queue contains runs."""
    workflows = _workflows(schema)
    queued = sa.select(workflows.c.queue_name).where(workflows.c.queue_name == queue, workflows.c.status == "ENQUEUED")
    with engine.connect() as connection:
        return connection.execute(queued.limit(1)).first() is not None


def _workflows(schema: str | None) -> sa.TableClause:
    columns = (sa.column(name, sa.Text) for name in ("workflow_uuid", "queue_name", "status"))
    return sa.table("workflow_status", *columns, sa.column("updated_at", sa.BigInteger), schema=schema)


def queue_in(engine: sa.Engine, schema: str | None) -> list[tuple[str, int, float]]:
    """Return the number of runs in the shared queues, by project, and since when the first one waits."""
    workflows = _workflows(schema)
    shared = sa.or_(workflows.c.queue_name == QUEUE, workflows.c.queue_name.startswith(f"{QUEUE}/", autoescape=True))
    query = sa.select(workflows.c.queue_name, sa.func.count(), sa.func.min(workflows.c.updated_at))
    query = query.where(workflows.c.status == "ENQUEUED", shared).group_by(workflows.c.queue_name)
    with engine.connect() as connection:
        return [(row[0].partition("/")[2], row[1], row[2] / 1000) for row in connection.execute(query)]


_READERS: Final = 1000
"""Milliseconds for readers of an SQLite file to end, so that deleted rows leave its log."""


def scrub(engine: sa.Engine) -> None:
    """Overwrite deleted data in an SQLite file: until then its log contains it."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            [(usual,)] = connection.exec_driver_sql("PRAGMA busy_timeout").all()
            connection.exec_driver_sql(f"PRAGMA busy_timeout={_READERS}")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.exec_driver_sql(f"PRAGMA busy_timeout={usual}")


def has_tables(store: RunStore, engine: sa.Engine) -> bool:
    """Return whether a store has ever been used."""
    return sa.inspect(engine).has_table("workflow_status", schema=store.schema) and sa.inspect(engine).has_table("instrc_mail")


def client_of(engine: sa.Engine) -> DBOSClient:
    """Return a client that reads and writes the store without carrying out runs."""
    from dbos import DBOSClient, DBOSPortableJSONSerializer  # the tables of a service need the database alone

    return DBOSClient(
        system_database_engine=engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=APPLICATION,
        lazy=True,
        retry_connection_errors=False,
    )


@contextmanager
def trouble(store: RunStore) -> Iterator[None]:
    """Convert database and disk errors to problems; server errors become an `UnreachableError`, except a refusal."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        state = getattr(getattr(error, "orig", None), "sqlstate", None)
        raise unusable(store, reason_of(error), may_return=state not in FORBIDDEN) from None


FORBIDDEN: Final = ("42501", "25006")
"""SQLSTATEs of a statement for which the role lacks a privilege, or of a write to a standby: repeating it does not help."""


def unusable(store: RunStore, reason: str, *, may_return: bool = True) -> UnavailableError:
    """Return the error for an unusable store; a database server may be back a moment later."""
    made = UnreachableError if may_return and not store.is_local else UnavailableError
    return made([problems.runs.UnusableStore(store=store.shown, reason=reason)])


def reason_of(error: BaseException) -> str:
    """Return a short text for a database error."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    said = str(getattr(error, "orig", None) or error).strip().splitlines()
    return said[0] if said else type(error).__name__


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


class Letter(Struct, frozen=True):
    """An answer to a question of a run, or a request to continue or end it."""

    id: str
    run: str
    body: dict[str, Json]
    """`{"answer": ID, "tag": TAG, "data": …}`, `{"again": …}` or `{"cancel": true}`."""


_EVENTS = sa.Table(
    "instrc_events",
    sa.MetaData(),
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("run", sa.Text, nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""`run` is the root run; `body` is the JSON of an event, compressed."""
_PARTS = sa.Table(
    "instrc_parts",
    sa.MetaData(),
    sa.Column("process", sa.String(16), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("body", sa.LargeBinary),
)
"""Partial answers of a process by key; without a body, a row says that the process follows a run, or all runs ("")."""


_CHILDREN = {
    "postgresql": ("dbos.workflow_status", "split_part(workflow_uuid, '/', 1)", "strpos(workflow_uuid, '/') > 0"),
    "sqlite": ("workflow_status", "substr(workflow_uuid, 1, instr(workflow_uuid, '/') - 1)", "instr(workflow_uuid, '/') > 0"),
}
"""The table of workflows, the root run of a child, and the condition for children, in each dialect."""
_INDEXED = "SELECT to_regclass('dbos.instrc_children')"


def create(engine: sa.Engine) -> None:
    """Create missing tables."""
    for table in (_TABLE, _EVENTS, _PARTS):
        table.create(engine, checkfirst=True)


def index_children(engine: sa.Engine) -> None:
    """Create the index of children unless it exists; a server would wait for all writers just to find that it does."""
    place, root, is_child = _CHILDREN[engine.dialect.name]
    with engine.begin() as connection:
        if place == "workflow_status" or connection.execute(sa.text(_INDEXED)).scalar() is None:
            connection.execute(sa.text(f"CREATE INDEX IF NOT EXISTS instrc_children ON {place} ({root}) WHERE {is_child}"))


def send(engine: sa.Engine, letter: Letter) -> None:
    """Store a message."""
    text = dumps(letter.body, indent=False)
    with engine.begin() as connection:
        connection.execute(sa.insert(_TABLE).values(id=letter.id, run=letter.run, body=text, verdict=0))


def addressed(engine: sa.Engine) -> list[tuple[str, str]]:
    """Return the ids of the unprocessed messages and their runs, without texts, which may be long and for other processes."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(_TABLE.c.id, _TABLE.c.run).where(_TABLE.c.verdict == 0))
        return [(row.id, row.run) for row in rows]


def unread(engine: sa.Engine, run: str | None = None) -> list[Letter]:
    """Return the unprocessed messages, optionally of one run, oldest first."""
    with engine.connect() as connection:
        query = sa.select(_TABLE.c.id, _TABLE.c.run, _TABLE.c.body).where(_TABLE.c.verdict == 0).order_by(_TABLE.c.number)
        query = query if run is None else query.where(_TABLE.c.run == run)
        return [Letter(row.id, row.run, as_object(loads(row.body))) for row in connection.execute(query)]


def settle(engine: sa.Engine, letter: str, verdict: LetterVerdict) -> None:
    """Record the result of a message, and delete its text."""
    with engine.begin() as connection:
        update = sa.update(_TABLE).where(_TABLE.c.id == letter, _TABLE.c.verdict == 0)
        connection.execute(update.values(verdict=_VERDICTS.index(verdict), body="{}"))


def verdict_of(engine: sa.Engine, letter: str) -> LetterVerdict:
    """Return the recorded result of a message."""
    with engine.connect() as connection:
        found = connection.execute(sa.select(_TABLE.c.verdict).where(_TABLE.c.id == letter)).scalar()
    return _VERDICTS[found or 0]


def forget(engine: sa.Engine, runs: list[str]) -> None:
    """Delete the messages and events of runs."""
    with engine.begin() as connection:
        connection.execute(sa.delete(_TABLE).where(_TABLE.c.run.in_(runs)))
        for table in (_EVENTS, _PARTS):
            if sa.inspect(connection).has_table(table.name):
                connection.execute(sa.delete(table).where(table.c.run.in_(runs)))
    scrub(engine)


def runs_below(engine: sa.Engine, schema: str | None, runs: Collection[str]) -> list[str]:
    """Return the children of runs, by an index of their own, since a database cannot use its index of ids for prefixes."""
    workflows = _workflows(schema)
    _, root, is_child = _CHILDREN[engine.dialect.name]
    of_roots = sa.literal_column(root, sa.Text).in_({run.partition("/")[0] for run in runs})
    query, above = sa.select(workflows.c.workflow_uuid).where(of_roots, sa.text(is_child)), tuple(f"{run}/" for run in runs)
    with engine.connect() as connection:
        return [name for name in connection.execute(query).scalars() if name.startswith(above)]


TRACE_EVENTS: Final = 1_000_000
"""Maximum events read of a trace; later ones are omitted."""


def write_in_order(connection: sa.Connection, table: sa.Table) -> None:
    """Lock a table against other inserts until the end of the transaction.

    Otherwise a number could become visible before a lower one, which a reader that continues after it would miss.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(CAST(:name AS regclass)::oid::bigint)"), {"name": table.name})


def trace_from(store: RunStore, engine: sa.Engine, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
    """Return the events of a run after a cursor, and the new cursor: a row number, or a negative number for a file.

    For a server, events recorded on this machine by an earlier release are included.
    """
    found: list[Event] = []
    if not store.is_local and place >= 0:
        of_run = (_EVENTS.c.run == run.partition("/")[0], _EVENTS.c.number > place)
        query = sa.select(_EVENTS.c.number, _EVENTS.c.body).where(*of_run).order_by(_EVENTS.c.number).limit(TRACE_EVENTS)
        with suppress(sa.exc.ProgrammingError), engine.connect() as connection:  # an earlier release has no such table
            length = 0
            for number, body in connection.execution_options(yield_per=50).execute(query):
                event, place = loads(text := decompress(body)), number
                found += [event] if is_event(event) else []
                if (length := length + len(text)) >= most:
                    break
        if place:
            return found, place
    events, end = read_events(trace_file(store.folder, run), -place, most)
    return events, -end


def insert_events(engine: Callable[[], sa.Engine], events: list[Event]) -> str | None:
    """Write events; return the reason if that fails. `engine` is called each time, as the store may have been closed."""
    rows = [{"run": each["run"].partition("/")[0], "body": compress(dumps(each, indent=False).encode())} for each in events]
    try:
        with engine().begin() as connection:
            write_in_order(connection, _EVENTS)
            connection.execute(sa.insert(_EVENTS), rows)
    except sa.exc.SQLAlchemyError as error:
        return reason_of(error)
    return None


PARTS_PAUSE: Final = 0.2
"""Seconds between two writes of parts, or two polls for them."""
_FOLLOWED = 10.0
"""Seconds for which a run counts as followed."""
_STALE_PARTS = 300.0
"""Seconds after which any process may delete remaining parts."""
_CLOSING = 5.0
"""Seconds to wait for a write on shutdown."""


class PartExchange:
    """Sends partial answers of local models to other processes that follow the run, and reads theirs."""

    def __init__(self, engine: Callable[[], sa.Engine]) -> None:
        """`engine` is called for each use, because the store may have been closed and reopened."""
        self._engine = engine
        self._process = token_hex(8)
        self._newest: dict[str, AnswerPart] = {}
        self._timer: threading.Timer | None = None
        self._gate = threading.Lock()
        self._unheard = 0.0
        self._told: tuple[float, frozenset[str]] = (0.0, frozenset())
        self._seen: dict[tuple[str, str], float] = {}

    def beside(self, heard: TellPart | None) -> TellPart | None:
        """Return the exchange of partial answers with other processes, or `None` if none is needed."""
        if heard is None:
            return None

        def tell(part: AnswerPart) -> None:
            heard(part)
            self.take(part)

        return tell

    def take(self, part: AnswerPart) -> None:
        """Accept a part; the newest one of each answer is written shortly afterwards."""
        with self._gate:
            self._newest[part.key] = part
            if self._timer is None:
                self._timer = threading.Timer(PARTS_PAUSE, self._write)
                self._timer.daemon = True
                self._timer.start()

    def _write(self) -> None:
        with self._gate:
            newest, self._newest, self._timer = self._newest, {}, None
        now = time()
        if now < self._unheard:
            return
        wanted = sa.select(_PARTS.c.run).where(_PARTS.c.body.is_(None), _PARTS.c.at > now - _FOLLOWED)
        with suppress(sa.exc.SQLAlchemyError), self._engine().begin() as connection:  # the whole answer follows
            followed = set(connection.execute(wanted.where(_PARTS.c.process != self._process)).scalars())
            heard = [part for part in newest.values() if {"", part.run} & followed]
            if heard:
                self._replace(connection, [(part.key, part.run, _body_of(part)) for part in heard])
            else:
                self._unheard = now + 1

    def _replace(self, connection: sa.Connection, rows: list[tuple[str, str, bytes | None]]) -> None:
        now, own = time(), sa.and_(_PARTS.c.process == self._process, _PARTS.c.key.in_([key for key, _, _ in rows]))
        connection.execute(sa.delete(_PARTS).where(sa.or_(own, _PARTS.c.at < now - _STALE_PARTS)))
        made = [{"process": self._process, "key": key, "run": run, "at": now, "body": body} for key, run, body in rows]
        connection.execute(sa.insert(_PARTS), made)

    def read(self, engine: sa.Engine, runs: Collection[str]) -> list[AnswerPart]:
        """Return partial answers written by other processes since the last call, for the given runs, or for all if one is ""."""
        now, wanted = time(), frozenset(runs)
        known = sa.select(_PARTS.c.process, _PARTS.c.key, _PARTS.c.at)
        known = known.where(_PARTS.c.body.is_not(None), _PARTS.c.process != self._process)
        known = known if "" in wanted else known.where(_PARTS.c.run.in_(wanted))
        with suppress(sa.exc.SQLAlchemyError), engine.begin() as connection:  # the tables may come from an earlier release
            if now > self._told[0] + _FOLLOWED / 3 or not wanted <= self._told[1]:
                self._replace(connection, [(f"!{run}", run, None) for run in wanted])
                self._told = now, wanted
            before, self._seen = self._seen, {(row.process, row.key): row.at for row in connection.execute(known)}
            new = [key for key, at in self._seen.items() if before.get(key) != at]
            query = sa.select(_PARTS.c.key, _PARTS.c.body).where(sa.tuple_(_PARTS.c.process, _PARTS.c.key).in_(new))
            return [_part_of(row.key, row.body) for row in connection.execute(query)] if new else []
        return []

    def close(self) -> None:
        """Stop writing."""
        with self._gate:
            timer, self._newest = self._timer, {}
        if timer is not None:
            timer.cancel()
            timer.join(_CLOSING)


def _body_of(part: AnswerPart) -> bytes:
    said: Json = [[*part.steps], part.value, [*part.complete]]
    return compress(dumps(redacted(said), indent=False).encode())


def _part_of(key: str, body: bytes) -> AnswerPart:
    steps, value, complete = as_array(loads(decompress(body)))
    return AnswerPart(key, tuple(as_texts(steps)), value, tuple(as_texts(complete)))
