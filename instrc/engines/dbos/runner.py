"""The process that carries out the runs of a store: DBOS, launched in its own event loop."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from functools import partial
from secrets import token_hex
from socket import gethostname
from time import monotonic, time
from typing import TypeVar, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID
from dbos._core import execute_dequeued_workflow  # `begin_queued` says why
from dbos._dbos import _get_dbos_instance
from dbos._error import DBOSWorkflowIDInUseError  # it has no public name
from dbos._utils import GlobalParams

from instrc.engines.dbos import store
from instrc.engines.dbos.carrying import SERVER_PAUSE, Claims, DurablePort, Live, MakeEffects, WriterOf, carry
from instrc.engines.dbos.postgres import WorkerLock
from instrc.engines.projects import served_projects
from instrc.engines.stores import RunStore, StoreLock, StoreWatch
from instrc.problems.errors import UnavailableError
from instrc.runtime.engine_protocol import WorkerInfo, WorkerOptions
from instrc.runtime.interpreter.documents import Author, Outcome
from instrc.runtime.journal import Again
from instrc.runtime.run_config import LaunchDocument, RunConfig
from instrc.text.jsonvalue import as_text, optional_text

ResultT = TypeVar("ResultT")
LOST = "its server has ended the connection"
CLOSED = "this program has closed it"


class Runner:
    """Carries out runs in its own event loop; one per process and store."""

    current: Runner | None = None
    turn = threading.RLock()
    """Lock held while a runner is opened, or closed to open another one."""

    def __init__(
        self,
        location: RunStore,
        engine: sa.Engine,
        lock: StoreLock,
        make_effects: MakeEffects,
        writer_of: WriterOf,
        options: WorkerOptions | None = None,
    ) -> None:
        self.location = location
        self.engine = engine
        self.lock = lock
        self.make_effects = make_effects
        self.writer_of = writer_of
        self.client: DBOSClient = store.client_of(engine)
        self.options: WorkerOptions = options or WorkerOptions()
        self.shared: WorkerLock | None = lock if isinstance(lock, WorkerLock) else None
        self.claims: Claims = Claims(self.client, lock.queue)
        self.live: dict[str, Live] = self.claims.live
        """The runs that it carries out, by id."""
        self.closing: bool = False
        self.is_worker: bool = False
        """Whether it is listed as a worker, to which other processes leave runs."""
        self.is_lost: bool = False
        """Whether it is closed because its server has ended the connection."""
        self.loop: EventLoopThread = EventLoopThread("instrc-runner")
        self.rest: Rest = Rest(self)
        self._users = 0
        self._gate = threading.Lock()
        self._leaving = False
        self.draining: bool = False
        self.bound: set[str] = set()
        """Runs with objects of this process, which keeps them: another could not carry them."""
        self.parking: dict[str, asyncio.Event] = {}
        """Runs that are being parked, each with what is set when that is done."""

    def open(self) -> None:
        """Launch DBOS in the loop of this runner."""
        self.loop.start()
        with store.trouble(self.location), self.lock.alone():
            self.loop.wait(self._open())
        Runner.current = self
        atexit.register(self.close)

    async def _open(self) -> None:
        await self.launch()
        await asyncio.to_thread(store.create, self.engine)
        await asyncio.to_thread(store.index_children, self.engine)
        self.rest.watching = asyncio.ensure_future(self.rest.watch())

    async def launch(self) -> None:
        """Start DBOS."""
        executor = f"{store.APPLICATION}-{token_hex(6)}"
        self.claims.begin_anew(executor)
        config: DBOSConfig = {
            "name": store.APPLICATION,
            "system_database_url": self.location.address,
            "system_database_engine": self.engine,
            "serializer": DBOSPortableJSONSerializer(),
            "application_version": store.APPLICATION,
            "executor_id": executor,
            "notification_listener_polling_interval_sec": SLOW_POLL,
            "log_level": "CRITICAL",
        }
        library = logging.getLogger("dbos")
        if not library.handlers:  # otherwise it keeps the current standard error, which may be closed at the next write
            library.addHandler(logging.NullHandler())
        DBOS(config=config)
        DBOS.listen_queues([])  # `begin_queued` takes runs from them when there are any
        try:
            DBOS.launch()
        except BaseException:
            await asyncio.to_thread(_end_dbos)  # half of one can be neither used nor launched again
            raise

    def retire(self) -> bool:
        """Close the runner, unless it is in use or a run is active; the caller holds the `turn`."""
        with self._gate:
            if self.closing:
                return True
            if not self.resting:
                return False
            self.closing = True
        self._close()
        return True

    def close(self) -> None:
        """Suspend all runs, and release the store."""
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
            _end_dbos()
        if self.shared is not None:
            with suppress(Exception):
                self.shared.give_back()
        self.loop.end()
        Runner.current = None if Runner.current is self else Runner.current
        store.close_engine(self.engine)
        self.lock.release()

    async def leave_runs(self) -> None:
        """Suspend all runs, to be continued later."""
        self._leaving = True
        await self._end_tasks()
        self._leaving = self.closing

    async def drain(self) -> None:
        """Start nothing new, and suspend each run once its effects in flight have ended, or after a time limit."""
        self.draining = True
        for live in list(self.live.values()):
            if live.port is not None:
                live.port.deliver("", {})  # so that it notices
        tasks = [live.task for live in self.live.values() if live.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=self.options.drain)

    def leaves(self, run: str) -> bool:
        """Return whether a run is left suspended, to be continued."""
        root = run.partition("/")[0]
        return self._leaving or self.closing or self.draining or root in self.parking or root in self.claims.replaced

    async def park(self, run: str, due: float | None) -> None:
        """Release a waiting run: its memory, and on a server the claim of this process."""
        self.parking[run] = asyncio.Event()
        stays = self.shared is None or run in self.bound
        try:
            await self._end_tasks(run)
            if stays:
                self.rest.parked[run] = due
            else:
                await self.release(run, due)
        finally:  # after the task of an erring run, which parks itself, has ended: until then it seems to carry the run
            asyncio.get_running_loop().call_soon(lambda: self.parking.pop(run).set())

    async def _end_tasks(self, run: str | None = None) -> None:
        """Cancel the tasks of a run and its children, or of all runs, except the current task, and wait for them."""
        trees = [(name.partition("/")[0], live.task) for name, live in self.live.items()]
        tasks = [task for root, task in trees if run in {None, root} and task is not None and task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    async def release(self, run: str, due: float | None = None) -> None:
        """Release the claim of a run until it is answered, resumed or `due`."""
        if self.shared is not None:
            await asyncio.to_thread(self.shared.park, run, due)

    def enter(self) -> bool:
        """Mark this runner as in use, so that it is neither idle nor closed; return `False` if it is already closed."""
        with self._gate:
            self._users += not self.closing
            return not self.closing

    def leave(self) -> None:
        """Mark one use of this runner as ended."""
        with self._gate:
            self._users -= 1

    @property
    def resting(self) -> bool:
        """Return whether this runner is unused, and every run only waits for people."""
        return not self._users and all(live.rest.is_set() for live in list(self.live.values()))

    async def away(self, work: Coroutine[object, object, ResultT]) -> ResultT:
        """Run a coroutine in the loop of this runner, from another loop; errors of the store are problems."""
        try:
            with store.trouble(self.location):
                return await self.loop.away(work)
        except LoopEndedError:
            raise store.unusable(self.location, LOST if self.is_lost else CLOSED, may_return=self.is_lost) from None

    async def owns(self, run: str) -> bool:
        """Take a run for this process; return `False` if another worker of the store owns it."""
        return self.shared is None or await asyncio.to_thread(self.shared.take, run.partition("/")[0]) is None

    async def begin_new(self, launch: LaunchDocument) -> Live:
        """Start a run; raise `DBOSWorkflowIDInUseError` if there is one with its id."""

        async def begin() -> None:
            with SetWorkflowID(launch["run"], workflow_id_reuse_policy="reject"):
                await DBOS.start_workflow_async(run_plan, launch)

        await self.rest.end()
        return await self.claims.take_up(launch["run"], begin)

    async def begin(self, launch: LaunchDocument) -> Live:
        """Start a run, or resume one with its id."""
        try:
            return await self.begin_new(launch)
        except DBOSWorkflowIDInUseError:
            return await self.resume(launch["run"])

    async def resume(self, run: str) -> Live:
        """Resume a run, unless this process already carries it out; one that has ended is unchanged."""
        await self.rest.end()
        if (parked := self.parking.get(run.partition("/")[0])) is not None:
            await parked.wait()
        live = await self.claims.take_up(run)
        self.rest.parked.pop(run, None)
        self.rest.wake()
        return live

    async def settled(self, live: Live) -> None:
        """Wait until a run has ended or waits for people."""
        await live.rest.wait()
        if live.error is not None:
            raise live.error
        if self.is_lost:
            raise store.unusable(self.location, LOST)

    async def take(self, letter: store.Letter) -> bool:
        """Deliver an answer once the run asks for it; return `False` if it does not."""
        while (live := await self._carried(letter.run)) is not None:
            live.change.clear()
            recorded = _given(live.port, letter) if live.port is not None else None
            if recorded is not None:
                task = live.task
                assert task is not None
                either: set[asyncio.Future[bool] | asyncio.Task[Outcome | None]] = {recorded, task}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if not recorded.done() and live.task is not task:
                    continue  # another task continues the run
                if not recorded.done() and (live.error is not None or self.leaves(letter.run)):
                    raise live.error or asyncio.CancelledError
                return recorded.done() and recorded.result()
            if live.rest.is_set():
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(live.change.wait(), 1)
        return False

    async def _carried(self, run: str) -> Live | None:
        """Return a run that this process carries out; for a child, after its parent has continued it."""
        while (live := self.live.get(run)) is None or live.over:
            above = self.live.get(run.rpartition("/")[0])
            if above is None or above.over or above.rest.is_set():
                return None
            await asyncio.sleep(0.02)
        return live


def _given(port: DurablePort, letter: store.Letter) -> asyncio.Future[bool] | None:
    if "again" in letter.body:
        return port.begin_again(cast("Again", letter.body["again"]), letter.id)
    by, tag = cast("Author | None", letter.body.get("by")), optional_text(letter.body.get("tag"))
    return port.take(as_text(letter.body["answer"]), letter.body["data"], letter.id, by, tag)


_T = TypeVar("_T")
_PATIENCE = 1.0
"""Seconds for cancelled tasks to end, for each wait."""
_TIMES = 5


class LoopEndedError(Exception):
    """The loop has ended before or during a call."""


class EventLoopThread:
    """An event loop in a thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wait(self, work: Coroutine[object, object, _T]) -> _T:
        """Run a coroutine in this loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call(self, work: Callable[[], object]) -> None:
        """Call a function in this loop, unless it has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work)

    async def away(self, work: Coroutine[object, object, _T]) -> _T:
        """Run a coroutine in this loop, from another loop; the caller is not cancelled if this loop ends meanwhile."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise LoopEndedError from None
        waiter = asyncio.current_task()
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if waiter is None or waiter.cancelling():
                raise
            raise LoopEndedError from None

    def end(self) -> None:
        """Cancel pending work, and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_PATIENCE * (_TIMES + 1))

    def _serve(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            for _ in range(_TIMES):
                if not (left := asyncio.all_tasks(loop)):
                    break
                for task in left:
                    task.cancel()
                loop.run_until_complete(asyncio.wait(left, timeout=_PATIENCE))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


def idle_until(lives: Sequence[Live]) -> float | None:
    """Return when the next timer of a run or its children ends, infinity without one; `None` if they do anything but wait."""
    busy, due = 0, float("inf")
    for live in lives:
        if live.port is None or not live.port.is_idle:
            return None
        below = "/" in live.port.effects.run
        busy += live.port.busy - (below and not live.rest.is_set())  # the run above is processing it
        due = min(due, live.port.next_due or due)
    return None if busy else due


POLL = 0.2
"""Seconds between two polls of messages and the queue."""
SLOW_POLL = 1.0
"""Seconds between two polls while idle, where a poll is a query."""
LINGER = 5.0
"""Seconds for which all runs must wait for people before this process becomes idle."""
PARK_AFTER = 1.0
"""Minimum past and expected waiting time before a worker releases a run to the shared store, in seconds."""
BATCH = 10
"""Number of runs that a worker takes from the shared queue at once; others take some as well."""


class Rest:
    """The idle state of a runner, and the events that end it."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.asleep: bool = False
        self.parked: dict[str, float | None] = runner.claims.parked
        self._since = self._looked = monotonic()
        self._turning = asyncio.Lock()
        self._letters: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self._idle: dict[str, float] = {}
        """Since when runs only wait."""
        self.begun: set[str] = set()
        """Runs that were taken from a queue, until they are left or end."""
        self._missed: set[str] = set()
        """Own runs that were not carried at the last look: if they still are not at the next, the server was away meanwhile."""
        self._began = time()
        self.slots: int | None = runner.options.slots or None if runner.shared is None else None
        """How many runs of a folder are carried at once; on a server it is known before runs are drawn."""
        self._awake = asyncio.Event()
        self.watching: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(thread_name_prefix="instrc-rest")

    async def end(self) -> None:
        """Launch DBOS, if necessary."""
        self._since = monotonic()
        async with self._turning:
            if self.asleep:
                await self.runner.launch()
                self.asleep = False

    def wake(self) -> None:
        """Poll at once: this process's queue is not empty."""
        self._awake.set()

    async def watch(self) -> None:
        """Poll the store for queued runs and messages until the loop ends."""
        watch = self.runner.location.watch(self.runner.engine)
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), SLOW_POLL if self.asleep and watch is None else POLL)
                with suppress(Exception):  # the next request reports an error of the store
                    await self._look(watch)
        finally:
            if watch is not None:
                watch.close()

    async def _look(self, watch: StoreWatch | None) -> None:
        woken = self._awake.is_set()
        self._awake.clear()
        if changed := watch is None or watch.changed():
            await self._read()
        for run in [run for run, due in self.parked.items() if due is not None and due <= time()]:
            await self.runner.resume(run)
        if not self.runner.draining:
            busy = await self._park_idle()
            if self.runner.shared is not None:
                changed = await self._share(self.runner.shared, busy)
            if changed or woken or self.slots is not None:
                await self._begin_queued(busy)
        if self._letters or not self.runner.resting:
            self._since = monotonic()
        elif not self.asleep and monotonic() > self._since + LINGER:
            await self._begin()

    async def _share(self, lock: WorkerLock, busy: int) -> bool:
        """Take as many runs as there are free slots, and look periodically for those of dead workers.

        Return whether this process's queue may have runs: others seldom put one there, so that is polled slowly.
        """
        slots = self.runner.options.slots
        free = BATCH if slots is None else min(slots - busy, BATCH)
        drawn = await asyncio.to_thread(lock.draw, served_projects(), free) if free > 0 else 0
        if drawn and drawn == free:
            self.wake()
        if is_due := monotonic() > self._looked + SLOW_POLL:
            self._looked = monotonic()
            held = await asyncio.to_thread(lock.rescue, self._missed - self._carried())
            self._missed = held - self._carried()
            if self.runner.is_worker:
                await asyncio.to_thread(lock.beat, self.info(busy))
        return is_due or drawn > 0

    async def _begin_queued(self, busy: int) -> None:
        """Start the runs in this process's queue."""
        runner = self.runner
        queue = runner.lock.queue
        if await asyncio.to_thread(store.has_queued, runner.engine, runner.location.schema, queue):
            await self.end()
            await runner.claims.begin_queued(partial(begin_queued, queue, self.slots, busy, runner.claims.resumed, self.begun))

    async def _park_idle(self) -> int:
        """Park runs that have only waited for a while; return the number of active ones."""
        trees: dict[str, list[Live]] = {}  # by root run
        for name, live in self.runner.live.items():
            trees.setdefault(name.partition("/")[0], []).append(live)
        idle = {run: due for run, lives in trees.items() if (due := idle_until(lives)) is not None}
        self._idle = {run: self._idle.get(run, monotonic()) for run in idle}
        answered = {run for run, _ in self._letters.values()}
        for run, due in idle.items():
            lasts = self._idle[run] < monotonic() - PARK_AFTER and due > time() + PARK_AFTER and run not in answered
            if lasts and idle_until(trees[run]) is not None:  # it may have been answered while others were parked
                await self.runner.park(run, None if due == float("inf") else due)
        queued = {run for run, lives in trees.items() if self.slots is not None and any(live.task is None for live in lives)}
        taken = {run for run in self.begun if (entry := self.runner.live.get(run)) is None or entry.task is None}
        return len((trees.keys() - queued | taken) - idle.keys())  # what waits for a slot, itself or for its process, takes none

    def _carried(self) -> set[str]:
        """Return the runs that this process carries, will carry, or cannot carry."""
        return {name.partition("/")[0] for name in self.runner.live} | self.begun | self.parked.keys() | self.runner.claims.unable

    def info(self, busy: int) -> WorkerInfo:
        """Return what is listed of this worker."""
        host, process, serves, slots = gethostname(), os.getpid(), sorted(served_projects()), self.runner.options.slots
        name = self.runner.options.name or f"{host}-{process}"
        return WorkerInfo(name=name, host=host, process=process, projects=serves, slots=slots, busy=busy, began=self._began)

    async def _read(self) -> None:
        """Process messages from other processes."""
        found = await asyncio.to_thread(store.addressed, self.runner.engine)
        runs = {run for letter, run in found if letter not in self._letters}
        if (lock := self.runner.shared) is not None:
            own = await asyncio.to_thread(lock.own, {run.partition("/")[0] for run in runs}, served_projects())
            runs = {run for run in runs if run.partition("/")[0] in own}
        for letter in [each for run in runs for each in await asyncio.to_thread(store.unread, self.runner.engine, run)]:
            if letter.id not in self._letters:
                task = asyncio.ensure_future(self._deal_with(letter))
                self._letters[letter.id] = letter.run.partition("/")[0], task
                task.add_done_callback(lambda _task, name=letter.id: self._letters.pop(name, None))  # type: ignore[misc]  # a default is not inferred

    async def _begin(self) -> None:
        """Suspend the runs, all of which wait, and end DBOS."""
        async with self._turning:
            if not self.runner.resting:
                return
            for name, live in self.runner.live.items():
                root = name.partition("/")[0]
                dues = (self.parked.get(root), None if live.port is None else live.port.next_due)
                self.parked[root] = min((due for due in dues if due is not None), default=None)
            self.asleep = True
            await self.runner.leave_runs()
            asyncio.get_running_loop().set_default_executor(self._threads)  # DBOS has put its own there, and ends it now
            await asyncio.to_thread(_end_dbos)

    async def _deal_with(self, letter: store.Letter) -> None:
        """Process a message; if the result cannot be recorded now, keep the message."""
        with suppress(Exception):
            taken, is_again = True, "again" in letter.body
            if "cancel" in letter.body:
                await self.runner.claims.cancel(letter.run)
            else:
                row = await self.runner.claims.row(letter.run) if is_again else None
                if is_again and (row is None or row.status not in {"PENDING", "ENQUEUED"}):
                    return  # it is about to continue, and will read its messages itself
                live = await self.runner.resume(letter.run.partition("/")[0])
                taken = await self.runner.take(letter)
                if not taken and (is_again or isinstance(live.error, (sa.exc.SQLAlchemyError, UnavailableError))):
                    return  # it is continued, here or elsewhere, and asks again
            await asyncio.to_thread(store.settle, self.runner.engine, letter.id, "taken" if taken else "refused")


