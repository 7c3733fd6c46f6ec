"""The records of a service beside the runs: an index of runs and questions, claims and votes, keys, and an audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from secrets import token_urlsafe
from shutil import rmtree
from tempfile import mkdtemp
from time import time
from typing import Final, Literal, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from instrc.engines.dbos.store import close_engine, trouble, write_in_order
from instrc.engines.service_tables import (
    AUDIT,
    CANDIDATES,
    CLAIMS,
    CURSORS,
    DELETED,
    FEED,
    KEYS,
    METADATA,
    NONCES,
    QUESTIONS,
    REQUESTS,
    RUNS,
    SESSIONS,
    TABLES,
    VOTES,
    forget,
    service_store,
)
from instrc.runtime.questions import Question
from instrc.runtime.run_report import RunReport
from instrc.server.approvals import Vote, approval_of
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Opening:
    """What is noted with a question when it is opened."""

    candidates: Sequence[str]
    due: float | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is noted of a run by the process that begins it: also in the audit log, where it is said by what `means`."""

    starter: str | None = None
    metadata: Mapping[str, str] | None = None
    means: str | None = None
    digest: str | None = None
    """Of what was sent."""


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
    "question.claimed",
    "question.released",
    "question.voted",
    "question.answered",
    "question.closed",
]


