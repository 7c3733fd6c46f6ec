"""The one process that carries the runs of a store: DBOS, launched in an event loop of its own.

A `Runner` opens and closes DBOS, and takes what is asked of runs; `carrying` interprets each.
DBOS keeps which runs there are and what is recorded of each.  Runs are never recovered behind anybody's back: every process
is an executor of its own name, and a run goes on where somebody asks for it (`begin`, `resume`).
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections.abc import Coroutine
from contextlib import suppress
from secrets import token_hex
from typing import TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, SetWorkflowID

from instrc import problems
from instrc.jsonvalue import as_text
from instrc.problems.problem import CompileError
from instrc.runtime.drivers.dbos import mail, store
from instrc.runtime.drivers.dbos.carrying import MakeEffects, carry
from instrc.runtime.drivers.dbos.claims import Claims
from instrc.runtime.drivers.dbos.event_loop import EventLoopThread, LoopEndedError
from instrc.runtime.drivers.dbos.live import Live
from instrc.runtime.drivers.dbos.lock import HeldLock
from instrc.runtime.drivers.dbos.rest import Rest
from instrc.runtime.engine import LaunchDocument
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.questions import People

QUEUE_POLL = 0.5
"""Seconds between two looks for runs that are to go on; each is a query."""
_T = TypeVar("_T")


class Runner:
    """Carries runs in an event loop of its own; one in a process, one for a store."""

    current: Runner | None = None
    turn = threading.RLock()
    """Held by who opens one, or closes one to open another."""

    def __init__(
        self, location: store.StoreLocation, engine: sa.Engine, lock: HeldLock, make_effects: MakeEffects, people: People | None
    ) -> None:
        self.location = location
        self.engine = engine
        self.lock = lock
        self.make_effects = make_effects
        self.people = people
        self.client: DBOSClient = store.client_of(engine)
        self.claims: Claims = Claims(self.client)
        self.closing: bool = False
        self.loop: EventLoopThread = EventLoopThread("instrc-runner")
        self.rest: Rest = Rest(self)
        self._users = 0
        self._gate = threading.Lock()
        self._leaving = False

    def open(self) -> None:
        """Launch DBOS in the loop of this runner."""
        self.loop.start()
        with store.trouble(self.location):
            self.loop.wait(self._open())
        Runner.current = self
        atexit.register(self.close)

    async def _open(self) -> None:
        await self.launch()
        await asyncio.to_thread(mail.create, self.engine)
        self.rest.begin()

    async def launch(self) -> None:
        """Let DBOS carry runs."""
        executor = f"{store.APPLICATION}-{token_hex(6)}"
        self.claims.begin_anew(executor)
        config: DBOSConfig = {
            "name": store.APPLICATION,
            "system_database_url": self.location.url.render_as_string(hide_password=False),
            "system_database_engine": self.engine,
            "serializer": store.SERIALIZER,
            "application_version": store.APPLICATION,
            "executor_id": executor,
            "notification_listener_polling_interval_sec": QUEUE_POLL,
            "log_level": "CRITICAL",
        }
        library = logging.getLogger("dbos")
        if not library.handlers:  # else it writes to whatever standard error is now, closed or not when it writes next
            library.addHandler(logging.NullHandler())
        DBOS(config=config)
        DBOS.launch()
        await DBOS.register_queue_async(store.QUEUE, polling_interval_sec=QUEUE_POLL)

    def retire(self) -> bool:
        """Close, unless somebody uses it or a run does something; for who has the `turn`."""
        with self._gate:
            if self.closing:
                return True
            if not self.resting:
                return False
            self.closing = True
        self._close()
        return True

    def close(self) -> None:
        """Leave all runs as they are, to be continued, and give the store free."""
        with self.turn:
            with self._gate:
                if self.closing:
                    return
                self.closing = True
            self._close()

    def _close(self) -> None:
        atexit.unregister(self.close)
        with suppress(Exception):
            self.loop.wait(self.leave_runs())
        with suppress(Exception):
            DBOS.destroy()
        self.loop.end()
        Runner.current = None if Runner.current is self else Runner.current
        store.close_engine(self.engine)
        self.lock.release()

    async def leave_runs(self) -> None:
        """Carry no run any more; they are continued later."""
        self._leaving = True
        tasks = [live.task for live in self.live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        self._leaving = self.closing

    @property
    def leaving(self) -> bool:
        """Whether runs are left as they are, to be continued."""
        return self._leaving or self.closing

    def enter(self) -> bool:
        """Use this runner: it does not rest, and nobody closes it to open another; `False` if that has happened already."""
        with self._gate:
            self._users += not self.closing
            return not self.closing

    def leave(self) -> None:
        """Use it no more."""
        with self._gate:
            self._users -= 1

    @property
    def resting(self) -> bool:
        """Tell whether nobody uses this runner, and no run does anything but wait for people."""
        return not self._users and all(live.rest.is_set() for live in list(self.live.values()))

    async def away(self, work: Coroutine[object, object, _T]) -> _T:
        """Do something in the loop of this runner, from another loop."""
        try:
            return await self.loop.away(work)
        except LoopEndedError:
            problem = problems.runs.UnusableStore(store=self.location.shown, reason="this program has closed it")
            raise CompileError([problem]) from None

    @property
    def live(self) -> dict[str, Live]:
        """The runs that it carries, by their ids."""
        return self.claims.live

    async def begin(self, launch: LaunchDocument) -> Live:
        """Begin a run; one that was begun meanwhile goes on."""

        async def begin() -> None:
            with SetWorkflowID(launch["run"]):
                await DBOS.start_workflow_async(run_plan, launch)

        await self.rest.end()
        return await self.claims.take_up(launch["run"], begin)

    async def resume(self, run: str) -> Live:
        """Go on with a run, unless this process carries it already; one that has ended is left as it is."""
        await self.rest.end()
        live = await self.claims.take_up(run)
        self.rest.parked.pop(run, None)
        return live

    async def settled(self, live: Live) -> None:
        """Wait until a run has ended or waits for people."""
        await live.rest.wait()
        if live.error is not None:
            raise live.error

    async def take(self, letter: mail.Letter) -> bool:
        """Deliver an answer as soon as the run asks for it; `False` if it does not."""
        question, data = as_text(letter.body["answer"]), letter.body["data"]
        while (live := await self._carried(letter.run)) is not None:
            live.change.clear()
            recorded = live.port.take(question, data, letter.id) if live.port is not None else None
            if recorded is not None:
                assert live.task is not None
                either: set[asyncio.Future[bool] | asyncio.Task[Outcome | None]] = {recorded, live.task}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if not recorded.done() and (live.error is not None or self.leaving):
                    raise live.error or asyncio.CancelledError
                return recorded.done() and recorded.result()
            if live.rest.is_set():
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(live.change.wait(), 1)
        return False

    async def _carried(self, run: str) -> Live | None:
        """Return a run that this process carries; one that serves an activity as soon as the run above continues it."""
        while (live := self.live.get(run)) is None or live.over:
            above = self.live.get(run.rpartition("/")[0])
            if above is None or above.over or above.rest.is_set():
                return None
            await asyncio.sleep(0.02)
        return live

    async def cancel(self, run: str) -> None:
        """End a run."""
        await self.claims.cancel(run)


@DBOS.workflow(name=store.WORKFLOW, max_recovery_attempts=None)
async def run_plan(launch: LaunchDocument) -> Outcome | None:
    """Carry a run: the one workflow, which interprets every plan."""
    runner = Runner.current
    if runner is None or runner.leaving:
        raise asyncio.CancelledError
    return await carry(runner, launch)
