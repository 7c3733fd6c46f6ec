"""The table of runs and their open questions, and the feed of their events, written by the process that owns the run."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import time
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, runtime_checkable

import sqlalchemy as sa
from msgspec import Struct, field, structs

from instrc.engines.approvals import Opening, OpeningOf, OwnOpening, approval_of
from instrc.engines.dbos.store import scrub, write_in_order
from instrc.engines.service_tables import (
    AUDIT,
    CANDIDATES,
    CLAIMS,
    CURSORS,
    DELETED,
    FEED,
    KEYS,
    METADATA,
    QUESTIONS,
    RUNS,
    UNREADABLE,
    USAGE,
    VOTES,
    create_tables,
    forget,
    is_readable,
    votes_of,
)
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.journal import JournalEntry
from instrc.runtime.questions import Question
from instrc.runtime.run_config import Launch, LaunchDocument, RunConfig
from instrc.runtime.run_report import OPEN, RunFault, RunFilter, RunReport
from instrc.runtime.traces import usage_of
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, JsonObject

ChangeKind: TypeAlias = Literal[
    "run.started",
    "run.running",
    "run.waiting",
    "run.held",
    "run.done",
    "run.failed",
    "run.stopped",
    "run.cancelled",
    "run.deleted",
    "question.opened",
    "question.due",
    "question.overdue",
    "question.claimed",
    "question.released",
    "question.voted",
    "question.answered",
    "question.closed",
]
_Query: TypeAlias = "sa.Select[*tuple[Any, ...]]"  # of any columns
FILLED: Final = "filled"
"""Cursor for the run up to which a store of an earlier release was read into the table."""
_KIND: Final = 64
"""Maximum characters of an error kind; activities name their own codes."""


class RunChange(Struct, frozen=True):
    """A change of a run in the feed."""

    kind: ChangeKind
    run: str
    program: str
    body: JsonObject = field(default_factory=dict)
    """Ids and names without data: `{"question": ID, "who": NAME}`."""
    at: float = 0.0
    number: int = 0


class RunRow(Struct, frozen=True):
    """A run in the table."""

    run: str
    program: str
    status: str
    began: float
    ended: float | None
    starter: str | None
    metadata: Mapping[str, str] = field(default_factory=dict)
    digest: str | None = None
    """Digest of its plan; `None` for a run of an earlier release."""
    project: str | None = None
    waits_for: str | None = None
    """Project for whose worker it waits, as none is alive; "" for any worker."""
    fault: RunFault | None = None


class QuestionRow(Struct, frozen=True):
    """An open question in the table."""

    run: str
    program: str
    question: Question
    opened: float
    due: float | None
    claimed_by: str | None = None
    claimed_until: float | None = None
    given: bool | None = None
    """Whether it was delegated to who holds it."""


class JournalMark(Struct, frozen=True):
    """The recorded length of a run's journal when its row was written: a row of an earlier entry changes nothing."""

    entries: int
    """Number of recorded entries; -1 to write the row only if there is none."""
    below: str = ""
    """Path of a run below it, of which only questions are written; "" for the run itself."""
    used: Mapping[str, float] = field(default_factory=dict)
    digest: str | None = None
    """Digest of the run's plan."""
    answered: Collection[str] = ()
    """Questions that the journal has an answer to."""
    is_old: bool = False
    """Whether it is a run of an earlier release, whose changes are not published."""


_ADD: Final = sa.insert(RUNS)
_CHANGE: Final = sa.update(RUNS).where(RUNS.c.run == sa.bindparam("of"))
_ROW: Final = sa.select(RUNS).where(RUNS.c.run == sa.bindparam("of")).with_for_update()
_ASK: Final = sa.insert(QUESTIONS)
_LAST: Final = (
    sa.select(VOTES.c.question, sa.func.max(VOTES.c.at)).where(VOTES.c.run == sa.bindparam("of")).group_by(VOTES.c.question)
)
_TELL: Final = sa.insert(FEED).returning(FEED.c.number, sort_by_parameter_order=True)
_RUN: Final = (
    sa.select(RUNS, METADATA.c.key, METADATA.c.value)
    .outerjoin(METADATA, METADATA.c.run == RUNS.c.run)
    .where(RUNS.c.run == sa.bindparam("of"))
)
_FEED: Final = sa.select(FEED).where(FEED.c.number > sa.bindparam("after")).order_by(FEED.c.number).limit(sa.bindparam("most"))
"""Frequent statements, built once: building one takes longer than executing it."""


