"""The service of runs that every protocol adapts; all authorization happens here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from secrets import token_hex
from time import monotonic, time
from typing import Final, TypeAlias, TypeVar, cast
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from instrc import problems
from instrc.engines.approvals import OUTSIDER, Vote, agreeing, known_as
from instrc.engines.background import Tolerated
from instrc.engines.launch import Launcher, forked
from instrc.engines.operating import erase_names
from instrc.engines.run_table import UNDUE, QuestionRow, RunChange, TableEngine, audit_row, runs_query, storable
from instrc.engines.schedules import Schedule, Scheduling
from instrc.engines.service_tables import DELETED, RUNS
from instrc.problems.errors import (
    ConflictError,
    InstrcError,
    NotFoundError,
    RequestError,
    StaleError,
    UnavailableError,
)
from instrc.problems.suggest import nearest
from instrc.runtime.answers import copy_answer, find_question, question_closed
from instrc.runtime.engine_protocol import Engine, WorkerInfo, WorkerListing
from instrc.runtime.interpreter.documents import Author
from instrc.runtime.questions import Question, read_shown_id
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunFilter, RunReport
from instrc.runtime.secrets import redacted
from instrc.server.access import Action, Caller, RateLimiter, is_candidate, require_allowed
from instrc.server.bounds import COMMENT, NAME
from instrc.server.files import require_stored
from instrc.server.identity import Signer, is_known, known_person, link_word, read_link, refuse_unknown
from instrc.server.records import Records
from instrc.server.streams import LOOK, EventStreams, Hub, Timelines
from instrc.server.views import Page, ProgramInfo, QuestionInfo, RunInfo, RunStory, program_info
from instrc.server.visibility import SEES, Visibility, launched_as
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, mapping
from instrc.tools.python_values import JsonLike, json_of
from instrc.vibes.service_settings import ServiceSettings

_T = TypeVar("_T")
_Work: TypeAlias = Coroutine[object, object, _T]
_Begin: TypeAlias = Callable[[], _Work[RunReport]]
_NOT_TAKEN: Final = (problems.runs.NoSuchQuestion, problems.runs.RejectedAnswer, problems.serving.QuestionNotFree)
_RATED: Final = "starts, retries, claims, answers and settings in a minute"
_MOST: Final = 200
"""Maximum rows of a page."""
SETTLE: Final = 2.0
"""Seconds for a run to process an answer."""
_LEFT: Final = 10.0
"""Seconds after which a decisive vote not yet sent to its run is taken over from a process that has ended."""
_BREATH: Final = 0.05
TOLD_ANSWERS: Final = 50
"""Maximum answers of people on the page of a run: the first ones."""
_APART: Final = 10.0
"""Seconds by which clocks of processes may differ, and a server's list may be late."""
_STALE: Final = 20
"""Maximum runs refreshed at once without a known change."""
PATIENCE: Final = 20.0
"""Seconds for a new run to be recorded; the store may have to be created."""


