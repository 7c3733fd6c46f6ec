"""Read and control the runs of a store without carrying them out, through the DBOS client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from secrets import token_hex
from time import time
from typing import TypeVar, cast

import sqlalchemy as sa
from dbos import DBOSClient, WorkflowStatus
from dbos._error import DBOSException  # the base class of its errors has no public name

from instrc import problems
from instrc.engines.dbos import store
from instrc.engines.dbos.runner import POLL
from instrc.engines.run_table import RunTable
from instrc.engines.stores import RunStore
from instrc.problems.errors import NotFoundError
from instrc.runtime.answers import operator_faults, require_acceptable
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import Outcome, State
from instrc.runtime.journal import Journal
from instrc.runtime.plan import step_keys
from instrc.runtime.questions import Question, open_questions
from instrc.runtime.retry import RetryOptions, retry_of
from instrc.runtime.run_config import Launch, LaunchDocument, RunConfig, read_launch
from instrc.runtime.run_report import OPEN, RunReport, RunStatus, status_of
from instrc.text.jsonvalue import Json, JsonObject

_T = TypeVar("_T")
BROKEN_OFF = frozenset({"CANCELLED", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})
ENDED = BROKEN_OFF | {"SUCCESS"}
"""DBOS statuses of runs that ended without a result, and of all that ended."""
_ENDING = 3.0
"""Seconds for a process to end a run whose journal is complete; after that others enqueue it, as the process was killed."""


class StoreClient:
    """Reads a store, and sends retries to the process that carries its runs; the store is opened on first use."""

    def __init__(self, location: RunStore) -> None:
        self.location = location
        self.engine: sa.Engine | None = None
        self._client: DBOSClient | None = None
        self._is_there: bool = False

    def db(self) -> sa.Engine:
        """Return the store."""
        if self.engine is None:
            self.engine = self.location.open()
        return self.engine

    def client(self) -> DBOSClient:
        """Return the DBOS client of the store; it is cached, as creating one costs more than most queries."""
        if self._client is None:
            self._client = store.client_of(self.db())
        return self._client

    def close(self) -> None:
        """Close the store."""
        if self.engine is not None:
            store.close_engine(self.engine)
            self.engine = self._client = None
            self._is_there = False

    async def ask(self, question: Callable[[DBOSClient], _T]) -> _T:
        """Run a query of the store in a thread."""
        with store.trouble(self.location):
            return await asyncio.to_thread(question, self.client())

    async def is_there(self) -> bool:
        """Return whether this store has ever been used."""
        if not self._is_there and self.location.exists():
            with store.trouble(self.location):
                self._is_there = await asyncio.to_thread(store.has_tables, self.location, self.db())
        return self._is_there

    async def find(self, run: str) -> WorkflowStatus | None:
        """Return the row of a run."""
        if not await self.is_there():
            return None
        rows = await self.ask(lambda client: client.list_workflows(workflow_ids=[run]))
        return next((row for row in rows if row.name == store.WORKFLOW), None)

    async def row(self, run: str) -> WorkflowStatus:
        """Return the row of a run; raise `NotFoundError` if there is none."""
        row = await self.find(run)
        if row is None:
            raise NotFoundError([problems.runs.NoSuchRun(run=run, store=self.location.shown)])
        return row

    async def is_open(self, run: str, question: str, step: str, data: Json) -> bool:
        """Return whether a question is still open; raise `AnswerError` for an answer that does not fit."""
        row = await self.row(run)
        state, questions = await self.ask(lambda client: state_of(client, row, (question,)))
        held = next((each for each in questions if each.id == question and each.by == "operator"), None)
        plan = launch_of(row)["plan"]
        faults = partial(versions.faults, plan, state, question) if held is None else partial(operator_faults, held)
        wrong = await asyncio.to_thread(faults, data)
        if wrong:
            require_acceptable(wrong, step)
        return wrong is not None

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return the launch of a run and its journal."""
        row = await self.row(run)
        launch = launch_of(row)
        steps = await self.ask(lambda client: client.list_workflow_steps(run))
        return read_launch(launch, run), store.journal_of(launch, steps)

    async def retry(self, run: str, options: RetryOptions, table: Callable[[], RunTable]) -> store.Letter:
        """Record the retry, then enqueue a run that has ended; this order loses nothing."""
        launch, journal = await self.journal(run)
        row = await self._settled_row(run) if versions.outcome(launch.plan, journal.state) else await self.row(run)
        idle = max(time() - row.completed_at / 1000, 0.0) if row.completed_at else 0.0
        again = retry_of(run, journal, options, ended=row.status in BROKEN_OFF, idle=idle)
        for command in set(again.get("drop", ())) - set(again.get("fresh", ())):
            child, same = f"{run}/{journal.key(command)}", RetryOptions(model=options.model)
            is_other = command in again.get("anew", ()) and await self.find(child) is not None
            if is_other or not await self.retry_child(child, same, table):
                again["fresh"] = [*again.get("fresh", ()), command]
        letter = store.Letter(token_hex(16), run, {"again": cast("Json", again)})
        with store.trouble(self.location):
            await asyncio.to_thread(store.send, self.db(), letter)
        if row.status == "SUCCESS":
            steps = await self.ask(lambda client: client.list_workflow_steps(run))
            last = max((step["function_id"] for step in steps), default=0)
            with suppress(DBOSException):  # another process has just done so
                queue = store.queue_for(launch_of(row), is_local=self.location.is_local)
                await self.ask(lambda client: client.rewind_workflow(run, start_step=last + 1, queue_name=queue))
            if "/" not in run:
                entries = len(store.entries_of(launch_of(row), steps))
                await asyncio.to_thread(lambda: table().reopen(run, entries))
        return letter

    async def _settled_row(self, run: str) -> WorkflowStatus:
        """Return the row of a run whose journal has an end, once its carrier has ended it: that reads no more letters."""
        end = time() + _ENDING
        while (row := await self.row(run)).status == "PENDING" and time() < end:  # noqa: ASYNC110  -- another process ends it
            await asyncio.sleep(POLL)
        return row

    async def retry_child(self, run: str, options: RetryOptions, table: Callable[[], RunTable]) -> bool:
        """Retry a process that serves an activity before its parent; return `False` if a person refused in it."""
        child = await self.find(run)
        if child is None or child.status != "SUCCESS":
            return True
        if cast("Outcome", child.output)["status"] == "stopped":
            return False  # restarted under another key
        await self.retry(run, options, table)
        return True


