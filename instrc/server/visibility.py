"""What a caller may see of runs; one that they may not see is reported as missing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias, cast

import sqlalchemy as sa
from msgspec.structs import replace

from instrc import problems
from instrc.engines.approvals import ALL, Approval, NameRules, Opening, Vote, agreed, approval_of
from instrc.engines.equip import FOR_NOBODY, names_of, opening_for, opening_of
from instrc.engines.launch import Launcher
from instrc.engines.projects import is_here
from instrc.engines.run_table import QuestionRow, questions_query
from instrc.engines.service_tables import CLAIMS, DELETED
from instrc.problems.errors import AccessError, ConflictError, GoneError, NotFoundError
from instrc.runtime.engine_protocol import Engine, WorkerListing
from instrc.runtime.interpreter.documents import Author, Command, Result
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions
from instrc.runtime.run_config import Launch, RunConfig
from instrc.runtime.run_report import OPEN, RunReport
from instrc.server.access import Caller
from instrc.server.records import QuestionPeople, Records
from instrc.server.views import QuestionInfo, RunInfo
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, mapping
from instrc.vibes.service_settings import Role, ServiceSettings

SEES: Final[tuple[Role, ...]] = ("viewer", "operator", "author")
"""Roles that see all runs of a program."""
_Votes: TypeAlias = Mapping[str, Sequence[Vote]]
_Placed: TypeAlias = Sequence[tuple[Sequence[str], Vote]]
_Protects: TypeAlias = Callable[[Mapping[str, object]], bool]


class Visibility:
    """Shows a caller the runs of a store as far as their rights go."""

    def __init__(self, engine: Engine, records: Records, settings: ServiceSettings, launchers: Mapping[str, Launcher]) -> None:
        self.engine = engine
        self.launchers = launchers
        self.records = records
        self.settings = settings

    async def seen(self, caller: Caller, run: str, question: str | None = None, *, whole: bool = True) -> RunReport:
        """Return the state of a run if the caller may see it; otherwise it is reported as missing."""
        missing = NotFoundError([problems.runs.NoSuchRun(run=run[:200], store="")])
        if "/" in run or (caller.only is not None and (question is None or caller.only[0] != run)):  # a child is part of its run
            raise missing
        row = await asyncio.to_thread(self.records.run, run)
        if row is not None and row.status == DELETED:
            raise GoneError(missing.problems)
        try:
            report = await self.engine.show(run, whole=whole)
        except NotFoundError:
            raise missing from None  # its message would reveal that the run exists
        may = caller.only is not None or may_see(caller, report.name, None if row is None else row.starter)
        if not may and not (caller.may("answerer", report.name) and await asyncio.to_thread(self._asks, caller, report)):
            raise missing
        return report

    async def deletable(self, caller: Caller, run: str) -> str:
        """Return the program of a run, also of one that has ended and that the engine has no more."""
        row = await asyncio.to_thread(self.records.run, run)
        if row is not None and row.status not in {*OPEN, DELETED} and caller.may("operator", row.program):
            return row.program
        return (await self.seen(caller, run)).name

    def _asks(self, caller: Caller, report: RunReport) -> bool:
        """Return whether the caller is or was asked in a run: as a candidate, by a claim, or by an answer."""
        return self.records.has_answered(report.run, caller.name) or bool(self._asked(caller, report))

    def _asked(self, caller: Caller, report: RunReport) -> tuple[Question, ...]:
        """Return the open questions of a run that the caller is asked: as a candidate, by a claim, or by a link."""
        if caller.only is not None:
            return tuple(each for each in report.questions if caller.only == (report.run, each.id))
        held = questions_query(run=report.run, claimed_by=caller.name).where(CLAIMS.c.given)
        mine = self.records.tags(questions_query(run=report.run, who=caller.as_candidates)) | self.records.tags(held)
        return tuple(each for each in report.questions if each.id in mine and mine[each.id] in {None, each.tag})

    async def asked_in(self, rows: Sequence[QuestionRow]) -> tuple[QuestionInfo, ...]:
        """Return the questions in rows with their rules, and with the people who may answer or have answered."""
        people = await asyncio.to_thread(self.records.people_of, rows)
        return tuple(
            QuestionInfo(
                **{name: getattr(row, name) for name in QuestionRow.__struct_fields__},
                candidates=each.candidates,
                approval=self._rule(row, each),
                votes=each.votes,
                starter=next(iter(each.starters), None),
            )
            for row, each in zip(rows, people, strict=True)
        )

    def query_for(
        self, caller: Caller, program: str | None, *, mine: bool, claimed: bool
    ) -> Callable[..., sa.Select[*tuple[object, ...]]]:
        """Return the `questions_query` of what a caller may list: also what waits for operators, where they are one."""
        operated = None if caller.may("operator", "") else [name for name in self.launchers if caller.may("operator", name)]
        seen = [] if mine and not claimed else [name for name in self.launchers if caller.may_any(SEES, name)]
        who = caller.as_candidates if mine or not caller.may_any(SEES, program or "") else None
        return partial(questions_query, who=who, seen=seen, operated=operated)

    def _rule(self, row: QuestionRow, people: QuestionPeople) -> Approval:
        """Return the rule of a question; one that excludes a group, whose members another project knows, excludes everybody."""
        rule = approval_of(row.question, people.starters, self.names)
        if any(name.startswith("group:") for name in rule.excluded) and not self._serves(people.project, row.program):
            rule = replace(rule, excluded=rule.excluded | {ALL})
        return rule

    def _serves(self, project: str | None, program: str) -> bool:
        """Return whether the settings of this service apply to a run: one of an unnamed project is known by its program."""
        return is_here(project) and (project is not None or program in self.launchers)

    def opening(self, program: str, question: Question, *, named: bool = True) -> Opening:
        """Return the candidates and the due time of a question of a program as it opens.

        A run whose project has no name may be of another one, unless its program is served.
        """
        known = named or program in self.launchers
        return opening_of(self.settings if known else FOR_NOBODY, self.records.has_keys, program, question)

    def opening_in(self, report: RunReport) -> Callable[[Question], Opening]:
        """Return the candidates of the questions of a run, which may be another project's in the same store."""
        return partial(opening_for, report.config, self.opening, self.records.has_keys, report.name)

    def limited(self, options: ForkOptions, report: RunReport, caller: Caller, votes: _Votes) -> ForkOptions:
        """Return the options of a fork with what its starter may neither set nor reuse."""
        by: Author = {"who": caller.name, "means": caller.by}
        me, placed = Vote(caller.name, caller.by, 0.0, None), [(re.split("[/~]", name), each) for name, each in votes.items()]
        mine = [(place, vote) for place, each in placed for vote in each if vote.may_be_of(me)]
        mine += [([""], me)] if "" in votes else []
        asked = {re.split("[/~]", each.id)[0] for each in report.questions if "/" in each.id and each.by == "person"}
        protects = partial(self.protects, report, answered={place[0] for place, _ in placed} | asked)
        return replace(options, by=by, protects=protects, excludes=partial(self._excludes, caller, mine, protects))

    def protects(self, report: RunReport, command: Mapping[str, object], answered: Collection[str] = ()) -> bool:
        """Return whether only people may give the result of a command, as they have, or are asked to, if it is one of `answered`.

        Of another project's, it is unknown what serves it.
        """
        serves = self._serves(report.config.project, report.name)
        activity, launcher = command.get("activity"), self.launchers.get(report.name) if serves else None
        asks = command.get("kind") == "user" if activity is None else launcher is None or launcher.asks_people(str(activity))
        asks = asks or command.get("id") in answered
        return asks and not (serves and self.settings.allow_fork_person_steps)

    async def require_giving(self, caller: Caller, found: QuestionInfo) -> None:
        """Raise if an operator may not give the result of what holds a run, since people do, or have answered behind it."""
        run, held = found.run, found.question.id
        votes = await asyncio.to_thread(self.records.votes, run)
        answered = {held} if any(each.startswith((f"{held}/", f"{held}~")) for each in votes) else ()
        if self.protects(await self.engine.show(run), {**mapping(found.question.show), "id": held}, answered):
            action, reason = f"give the result of `{held}`", "people decide in the process that serves it"
            raise AccessError([problems.serving.NotAllowed(who=caller.name, action=action, reason=reason)])

    def _excludes(self, caller: Caller, mine: _Placed, protects: _Protects, command: Command, result: Result) -> bool:
        """Return whether a result is or may be an approval of the caller, who may not give it as the starter of a fork.

        `mine` are the parts of the ids of questions that the caller answered, each with the answer.
        The first part is "" for a question of another version; [""] stands for answers that are gone.
        """
        if not protects(cast("Mapping[str, object]", command)):
            return False
        by, asks = result["by"]["who"] if "by" in result else "", command["kind"] == "user"
        own = [
            vote
            for (place, *below), vote in mine
            if place == command["id"] or (place == "" and (not below or (agreed(vote.who, by) if asks else len(below) > 1)))
        ]
        if command["kind"] != "user":  # what serves it may have other rules by now
            return any(vote.excludes is not False for vote in own)
        rule = approval_of(Question("", (), None, command["schema"]), (caller.name,), self.names)
        return (bool(own) or agreed(caller.name, by)) and caller.name in rule.excluded

    @property
    def names(self) -> NameRules:
        """The rules for names in settings and programs."""
        return names_of(self.settings, self.records.has_keys)

    async def info_of(self, caller: Caller, report: RunReport) -> RunInfo:
        """Return the part of a run visible to the caller: all of it, or only its state and their questions."""
        row = await asyncio.to_thread(self.records.run, report.run)
        starter = None if row is None else row.starter
        if row is not None:  # its times are those of the lists; the engine notes them a little earlier or later
            report = replace(report, began=row.began, ended=row.ended or report.ended)
        if may_see(caller, report.name, starter):
            return await self.whole(report, starter, {} if row is None else row.metadata, None if row is None else row.digest)
        asked = await asyncio.to_thread(self._asked, caller, report)
        seen = replace(report, outcome=None, record=None, config=RunConfig(), questions=asked)
        return RunInfo(seen, starter, is_whole=False)

    async def whole(self, report: RunReport, starter: str | None, metadata: Mapping[str, str], digest: str | None) -> RunInfo:
        """Return all of a run, with the project for whose worker it waits."""
        waits_for = await self.unserved({report.run: report.config.project} if report.status == "running" else {})
        return RunInfo(report, starter, metadata, digest=digest, waits_for=waits_for.get(report.run))

    async def answered(self, caller: Caller, run: str, question: str, *, was_asked: bool = False) -> Sequence[Vote]:
        """Return the answers to a closed question, as far as the caller may see them: others' without their data.

        `was_asked` means that the caller has seen the question.
        """
        votes = (await asyncio.to_thread(self.records.votes, run, question)).get(question, [])
        row = await asyncio.to_thread(self.records.run, run)
        sees_run = row is not None and caller.only is None and may_see(caller, row.program, row.starter)
        if not sees_run and not was_asked and all(vote.who != caller.name for vote in votes):
            return []
        return [vote if sees_run or caller.has_given(vote) else replace(vote, data=None, comment=None) for vote in votes]

    async def require_free(self, caller: Caller, run: str, launched: Json = None) -> Launch | None:
        """Raise for the id of a deleted run, or of one that another caller has started, also where the caller sees it.

        With what is `launched`, also raise for the id of a run that was launched as another, and reserve the id: of several
        launches at the same time, one gets it. Return the launch of a run that is there, maybe of an earlier version.
        """
        row = await asyncio.to_thread(self.records.run, run)
        if row is not None and row.status == DELETED:
            raise GoneError([problems.runs.NoSuchRun(run=run, store="")])
        if row is not None and row.starter != caller.name:
            raise ConflictError([problems.runs.RunExists(run=run)])
        digest = digest_of([caller.name, launched])
        there: Launch | None = None
        if row is not None and launched is not None:  # the service may have given its id, or deleted the reservation
            with suppress(NotFoundError):  # it is started again where the engine has lost it
                there = await self.engine.launch(run)
                if digest_of([caller.name, launched_as(there)]) != digest:
                    raise ConflictError([problems.runs.RunExists(run=run)])
        if launched is not None and (await asyncio.to_thread(self.records.reserve, f"run {run}", digest, run))[0] != digest:
            raise ConflictError([problems.runs.RunExists(run=run)])
        return there

    async def require_whole(self, caller: Caller, run: str) -> None:
        """Raise if the caller may see only a part of a run."""
        report = await self.seen(caller, run)
        if not (await self.info_of(caller, report)).is_whole:
            caller.require("viewer", report.name, f"see all of `{run}`")

    async def unserved(self, runs: Mapping[str, str | None]) -> dict[str, str]:
        """Return the runs among these that no living worker serves, with the project each waits for."""
        return await self.engine.unserved(runs) if isinstance(self.engine, WorkerListing) else {}


def launched_as(launch: Launch) -> Json:
    """Return what starts of a run have in common: its program, inputs, metadata, and origin."""
    more = ({**launch.config.metadata}, launch.config.forked)
    return [launch.name, launch.inputs, *(cast("Json", each) for each in more if each)]


def may_see(caller: Caller, program: str, starter: str | None) -> bool:
    """Return whether the caller may see a run of a program: by role, or as its starter."""
    return caller.may_any(SEES, program) or (starter == caller.name and caller.may("starter", program))