class RunTable:
    """The runs, questions and feed of a store."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        create_tables(engine)
        self.single: sa.Engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        """The same database for single statements, each of which is a transaction: a server is asked once, not three times."""
        self.watchers: list[Callable[[Sequence[RunChange]], object]] = []
        """Called with what was written here, in whichever thread wrote it."""

    def note(self, report: RunReport, opening: Callable[[Question], Opening], mark: JournalMark | None = None) -> list[RunChange]:
        """Write the state of a run; return the changes. `opening` is called for each new question."""
        try:
            with self.writing() as connection:
                written = self.note_in(connection, report, opening, mark)
        except sa.exc.IntegrityError:  # another process has just written it
            return self.note(report, opening, mark)
        return self.publish(written)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction, on SQLite with the write lock, so that the data it reads is current when it writes."""
        with self.engine.begin() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def note_in(
        self, connection: sa.Connection, report: RunReport, opening: Callable[[Question], Opening], mark: JournalMark | None
    ) -> list[RunChange]:
        """Write the state of a run in a transaction; return the changes, which are to be published when it has ended."""
        before = connection.execute(_ROW, {"of": report.run}).first()
        if (mark is not None and not _may_write(before, mark)) or (before is not None and _is_late(before, report)):
            return []
        known = None if before is None or before.status == DELETED else before
        who = report.config.starter
        changes = [RunChange("run.started", report.run, report.name, {"who": who} if who else {})] if known is None else []
        below = None if mark is None or report.has_ended else mark.below
        is_new = before is None and not report.questions
        changes += [] if is_new else _note_questions(connection, report, opening, below, () if mark is None else mark.answered)
        is_whole = below is None and not report.unknown
        status = report.status if is_whole or is_new else _open_status(connection, report.run)
        used = {} if mark is None or mark.is_old else _used(connection, report.run, mark)
        if known is None:
            if before is not None:  # a run with its id was deleted
                connection.execute(sa.delete(RUNS).where(RUNS.c.run == report.run))
            _insert(connection, report, {"starter": who, "tokens": 0.0, **_values(report, None, mark, status), **used})
        else:
            values = {"status": status} if below else _values(report, known, mark, status)
            values |= used
            connection.execute(_CHANGE, {"of": report.run, **values})
        if known is None or known.status != status:
            changes.append(RunChange(cast("ChangeKind", f"run.{status}"), report.run, report.name))
        return [] if mark is not None and mark.is_old else tell_in(connection, changes)

    def forget_all(self, runs: Sequence[str]) -> None:
        """Delete the data of runs, except that they existed."""
        with self.writing() as connection:
            forget(connection, runs)
        scrub(self.engine)

    def reopen(self, run: str, entries: int) -> None:
        """Mark an ended run with the given number of entries as continued; one with more entries is unchanged."""
        ended = sa.and_(RUNS.c.run == run, RUNS.c.status.in_(("failed", "stopped", "done")))
        with self.writing() as connection:
            known = sa.and_(ended, sa.func.coalesce(RUNS.c.entries, 0) <= entries)
            goes_on = {"status": "running", "ended": None, "error_kind": None, "error_step": None, "error_message": None}
            program = connection.execute(sa.update(RUNS).where(known).values(goes_on).returning(RUNS.c.program)).scalar()
            written = [] if program is None else tell_in(connection, [RunChange("run.running", run, program)])
        self.publish(written)

    def tell(self, change: RunChange) -> list[RunChange]:
        """Add a change to the feed."""
        with self.engine.begin() as connection:
            written = tell_in(connection, [change])
        return self.publish(written)

    def publish(self, changes: list[RunChange]) -> list[RunChange]:
        """Call the watchers with changes that are committed."""
        for watcher in self.watchers if changes else ():
            watcher(changes)
        return changes

    def audit(self, who: str, means: str, action: str, *runs: str | None, question: str | None = None, sent: Json = None) -> None:
        """Record who did what with runs, or with what a `question` names and no run; only a digest of the request is kept."""
        if runs:
            with self.engine.begin() as connection:
                connection.execute(sa.insert(AUDIT), [audit_row(who, means, action, run, question, sent) for run in runs])

    def execute(self, *statements: sa.Executable) -> int:
        """Execute statements in one transaction; return the number of rows changed by the last one."""
        with self.engine.begin() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def select(self, query: _Query, limit: int | None = None, skip: int = 0, **values: object) -> Sequence[Any]:  # as above
        """Return the rows of a query with values of its parameters.

        Unreadable rows are logged, and with a limit the next ones take their place.
        """
        with self.single.connect() as connection:
            rows = connection.execute(query if limit is None else query.limit(limit).offset(skip), values).all()
        columns = query.selected_columns if self.engine.dialect.name == "sqlite" else ()
        lost = [row for row in rows if UNREADABLE in row or not all(map(is_readable, row, columns))]
        if not lost:
            return rows
        _log.error("rows that cannot be read are left out, by their first column: %r", [row[0] for row in lost])
        more = [] if limit is None else self.select(query, len(lost), skip + limit, **values)
        return [*(row for row in rows if row not in lost), *more]

    def run(self, run: str) -> RunRow | None:
        """Return a run."""
        rows = self.select(_RUN, of=run)
        return _run_row(rows[0], {row.key: row.value for row in rows if row.key is not None}) if rows else None

    def runs(self, query: sa.Select[*tuple[object, ...]], limit: int | None = 50) -> list[RunRow]:
        """Return the runs of a `runs_query`."""
        rows, known = self.select(query, limit), dict[str, dict[str, str]]()
        for row in self.select(sa.select(METADATA).where(METADATA.c.run.in_([row.run for row in rows]))) if rows else ():
            known.setdefault(row.run, {})[row.key] = row.value
        return [_run_row(row, known.get(row.run, {})) for row in rows]

    def names(self, query: sa.Select[*tuple[object, ...]], limit: int | None = None) -> list[str]:
        """Return the ids of the runs of a `runs_query`."""
        return [row.run for row in self.select(query.with_only_columns(RUNS.c.run), limit)]

    def count(self, query: sa.Select[*tuple[object, ...]]) -> int:
        """Return how many rows a query has."""
        [(number,)] = self.select(sa.select(sa.func.count()).select_from(query.order_by(None).subquery()))
        return int(number)

    def lacking(self, runs: Collection[str]) -> set[str]:
        """Return the runs that are missing from the table, or recorded by an earlier release, possibly outdated."""
        is_current = sa.or_(RUNS.c.entries.is_not(None), RUNS.c.status.not_in(OPEN))
        return set(runs).difference(row.run for row in self.select(sa.select(RUNS.c.run).where(RUNS.c.run.in_(runs), is_current)))

    def count_by(self, column: sa.Column[str]) -> dict[str, int]:
        """Return the number of runs, by status or program."""
        rows = self.select(sa.select(column, sa.func.count()).where(RUNS.c.status != DELETED).group_by(column))
        return {row[0]: row[1] for row in rows}

    def questions(self, query: sa.Select[*tuple[object, ...]], limit: int | None = 50) -> list[QuestionRow]:
        """Return the open questions of a `questions_query`."""
        return [_question_row(row) for row in self.select(query, limit)]

    def tags(self, query: sa.Select[*tuple[object, ...]]) -> dict[str, str | None]:
        """Return the tags of the open questions of a run by id, without what they show; `None` of an earlier release."""
        return {row.question: row.tag for row in self.select(query.with_only_columns(QUESTIONS.c.question, QUESTIONS.c.tag))}

    def feed(self, after: int, limit: int = 200) -> list[RunChange]:
        """Return the events after a number."""
        with self.single.connect() as connection:
            return feed_after(connection, after, limit)

    def feed_bounds(self) -> tuple[int, int]:
        """Return the first and last number of the feed, or zeros if it is empty."""
        [(first, last)] = self.select(sa.select(sa.func.min(FEED.c.number), sa.func.max(FEED.c.number)))
        return first or 0, last or 0

    def has_keys(self) -> bool:
        """Return whether there is any API key."""
        return bool(self.select(sa.select(KEYS.c.id).limit(1)))

    def requires_keys(self) -> bool:
        """Return whether there is or was an API key: a service stays protected after the last one is revoked."""
        return self.has_keys() or self.cursor(KEYS.name) is not None

    def cursor(self, name: str) -> str | None:
        """Return a stored cursor."""
        return next((row.value for row in self.select(sa.select(CURSORS.c.value).where(CURSORS.c.name == name))), None)

    def move_cursor(self, name: str, value: str) -> None:
        """Store a cursor."""
        with self.writing() as connection:
            move_cursor(connection, name, value)


