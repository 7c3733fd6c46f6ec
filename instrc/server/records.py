"""Records of a service next to the run table: claims and votes, keys, and an audit log."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from secrets import token_urlsafe
from shutil import rmtree
from tempfile import mkdtemp
from time import time
from typing import Any, Final, TypeAlias

import sqlalchemy as sa
from msgspec import Struct, structs
from sqlalchemy.dialects import postgresql, sqlite

from instrc.engines.approvals import ERASED, Vote, normal_name
from instrc.engines.dbos.store import FORBIDDEN, close_engine, reason_of, trouble
from instrc.engines.run_table import (
    ChangeKind,
    QuestionRow,
    RunChange,
    RunTable,
    audit_row,
    move_cursor,
    questions_query,
    tags_in,
    tell_in,
)
from instrc.engines.service_tables import (
    AUDIT,
    CANDIDATES,
    CLAIMS,
    CURSORS,
    DELETED,
    KEYS,
    NONCES,
    QUESTIONS,
    RATES,
    REQUESTS,
    RUNS,
    SESSIONS,
    VOTES,
    service_store,
    vote_in,
    votes_of,
)
from instrc.engines.stores import SECRETS
from instrc.problems.errors import GoneError, RequestError, StaleError, UnavailableError, unusable
from instrc.problems.runs import NoSuchRun, UnusableStore
from instrc.problems.serving import InvalidRequest, QuestionNotFree
from instrc.runtime.run_report import RunReport
from instrc.server.bounds import LISTED, PAGE_SESSIONS

VoteCheck: TypeAlias = "Callable[[Sequence[Vote]], object]"
"""Raises for an answer that is refused beside earlier ones."""
KeyRow: TypeAlias = sa.Row[*tuple[object, ...]]
"""An API key as stored."""
_VALID: Final = sa.select(KEYS).where(sa.func.coalesce(KEYS.c.expires, sa.bindparam("now")) >= sa.bindparam("now"))
_KEY: Final = _VALID.where(KEYS.c.name == sa.select(KEYS.c.name).where(KEYS.c.id == sa.bindparam("of")).scalar_subquery())
_FIRST: Final = postgresql.insert(RATES)
_COUNT: Final = _FIRST.on_conflict_do_update(index_elements=["name", "minute"], set_={"count": RATES.c.count + 1}).returning(
    RATES.c.count
)
"""Statements of every request, built once."""
_SEEN: Final = 60.0
"""Seconds after which a view of a run is recorded again."""


class QuestionPeople(Struct, frozen=True):
    """Who started the run of a question, who may answer it, and who has."""

    starters: tuple[str | None, ...]
    """Who started it, and the runs it was forked from, in this order."""
    candidates: tuple[str, ...]
    votes: tuple[Vote, ...]
    project: str | None
    """Project of the run."""


class Records(RunTable):
    """The tables of a service, in the database of the runs, or else in a file next to them; `None` until opened."""

    def __init__(self, place: str | None) -> None:
        self._folder = mkdtemp(prefix="instrc-") if place is None else None
        place = place or str(self._folder)  # SQLite in memory has one connection, which threads cannot share
        store = service_store(place)
        with trouble(store):
            super().__init__(store.open())
        sa.event.listen(self.engine, "handle_error", _refuse_statement)

    def close(self) -> None:
        """Release the database."""
        close_engine(self.engine)
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)

    def open_runs(self, limit: int) -> list[str]:
        """Return active runs, least recently checked first."""
        query = sa.select(RUNS.c.run).where(RUNS.c.status.in_(("running", "waiting", "held"))).order_by(RUNS.c.seen).limit(limit)
        return [row.run for row in self.select(query)]

    def is_noted(self, report: RunReport) -> bool:
        """Return whether the state of a run is the recorded one, written a short time ago."""
        [row] = self.select(sa.select(RUNS).where(RUNS.c.run == report.run)) or [None]
        if row is None or row.seen <= time() - _SEEN or row.ended != report.ended:
            return False
        with self.single.connect() as connection:
            known = {name: tag for name, tag in tags_in(connection, report).items() if not name.startswith(report.unknown)}
        is_same = known == {each.id: each.tag for each in report.questions}
        return is_same and (row.status == report.status or bool(report.unknown))

    def voted(self, since: float, until: float) -> list[tuple[str, str]]:
        """Return the runs and ids of the open questions answered by a person between two times."""
        place = sa.and_(VOTES.c.run == QUESTIONS.c.run, VOTES.c.question == QUESTIONS.c.question)
        query = sa.select(QUESTIONS.c.run, QUESTIONS.c.question).join(VOTES, place).where(VOTES.c.at.between(since, until))
        return [(row.run, row.question) for row in self.select(query.distinct())]

    def people_of(self, rows: Sequence[QuestionRow]) -> list[QuestionPeople]:
        """Return the people of questions, with three queries in total, and one for each generation of forks."""
        runs = sorted({row.run for row in rows})
        candidates: dict[tuple[str, str], list[str]] = {}
        votes: dict[tuple[str, str], list[Vote]] = {}
        known: dict[str, KeyRow] = {}
        waiting = {*runs}
        while waiting:
            query = sa.select(RUNS.c.run, RUNS.c.starter, RUNS.c.origin, RUNS.c.project).where(RUNS.c.run.in_(waiting))
            known |= (read := {row.run: row for row in self.select(query)})
            waiting = {row.origin for row in read.values() if row.origin is not None} - known.keys()
        asked = {row.question.id for row in rows}  # no others of the same run: it may ask thousands
        listed = sa.select(CANDIDATES).where(CANDIDATES.c.run.in_(runs), CANDIDATES.c.question.in_(asked))
        for row in self.select(listed.order_by(CANDIDATES.c.who)):
            candidates.setdefault((row.run, row.question), []).append(row.who)
        answered = sa.select(VOTES).where(VOTES.c.run.in_(runs), VOTES.c.question.in_(asked))
        for row in self.select(answered.order_by(VOTES.c.at)):
            votes.setdefault((row.run, row.question), []).append(vote_in(row))
        return [
            QuestionPeople(
                _starters(row.run, dict(known)),
                tuple(candidates.get((row.run, row.question.id), ())),
                tuple(each for each in votes.get((row.run, row.question.id), ()) if each.at >= row.opened),
                known[row.run].project if row.run in known else None,
            )
            for row in rows
        ]

    def question(self, run: str, question: str, tag: str | None = None) -> QuestionRow | None:
        """Return an open question; with a `tag`, one that shows this, and not what it showed before a retry."""
        rows = self.questions(questions_query(run=run).where(QUESTIONS.c.question == question))
        return next((row for row in rows if tag in {None, row.question.tag}), None)

    def showing(self, text: str, who: Iterable[str]) -> list[QuestionRow]:
        """Return open questions to one of several candidates that show a text."""
        shows = sa.type_coerce(QUESTIONS.c.show, sa.Text).contains(text, autoescape=True)
        return self.questions(questions_query(who=who).where(shows))

    def concerning(
        self, who: str, names: Iterable[str], started: Collection[str], asked: Collection[str]
    ) -> set[tuple[str, str]]:
        """Return those of the runs `started` that a person did start, and open questions of the runs `asked` to candidates."""
        own = sa.select(RUNS.c.run).where(RUNS.c.run.in_(started), RUNS.c.starter == who)
        place = (
            questions_query(who=names).where(QUESTIONS.c.run.in_(asked)).with_only_columns(QUESTIONS.c.run, QUESTIONS.c.question)
        )
        return {(row.run, "") for row in self.select(own)} | {(row.run, row.question) for row in self.select(place)}

    def fitting(self, query: sa.Select[*tuple[object, ...]], limit: int) -> int:
        """Return how many rows of a `questions_query` fit on a page: at least one, at most the limit."""
        show, schema = (sa.func.length(sa.type_coerce(column, sa.Text)) for column in (QUESTIONS.c.show, QUESTIONS.c.schema))
        length = (show + schema).label("length")
        lengths = accumulate(row.length or 0 for row in self.select(query.with_only_columns(length), limit))
        return max(1, len([each for each in lengths if each <= LISTED]))

    def tell_due(self, kind: ChangeKind, cursor: str, until: float) -> int:
        """Report the open questions due between a cursor and a moment, once for all services; return how many."""
        place = CURSORS.c.name == cursor
        with self.writing() as connection:
            told = float(connection.execute(sa.select(CURSORS.c.value).where(place).with_for_update()).scalar() or time())
            due = self.questions(questions_query(due_before=until).where(QUESTIONS.c.due >= told), None)
            written = tell_in(connection, [RunChange(kind, row.run, row.program, {"question": row.question.id}) for row in due])
            move_cursor(connection, cursor, str(max(told, until)))
        self.publish(written)
        return len(written)

    @contextmanager
    def writing_of(self, run: str) -> Iterator[sa.Connection]:
        """Begin a transaction that adds data to a run; raise if it was deleted, since nothing would delete the data later."""
        with self.writing() as connection:
            status = sa.select(RUNS.c.status).where(RUNS.c.run == run).with_for_update(read=True)
            if connection.execute(status).scalar() == DELETED:
                raise GoneError([NoSuchRun(run=run, store="")])
            yield connection

    def claim(self, row: QuestionRow, who: str, until: float | None, means: str, *audited: Mapping[str, object]) -> bool:
        """Claim a question for a person until a time, or release it; return `False` if it is no longer held as in the row.

        The rights of who asks were read from the row. Rows of the audit log are written with the change.
        """
        run, name, holder = row.run, row.question.id, row.claimed_by
        # a holder who claims again keeps a delegated question as a delegated one
        held = {"who": who, "until": until, "given": means == "admin" or (holder == who and bool(row.given))}
        as_seen = sa.and_(CLAIMS.c.who == holder, CLAIMS.c.given.is_not_distinct_from(row.given))
        place = (CLAIMS.c.run == run, CLAIMS.c.question == name, as_seen)
        changed: Any = sa.update(CLAIMS).where(*place).values(held) if until else sa.delete(CLAIMS).where(*place)  # or an insert
        if until is not None and holder is None:
            insert = sqlite.insert if self.engine.dialect.name == "sqlite" else postgresql.insert
            free = sa.or_(CLAIMS.c.until <= time(), sa.and_(CLAIMS.c.who == who, CLAIMS.c.given.is_not(sa.true())))
            changed = insert(CLAIMS).values(run=run, question=name, **held)
            changed = changed.on_conflict_do_update(index_elements=["run", "question"], set_=held, where=free)
        with self.writing_of(run) as connection:  # one statement decides: several may claim at the same time
            if connection.execute(changed.returning(CLAIMS.c.who)).first() is None and (until, holder) != (None, None):
                return False
            for noted in audited:
                connection.execute(sa.insert(AUDIT).values(noted))
            kind: ChangeKind = "question.released" if until is None else "question.claimed"
            written = tell_in(connection, [RunChange(kind, run, row.program, {"question": name, "who": who})])
        self.publish(written)
        return True

    def vote(
        self, run: str, question: str, vote: Vote, opened: float, nonce: str | None, check: VoteCheck = lambda _: None
    ) -> Vote | None:
        """Record the answer of a person, also in the audit log; return their earlier answer, if any, which is kept.

        Answers from before the question was last opened are dropped; one to what was shown before that is refused.
        The `nonce` of a link is recorded in the same transaction: an `IntegrityError` if the link was already used.
        `check` raises if the answer is refused beside the earlier ones, which do not change until it is recorded.
        """
        with self.writing_of(run) as connection:
            asked = sa.select(QUESTIONS.c.opened).where(QUESTIONS.c.run == run, QUESTIONS.c.question == question)
            last = connection.execute(asked.with_for_update()).scalar()  # one answer after another, whichever server takes it
            if last not in {None, opened}:
                raise StaleError([QuestionNotFree(question=question, state="shown anew")])
            if nonce is not None:
                connection.execute(sa.insert(NONCES).values(nonce=nonce, at=time()))
            votes = votes_of(connection, run, question, opened).get(question, [])
            if (own := next((each for each in votes if each.who == vote.who), None)) is not None:
                return own
            check(votes)
            connection.execute(sa.delete(VOTES).where(VOTES.c.run == run, VOTES.c.question == question, VOTES.c.who == vote.who))
            connection.execute(sa.insert(VOTES).values(run=run, question=question, **structs.asdict(vote)))
            connection.execute(sa.insert(AUDIT), [audit_row(vote.who, vote.means, "answer", run, question, vote.data)])
        return None

    def is_used(self, nonce: str) -> bool:
        """Return whether a link has been used."""
        return bool(self.select(sa.select(NONCES).where(NONCES.c.nonce == nonce), 1))

    def unvote(self, run: str, question: str, who: str, means: str, nonce: str | None = None) -> None:
        """Remove an answer that the run has refused; the audit log has both."""
        vote = sa.delete(VOTES).where(VOTES.c.run == run, VOTES.c.question == question, VOTES.c.who == who)
        noted = audit_row(who, means, "take back", run, question, None)
        self.execute(sa.delete(NONCES).where(NONCES.c.nonce == nonce), vote, sa.insert(AUDIT).values(noted))

    def votes(self, run: str, question: str | None = None, since: float = 0.0, most: int | None = None) -> dict[str, list[Vote]]:
        """Return the answers of people by question, in order of arrival, or the first `most`."""
        with self.engine.connect() as connection:
            return votes_of(connection, run, question, since, most)

    def has_answered(self, run: str, who: str) -> bool:
        """Return whether a person has answered a question of a run."""
        return bool(self.select(sa.select(VOTES.c.run).where(VOTES.c.run == run, VOTES.c.who == who), 1))

    def inherited_votes(self, run: str) -> dict[str, list[Vote]]:
        """Return the answers by question in a run and those that it was forked from; under "", none if one of these is gone.

        A question of what is or may be another version of the program, with other numbers of steps, begins with `/`.
        """
        found: dict[str, list[Vote]] = {}
        left, seen, versions = [run], set[str](), set[str | None]()
        while left and left[0] not in seen:
            seen.add(place := left.pop())
            rows = self.select(sa.select(RUNS.c.status, RUNS.c.origin, RUNS.c.digest).where(RUNS.c.run == place))
            if not rows or rows[0].status == DELETED:
                found[""] = []
            left = [row.origin for row in rows if row.origin is not None]
            versions |= {row.digest for row in rows}
            is_same = place == run or (len(versions) == 1 and None not in versions)
            for question, votes in self.votes(place).items():
                found.setdefault(question if is_same else f"/{question}", []).extend(votes)
        return found

    def answered_by(self, who: str, limit: int) -> list[tuple[str, str, str, Vote]]:
        """Return the answers of a person, latest first: the run, its program, the question, and the answer."""
        query = sa.select(VOTES, RUNS.c.program).join_from(VOTES, RUNS, VOTES.c.run == RUNS.c.run).where(VOTES.c.who == who)
        rows = self.select(query.order_by(VOTES.c.at.desc()).limit(limit))
        return [(row.run, row.program, row.question, vote_in(row)) for row in rows]

    def reserve(self, key: str, digest: str, run: str) -> tuple[str, str]:
        """Record that a key starts a run; return the digest and run of the key, possibly existing ones."""
        with suppress(sa.exc.IntegrityError), self.engine.begin() as connection:  # the same may be sent twice at once
            connection.execute(sa.insert(REQUESTS).values(key=key, digest=digest, run=run, at=time()))
            return digest, run
        [found] = self.select(sa.select(REQUESTS).where(REQUESTS.c.key == key))
        return found.digest, found.run

    def count_action(self, name: str, minute: int) -> int:
        """Count a caller's action in a minute; return the number in all services of the store."""
        with self.single.connect() as connection:
            count = int(connection.execute(_COUNT, {"name": name, "minute": minute, "count": 1}).scalar_one())
            if count == 1:
                connection.execute(sa.delete(RATES).where(RATES.c.name == name, RATES.c.minute < minute))
            return count

    def release(self, run: str, who: str, means: str) -> None:
        """End the claims on the questions of a run."""
        for row in self.questions(questions_query(run=run), None):
            if row.claimed_by is not None:
                self.claim(row, who, None, "admin", audit_row(who, means, "release", run, row.question.id, None))

    def add_key(
        self, ident: str, digest: str, name: str, roles: Sequence[str], groups: Sequence[str], expires: float | None
    ) -> None:
        """Store the digest of an API key, with its purpose."""
        said = {"roles": [*roles], "groups": [*groups], "made": time(), "expires": expires}
        self.execute(sa.insert(KEYS).values(id=ident, hash=digest, name=name, **said))

    def keys_of(self, name: str) -> list[KeyRow]:
        """Return the valid API keys of a person."""
        return [*self.select(_VALID.where(KEYS.c.name.in_(self._spellings(name))), now=time())]

    def key(self, ident: str) -> Sequence[KeyRow]:
        """Return an API key that has not expired, and the others of its owner, recording its use at most once a minute."""
        with self.single.connect() as connection:
            rows = sorted(connection.execute(_KEY, {"of": ident, "now": time()}), key=lambda row: row.id != ident)
            is_valid = bool(rows) and rows[0].id == ident
            if is_valid and (rows[0].used or 0) < time() - 60:
                connection.execute(sa.update(KEYS).where(KEYS.c.id == ident).values(used=time()))
            return rows if is_valid else ()

    def add_session(self, digest: str, name: str, groups: Sequence[str], key: str | None, expires: float) -> None:
        """Store the digest of a page session; expired ones, and those of the same caller beyond the limit, are deleted."""
        said = {"hash": digest, "name": name, "groups": [*groups], "key": key, "expires": expires}
        theirs = sa.select(SESSIONS.c.hash).where(SESSIONS.c.name == name).order_by(SESSIONS.c.expires.desc())
        ended = sa.or_(SESSIONS.c.expires < time(), SESSIONS.c.hash.in_(theirs.offset(PAGE_SESSIONS - 1)))
        self.execute(sa.delete(SESSIONS).where(ended), sa.insert(SESSIONS).values(said))

    def session(self, digest: str) -> KeyRow | None:
        """Return an active session."""
        return next(iter(self.select(sa.select(SESSIONS).where(SESSIONS.c.hash == digest, SESSIONS.c.expires >= time()))), None)

    def end_session(self, digest: str) -> None:
        """Delete a session."""
        self.execute(sa.delete(SESSIONS).where(SESSIONS.c.hash == digest))

    def key_names(self) -> list[str]:
        """Return the names that have API keys."""
        return [row.name for row in self.select(sa.select(KEYS.c.name).distinct().order_by(KEYS.c.name))]

    def revoke(self, name: str) -> int:
        """Delete the keys and claims of a person, and return how many keys there were; the store requires keys from now on."""
        if spellings := self._spellings(name):
            self.move_cursor(KEYS.name, "required")
        return self.execute(
            sa.delete(CLAIMS).where(CLAIMS.c.who.in_({*spellings, *map(normal_name, spellings)})),
            sa.delete(KEYS).where(KEYS.c.name.in_(spellings)),
        )

    def _spellings(self, name: str) -> list[str]:
        """Return the names that have API keys, and are one person's: an earlier release stored them as they were written."""
        return [each for each in self.key_names() if normal_name(each) == normal_name(name)]

    def name_subjects(self, issuer: str | None) -> None:
        """Rename people whom an earlier release recorded by bare names to those of their issuer, once per store.

        Only people who, according to the audit log, have always used a token are renamed.
        """
        if self.cursor("names") is not None:
            return
        with self.engine.begin() as connection:
            tokens, others = (
                {*connection.execute(sa.select(AUDIT.c.who).where(condition).distinct()).scalars()}
                for condition in (AUDIT.c.means == "token", AUDIT.c.means.in_(("key", "link", "local")))
            )
            bare = {each for each in tokens - others if not each.startswith("oidc:")} - {*self.key_names()}
            for who in sorted(bare) if issuer is not None else ():
                for column in (RUNS.c.starter, CANDIDATES.c.who, CLAIMS.c.who, VOTES.c.who):
                    connection.execute(sa.update(column.table).where(column == who).values({column: f"oidc:{issuer}#{who}"}))
        self.move_cursor("names", issuer or "")

    def secret(self, name: str = "secret") -> str:
        """Return a random text of the store, such as the secret that signs links: one for all processes, created on first use."""
        found = self.cursor(name)
        if found is None:
            with suppress(sa.exc.IntegrityError), self.engine.begin() as connection:  # another process may create one now
                connection.execute(sa.insert(CURSORS).values(name=name, value=token_urlsafe(48)))
            found = self.cursor(name)
        assert found is not None
        return found


