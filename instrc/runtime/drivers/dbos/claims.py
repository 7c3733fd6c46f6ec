"""Which runs this process carries: each once, whoever asks for it, and whenever DBOS takes it by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from dbos import DBOSClient, WorkflowStatus

from instrc.runtime.drivers.dbos import store
from instrc.runtime.drivers.dbos.live import Live
from instrc.runtime.interpreter.documents import Outcome

_PATIENCE = 5.0
"""Seconds for DBOS to begin a run that it has taken."""


class Claims:
    """The runs that this process carries, or is about to carry."""

    def __init__(self, client: DBOSClient) -> None:
        self.client = client
        self.live: dict[str, Live] = {}
        self._executor = ""
        self._left: set[str] = set()
        """Runs that this executor has taken and left again."""

    def begin_anew(self, executor: str) -> None:
        """Note the name under which DBOS takes runs from now on."""
        self._executor = executor
        self._left.clear()

    async def take_up(self, run: str, begin: Callable[[], Awaitable[object]] | None = None) -> Live:
        """Carry a run that is recorded, or else `begin` it; one that has ended is left as it is."""
        if (known := self.live.get(run)) is not None:
            return known
        live = self.live[run] = Live()
        try:
            rows = await asyncio.to_thread(self.client.list_workflows, workflow_ids=[run])
            row = rows[0] if rows else None
            if row is None and begin is not None:
                await begin()
            elif row is None or row.status not in {"PENDING", "ENQUEUED"}:
                self._drop(run, live)
                return live
            elif row.status == "PENDING" and not await self._is_taken(row, live):  # else it is in the queue already
                await asyncio.to_thread(self.client.resume_workflow, run, queue_name=store.QUEUE)
        except BaseException:
            self.live.pop(run, None)
            raise
        if live.over and live.task is None:  # it was cancelled while it was put into the queue
            await self.cancel(run)
        return live

    async def _is_taken(self, row: WorkflowStatus, live: Live) -> bool:
        """Tell whether DBOS has taken a run out of the queue for this process; to put it there again would begin it twice."""
        if row.executor_id == self._executor and row.workflow_id not in self._left:
            with suppress(TimeoutError):
                await asyncio.wait_for(live.change.wait(), _PATIENCE)
        return live.task is not None

    def carried_by(self, run: str, task: asyncio.Task[Outcome | None]) -> Live | None:
        """Note the task that carries a run; `None` if another one does."""
        live = self.live.get(run)
        if live is None or live.over or (live.task is not None and live.task.done()):
            live = self.live[run] = Live()
        if live.task is not None:
            return None
        live.task = task
        live.change.set()
        self._left.discard(run)
        task.add_done_callback(lambda _task: self._end(run, live))
        return live

    async def cancel(self, run: str) -> None:
        """End a run, and those below it."""
        await asyncio.to_thread(self.client.cancel_workflow, run)
        for name, live in list(self.live.items()):
            if name == run or name.startswith(f"{run}/"):
                if live.task is not None:
                    live.task.cancel()
                else:
                    self._drop(name, live)

    def _end(self, run: str, live: Live) -> None:
        if live.task is None or live.task.cancelled():
            self._left.add(run)
        self._drop(run, live)

    def _drop(self, run: str, live: Live) -> None:
        if self.live.get(run) is live:
            del self.live[run]
        live.end()