@runtime_checkable
class TableEngine(Protocol):
    """An engine that keeps the run table up to date."""

    @property
    def starts_by_queue(self) -> bool:
        """Whether `start` returns as soon as a run is enqueued, without waiting for its progress."""

    def use_table(self, table: RunTable, opening: OwnOpening) -> None:
        """Record runs in the table of a service, whose `opening` returns who may answer."""

    def table(self) -> RunTable:
        """Return the run table."""

    async def enqueue(self, launch: Launch, audited: Sequence[Mapping[str, object]] = ()) -> RunReport:
        """Enqueue a run, and write rows of the audit log with its row; nothing for one that has already started."""

    async def write_row(self, run: str) -> None:
        """Write the state of a run from its journal, if the process carrying it out has not done so."""

    async def fill(self) -> bool:
        """Write the runs of an earlier release into the table, from where that was interrupted; `False` if there are none."""


def _may_write(before: sa.Row[*tuple[object, ...]] | None, mark: JournalMark) -> bool:
    """Return whether a row may be replaced by one of this entry: a suspended process may write late."""
    if before is None or before.status == DELETED:
        return not mark.below
    if mark.below:
        return before.status in OPEN
    return before.status != "cancelled" and (before.entries or 0) <= mark.entries


def _is_late(before: sa.Row[*tuple[object, ...]], report: RunReport) -> bool:
    """Return whether a state was read before its run was deleted; another run with the same id began later."""
    return before.status == DELETED and report.began is not None and report.began <= before.began


