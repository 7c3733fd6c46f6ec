"""The one process that carries the runs of a store: DBOS, launched in an event loop of its own.

DBOS keeps which runs there are and what is recorded of each.  Runs are never recovered behind anybody's back: every process
is an executor of its own name, and a run goes on where somebody asks for it (`begin`, `resume`).
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, SetWorkflowID

from instrc import problems
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import as_text
from instrc.problems.problem import CompileError
from instrc.runtime.drive import drive
from instrc.runtime.drivers.dbos import mail, store
from instrc.runtime.drivers.dbos.journal import STEP, Entry, entries_of, rebuilt
from instrc.runtime.drivers.dbos.lock import Lock
from instrc.runtime.drivers.dbos.port import DurablePort
from instrc.runtime.effects import Child, Effects, child_inputs, child_result
from instrc.runtime.engine import Launch
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.plan import plan_of
from instrc.runtime.questions import People
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import begun_before, read_trace

QUEUE = "instrc"
"""Runs that go on, or that another process has begun, come to this process by it."""
WORKFLOW = "instrc-run"
QUEUE_POLL = 0.5
"""Seconds between two looks for runs that are to go on; each is a query, also while all runs wait."""
POLL = 0.2
"""Seconds between two looks at the mail."""
_T = TypeVar("_T")
Making = Callable[[str, Json, dict[str, Json]], Effects]


@dataclass(slots=True)
class Live:
    """A run that this process carries."""

    port: DurablePort | None = None
    task: asyncio.Task[Any] | None = None
    rest: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it waits for people, and when it has ended."""
    change: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False
    error: BaseException | None = None

    def resting(self, rests: bool) -> None:  # noqa: FBT001  -- a callback
        """Note whether it waits for people."""
        (self.rest.set if rests else self.rest.clear)()
        self.change.set()