def _end_dbos() -> None:
    """End DBOS; of two calls at once, as DBOS itself cannot take them, the second finds nothing to end."""
    with _ENDING:
        DBOS.destroy()


_ENDING = threading.Lock()


def begin_queued(queue: str, slots: int | None, busy: int, resumed: set[str], begun: set[str]) -> list[str]:
    """Take the runs out of a queue, at most as many as have slots, as DBOS does after each polling interval; return them.

    Each is added to `begun` before it begins, unless it does not, as it was cancelled meanwhile.
    Those started before, perhaps by a process that has died, are added to `resumed`.
    """
    dbos, owner = _get_dbos_instance(), token_hex(16)
    own = copy(dbos._registry.get_internal_queue())  # noqa: SLF001  -- DBOS has no public way to look into a queue at once
    own.name, own._worker_concurrency = queue, slots  # noqa: SLF001  -- as above
    executor, version = GlobalParams.executor_id, GlobalParams.app_version
    system = dbos._sys_db  # noqa: SLF001  -- as above
    taken, _ = system.start_queued_workflows(own, executor, version, None, busy, owner_xid=owner)
    for status in system.get_workflow_statuses(taken) if taken else ():
        if (status["recovery_attempts"] or 0) > 1:
            resumed.add(status["workflow_uuid"])
        if status["status"] == "PENDING":
            begun.add(status["workflow_uuid"])
        execute_dequeued_workflow(dbos, status, owner)
    return taken