def _insert(connection: sa.Connection, report: RunReport, values: dict[str, object]) -> None:
    connection.execute(_ADD, {"run": report.run, **values})
    rows = [{"run": report.run, "key": key, "value": value} for key, value in report.config.metadata.items()]
    if rows:
        connection.execute(sa.insert(METADATA), rows)


def _values(
    report: RunReport, before: sa.Row[*tuple[object, ...]] | None, mark: JournalMark | None, status: str
) -> dict[str, object]:
    now = time()
    began = report.began or (now if before is None else before.began)
    values: dict[str, object] = {"program": report.name, "status": status, "began": began, "ended": report.ended, "seen": now}
    fault = report.fault
    values |= {"error_kind": None, "error_step": None, "error_message": None}
    if fault is not None:
        kind, step = storable(fault.kind)[:_KIND], fault.step and storable(fault.step)
        values |= {"error_kind": kind, "error_step": step, "error_message": storable(fault.message)}
    values |= {"origin": None if report.forked is None else report.forked["run"], "project": report.config.project}
    if mark is not None:
        values["entries"] = mark.entries
    if mark is not None and mark.digest is not None:
        values["digest"] = mark.digest
    return values


def _used(connection: sa.Connection, run: str, mark: JournalMark) -> dict[str, object]:
    """Record the model usage of a run or child run; return the sums of the run."""
    if not mark.used.get("requests"):
        return {}
    place = sa.and_(USAGE.c.run == run, USAGE.c.below == mark.below)
    tokens = mark.used.get("input_tokens", 0) + mark.used.get("output_tokens", 0)
    connection.execute(sa.delete(USAGE).where(place))
    connection.execute(sa.insert(USAGE), {"run": run, "below": mark.below, "tokens": tokens, "cost": mark.used.get("cost")})
    sums = sa.select(sa.func.coalesce(sa.func.sum(USAGE.c.tokens), 0.0), sa.func.sum(USAGE.c.cost)).where(USAGE.c.run == run)
    total, cost = connection.execute(sums).one()
    return {"tokens": total, "cost": cost}


def move_cursor(connection: sa.Connection, name: str, value: str) -> None:
    """Store a cursor in a transaction; its row stays the one that other transactions wait for."""
    if connection.execute(sa.update(CURSORS).where(CURSORS.c.name == name).values(value=value)).rowcount == 0:
        connection.execute(sa.insert(CURSORS).values(name=name, value=value))


def audit_row(who: str, means: str, action: str, run: str | None, question: str | None, sent: Json) -> dict[str, object]:
    """Return the row of the audit log for an action; of the request it has a digest only."""
    digest = None if sent is None else digest_of(sent)
    return {"at": time(), "who": who, "means": means, "action": action, "run": run, "question": question, "digest": digest}