def launch_of(row: WorkflowStatus) -> LaunchDocument:
    """Return the launch of a run."""
    assert row.input is not None
    launch: LaunchDocument = row.input["args"][0]
    return launch


def state_of(client: DBOSClient, row: WorkflowStatus, among: Collection[str] | None = None) -> tuple[State, list[Question]]:
    """Return the state of a run, and its questions, or those of some commands; one that no process has taken up asks nothing."""
    launch = launch_of(row)
    plan, journal = launch["plan"], store.journal_of(launch, client.list_workflow_steps(row.workflow_id))
    if row.executor_id is None or row.status in BROKEN_OFF or versions.outcome(plan, journal.state) is not None:
        return journal.state, []
    versions.advance(plan, journal.state)
    return journal.state, open_questions(plan, journal.state, journal.later, journal.held, among)


def report_of(client: DBOSClient, row: WorkflowStatus, *, children: list[WorkflowStatus] | None = None, whole: bool) -> RunReport:
    """Return the state of a run, with its record if `whole`."""
    launch = launch_of(row)
    outcome: Outcome | None = row.output if row.status == "SUCCESS" else None
    record: JsonObject | None = None
    questions: list[Question] = []
    if whole or outcome is None:
        state, questions = state_of(client, row)
        replayed = versions.outcome(launch["plan"], state) if row.status not in BROKEN_OFF else None
        outcome = outcome or replayed  # a later release may replay it to another one
        record = versions.record(launch["plan"], state) if whole else None
        for child in children or ():
            below = child.workflow_id.removeprefix(f"{row.workflow_id}/")
            if row.status not in BROKEN_OFF and child.status not in ENDED:
                questions += [asked.below(below) for asked in state_of(client, child)[1]]
    status: RunStatus = "cancelled" if row.status in BROKEN_OFF else outcome["status"] if outcome else status_of(questions)
    ended = row.completed_at / 1000 if row.completed_at and status not in OPEN else None  # only a turn of the run has ended
    began = row.created_at / 1000 if row.created_at else None
    config = RunConfig.from_json(launch["how"])
    steps = step_keys(launch["plan"]) if whole else ()
    return RunReport(launch["run"], launch["name"], status, outcome, tuple(questions), began, ended, config, record, steps)


def is_active(client: DBOSClient) -> Callable[[str], bool]:
    """Return a predicate of run ids: whether the run has not ended."""
    return lambda run: any(row.status not in ENDED for row in client.list_workflows(workflow_ids=[run]))