@DBOS.workflow(name=store.WORKFLOW, max_recovery_attempts=None)
async def run_plan(launch: LaunchDocument) -> Outcome | None:
    """Carry out a run: the only workflow, which interprets every plan."""
    runner = Runner.current
    if runner is None:
        raise asyncio.CancelledError
    try:
        return await _carry_here(runner, launch)
    except sa.exc.SQLAlchemyError:  # DBOS would record it as the end of the run
        await asyncio.sleep(SERVER_PAUSE)
        with suppress(sa.exc.SQLAlchemyError):  # a server that is away loses this worker's lock, so others take the run
            if runner.shared is not None and "/" not in launch["run"]:
                await runner.park(launch["run"], runner.claims.retry_at(launch["run"]))
        raise asyncio.CancelledError from None
    finally:
        runner.rest.begun.discard(launch["run"])
        runner.bound.discard(launch["run"])


async def _carry_here(runner: Runner, launch: LaunchDocument) -> Outcome | None:
    """Carry out a run, unless it is left, or another worker already does or serves its project."""
    if runner.leaves(launch["run"]):
        await runner.claims.carried_by(launch["run"])  # by a task that ends at once
        raise asyncio.CancelledError
    if runner.shared is not None:
        live = runner.live.get(launch["run"])
        owned = live is not None and live.is_new  # it was taken before it was started
        elsewhere = None if owned else await asyncio.to_thread(runner.shared.take, launch["run"].partition("/")[0])
        config = RunConfig.from_json(launch["how"])
        if elsewhere is None and config.project is not None and config.project not in served_projects():
            elsewhere = store.queue_of(config.project)
        if elsewhere is not None:
            await asyncio.to_thread(runner.shared.hand_over, launch["run"], elsewhere, GlobalParams.executor_id)
            raise asyncio.CancelledError
        if config.local:
            runner.bound.add(launch["run"])
    return await carry(runner, launch)