def storable(text: str) -> str:
    """Return foreign text without characters that databases refuse."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _open_status(connection: sa.Connection, run: str) -> str:
    asked = set(connection.execute(sa.select(QUESTIONS.c.by).where(QUESTIONS.c.run == run).distinct()).scalars())
    return "held" if "operator" in asked else "waiting" if asked else "running"


def _note_questions(
    connection: sa.Connection,
    report: RunReport,
    opening: Callable[[Question], Opening],
    below: str | None,
    answered: Collection[str],
) -> list[RunChange]:
    """Record the open questions of a run: those of the child `below`, or all but the unknown ones."""
    asked = {each.id: each for each in report.questions}
    known = tags_in(connection, report)
    own = sa.select(QUESTIONS.c.question).where(QUESTIONS.c.run == report.run, QUESTIONS.c.program == report.name)
    same = {*connection.execute(own).scalars()}  # an earlier release recorded those of processes under other programs
    left = {name for name in same if name in asked and known[name] == asked[name].tag}  # answers are to what was shown
    now = time()
    changes: list[RunChange] = []
    for name in sorted(known.keys() - left):
        if (below is None or name.rpartition("/")[0] == below) and not name.startswith(report.unknown):
            changes += _closed(connection, report, name, answered)
    new = sorted(asked.keys() - left)
    last = dict(connection.execute(_LAST, {"of": report.run}).all()) if new else {}
    rows: list[dict[str, object]] = []
    for name in new:
        question, noted = asked[name], opening(asked[name])
        place = {"run": report.run, "question": name, "opened": max(now, last.get(name, 0.0) + _APART)}
        values = {each: getattr(question, each) for each in ("by", "show", "schema", "tag")}
        values |= {"program": report.name, "steps": list(question.steps), "due": noted.due}
        connection.execute(_ASK, {**place, **values})
        rows += [{"who": who, **place} for who in dict.fromkeys(noted.candidates)]
        changes.append(RunChange("question.opened", report.run, report.name, {"question": name, "by": question.by}))
    if rows:
        connection.execute(sa.insert(CANDIDATES), rows)
    return changes


def tags_in(connection: sa.Connection, report: RunReport) -> dict[str, str]:
    """Return the tags of the recorded questions of a run; one that an earlier release recorded has that of the run."""
    asked = {each.id: each for each in report.questions}
    rows = connection.execute(sa.select(QUESTIONS.c.question, QUESTIONS.c.tag).where(QUESTIONS.c.run == report.run))
    return {row.question: row.tag or (asked[row.question].tag if row.question in asked else "") for row in rows}


_APART: Final = 1e-5
"""Seconds between the last answer and the time from which answers to the same question, asked anew, count."""


def _closed(connection: sa.Connection, report: RunReport, name: str, answered: Collection[str]) -> list[RunChange]:
    """Close a question; return its events, with the people who answered it by a service."""
    query = questions_query(run=report.run).where(QUESTIONS.c.question == name)
    row = connection.execute(query).one()
    known = None if UNREADABLE in row else _question_row(row)
    votes = votes_of(connection, report.run, name, row.opened).get(name, [])
    for table in (QUESTIONS, CANDIDATES, CLAIMS):
        connection.execute(sa.delete(table).where(table.c.run == report.run, table.c.question == name))
    closed = RunChange("question.closed", report.run, report.name, {"question": name})
    is_decided = known is not None and approval_of(known.question, ()).tally(votes) is not None
    if not is_decided and (row.by == "operator" or name not in answered):
        return [closed]
    who: list[Json] = [each.who for each in votes]
    return [RunChange("question.answered", report.run, report.name, {"question": name, "who": who}), closed]


def tell_in(connection: sa.Connection, changes: Sequence[RunChange]) -> list[RunChange]:
    """Add changes to the feed; this locks it, so the transaction should end with it."""
    if not changes:
        return []
    write_in_order(connection, FEED)
    at = time()
    rows = [{"at": at, "kind": each.kind, "run": each.run, "program": each.program, "body": each.body} for each in changes]
    numbers = connection.execute(_TELL, rows).scalars().all()
    return [structs.replace(each, at=at, number=number) for each, number in zip(changes, numbers, strict=True)]


def feed_after(connection: sa.Connection, after: int, limit: int) -> list[RunChange]:
    """Return the events after a number."""
    rows = connection.execute(_FEED, {"after": after, "most": limit})
    read = (row for row in rows if isinstance(row.body, dict))  # a damaged one is left out, as elsewhere
    return [RunChange(row.kind, row.run, row.program, row.body, row.at, row.number) for row in read]


def _question_row(row: sa.Row[*tuple[object, ...]]) -> QuestionRow:
    question = Question(row.question, tuple(map(str, row.steps)), row.show, row.schema, row.by)
    return QuestionRow(row.run, row.program, question, row.opened, row.due, row.claimed_by, row.claimed_until, row.given)


_log: Final = logging.getLogger(__name__)


def _run_row(row: sa.Row[*tuple[object, ...]], metadata: Mapping[str, str]) -> RunRow:
    fault = None if row.error_kind is None else RunFault(row.error_kind, row.error_step, row.error_message or "")
    known = (row.starter, metadata, row.digest, row.project)
    return RunRow(row.run, row.program, row.status, row.began, row.ended, *known, fault=fault)


def runs_query(
    chosen: RunFilter | None = None,
    *,
    programs: Iterable[str] | None = None,
    starter: str | None = None,
    before: tuple[float, str] | None = None,
) -> sa.Select[*tuple[object, ...]]:
    """Return the query of a list of runs, latest first, `before` a cursor; it reads no more rows than it returns.

    `programs` are the visible programs, and runs of `starter` are visible too.
    """
    query = sa.select(RUNS).where(RUNS.c.status != DELETED).order_by(RUNS.c.began.desc(), RUNS.c.run.desc())
    if chosen is not None:
        query = query.where(*conditions_of(chosen))
    if programs is not None:
        seen = RUNS.c.program.in_(list(programs))
        query = query.where(seen if starter is None else sa.or_(seen, RUNS.c.starter == starter))
    if before is not None:
        query = query.where(sa.tuple_(RUNS.c.began, RUNS.c.run) < sa.tuple_(sa.literal(before[0]), sa.literal(before[1])))
    return query


def conditions_of(chosen: RunFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Yield the conditions of a filter of runs."""
    if chosen.status is not None:
        yield RUNS.c.status == chosen.status
    if chosen.among:
        yield RUNS.c.status.in_(chosen.among)
    if chosen.program is not None:
        yield RUNS.c.program == chosen.program
    if chosen.project is not None:
        yield sa.func.coalesce(RUNS.c.project, "") == chosen.project
    if chosen.began is not None:
        yield RUNS.c.began >= chosen.began
    if chosen.before is not None:
        yield RUNS.c.began < chosen.before
    if chosen.ended is not None:
        yield sa.and_(RUNS.c.ended < chosen.ended, RUNS.c.status.not_in(OPEN))
    if chosen.error is not None:
        text = sa.func.lower(RUNS.c.error_message).contains(chosen.error.lower(), autoescape=True)
        yield RUNS.c.error_kind.is_not(None)
        yield sa.or_(RUNS.c.error_kind == chosen.error, RUNS.c.error_step == chosen.error, text)
    if chosen.text is not None:
        columns = (RUNS.c.run, RUNS.c.error_kind, RUNS.c.error_step, RUNS.c.error_message)
        yield sa.or_(*(sa.func.lower(column).contains(chosen.text.lower(), autoescape=True) for column in columns))
    if chosen.starter is not None:
        yield sa.func.lower(RUNS.c.starter).contains(chosen.starter.lower(), autoescape=True)
    for key, value in chosen.metadata.items():
        yield RUNS.c.run.in_(sa.select(METADATA.c.run).where(METADATA.c.key == key, METADATA.c.value == value))