class Runner:
    """Carries runs in an event loop of its own; one in a process, one for a store."""

    current: Runner | None = None

    def __init__(self, place: store.Place, engine: sa.Engine, lock: Lock, making: Making, people: People | None) -> None:
        self.place = place
        self.engine = engine
        self.lock = lock
        self.making = making
        self.people = people
        self.client: DBOSClient = store.client_of(engine)
        self.live: dict[str, Live] = {}
        self.closing = False
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="instrc-runner", daemon=True)
        self._poller: asyncio.Task[None] | None = None

    # --- begin and end --------------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Launch DBOS in the loop of this runner."""
        self._thread.start()
        with store.trouble(self.place):
            self.wait(self._launch())
        Runner.current = self
        atexit.register(self.close)

    async def _launch(self) -> None:
        config: DBOSConfig = {
            "name": store.APPLICATION,
            "system_database_url": self.place.url.render_as_string(hide_password=False),
            "system_database_engine": self.engine,
            "serializer": store.SERIALIZER,
            "application_version": store.APPLICATION,
            "executor_id": f"{store.APPLICATION}-{token_hex(6)}",
            "notification_listener_polling_interval_sec": POLL,
            "log_level": "CRITICAL",
        }
        library = logging.getLogger("dbos")
        if not library.handlers:  # else it writes to whatever standard error is now, closed or not when it writes next
            library.addHandler(logging.NullHandler())
        DBOS(config=config)
        DBOS.launch()
        await DBOS.register_queue_async(QUEUE, polling_interval_sec=QUEUE_POLL)
        await asyncio.to_thread(mail.create, self.engine)
        self._poller = asyncio.ensure_future(self._read_mail())

    def close(self) -> None:
        """Leave all runs as they are, to be gone on with, and give the store free."""
        if self.closing:
            return
        self.closing = True
        atexit.unregister(self.close)
        with suppress(Exception):
            self.wait(self._leave())
        with suppress(Exception):
            DBOS.destroy()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        Runner.current = None if Runner.current is self else Runner.current
        self.engine.dispose()
        self.lock.release()

    async def _leave(self) -> None:
        tasks = [live.task for live in self.live.values() if live.task is not None]
        tasks += [self._poller] if self._poller is not None else []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do something in the loop of this runner, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    @property
    def resting(self) -> bool:
        """Tell whether no run does anything but wait for people."""
        return all(live.rest.is_set() for live in list(self.live.values()))

    async def away(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do something in the loop of this runner, from another loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    # --- what is asked for ----------------------------------------------------------------------------------------------------

    async def begin(self, launch: Json) -> Live:
        """Begin a run."""
        live = self.live[launch["run"]] = Live()
        try:
            with SetWorkflowID(launch["run"]):
                await DBOS.start_workflow_async(run_plan, launch)
        except BaseException:
            self.live.pop(launch["run"], None)
            raise
        return live

    async def resume(self, run: str) -> Live:
        """Go on with a run, unless this process carries it already; one that has ended is left as it is."""
        if (live := self.live.get(run)) is None:
            live = self.live[run] = Live()
            try:
                rows = await asyncio.to_thread(self.client.list_workflows, workflow_ids=[run], status=["PENDING", "ENQUEUED"])
                if rows:
                    await asyncio.to_thread(self.client.resume_workflow, run, queue_name=QUEUE)
            except BaseException:
                self.live.pop(run, None)
                raise
            if not rows:
                self.live.pop(run, None)
                live.over = True
                live.rest.set()
        return live

    async def settled(self, live: Live) -> None:
        """Wait until a run has ended or waits for people."""
        await live.rest.wait()
        if live.error is not None:
            raise live.error

    async def take(self, letter: mail.Letter) -> bool:
        """Deliver an answer as soon as the run asks for it; `False` if it does not."""
        question, data = as_text(letter.body["answer"]), letter.body["data"]
        while (live := self.live.get(letter.run)) is not None and not live.over:
            live.change.clear()
            recorded = live.port.take(question, data, letter.id) if live.port is not None else None
            if recorded is not None:
                assert live.task is not None
                await asyncio.wait({recorded, live.task}, return_when=asyncio.FIRST_COMPLETED)
                if recorded.done():
                    return recorded.result()
                raise live.error or asyncio.CancelledError
            if live.rest.is_set():
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(live.change.wait(), 1)
        return False

    async def cancel(self, run: str) -> None:
        """End a run."""
        await asyncio.to_thread(self.client.cancel_workflow, run)
        for name, live in list(self.live.items()):
            if (name == run or name.startswith(f"{run}/")) and live.task is not None:
                live.task.cancel()

    # --- carrying -------------------------------------------------------------------------------------------------------------

    async def carry(self, launch: Json) -> Json:
        """Carry a run to its end; whatever goes wrong in this process leaves it as it is, to be gone on with."""
        live = self.live.setdefault(launch["run"], Live())
        task = live.task = asyncio.current_task()
        assert task is not None
        task.add_done_callback(lambda _task: self._over(launch["run"], live))
        try:
            return await self._carry(launch, live)
        except sa.exc.SQLAlchemyError as error:
            problem = problems.runs.UnusableStore(store=self.place.shown, reason=store.reason_of(error))
            live.error = CompileError([problem])
        except Exception as error:  # noqa: BLE001  -- told to whoever waits
            live.error = error
        raise asyncio.CancelledError

    def _over(self, run: str, live: Live) -> None:
        assert live.task is not None
        if live.error is None and not live.task.cancelled() and (error := live.task.exception()) is not None:
            live.error = error
        live.over = True
        if self.live.get(run) is live:
            del self.live[run]
        live.resting(True)  # noqa: FBT003  -- what the callback takes

    async def _carry(self, launch: Json, live: Live) -> Json:
        run, plan = launch["run"], launch["plan"]
        steps = await asyncio.to_thread(self.client.list_workflow_steps, run)
        journal = rebuilt(plan, launch["inputs"], entries_of(steps))
        for _ in range(max((step["function_id"] for step in steps), default=0)):
            DBOS.reserve_step()
        effects = self.making(run, plan, launch["how"])
        effects.child = self._child_of(launch, live, effects)
        port = live.port = DurablePort(effects, self.people, journal, _record, live.resting)
        if steps:
            effects.tell("resumed", steps=len(steps))
        port.begun = begun_before(read_trace(self.place.folder, run), run)
        for command in journal.unfired.values():
            await port.fire(command)
        outcome = await drive(plan, journal.state, port)
        await port.drain()
        effects.tell("ended", outcome=outcome)
        return outcome

    def _child_of(self, launch: Json, parent: Live, effects: Effects) -> Child:
        """Return what runs a process that serves an activity: as a run of its own, which is waited for."""

        async def child(run: str, process: Json, command: ActivityCommand) -> Result:
            found = await asyncio.to_thread(self.client.list_workflows, workflow_ids=[run])
            if not found:
                plan = plan_of(process, activities=effects.activities.names())
                begun = {**launch, "run": run, "name": command["called"], "plan": plan, "inputs": child_inputs(command, process)}
                live = await asyncio.create_task(self.begin(begun), context=Context())
            elif found[0].status == "SUCCESS":
                return child_result(found[0].output, command)
            else:
                live = await self.resume(run)
            try:
                return child_result(await self._outcome_of(live, parent), command)
            except asyncio.CancelledError:
                if not self.closing:
                    await asyncio.shield(self.cancel(run))
                raise

        return child

    async def _outcome_of(self, live: Live, parent: Live) -> Json:
        """Wait for a child; while it waits for people, its parent does as well."""
        port = parent.port
        assert port is not None
        while not live.over:
            await live.rest.wait()
            if not live.over:
                port.busy, port.resting = port.busy - 1, port.resting + 1
                port.deliver("", {})
                while live.rest.is_set() and not live.over:
                    live.change.clear()
                    await live.change.wait()
                port.busy, port.resting = port.busy + 1, port.resting - 1
                parent.resting(False)  # noqa: FBT003  -- what the callback takes
        if live.error is not None:
            raise live.error
        if live.task is None or live.task.cancelled():
            return {"status": "failed", "error": {"kind": "failed", "code": "cancelled", "message": "it was cancelled"}}
        return live.task.result()

    async def _read_mail(self) -> None:
        """Deal with what other processes send."""
        open_: dict[str, asyncio.Task[None]] = {}
        while True:
            await asyncio.sleep(POLL)
            open_ = {name: task for name, task in open_.items() if not task.done()}
            with suppress(sa.exc.SQLAlchemyError):
                for letter in await asyncio.to_thread(mail.unread, self.engine):
                    if letter.id not in open_:
                        open_[letter.id] = asyncio.ensure_future(self._deal_with(letter))

    async def _deal_with(self, letter: mail.Letter) -> None:
        """Do what a letter says; if that cannot be recorded now, the letter stays."""
        with suppress(Exception):
            taken = True
            if "cancel" in letter.body:
                await self.cancel(letter.run)
            else:
                await self.resume(letter.run.partition("/")[0])
                taken = await self.take(letter)
            await asyncio.to_thread(mail.settle, self.engine, letter.id, "taken" if taken else "refused")


async def _record(entry: Entry) -> None:
    await DBOS.run_step_async({"name": STEP}, _given, entry)


async def _given(entry: Entry) -> Entry:
    return entry


@DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
async def run_plan(launch: dict[str, Any]) -> Any:
    """Carry a run: the one workflow, which interprets every plan."""
    runner = Runner.current
    if runner is None or runner.closing:
        raise asyncio.CancelledError
    return await runner.carry(launch)


def launch_json(launch: Launch) -> dict[str, Json]:
    """Return what is kept of the beginning of a run."""
    inputs = redacted(launch.inputs)
    return {"run": launch.run, "name": launch.name, "plan": launch.plan, "inputs": inputs, "how": launch.how}
