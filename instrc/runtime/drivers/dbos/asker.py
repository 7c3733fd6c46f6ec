"""What is asked of a store, by a process that carries its runs and by any other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowStatus

from instrc import problems
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.runtime.drivers.dbos import store
from instrc.runtime.drivers.dbos.reports import launch_of, state_of
from instrc.runtime.engine import LaunchDocument
from instrc.runtime.interpreter import versions

_T = TypeVar("_T")


class StoreClient:
    """Reads a store, and asks those who carry its runs to begin one; it is opened when it is first needed."""

    def __init__(self, location: store.StoreLocation) -> None:
        self.location = location
        self._engine: sa.Engine | None = None

    def db(self) -> sa.Engine:
        """Return the store."""
        if self._engine is None:
            self._engine = store.open_engine(self.location)
        return self._engine

    def close(self) -> None:
        """Give the store free."""
        if self._engine is not None:
            store.close_engine(self._engine)
            self._engine = None

    async def ask(self, question: Callable[[DBOSClient], _T]) -> _T:
        """Ask the store something, in a thread."""
        with store.trouble(self.location):
            client = store.client_of(self.db())
            return await asyncio.to_thread(question, client)

    async def begin(self, run: str, launch: LaunchDocument) -> None:
        """Ask whoever carries the runs to begin one."""
        options: EnqueueOptions = {
            "workflow_name": store.WORKFLOW,
            "queue_name": store.QUEUE,
            "workflow_id": run,
            "app_version": store.APPLICATION,
        }
        await self.ask(lambda client: client.enqueue(options, launch))

    async def reach(self) -> None:
        """Make sure that the store can be asked."""
        with store.trouble(self.location):
            await asyncio.to_thread(lambda: self.db().connect().close())

    async def is_there(self) -> bool:
        """Tell whether anything was ever kept here."""
        if self.location.is_file and not self.location.file.exists():
            return False
        with store.trouble(self.location):
            return await asyncio.to_thread(store.has_tables, self.db())

    async def find(self, run: str) -> WorkflowStatus | None:
        """Return what is recorded of a run."""
        if not await self.is_there():
            return None
        rows = await self.ask(lambda client: client.list_workflows(workflow_ids=[run]))
        return next((row for row in rows if row.name == store.WORKFLOW), None)

    async def row(self, run: str) -> WorkflowStatus:
        """Return what is recorded of a run; that there is none is a problem."""
        row = await self.find(run)
        if row is None:
            raise CompileError([problems.runs.NoSuchRun(run=run, store=self.location.shown)])
        return row

    async def refuse_wrong(self, run: str, question: str, step: str, data: Json) -> None:
        """Refuse an answer that does not fit, or that nobody asks for any more."""
        row = await self.row(run)
        state, _ = await self.ask(lambda client: state_of(client, row))
        wrong = versions.faults(launch_of(row)["plan"], state, question, data)
        if wrong is None or wrong:
            at = wrong[0]["pointer"] if wrong else ""
            reason = wrong[0]["message"] if wrong else "it is not asked any more"
            raise CompileError([problems.runs.RejectedAnswer(step=step, pointer=at, reason=reason)])