@dataclass(frozen=True, slots=True)
class RunChange:
    """Something that has happened to a run, as the feed tells it."""

    kind: ChangeKind
    run: str
    program: str
    body: JsonObject = field(default_factory=dict)
    """Ids and names, no data: `{"question": ID, "who": NAME}`."""
    at: float = 0.0
    number: int = 0


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the index knows it."""

    run: str
    program: str
    status: str
    began: float
    ended: float | None
    starter: str | None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """An open question as the index knows it."""

    run: str
    program: str
    question: Question
    opened: float
    due: float | None
    claimed_by: str | None = None
    claimed_until: float | None = None


KeyRow: TypeAlias = sa.Row[*tuple[object, ...]]
"""An API key as the store has it."""
Listener: TypeAlias = Callable[[sa.Connection, RunChange], None]
"""Is told of each change, in the transaction in which it is written."""
_SEEN: Final = 60.0
"""Seconds after which it is noted again that a run was looked at."""


class Records:
    """The tables of a service, in the database of the runs, else in a file beside them; `None`: until they are closed."""

    def __init__(self, place: str | None) -> None:
        self._folder = mkdtemp(prefix="instrc-") if place is None else None
        place = place or str(self._folder)  # SQLite in memory has one connection, which threads cannot share
        store = service_store(place)
        with trouble(store):
            self.engine: sa.Engine = store.open()
            TABLES.create_all(self.engine)
        self.listeners: list[Listener] = []

    def close(self) -> None:
        """Give the database free."""
        close_engine(self.engine)
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)

    # --- the index ------------------------------------------------------------------------------------------------------------

    def note(self, report: RunReport, opening: Callable[[Question], Opening], begun: Beginning | None = None) -> list[RunChange]:
        """Take in how a run stands; return what has changed. `opening` says what is noted of a question that is new."""
        begun = begun or Beginning()
        if begun.means is None and not begun.metadata and self._knows(report, begun.starter):
            return []  # most looks bring nothing, and a look is cheaper than a transaction that writes
        try:
            return self._note(report, opening, begun)
        except sa.exc.IntegrityError:  # another process has just noted the same
            return self._note(report, opening, begun)

    def _knows(self, report: RunReport, starter: str | None) -> bool:
        with self.engine.connect() as connection:
            row = connection.execute(sa.select(RUNS).where(RUNS.c.run == report.run)).first()
            if row is None or (row.status, row.ended) != (report.status, report.ended) or (starter and not row.starter):
                return False
            known = set(connection.execute(sa.select(QUESTIONS.c.question).where(QUESTIONS.c.run == report.run)).scalars())
            return known == {each.id for each in report.questions} and row.seen > time() - _SEEN

    def _note(self, report: RunReport, opening: Callable[[Question], Opening], begun: Beginning) -> list[RunChange]:
        starter = begun.starter
        with self.engine.begin() as connection:
            if begun.means is not None:
                connection.execute(_audited(str(starter), begun.means, "start", report.run, None, None, begun.digest))
            before = connection.execute(sa.select(RUNS).where(RUNS.c.run == report.run).with_for_update()).first()
            now = time()
            values = {
                "program": report.name,
                "status": report.status,
                "began": report.began or (now if before is None else before.began),
                "ended": report.ended,
                "seen": now,
            }
            made: list[RunChange] = []
            if before is None:
                connection.execute(sa.insert(RUNS).values(run=report.run, starter=starter, **values))
                made.append(RunChange("run.started", report.run, report.name, {"who": starter} if starter else {}))
            else:
                starter = before.starter or starter
                connection.execute(sa.update(RUNS).where(RUNS.c.run == report.run).values(starter=starter, **values))
            if begun.metadata and not _metadata(connection, [report.run]):
                rows = [{"run": report.run, "key": key, "value": value} for key, value in begun.metadata.items()]
                connection.execute(sa.insert(METADATA), rows)
            made += self._note_questions(connection, report, opening, now)
            if before is None or before.status != report.status:
                made.append(RunChange(cast("ChangeKind", f"run.{report.status}"), report.run, report.name))
            return self._tell(connection, made)

    def _note_questions(
        self, connection: sa.Connection, report: RunReport, opening: Callable[[Question], Opening], now: float
    ) -> list[RunChange]:
        known = set(connection.execute(sa.select(QUESTIONS.c.question).where(QUESTIONS.c.run == report.run)).scalars())
        asked = {each.id: each for each in report.questions}
        made: list[RunChange] = []
        for name in sorted(known - asked.keys()):
            made += self._closed(connection, report, name)
        for name in sorted(asked.keys() - known):
            question, found = asked[name], opening(asked[name])
            connection.execute(
                sa.insert(QUESTIONS).values(
                    run=report.run,
                    question=name,
                    program=report.name,
                    by=question.by,
                    steps=list(question.steps),
                    show=question.show,
                    schema=question.schema,
                    opened=now,
                    due=found.due,
                )
            )
            rows = [{"who": who, "opened": now, "run": report.run, "question": name} for who in dict.fromkeys(found.candidates)]
            if rows:
                connection.execute(sa.insert(CANDIDATES), rows)
            made.append(RunChange("question.opened", report.run, report.name, {"question": name, "by": question.by}))
        return made

    @staticmethod
    def _closed(connection: sa.Connection, report: RunReport, name: str) -> list[RunChange]:
        """Close a question; return that, and who has answered it, whichever process has given the run the answer."""
        query = questions_query(run=report.run).where(QUESTIONS.c.question == name)
        row = _question_row(connection.execute(query).one())
        votes = _votes(connection, report.run, name, row.opened).get(name, [])
        for table in (QUESTIONS, CANDIDATES, CLAIMS):
            connection.execute(sa.delete(table).where(table.c.run == report.run, table.c.question == name))
        closed = RunChange("question.closed", report.run, report.name, {"question": name})
        if approval_of(row.question, None).tally(votes) is None:
            return [closed]
        who: list[Json] = [each.who for each in votes]
        return [RunChange("question.answered", report.run, report.name, {"question": name, "who": who}), closed]

    def _tell(self, connection: sa.Connection, changes: Iterable[RunChange]) -> list[RunChange]:
        """Write changes into the feed, and tell whoever listens."""
        made: list[RunChange] = []
        for change in changes:
            if not made:
                write_in_order(connection, FEED)
            at = time()
            row = connection.execute(
                sa.insert(FEED)
                .values(at=at, kind=change.kind, run=change.run, program=change.program, body=change.body)
                .returning(FEED.c.number)
            ).scalar_one()
            made.append(RunChange(change.kind, change.run, change.program, change.body, at, row))
            for listener in self.listeners:
                listener(connection, made[-1])
        return made

    def tell(self, change: RunChange) -> list[RunChange]:
        """Write a change into the feed."""
        with self.engine.begin() as connection:
            return self._tell(connection, [change])

    def forget(self, run: str) -> None:
        """Delete what is kept of a run, if its engine has not; that there was one stays known, and so does the audit log."""
        with self.engine.begin() as connection:
            forget(connection, run)

    def run(self, run: str) -> RunRow | None:
        """Return what the index knows of a run."""
        with self.engine.connect() as connection:
            row = connection.execute(sa.select(RUNS).where(RUNS.c.run == run)).first()
            return None if row is None else _run_row(row, _metadata(connection, [run]).get(run, {}))

    def runs(self, query: sa.Select[*tuple[object, ...]], limit: int = 50) -> list[RunRow]:
        """Return the runs of a `runs_query`."""
        with self.engine.connect() as connection:
            rows = connection.execute(query.limit(limit)).all()
            known = _metadata(connection, [row.run for row in rows])
            return [_run_row(row, known.get(row.run, {})) for row in rows]

    def open_runs(self, limit: int) -> list[str]:
        """Return runs that have not ended, those first that were looked at longest ago."""
        query = sa.select(RUNS.c.run).where(RUNS.c.status.in_(("running", "waiting", "held"))).order_by(RUNS.c.seen).limit(limit)
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())

    # --- questions ------------------------------------------------------------------------------------------------------------

    def questions(self, query: sa.Select[*tuple[object, ...]], limit: int | None = 50) -> list[QuestionRow]:
        """Return the open questions of a `questions_query`."""
        with self.engine.connect() as connection:
            return [_question_row(row) for row in connection.execute(query.limit(limit))]

    def question(self, run: str, question: str) -> QuestionRow | None:
        """Return an open question."""
        return next(iter(self.questions(questions_query(run=run).where(QUESTIONS.c.question == question))), None)

    def due(self, after: float, until: float) -> list[QuestionRow]:
        """Return the open questions that are due after a moment, until another."""
        return self.questions(questions_query(due_before=until).where(QUESTIONS.c.due >= after), None)

    def candidates(self, run: str, question: str) -> frozenset[str]:
        """Return who may answer a question."""
        query = sa.select(CANDIDATES.c.who).where(CANDIDATES.c.run == run, CANDIDATES.c.question == question)
        with self.engine.connect() as connection:
            return frozenset(connection.execute(query).scalars())

    def claim(self, row: QuestionRow, who: str, until: float | None, means: str) -> str | None:
        """Let a person have a question until a moment, or give it free; return who has it instead, if another does."""
        run, name = row.run, row.question.id
        place = (CLAIMS.c.run == run, CLAIMS.c.question == name)
        with self.engine.begin() as connection:
            held = connection.execute(sa.select(CLAIMS).where(*place).with_for_update()).first()
            if held is not None and held.who != who and held.until > time() and means != "admin":
                return str(held.who)
            connection.execute(sa.delete(CLAIMS).where(*place))
            if until is not None:
                connection.execute(sa.insert(CLAIMS).values(run=run, question=name, who=who, until=until))
            kind: ChangeKind = "question.released" if until is None else "question.claimed"
            self._tell(connection, [RunChange(kind, run, row.program, {"question": name, "who": who})])
        return None

    def vote(self, run: str, question: str, vote: Vote, opened: float, nonce: str | None = None) -> Vote | None:
        """Note what a person answers, also in the audit log; return what the same person has answered before, which stays.

        What was answered before the question was opened, when it was asked for the first time, goes.
        The `nonce` of a link is noted with it, in one transaction: an `IntegrityError` if the link was used.
        """
        with self.engine.begin() as connection:
            if nonce is not None:
                connection.execute(sa.insert(NONCES).values(nonce=nonce, at=time()))
            place = (VOTES.c.run == run, VOTES.c.question == question, VOTES.c.who == vote.who)
            row = {"run": run, "question": question, **asdict(vote)}
            insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
            if connection.execute(insert(VOTES).values(row).on_conflict_do_nothing()).rowcount == 0:
                # this has waited for whoever answered at the same moment; what it does now sees that answer
                replaced = connection.execute(sa.update(VOTES).where(*place, VOTES.c.at < opened).values(row))
                if replaced.rowcount == 0:
                    return _vote(connection.execute(sa.select(VOTES).where(*place)).one())
            connection.execute(_audited(vote.who, vote.means, "answer", run, question, vote.data))
        return None

    def unvote(self, run: str, question: str, who: str, nonce: str | None = None) -> None:
        """Take back an answer that the run has refused."""
        with self.engine.begin() as connection:
            connection.execute(sa.delete(NONCES).where(NONCES.c.nonce == nonce))
            connection.execute(sa.delete(VOTES).where(VOTES.c.run == run, VOTES.c.question == question, VOTES.c.who == who))

    def votes(self, run: str, question: str | None = None, since: float = 0.0) -> dict[str, list[Vote]]:
        """Return what people have answered, by question, in the order in which they did."""
        with self.engine.connect() as connection:
            return _votes(connection, run, question, since)

    # --- idempotency, the feed, the audit log -----------------------------------------------------------------------------------

    def reserve(self, key: str, digest: str, run: str) -> tuple[str, str]:
        """Note that a key begins a run; return the digest and the run that the key has, maybe since earlier."""
        with suppress(sa.exc.IntegrityError), self.engine.begin() as connection:  # the same may be sent twice at once
            connection.execute(sa.insert(REQUESTS).values(key=key, digest=digest, run=run, at=time()))
            return digest, run
        with self.engine.connect() as connection:
            found = connection.execute(sa.select(REQUESTS).where(REQUESTS.c.key == key)).one()
            return found.digest, found.run

    def feed(self, after: int, limit: int = 200) -> list[RunChange]:
        """Return what has happened since a number."""
        query = sa.select(FEED).where(FEED.c.number > after).order_by(FEED.c.number).limit(limit)
        with self.engine.connect() as connection:
            rows = connection.execute(query).all()
        return [RunChange(row.kind, row.run, row.program, row.body, row.at, row.number) for row in rows]

    def feed_bounds(self) -> tuple[int, int]:
        """Return the first and the last number of the feed; 0 where it is empty."""
        with self.engine.connect() as connection:
            first, last = connection.execute(sa.select(sa.func.min(FEED.c.number), sa.func.max(FEED.c.number))).one()
        return first or 0, last or 0

    def audit(self, who: str, means: str, action: str, run: str | None, question: str | None = None, sent: Json = None) -> None:
        """Note who did what; of what was sent only a digest is kept."""
        with self.engine.begin() as connection:
            connection.execute(_audited(who, means, action, run, question, sent))

    def audited(self, run: str | None = None, limit: int = 200) -> list[JsonObject]:
        """Return the latest entries of the audit log, of one run or of all."""
        query = sa.select(AUDIT).order_by(AUDIT.c.number.desc()).limit(limit)
        query = query if run is None else query.where(AUDIT.c.run == run)
        with self.engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001  -- its public name for a mapping

    # --- keys and secrets -------------------------------------------------------------------------------------------------------

    def add_key(
        self, ident: str, digest: str, name: str, roles: Sequence[str], groups: Sequence[str], expires: float | None
    ) -> None:
        """Keep the digest of an API key, with what it is for."""
        said = {"roles": [*roles], "groups": [*groups], "made": time(), "expires": expires}
        with self.engine.begin() as connection:
            connection.execute(sa.insert(KEYS).values(id=ident, hash=digest, name=name, **said))

    def keys_of(self, name: str) -> list[KeyRow]:
        """Return the API keys of a name."""
        with self.engine.connect() as connection:
            return list(connection.execute(sa.select(KEYS).where(KEYS.c.name == name)))

    def key(self, ident: str) -> KeyRow | None:
        """Return an API key, and note once a minute that it is used."""
        with self.engine.begin() as connection:
            row = connection.execute(sa.select(KEYS).where(KEYS.c.id == ident)).first()
            if row is not None and (row.used or 0) < time() - 60:
                connection.execute(sa.update(KEYS).where(KEYS.c.id == ident).values(used=time()))
            return row

    def add_session(self, digest: str, name: str, groups: Sequence[str], key: str | None, expires: float) -> None:
        """Keep the digest of a session of pages; those that have ended go."""
        said = {"hash": digest, "name": name, "groups": [*groups], "key": key, "expires": expires}
        with self.engine.begin() as connection:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.expires < time()))
            connection.execute(sa.insert(SESSIONS).values(said))

    def session(self, digest: str) -> KeyRow | None:
        """Return a session that has not ended."""
        with self.engine.connect() as connection:
            found = sa.select(SESSIONS).where(SESSIONS.c.hash == digest, SESSIONS.c.expires >= time())
            return connection.execute(found).first()

    def end_session(self, digest: str) -> None:
        """Forget a session."""
        with self.engine.begin() as connection:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.hash == digest))

    def has_keys(self) -> bool:
        """Return whether there is any API key."""
        with self.engine.connect() as connection:
            return connection.execute(sa.select(KEYS.c.id).limit(1)).first() is not None

    def key_names(self) -> list[str]:
        """Return the names that have API keys."""
        with self.engine.connect() as connection:
            return list(connection.execute(sa.select(KEYS.c.name).distinct().order_by(KEYS.c.name)).scalars())

    def revoke(self, name: str) -> int:
        """Delete the API keys of a name, and return how many there were."""
        with self.engine.begin() as connection:
            return connection.execute(sa.delete(KEYS).where(KEYS.c.name == name)).rowcount

    def secret(self) -> str:
        """Return the secret that signs sessions and links: one for all processes of the store, made when it is first needed."""
        found = self.cursor("secret")
        if found is None:
            with suppress(sa.exc.IntegrityError), self.engine.begin() as connection:  # another process may make one now
                connection.execute(sa.insert(CURSORS).values(name="secret", value=token_urlsafe(48)))
            found = self.cursor("secret")
        assert found is not None
        return found

    def count(self) -> dict[str, int]:
        """Return how many runs there are, by status."""
        query = sa.select(RUNS.c.status, sa.func.count()).group_by(RUNS.c.status)
        with self.engine.connect() as connection:
            return {status: number for status, number in connection.execute(query).all() if status != DELETED}

    def cursor(self, name: str) -> str | None:
        """Return a place up to which something was read."""
        with self.engine.connect() as connection:
            return connection.execute(sa.select(CURSORS.c.value).where(CURSORS.c.name == name)).scalar()

    def move_cursor(self, name: str, value: str) -> None:
        """Note a place up to which something was read."""
        with self.engine.begin() as connection:
            connection.execute(sa.delete(CURSORS).where(CURSORS.c.name == name))
            connection.execute(sa.insert(CURSORS).values(name=name, value=value))


def _audited(
    who: str, means: str, action: str, run: str | None, question: str | None, sent: Json, digest: str | None = None
) -> sa.Insert:
    digest = digest if sent is None else digest_of(sent)
    return sa.insert(AUDIT).values(at=time(), who=who, means=means, action=action, run=run, question=question, digest=digest)


def _metadata(connection: sa.Connection, runs: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    if runs:
        for row in connection.execute(sa.select(METADATA).where(METADATA.c.run.in_(runs))):
            found.setdefault(row.run, {})[row.key] = row.value
    return found


def _question_row(row: sa.Row[*tuple[object, ...]]) -> QuestionRow:
    question = Question(row.question, tuple(row.steps), row.show, row.schema, row.by)
    return QuestionRow(row.run, row.program, question, row.opened, row.due, row.claimed_by, row.claimed_until)


def _votes(connection: sa.Connection, run: str, question: str | None, since: float) -> dict[str, list[Vote]]:
    query = sa.select(VOTES).where(VOTES.c.run == run, VOTES.c.at >= since).order_by(VOTES.c.at)
    found: dict[str, list[Vote]] = {}
    for row in connection.execute(query if question is None else query.where(VOTES.c.question == question)):
        found.setdefault(row.question, []).append(_vote(row))
    return found


def _vote(row: sa.Row[*tuple[object, ...]]) -> Vote:
    return Vote(row.who, row.means, row.at, row.data, row.comment)


def _run_row(row: sa.Row[*tuple[object, ...]], metadata: Mapping[str, str]) -> RunRow:
    return RunRow(row.run, row.program, row.status, row.began, row.ended, row.starter, metadata)


def runs_query(
    *,
    status: str | None = None,
    program: str | None = None,
    programs: Iterable[str] | None = None,
    starter: str | None = None,
    began: float | None = None,
    metadata: Mapping[str, str] | None = None,
    before: tuple[float, str] | None = None,
) -> sa.Select[*tuple[object, ...]]:
    """Return the query of a list of runs, the latest first, `before` a place in that order: it reads no more rows than it shows.

    `programs` are those that may be seen, and `starter` is whose runs may be seen besides.
    """
    query = sa.select(RUNS).order_by(RUNS.c.began.desc(), RUNS.c.run.desc())
    query = query.where(RUNS.c.status != DELETED) if status is None else query.where(RUNS.c.status == status)
    if program is not None:
        query = query.where(RUNS.c.program == program)
    if programs is not None:
        seen = RUNS.c.program.in_(list(programs))
        query = query.where(seen if starter is None else sa.or_(seen, RUNS.c.starter == starter))
    if began is not None:
        query = query.where(RUNS.c.began >= began)
    for key, value in (metadata or {}).items():
        has = sa.select(METADATA.c.run).where(METADATA.c.key == key, METADATA.c.value == value)
        query = query.where(RUNS.c.run.in_(has))
    if before is not None:
        query = query.where(sa.tuple_(RUNS.c.began, RUNS.c.run) < sa.tuple_(sa.literal(before[0]), sa.literal(before[1])))
    return query


def questions_query(
    *,
    who: Iterable[str] | None = None,
    run: str | None = None,
    program: str | None = None,
    programs: Iterable[str] | None = None,
    claimed_by: str | None = None,
    due_before: float | None = None,
    after: tuple[float, str, str] | None = None,
) -> sa.Select[*tuple[object, ...]]:
    """Return the query of a list of open questions, the oldest first, `after` a place in that order.

    `who` are the words that candidates have.
    """
    place = sa.and_(CLAIMS.c.run == QUESTIONS.c.run, CLAIMS.c.question == QUESTIONS.c.question, CLAIMS.c.until > time())
    source = QUESTIONS.outerjoin(CLAIMS, place)
    query = sa.select(QUESTIONS, CLAIMS.c.who.label("claimed_by"), CLAIMS.c.until.label("claimed_until")).select_from(source)
    query = query.order_by(QUESTIONS.c.opened, QUESTIONS.c.run, QUESTIONS.c.question)
    if who is not None:
        named = sa.select(CANDIDATES.c.run).where(
            CANDIDATES.c.who.in_(sorted(who)),
            CANDIDATES.c.run == QUESTIONS.c.run,
            CANDIDATES.c.question == QUESTIONS.c.question,
            CANDIDATES.c.opened == QUESTIONS.c.opened,
        )  # fmt: skip  -- one condition
        query = query.where(named.exists())
    for column, value in ((QUESTIONS.c.run, run), (QUESTIONS.c.program, program), (CLAIMS.c.who, claimed_by)):
        query = query if value is None else query.where(column == value)
    if programs is not None:
        query = query.where(QUESTIONS.c.program.in_(list(programs)))
    if due_before is not None:
        query = query.where(QUESTIONS.c.due < due_before)
    if after is not None:
        order = sa.tuple_(QUESTIONS.c.opened, QUESTIONS.c.run, QUESTIONS.c.question)
        query = query.where(order > sa.tuple_(*map(sa.literal, after)))
    return query