UNDUE: Final = 1e10
"""Sort key, in seconds, that places questions without a due time last."""


def questions_query(
    *,
    who: Iterable[str] | None = None,
    seen: Collection[str] = (),
    operated: Collection[str] | None = (),
    run: str | None = None,
    program: str | None = None,
    programs: Iterable[str] | None = None,
    claimed_by: str | None = None,
    due_before: float | None = None,
    after: tuple[float, str, str] | None = None,
    by_due: bool = False,
) -> sa.Select[*tuple[object, ...]]:
    """Return the query of a list of open questions, oldest first, `after` a cursor.

    With `by_due`, questions due first come first, and those without a due time last.

    `who` has the identifiers that candidates may have. Questions of the programs `seen`, those to operators of the programs
    `operated`, or of all for `None`, and delegated ones need no candidate.
    """
    place = sa.and_(CLAIMS.c.run == QUESTIONS.c.run, CLAIMS.c.question == QUESTIONS.c.question, CLAIMS.c.until > time())
    source = QUESTIONS.outerjoin(CLAIMS, place)
    claimed = (CLAIMS.c.who.label("claimed_by"), CLAIMS.c.until.label("claimed_until"), CLAIMS.c.given)
    query = sa.select(*QUESTIONS.c, *claimed).select_from(source)
    first = sa.func.coalesce(QUESTIONS.c.due, QUESTIONS.c.opened + UNDUE) if by_due else QUESTIONS.c.opened
    query = query.order_by(first, QUESTIONS.c.run, QUESTIONS.c.question)
    if who is not None:
        names = sorted(who)
        named = sa.select(CANDIDATES.c.run).where(
            CANDIDATES.c.who.in_(names),
            CANDIDATES.c.run == QUESTIONS.c.run,
            CANDIDATES.c.question == QUESTIONS.c.question,
            CANDIDATES.c.opened == QUESTIONS.c.opened,
        )  # fmt: skip  -- one condition
        delegated = sa.and_(CLAIMS.c.who.in_(names), CLAIMS.c.given)
        held = sa.and_(QUESTIONS.c.by == "operator", sa.true() if operated is None else QUESTIONS.c.program.in_(list(operated)))
        query = query.where(sa.or_(named.exists(), QUESTIONS.c.program.in_(list(seen)), held, delegated))
    for column, value in ((QUESTIONS.c.run, run), (QUESTIONS.c.program, program), (CLAIMS.c.who, claimed_by)):
        query = query if value is None else query.where(column == value)
    if programs is not None:
        query = query.where(QUESTIONS.c.program.in_(list(programs)))
    if due_before is not None:
        query = query.where(QUESTIONS.c.due < due_before)
    if after is not None:
        order = sa.tuple_(first, QUESTIONS.c.run, QUESTIONS.c.question)
        query = query.where(order > sa.tuple_(*map(sa.literal, after)))
    return query