def _starters(run: str | None, left: dict[str, KeyRow]) -> tuple[str | None, ...]:
    """Return who started a run and those it was forked from; of one without a row it is as if their name was erased.

    Rows are removed from `left`, so a circle ends.
    """
    starters: list[str | None] = []
    while run in left:
        row = left.pop(run)
        starters.append(row.starter)
        run = row.origin
    return tuple(starters if run is None else [*starters, ERASED])


def _refuse_statement(context: sa.engine.ExceptionContext) -> None:
    """Report a value that the database cannot hold, such as a text with the character 0, as a mistake of the request.

    A statement that the role or a standby may not execute is reported as trouble of the store.
    """
    if getattr(context.original_exception, "sqlstate", None) in FORBIDDEN:
        reason = reason_of(context.original_exception)
        raise UnavailableError([UnusableStore(store="instrc_…", reason=reason)]) from None
    if isinstance(context.original_exception, UnicodeEncodeError) or isinstance(context.sqlalchemy_exception, sa.exc.DataError):
        reason = "a value has a character or a size that the store cannot hold"
        raise RequestError([InvalidRequest(reason=reason)]) from None


SECRET_CHARACTERS: Final = 32
"""Minimum characters of a secret: a short one can be guessed from the signature of a link."""


def secrets_given() -> list[str]:
    """Return the secrets in the environment; raise `SettingsError` for one that is too short."""
    secrets = [secret for secret in os.environ.get(SECRETS, "").split(",") if secret]
    if any(len(secret) < SECRET_CHARACTERS for secret in secrets):
        reason = f"a secret has at least {SECRET_CHARACTERS} characters, for example the output of `openssl rand -base64 48`"
        raise unusable("secret", SECRETS, reason)
    return secrets
