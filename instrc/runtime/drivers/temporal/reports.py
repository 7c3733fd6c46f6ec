"""How the runs on a server stand, as its workers say; nothing is changed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from time import time

from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from instrc import problems
from instrc.jsonvalue import JsonObject
from instrc.limits.runs import REPORT_TRIES
from instrc.problems.problem import CompileError
from instrc.runtime.drivers.temporal import names
from instrc.runtime.drivers.temporal.connection import trouble
from instrc.runtime.drivers.temporal.documents import Ended, Standing
from instrc.runtime.engine import RunReport
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.questions import Question, RunStatus

_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class ServerClient:
    """Asks a server and its workers."""

    client: Client
    prefix: str
    queue: str

    async def described(self, run: str) -> WorkflowExecutionDescription:
        """Return what the server knows of a run; that there is none is a problem."""
        missing = CompileError([problems.runs.NoSuchRun(run=run, store=f"the server, task queue `{self.queue}`")])
        with trouble():
            try:
                described = await self.client.get_workflow_handle(self.prefix + run).describe()
            except RPCError as error:
                if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
                    raise missing from None
                raise
        if described.workflow_type != names.WORKFLOW:
            raise missing
        return described

    async def report(self, described: WorkflowExecutionDescription) -> RunReport:
        """Return how a run stands."""
        return (await self.standing(described))[0]

    async def standing(self, described: WorkflowExecutionDescription) -> tuple[RunReport, bool]:
        """Return how a run stands, and whether it goes on only if somebody does something."""
        memo = await described.memo()
        run = described.id.removeprefix(self.prefix)
        outcome: Outcome | None = None
        record: JsonObject | None = None
        idle = True
        questions: list[Question] = []
        if described.status == WorkflowExecutionStatus.COMPLETED:
            with trouble():
                ended: Ended = await self.client.get_workflow_handle(described.id, run_id=described.run_id).result()
            outcome, record = ended["outcome"], ended["record"]
        elif described.status == WorkflowExecutionStatus.RUNNING:
            found = await self._asked(described.id)
            record, outcome = found["record"], found["outcome"]
            questions, idle = await self._questions(described.id, found)
        status: RunStatus = "running"
        if outcome is not None:
            status = outcome["status"]
        elif described.status != WorkflowExecutionStatus.RUNNING:
            status = "cancelled"
        elif questions:
            status = "waiting"
        ended_at = described.close_time.timestamp() if described.close_time else None
        began = described.start_time.timestamp()
        return RunReport(run, memo["name"], status, outcome, tuple(questions), began, ended_at, memo["how"], record), idle

    async def _asked(self, workflow: str) -> Standing:
        handle = self.client.get_workflow_handle(workflow)
        with trouble():
            for _ in range(REPORT_TRIES):
                with suppress(WorkflowQueryFailedError):
                    found: Standing = await handle.query(names.REPORT)
                    return found
                await asyncio.sleep(_PAUSE)
            last: Standing = await handle.query(names.REPORT)
            return last

    async def _questions(self, workflow: str, found: Standing) -> tuple[list[Question], bool]:
        """Return what a run waits for, with those that serve its activities; and whether it waits for nothing else."""
        questions = [Question(name, tuple(steps), show, schema, by) for name, steps, show, schema, by in found["questions"]]
        idle = found["idle"] or found["flying"] == len(found["children"]) > 0
        if found["due"] is not None and found["due"] <= time():
            idle = False  # the server is about to end a timer
        for child in found["children"]:
            try:
                below, waits = await self._questions(f"{workflow}/{child}", await self._asked(f"{workflow}/{child}"))
            except RPCError:
                return questions, False  # the server is about to begin it, or has ended it just now
            questions += [Question(f"{child}/{asked.id}", asked.steps, asked.show, asked.schema, asked.by) for asked in below]
            idle = idle and waits
        return questions, idle