class StandingWriter:
    """Writes the state of a run into the table whenever it changes, along with its journal entries."""

    def __init__(self, table: RunTable, launch: LaunchDocument, opening: OpeningOf, entries: Sequence[JournalEntry]) -> None:
        self._table = table
        self._opening = opening
        self._root, _, self._below = launch["run"].partition("/")
        self._name = launch["name"]
        self._config = RunConfig.from_json(launch["how"])
        self._digest = None if self._below else launch["plan"]["digest"]
        self.entries = 0
        self._used: dict[str, float] = {}
        self._answered: set[str] = set()
        self._written: object = None
        self._gate = threading.Lock()
        self._closed = False
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """Count a recorded entry, the model usage of its results, and its answers."""
        self.entries += 1
        results = entry.get("results", ())
        for name, count in usage_of(result for _, result in results).items():
            self._used[name] = self._used.get(name, 0) + count
        below = f"{self._below}/" if self._below else ""
        self._answered -= {f"{below}{command}" for command in entry.get("again", {}).get("drop", ())}
        if "letters" in entry:
            self._answered |= {f"{below}{command}" for command, result in results if "ok" in result}

    def changes_with(self, questions: Sequence[Question], outcome: Outcome | None) -> bool:
        """Return whether the row differs from the last one written."""
        return self._written != ([each.id for each in questions], outcome)

    def write(self, questions: Sequence[Question], outcome: Outcome | None = None) -> None:
        """Write the row, except for a cancelled run."""
        with self._gate:
            if not self._closed:
                self._write(questions, outcome)
                self._written = [each.id for each in questions], outcome

    def close(self) -> None:
        """Close the questions of a child run that is no longer carried out."""
        with self._gate:
            self._closed = True
            if self._below:
                self._write((), None)

    def _write(self, questions: Sequence[Question], outcome: Outcome | None) -> None:
        if self._below and (whole := self._table.run(self._root)) is not None:
            self._name = whole.program  # an earlier release launched a child by the name of its activity
        ended = outcome is not None and not self._below
        asked = () if outcome is not None else tuple(each.below(self._below) if self._below else each for each in questions)
        status = outcome["status"] if ended and outcome is not None else "running"
        result = outcome if ended else None
        report = RunReport(self._root, self._name, status, result, asked, None, time() if ended else None, self._config)
        mark = JournalMark(self.entries, self._below, self._used, self._digest, self._answered)
        self._table.note(report, partial(self._opening, self._name), mark)