class RunService:
    """The programs of a project, the runs of a store, and the people who answer."""

    def __init__(
        self,
        programs: Mapping[str, Launcher],
        engine: Engine,
        records: Records,
        *,
        settings: ServiceSettings | None = None,
        hub: Hub | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        """`hub` is the sink of the engine: without it events are polled.

        `secrets` sign links and sessions, using the last one; without any, the store provides one.
        """
        self.launchers: dict[str, Launcher] = dict(programs)
        self.engine = engine
        self.records = records
        self.settings: ServiceSettings = settings or ServiceSettings()
        self.hub: Hub = hub or Hub()
        self.visibility = Visibility(engine, records, self.settings, self.launchers)
        self.event_streams = EventStreams(self.visibility, self.hub)
        self.rate: RateLimiter = RateLimiter(self.settings.rate)
        self._secrets: list[str] = [*secrets]
        self._timelines = Timelines(engine)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._looked_at = 0.0
        """Time of the last votes whose delivery was checked."""
        records.watchers.append(self.hub.changed)
        self._keeper: TableEngine | None = engine if isinstance(engine, TableEngine) else None
        """The engine if its carriers write the table of runs; otherwise the service does."""
        if self._keeper is not None:
            self._keeper.use_table(records, self.visibility.opening)

    @cached_property
    def signer(self) -> Signer:
        """The signer of links and forms."""
        return Signer(self._secrets or [self.records.secret()], self.records.secret("store"))

    async def programs(self, caller: Caller) -> list[ProgramInfo]:
        """Return the programs that the caller may see or start."""
        return [program_info(name, self.launchers[name]) for name in self.launchers if caller.knows(name)]

    async def program(self, caller: Caller, program: str) -> ProgramInfo:
        """Return a program; one that the caller may not see is reported as missing."""
        if program not in self.launchers or not caller.knows(program):
            near = nearest(program, [each.name for each in await self.programs(caller)])
            raise NotFoundError([problems.serving.NoSuchProgram(program=program, nearest=near)])
        return program_info(program, self.launchers[program])

    async def start(
        self,
        caller: Caller,
        program: str,
        inputs: JsonLike,
        *,
        key: str | None = None,
        run: str | None = None,
        metadata: Mapping[str, str] | None = None,
        wait: float = 0.0,
    ) -> RunInfo:
        """Start a run, and return once it is recorded, or settled within `wait` seconds.

        The same caller with the same `key` and inputs gets the same run; other inputs raise `KeyReused`.
        """
        await self.enter(caller)
        names = (key or "", *(metadata or {}), *(metadata or {}).values())
        if any(len(name) > NAME or storable(name) != name for name in names):
            reason = f"a name, as of a thread or a message, has at most {NAME} characters, all of which a store can hold"
            raise RequestError([problems.serving.InvalidRequest(reason=reason)])
        await self.program(caller, program)
        caller.require("starter", program, f"start runs of `{program}`")
        launch = _begun_by(caller, await asyncio.to_thread(self.launchers[program].launch, inputs, run, closed=True), metadata)
        if key is not None:
            # of what was sent, without defaults, which a release may change
            digest = await asyncio.to_thread(digest_of, cast("Json", [program, json_of(inputs), run, dict(metadata or {})]))
            owned = digest_of([caller.name, key])  # without the name, which may be erased
            before, known = await asyncio.to_thread(self.records.reserve, owned, digest, launch.run)
            if before != digest:
                raise ConflictError([problems.serving.KeyReused(key=key)])
            with suppress(NotFoundError):  # it was sent before, perhaps to another release of the program
                launch = launch if known == launch.run else await self.engine.launch(known)
            launch = replace(launch, run=known)
        if key is not None or run is not None:
            there = await self.visibility.require_free(caller, launch.run, launched_as(launch))
            if there is not None and (ended := await self.engine.show(there.run)).has_ended:  # a cancelled one does not go on
                return await self.visibility.info_of(caller, ended)
            launch = there or launch
        if self._keeper is not None and self._keeper.starts_by_queue:
            started = audit_row(caller.name, caller.by, "start", launch.run, None, launch.inputs)
            report = await self._settled(await self._keeper.enqueue(launch, [started]), wait)
            if report.config.starter != caller.name:  # another caller has just taken the id
                await self.visibility.require_free(caller, report.run)
            return await self.visibility.whole(report, report.config.starter, report.config.metadata, launch.plan["digest"])
        begun = self._recorded(launch.run, partial(self.engine.start, launch))
        report = await self._settled(await self._audited(caller, "start", launch.run, begun, sent=launch.inputs), wait)
        await self._note(report)
        return await self.visibility.info_of(caller, report)

    async def _settled(self, report: RunReport, wait: float) -> RunReport:
        """Wait, with a time limit, until a run ends or has a question, and the tables show it if its carriers write them."""
        end, pause = monotonic() + wait, 0.05
        while monotonic() < end:
            shown = self.engine.show(report.run) if self._keeper is None else asyncio.to_thread(self.records.run, report.run)
            found = await shown
            if found is not None and found.status != "running":
                return await self.engine.show(report.run)
            await self.hub.wait(report.run, pause)
            pause = min(pause * 2, LOOK)
        return report

    async def enter(self, caller: Caller) -> None:
        """Count what a caller starts, answers or sets: with a database, across all services.

        The uses of a link are counted by link, and not against the person that it names.
        """
        if caller.nonce is None and self.records.engine.dialect.name == "sqlite":
            self.rate.enter(caller.name, _RATED)
        elif caller.nonce is None:
            now = int(time())
            self.rate.refuse(await asyncio.to_thread(self.records.count_action, caller.name, now // 60), _RATED, now)

    async def runs(
        self,
        caller: Caller,
        chosen: RunFilter | None = None,
        *,
        limit: int = 50,
        cursor: tuple[float, str] | None = None,
        own: bool = False,
    ) -> Page:
        """Return a page of the runs visible to the caller, latest first; with `own`, of those that the caller started."""
        seen = [name for name in self.launchers if caller.may_any(SEES, name) and not own]
        every = caller.may_any(SEES, "") and not own  # a role for `*`
        limit = max(1, min(limit, _MOST))
        query = runs_query(chosen, programs=None if every else seen, starter=None if every else caller.name, before=cursor)
        if not caller.may_any((*SEES, "starter"), ""):  # whose role was withdrawn does not see their own runs any more
            query = query.where(RUNS.c.program.in_([n for n in self.launchers if caller.may_any((*SEES, "starter"), n)]))
        rows = await asyncio.to_thread(self.records.runs, query, limit + 1)
        unserved = await self.visibility.unserved({row.run: row.project for row in rows if row.status == "running"})
        page = tuple(replace(row, waits_for=unserved.get(row.run)) for row in rows[:limit])
        return Page(page, (page[-1].began, page[-1].run) if len(rows) > limit else None)

    async def schedules(self, caller: Caller) -> list[Schedule]:
        """Return the schedules of programs whose runs the caller may see, by name; folders and memory have none."""
        listed = await self.engine.schedules() if isinstance(self.engine, Scheduling) and self.engine.keeps_schedules else []
        return [schedule for schedule in listed if caller.may_any(SEES, schedule.program)]

    async def workers(self, caller: Caller) -> list[WorkerInfo]:
        """Return the workers that carry out runs; folders and memory have none."""
        if not any(caller.may("operator", name) for name in ("", *self.launchers)):
            caller.require("operator", "", "see workers")
        return await self.engine.workers() if isinstance(self.engine, WorkerListing) else []

    async def run(self, caller: Caller, run: str, *, whole: bool = True) -> RunInfo:
        """Return the state of a run, with its record if `whole`; one that the caller may not see is reported as missing."""
        report = await self.visibility.seen(caller, run, whole=whole)
        await self._note(report)
        return await self.visibility.info_of(caller, report)

    async def story(self, caller: Caller, run: str) -> RunStory:
        """Return the state and launch of a run, its events, and the answers of people.

        A caller who is only asked something in it gets how it stands alone. The record may be missing.
        """
        info = await self.visibility.info_of(caller, await self.visibility.seen(caller, run, whole=False))
        if not info.is_whole:
            return RunStory(info)
        spans, events = await asyncio.to_thread(self._timelines.read, run)
        votes = await asyncio.to_thread(self.records.votes, run, most=TOLD_ANSWERS)
        return RunStory(info, await self.engine.launch(run), spans, events, votes)

    async def cancel(self, caller: Caller, run: str) -> RunInfo:
        """Cancel a run; one that has ended is unchanged."""
        return await self._operate(caller, run, "cancel", lambda: self.engine.cancel(run))

    async def resume(self, caller: Caller, run: str) -> RunInfo:
        """Continue a run that no process carries out."""
        return await self._operate(caller, run, "resume", lambda: self.engine.resume(run))

    async def retry(self, caller: Caller, run: str, options: RetryOptions, *, counts: bool = True) -> RunInfo:
        """Retry a run that has failed or is held; it `counts` unless a counted action retries many."""
        if counts:
            await self.enter(caller)
        return await self._operate(caller, run, "retry", lambda: self.engine.retry(run, options))

    async def fork(self, caller: Caller, run: str, options: ForkOptions) -> RunInfo:
        """Start another run with the recorded results of a run."""
        await self.enter(caller)
        report = await self.visibility.seen(caller, run)
        caller.require("operator", report.name, f"fork runs of `{report.name}`")
        await self._note(report)
        votes: Mapping[str, Sequence[Vote]] | None = None
        while votes != (now := await asyncio.to_thread(self.records.inherited_votes, run)):  # some may come with the journal
            votes = now
            launch = await forked(self.engine, run, self.visibility.limited(options, report, caller, votes))
        await self.visibility.require_free(caller, launch.run, token_hex(8))
        launch = _begun_by(caller, launch, launch.config.metadata)
        begun = self._recorded(launch.run, partial(self.engine.start, launch))
        begun = self._audited(caller, "fork", launch.run, begun, sent=dict(options.edits) or None)
        for step, value in options.edits.items():
            begun = self._audited(caller, "set", launch.run, begun, step, value)
        await self._note(made := await begun)
        return await self.visibility.info_of(caller, made)

    async def delete(self, caller: Caller, run: str, *, action: str = "delete") -> None:
        """Delete a run that has ended; its existence remains known. The audit log names the `action`."""
        program = await self.visibility.deletable(caller, run)
        caller.require("operator", program, f"delete runs of `{program}`")

        async def deleted() -> None:
            if action == "erase":  # before its metadata are deleted, by which it is found again after a crash
                await asyncio.to_thread(erase_names, self.records, run, self.signer.secrets[-1])
            await self.engine.delete(run)
            await asyncio.to_thread(self.records.forget_all, [run])  # they may not be stored with the runs

        await self._audited(caller, action, run, deleted())

    async def _operate(self, caller: Caller, run: str, action: str, work: _Begin) -> RunInfo:
        report = await self.visibility.seen(caller, run)
        caller.require("operator", report.name, f"{action} runs of `{report.name}`")
        if not (report.has_ended and action in {"cancel", "resume"}):
            report = await self._audited(caller, action, run, self._recorded(run, work, known=True))
        await self._note(report)
        return await self.visibility.info_of(caller, report)

    async def questions(
        self,
        caller: Caller,
        *,
        run: str | None = None,
        program: str | None = None,
        mine: bool = False,
        claimed: bool = False,
        due_before: float | None = None,
        limit: int = 50,
        cursor: tuple[float, str, str] | None = None,
        by_due: bool = False,
    ) -> Page:
        """Return a page of open questions, oldest first: `mine` are those the caller may answer, `claimed` those they hold.

        With `by_due`, questions due first come first.
        """
        every = caller.may_any((*SEES, "answerer"), "")
        programs = None if every else [n for n in self.launchers if caller.may_any((*SEES, "answerer"), n)]
        query = self.visibility.query_for(caller, program, mine=mine, claimed=claimed)(
            run=run,
            program=program,
            programs=programs,
            claimed_by=caller.name if claimed else None,
            due_before=due_before,
            after=cursor,
            by_due=by_due,
        )
        limit = await asyncio.to_thread(self.records.fitting, query, max(1, min(limit, _MOST)))
        rows = await asyncio.to_thread(self.records.questions, query, limit + 1)
        page = await self.visibility.asked_in(rows[:limit])
        if len(rows) <= limit:
            return Page(page)
        last = page[-1]
        place = last.opened if not by_due else last.opened + UNDUE if last.due is None else last.due
        return Page(page, (place, last.run, last.question.id))

    async def question(self, caller: Caller, run: str, question: str) -> QuestionInfo:
        """Return an open question by its id, one of its steps or its chunk; one for others is not shown to who is only asked."""
        question, _ = read_shown_id(question)
        report = await self.visibility.seen(caller, run, question)
        await self._note(report)
        try:
            asked = (await self.visibility.info_of(caller, report)).report.questions
            found = find_question([*asked], question, run, report)
            row = await self._row_of(run, found)
            if row is None:  # it has just been closed
                raise NotFoundError([problems.runs.NoSuchQuestion(run=run, step=question, open=())])
        except InstrcError:
            # the report knows steps, no ids of questions
            if (await asyncio.to_thread(self.records.votes, run, question)) and not question.startswith(report.unknown):
                raise question_closed(run, question, (), "answered") from None
            raise
        return (await self.visibility.asked_in([replace(row, question=found)]))[0]

    async def _row_of(self, run: str, found: Question) -> QuestionRow | None:
        """Return the row of a question in the journal, which is written shortly after the journal entry."""
        place = (run, found.id, found.tag)
        for pause in (0.02, 0.05, 0.1, 0.3, 1.0):
            if (row := await asyncio.to_thread(self.records.question, *place)) is not None:
                return row
            await asyncio.sleep(pause)
        if self._keeper is not None:  # its carrier has died or hangs
            child = found.id.rpartition("/")[0]
            await self._keeper.write_row(f"{run}/{child}" if child else run)
        return await asyncio.to_thread(self.records.question, *place)

    async def claim(self, caller: Caller, run: str, question: str, *, to: str | None = None) -> QuestionInfo:
        """Claim a question for the caller, or another person, for a while: only they can answer it then."""
        person = caller if to is None else await self._person(to)
        return await self._claim(caller, run, question, "claim" if person.name == caller.name else "delegate", person)

    async def release(self, caller: Caller, run: str, question: str) -> QuestionInfo:
        """Release a question of the caller; operators may release those of others."""
        return await self._claim(caller, run, question, "release")

    async def _claim(self, caller: Caller, run: str, question: str, action: Action, person: Caller | None = None) -> QuestionInfo:
        await self.enter(caller)
        while True:  # who holds it decides what the caller may do, and may change meanwhile
            found = await self.question(caller, run, question)
            require_allowed(action, found, caller, person)
            until = None if person is None else time() + (found.approval.claim or self.settings.claim)
            who, means = (person or caller).name, caller.by if action == "claim" else "admin"
            noted = audit_row(caller.name, caller.by, action, found.run, found.question.id, who if action == "delegate" else None)
            if await asyncio.to_thread(self.records.claim, found, who, until, means, noted):
                if action == "delegate":  # one who follows the run may answer now
                    self.hub.wake(run)
                return await self.question(caller, run, question)

    async def link(self, caller: Caller, run: str, question: str, to: str) -> str:
        """Return the token of a link by which a person may see and answer one question, once; operators create links.

        The person is a candidate, or an outsider if the question allows outsiders; their rights are checked on use.
        """
        found, person = await self.question(caller, run, question), await self._person(to)
        if not is_candidate(found, person):
            person = replace(person, name=f"{OUTSIDER}{known_as(person.name)}")
        require_allowed("link", found, caller, person)
        word = asyncio.to_thread(link_word, self.signer, run, found.question.id, person.name, caller)
        return await self._audited(caller, "link", run, word, found.question.id, person.name)

    async def linked(self, word: str) -> Caller:
        """Return the bearer of a link: the person it names, with their current groups. It ends with its sender's key."""
        bearer = read_link(self.signer, word)
        if bearer.sender and not await asyncio.to_thread(is_known, self.settings, self.records, bearer.sender, bearer.key):
            refuse_unknown("the sender of the link no longer has access to this service")
        return replace(await self._person(bearer.name), only=bearer.only, nonce=bearer.nonce, sender=bearer.sender)

    async def _person(self, name: str) -> Caller:
        """Return a person by name, with their known groups and roles."""
        return await asyncio.to_thread(known_person, self.settings, self.records, name)

    async def answer(
        self, caller: Caller, run: str, question: str, data: Json, *, comment: str | None = None, tags: Collection[str] = ()
    ) -> RunInfo:
        """Answer a question as the caller, and return once that is recorded.

        An invalid answer raises `RejectedAnswer` and leaves it open; `tags` are those of the question as seen by the caller.
        If several people must answer, the run continues when enough of them agree, or when that has become impossible.
        Repeating the same answer as the same person changes nothing.
        """
        await self.enter(caller)
        if len(comment or "") > COMMENT:
            reason = f"a comment has at most {COMMENT:,} characters"
            raise RequestError([problems.serving.InvalidRequest(reason=reason, pointer="/comment")])
        question, tag = read_shown_id(question)
        data, comment = await asyncio.to_thread(lambda: (copy_answer(question, data), redacted(comment)))  # as the run records it
        before = (await asyncio.to_thread(self.records.votes, run, question)).get(question, [])
        if any(caller.has_given(each) and each.data == data for each in before):
            report = await self.visibility.seen(caller, run, question)
            if all(each.id != question for each in report.questions):
                return await self.visibility.info_of(caller, report)
        await self.require_unused(caller)
        found = await self.question(caller, run, question)
        require_allowed("answer", found, caller)
        if found.question.by == "operator" and "result" in mapping(data):
            await self.visibility.require_giving(caller, found)
        if (tags or tag) and found.question.tag not in {*tags, tag}:
            raise StaleError([problems.serving.QuestionNotFree(question=question, state="shown anew")])
        return await self._take(caller, found, data, comment)

    async def require_unused(self, caller: Caller) -> None:
        """Raise for the bearer of a link that was used."""
        if caller.nonce is not None and await asyncio.to_thread(self.records.is_used, caller.nonce):
            refuse_unknown("the link was used already")

    async def _take(self, caller: Caller, found: QuestionInfo, data: Json, comment: str | None) -> RunInfo:
        run, name = found.run, found.question.id
        await asyncio.to_thread(found.approval.require_fit, found.question, data)
        await asyncio.to_thread(require_stored, self.records, run, found.question, data)
        # the clock of the process that asked may be ahead
        at, excludes = max(time(), found.opened), bool(found.approval.excluded)
        vote = Vote(caller.name, caller.by, at, data, comment, caller.sender, excludes)

        def check(earlier: Sequence[Vote]) -> None:
            require_allowed("answer", replace(found, votes=tuple(earlier)), caller, vote=vote)

        try:
            earlier = await asyncio.to_thread(self.records.vote, run, name, vote, found.opened, caller.nonce, check)
        except IntegrityError:
            refuse_unknown("the link was used already")
        if earlier is not None and earlier.data != data:
            raise ConflictError([problems.serving.QuestionNotFree(question=name, state="answered by you")])
        votes = (await asyncio.to_thread(self.records.votes, run, name, found.opened)).get(name, [])
        take_back = partial(self.records.unvote, run, name, caller.name, caller.by, caller.nonce)
        decided = await asyncio.to_thread(found.approval.tally, votes)
        if decided is None:
            if (holder := found.claimed_by) and holder in {caller.name, caller.sender}:  # now left to the others
                await asyncio.to_thread(self.records.claim, found, holder, None, caller.by)
            change = RunChange("question.voted", run, found.program, {"question": name, "who": caller.name})
            await asyncio.to_thread(self.records.tell, change)
            report = await self.engine.show(run)
        elif found.approval.needed <= 1 and decided.data != data:  # another person answered first
            await asyncio.to_thread(take_back)
            raise question_closed(run, name, (), "answered")
        else:
            # a repetition leaves what the first request has recorded
            report = await self._decide(run, found.question, votes, decided, *((take_back,) if earlier is None else ()))
        await self._note(report)
        return await self.visibility.info_of(caller, report)

    async def _is_recorded(self, run: str, question: str, data: Json, by: Author) -> bool:
        """Return whether the answer that a run has recorded for a question is this one, or by the same people.

        A process with other secrets in its environment records other data.
        """
        child, _, asked = question.rpartition("/")
        _, journal = await self.engine.journal(f"{run}/{child}" if child else run)
        return any(name == asked and (result.get("ok") == data or result.get("by") == by) for name, result in journal.results)

    async def _decide(
        self, run: str, question: Question, votes: Sequence[Vote], decided: Vote, take_back: Callable[[], object] = lambda: None
    ) -> RunReport:
        """Continue a run with the answer decided by its votes, which are for what the question shows.

        `take_back` is called if the run does not take it, also after the request has ended.
        """
        by: Author = {"who": await asyncio.to_thread(agreeing, votes, decided), "means": decided.means}

        async def sent() -> RunReport:
            try:
                return await self.engine.answer(run, question.shown_id, decided.data, by)
            except InstrcError as error:
                now, refused = await self.engine.show(run), error.problems[0]
                closed = all(each.id != question.id for each in now.questions)
                if not isinstance(refused, _NOT_TAKEN) or isinstance(error, UnavailableError):
                    raise
                if closed and (question.by == "operator" or await self._is_recorded(run, question.id, decided.data, by)):
                    return now  # another request has just sent the run the same
                await asyncio.to_thread(take_back)
                if closed and isinstance(refused, problems.runs.RejectedAnswer):  # it matched the question open then
                    raise question_closed(run, question.id, (), "answered") from None
                raise

        return await self._recorded(run, sent, answer=(question, decided.data, by))

    async def _finish_votes(self) -> None:
        """Deliver decided answers left over by a process that ended before delivery; each vote is looked at once."""
        until = time() - _LEFT
        for place in await asyncio.to_thread(self.records.voted, self._looked_at - _APART, until):
            row = await asyncio.to_thread(self.records.question, *place)
            for found in await self.visibility.asked_in([] if row is None else [row]):
                decided = await asyncio.to_thread(found.approval.tally, found.votes)
                if decided is not None and found.votes[-1].at < time() - _LEFT:
                    vote = (found.run, found.question.id, decided.who, decided.means)
                    try:
                        await self._decide(found.run, found.question, found.votes, decided, partial(self.records.unvote, *vote))
                    except InstrcError:
                        until = self._looked_at  # tried again
        self._looked_at = until

    async def begin(self) -> None:
        """Bind to the running loop, and watch for runs changed by other processes, until `close`."""
        self.hub.bind(looks=self._keeper is None)
        self._looking = asyncio.gather(self._look(), self.event_streams.hear())

    async def close(self) -> None:
        """Stop the background tasks; the engine keeps the runs."""
        self._looking.cancel()
        for task in self.hub.under_way:
            task.cancel()
        await asyncio.gather(self._looking, *self.hub.under_way, return_exceptions=True)

    async def _look(self) -> None:
        """Finish decisions of processes that have ended; read runs that are not kept in the table."""
        if self._keeper is not None:
            with suppress(InstrcError, SQLAlchemyError):  # the store may be unavailable: listing runs fills the table later
                await self._keeper.fill()
        reading, finishing = Tolerated("reading the runs of other processes"), Tolerated("finishing decisions")
        while True:
            await (asyncio.sleep(_LEFT / 2) if self._keeper is not None else self.hub.wait(None, LOOK))
            if self._keeper is None:
                await self._look_at_runs(reading)
            with finishing:
                await self._finish_votes()

    async def _look_at_runs(self, reading: Tolerated) -> None:
        await asyncio.sleep(_BREATH)  # let the process that handled it record it first
        touched, self.hub.touched = self.hub.touched, set()
        if not touched:
            with reading:
                latest = await asyncio.to_thread(self.records.runs, runs_query(), 1)
                others = await self.engine.runs(RunFilter(began=latest[0].began - _APART if latest else None))
                touched = {report.run for report in others} | {*await asyncio.to_thread(self.records.open_runs, _STALE)}
        for run in touched:
            with suppress(Exception):  # the next look reports an error of the store
                await self._note(await self.engine.show(run))

    async def _note(self, report: RunReport) -> None:
        """Write the state of a run unless its carriers do, of which a cancelled one has none.

        If it is not the recorded one, it is read again: what was recorded meanwhile may be later.
        """
        if self._keeper is None or report.status == "cancelled":
            async with self._turns.setdefault(report.run, asyncio.Lock()):
                if not await asyncio.to_thread(self.records.is_noted, report):
                    with suppress(InstrcError):
                        report = await self.engine.show(report.run)
                    await asyncio.to_thread(self.records.note, report, self.visibility.opening_in(report))

    async def _audited(
        self, caller: Caller, action: str, run: str, work: _Work[_T], question: str | None = None, sent: Json = None
    ) -> _T:
        """Record who does something, then do it, even if the request is cancelled; record `take back` if it is refused."""
        record = partial(self.records.audit, caller.name, caller.by)

        async def both() -> _T:
            try:
                await asyncio.to_thread(record, action, run, question=question, sent=sent)
                return await work
            except InstrcError as error:
                if not isinstance(error, UnavailableError):
                    await asyncio.to_thread(record, "take back", run, question=question)
                raise
            finally:
                work.close()

        return await asyncio.shield(self.hub.begin(run, both()))

    async def _recorded(
        self, run: str, work: _Begin, *, known: bool = False, answer: tuple[Question, Json, Author] | None = None
    ) -> RunReport:
        """Make a change that continues a run, and return its state once recorded; the rest continues in the background."""
        task = self.hub.begin(run, work())
        clock = asyncio.get_running_loop().time
        begun, pause = clock(), 0.01
        while clock() < begun + PATIENCE:
            change = asyncio.ensure_future(self.hub.wait(run, pause))
            await asyncio.wait({task, change}, return_when=asyncio.FIRST_COMPLETED)
            change.cancel()
            if task.done():
                return task.result()
            if not known or clock() > begun + SETTLE:
                with suppress(InstrcError):
                    if await self._is_taken(run, answer):
                        return await self.engine.show(run)
            pause = min(pause * 2, 0.2)
        return await self.engine.show(run)

    async def _is_taken(self, run: str, given: tuple[Question, Json, Author] | None) -> bool:
        """Return whether a run is recorded, and what was given: its question may also be closed because the run has failed."""
        if given is None:
            row = await asyncio.to_thread(self.records.run, run)
            return self._keeper is None or (row is not None and row.status != DELETED)
        question, data, by = given
        if self._keeper is None:
            is_open = any(each.id == question.id for each in (await self.engine.show(run)).questions)
        else:
            is_open = await asyncio.to_thread(self.records.question, run, question.id) is not None
        return not is_open and (question.by == "operator" or await self._is_recorded(run, question.id, data, by))


def _begun_by(caller: Caller, launch: Launch, metadata: Mapping[str, str] | None = None) -> Launch:
    return replace(launch, config=msgspec.structs.replace(launch.config, starter=caller.name, metadata=dict(metadata or {})))
