"""The engine `durable`: runs survive the process that carries them out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import monotonic, time
from typing import NoReturn, TypeVar, Unpack, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, WorkflowStatus
from dbos._error import DBOSWorkflowIDInUseError  # has no public name
from msgspec import structs

from instrc import problems
from instrc.engines.approvals import OwnOpening
from instrc.engines.dbos import schedules, store
from instrc.engines.dbos.postgres import workers_of
from instrc.engines.dbos.run_rows import AT_ONCE, RunRows, SharedBudget
from instrc.engines.dbos.runner import LOST, POLL, Runner
from instrc.engines.dbos.store_client import ENDED, StoreClient, is_active, launch_of, report_of, state_of
from instrc.engines.deletion import require_deletable
from instrc.engines.event_writer import EventWriter
from instrc.engines.places import store_of
from instrc.engines.projects import serve_runs_of
from instrc.engines.run_table import RunTable, runs_query
from instrc.engines.schedules import Clock, Overlap, Schedule, require_name
from instrc.engines.service_tables import AUDIT, RUNS
from instrc.engines.stores import USUAL_FOLDER, RunStore
from instrc.problems.errors import ConflictError, InstrcError, NotFoundError, UnavailableError
from instrc.runtime.answers import copy_answer, find_question
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import EngineOptions, Equip, TracedEngine, WorkerInfo, WorkerOptions
from instrc.runtime.interpreter.documents import Author, PinnedPlan
from instrc.runtime.journal import Journal
from instrc.runtime.models.budget import CountedBudget, MoneyBudget
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.questions import Question, read_shown_id
from instrc.runtime.retry import RetryOptions, refuse_cancelled
from instrc.runtime.run_config import Launch, LaunchDocument, RunConfig, read_launch
from instrc.runtime.run_report import OPEN, RunFilter, RunReport
from instrc.runtime.traces import TRACE_BYTES, Sink, TracePage, join_sinks, trace_file, usage_of
from instrc.text.jsonvalue import Json, JsonObject

_PATIENCE = 15.0
"""Seconds to wait for a worker to receive a message."""
_LOOK = 2.0
"""Seconds between two checks by a worker for its database server."""


_T = TypeVar("_T")


class DurableEngine(TracedEngine):
    """Runs in a store that outlives this process; with `keep="open"` no traces are written."""

    def __init__(self, where: Path | str | None, equip: Equip, **options: Unpack[EngineOptions]) -> None:
        self.place: Path | str = where or USUAL_FOLDER
        self.location: RunStore = store_of(self.place)
        self.asker: StoreClient = StoreClient(self.location)
        self._parts: store.PartExchange = store.PartExchange(self.asker.db)
        super().__init__(self.location.folder, equip, {**options, "parts": self._parts.beside(options.get("parts"))})
        self._runner: Runner | None = None
        self.rows: RunRows = RunRows(self.place, self.location)
        self.worker: WorkerOptions = options.get("worker", WorkerOptions())
        self._fronts: bool = self.worker.slots == 0 and not self.location.is_local
        """Whether other processes carry all runs, so that nothing here waits for them."""
        self.starts_by_queue: bool = self._fronts or (self.location.is_local and bool(self.worker.slots))
        """Whether `start` returns as soon as a run is in the queue, and does not wait for what it does."""
        self._works: bool = self._fronts
        """Whether it is a worker; a process that is none leaves a run to the workers of its project."""
        self._served: tuple[float, set[str | None]] = (-_LOOK, set())
        """The projects that living workers serve, and when that was asked."""
        self._events: EventWriter = EventWriter(partial(store.insert_events, self.asker.db))

    def trace_from(self, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
        """Return the events of a run after a cursor, whichever machine wrote them, and the new cursor."""
        self._events.flush()
        with self._reading() as engine, store.trouble(self.location):
            return store.trace_from(self.location, engine, run, place, most)

    def use_table(self, table: RunTable, opening: OwnOpening) -> None:
        """Record runs in the table of a service, whose `opening` returns who may answer."""
        self.rows.use(table, opening)

    def table(self) -> RunTable:
        """Return the run table: in the database of the runs, or in a file next to them."""
        return self.rows.table()

    async def fill(self) -> bool:
        """Write the runs of an earlier release into the table; `False` if there are none."""
        return await self.rows.fill(self.asker, self._report_of)

    async def write_row(self, run: str) -> None:
        """Write the state of a run from its journal, if the process carrying it out has not done so."""
        row = await self.asker.row(run)

        def write(client: DBOSClient) -> None:
            entries = store.entries_of(launch_of(row), client.list_workflow_steps(run))
            if row.status not in ENDED:
                self.rows.writer_of(launch_of(row), entries).write(state_of(client, row)[1])

        await self.asker.ask(write)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:
        """Return partial answers written by other processes since the last call, for the given runs, or for all if one is ""."""
        with self._reading() as engine:
            return self._parts.read(engine, runs)

    def sink(self) -> Sink:
        """Return the sink of a run's events: the traces, in the folder or on the server, and the watchers."""
        return super().sink() if self.location.is_local or self.keep != "all" else join_sinks(self._events, self.watch)

    def usage(self, run: str) -> dict[str, float] | None:
        """Return the recorded model usage of a run and its children."""
        with self._reading(), store.trouble(self.location):
            client = self.asker.client()
            names = [run, *store.runs_below(self.asker.db(), self.location.schema, [run])]
            entries = [entry for name in names for entry in store.recorded_entries(client.list_workflow_steps(name))]
        return usage_of(result for entry in entries for _, result in entry.get("results", ()))

    @contextmanager
    def _reading(self) -> Iterator[sa.Engine]:
        """Open the store temporarily, and close it afterwards if nothing else in this process uses it."""
        was_open = self.asker.engine is not None
        try:
            yield self.asker.db()
        finally:
            if not was_open:
                self.asker.close()

    async def start(self, launch: Launch) -> RunReport:
        """Start a run, and wait until it ends or waits for a person; an identical earlier run continues."""
        begun = launch.to_json()
        if self.starts_by_queue:
            return await self.enqueue(launch)
        async with self._carrier_with_tables(launch.run, launch.config.project) as runner:
            if runner is None:
                is_new = await self.asker.find(launch.run) is None
                await self.enqueue(launch)
                return await (self._attend(launch.run, 0) if is_new else self.resume(launch.run))
            is_new = await runner.away(_start(runner, begun))
        row = await self.asker.row(launch.run)
        _refuse_another(row, begun)  # another process or thread may just have started one
        return await (self._report_of(row, whole=True) if is_new else self.resume(launch.run))

    async def enqueue(self, launch: Launch, audited: Sequence[Mapping[str, object]] = ()) -> RunReport:
        """Enqueue a run for its project, and report its start; a worker takes it from there.

        For a new run, rows of the audit log are written with its row.
        """
        if not await self.asker.is_there():
            await asyncio.to_thread(self._prepare)
        if not await self.asker.ask(lambda client: self._put(client, launch.to_json(), audited)):
            return await self.show(launch.run)
        if (runner := self._runner_here()) is not None:
            runner.loop.call(runner.rest.wake)
        return RunReport(launch.run, launch.name, "running", None, began=time(), config=launch.config)

    def _put(self, client: DBOSClient, begun: LaunchDocument, audited: Sequence[Mapping[str, object]] = ()) -> bool:
        """Enqueue a run unless it has already started; return whether it was enqueued.

        On a server its row is written in the same transaction; a folder has the table in another file.
        """
        table, is_local = self.rows.table(), self.location.is_local
        with self.asker.db().begin() as connection:
            is_new = store.enqueue(client, connection, begun, is_local=is_local)
            changes = self.rows.add(connection, begun, audited) if is_new and not is_local else []
            if is_new and is_local and audited:  # a run that is in the queue begins, whatever becomes of this process
                table.execute(sa.insert(AUDIT).values([*audited]))
        if is_new and is_local:
            with table.writing() as connection:
                changes = self.rows.add(connection, begun, ())
        table.publish(changes)
        if not is_new:
            for row in client.list_workflows(workflow_ids=[begun["run"]]):
                _refuse_another(row, begun)
        return is_new

    def _prepare(self) -> None:
        """Create the tables of the store under a lock."""
        with store.trouble(self.location):
            lock = self.location.lock(self.asker.db())
            if lock is not None:
                with ExitStack() as stack:
                    stack.callback(lock.release)
                    stack.enter_context(lock.alone())
                    DBOS.migrate(self.location.address)
                    store.create(self.asker.db())
                    store.index_children(self.asker.db())

    async def workers(self) -> list[WorkerInfo]:
        """Return the live workers of the store; the process that owns a folder's runs is not one."""
        if self.location.is_local or not await self.asker.is_there():
            return []
        return await self.asker.ask(lambda _: workers_of(self.asker.db()))

    async def queue(self) -> list[tuple[str, int, float]]:
        """Return the number of runs that wait for a worker, by project, and since when; a folder has none."""
        if self.location.is_local or not await self.asker.is_there():
            return []
        return await self.asker.ask(lambda _: store.queue_in(self.asker.db(), self.location.schema))

    async def unserved(self, runs: Mapping[str, str | None]) -> dict[str, str]:
        """Return the running runs, given with their projects, that wait for a worker; none for a folder."""
        if self.location.is_local or not runs:
            return {}
        served = await self._served_by_workers()
        waiting = [run for run, project in runs.items() if project not in served]
        if waiting:
            rows = await self.asker.ask(lambda client: client.list_workflows(workflow_ids=waiting, status="ENQUEUED"))
            waiting = [row.workflow_id for row in rows if row.queue_name != store.PARKED]
        return {run: runs[run] or "" for run in waiting}

    async def _served_by_workers(self) -> set[str | None]:
        """Return the projects that living workers serve; any worker serves runs without a project, `None`."""
        now = monotonic()
        if now > self._served[0] + _LOOK:
            self._served = now, {name for each in await self.workers() for name in (None, *each.projects)}
        return self._served[1]

    async def run_ids(self, chosen: RunFilter) -> list[str]:
        """Return the ids of the selected runs, latest first, from the table."""
        if not await self.fill():
            return []
        return await asyncio.to_thread(lambda: self.table().names(runs_query(chosen)))

    async def runs(self, chosen: RunFilter | None = None) -> list[RunReport]:
        """Return the selected runs, latest first; only their journals are read."""
        names = await self.run_ids(chosen or RunFilter())
        reports: list[RunReport] = []
        for first in range(0, len(names), AT_ONCE):
            page = names[first : first + AT_ONCE]
            rows = await self.asker.ask(lambda client, page=page: client.list_workflows(workflow_ids=page))  # type: ignore[misc]  # as above
            known = {row.workflow_id: row for row in rows}
            reports += [await self._report_of(known[name]) for name in page if name in known]
        return reports

    async def counts(self) -> dict[str, int]:
        """Return the number of stored runs, by program."""
        if not await self.fill():
            return {}
        return await asyncio.to_thread(lambda: self.table().count_by(RUNS.c.program))

    async def _report_of(self, row: WorkflowStatus, *, whole: bool = False) -> RunReport:
        """Return the state of a run, with the questions of its children; with its record if the `whole` is requested."""
        below = [] if row.status in ENDED else await self._below(row.workflow_id)
        return await self.asker.ask(lambda client: report_of(client, row, children=below, whole=whole))

    async def _below(self, run: str) -> list[WorkflowStatus]:
        names = await self.asker.ask(lambda _: store.runs_below(self.asker.db(), self.location.schema, [run]))
        return await self.asker.ask(lambda client: client.list_workflows(workflow_ids=names)) if names else []

    async def show(self, run: str, *, whole: bool = True) -> RunReport:
        """Return the state of a run, with the questions of the processes that serve its activities."""
        return await self._report_of(await self.asker.row(run), whole=whole)

    async def answer(self, run: str, step: str, data: Json, by: Author | None = None) -> RunReport:
        """Answer a question of a run; this process continues the run if no other carries it."""
        data = await asyncio.to_thread(copy_answer, step, data)
        row = await self.asker.row(run)
        report = await self._report_of(row, whole=True)
        question = find_question(list(report.questions), step, run, report)
        step, (child, slash, asked) = read_shown_id(step)[0], question.id.rpartition("/")
        owner = f"{run}/{child}" if slash else run
        if not await self.asker.is_open(owner, asked, step, data):
            await self._refuse_late(run, step, question)
        if question.by == "operator" and isinstance(data, dict) and "retry" in data:
            await self.asker.retry_child(f"{owner}/{(await self.journal(owner))[1].key(asked)}", RetryOptions(), self.table)
        body: JsonObject = {"answer": asked, "tag": question.tag, "data": data}
        letter = store.Letter(token_hex(16), owner, body if by is None else {**body, "by": cast("Json", by)})
        async with self._carrier(run, _project_of(row)) as runner:
            if runner is not None:
                taken = await runner.away(_deliver_answer(runner, letter, run.partition("/")[0]))
        if runner is None:
            place = await self._end_of_events(run)
            with store.trouble(self.location):
                await asyncio.to_thread(store.send, self.asker.db(), letter)
            taken = await self._delivered(letter, _project_of(row))
            if taken and not self._works:
                await self._attend(run, place)
        if not taken:
            await self._refuse_late(run, step, question)
        return await self.show(run)

    async def _refuse_late(self, run: str, step: str, question: Question) -> NoReturn:
        """Raise for an answer to a question that another answer has closed, or that shows another value now."""
        report, shown = await self.show(run), question.shown_id
        find_question([each for each in report.questions if each.shown_id != shown], f"{step}@{question.tag}", run, report)
        raise NotFoundError([problems.runs.NoSuchQuestion(run=run, step=step, open=())])

    async def cancel(self, run: str) -> RunReport:
        """Cancel a run and its children; one that has ended is unchanged."""
        row = await self.asker.row(run)
        if row.status not in ENDED:
            runner = self._runner_here()
            names = [each.workflow_id for each in (row, *await self._below(run)) if each.status not in ENDED]
            await self.asker.ask(lambda client: client.cancel_workflows(names))
            if runner is not None and await runner.owns(run) and runner.enter():
                try:
                    await runner.away(runner.claims.cancel(run))
                finally:
                    runner.leave()
            else:
                with store.trouble(self.location):
                    await asyncio.to_thread(store.send, self.asker.db(), store.Letter(token_hex(16), run, {"cancel": True}))
        report = await self.show(run)
        if "/" not in run:
            await self.rows.note(report, launch_of(row))
        return report

    async def resume(self, run: str) -> RunReport:
        """Continue a run until it ends or waits, unless another process carries it."""
        row = await self.asker.row(run)
        if row.status == "CANCELLED":
            refuse_cancelled(run)
        if row.status not in ENDED:
            async with self._carrier(run, _project_of(row)) as runner:
                if runner is not None:
                    await runner.away(_settle(runner, runner.resume(run.partition("/")[0])))
            if runner is None:
                return await self._attend(run, await self._end_of_events(run))
        return await self.show(run)

    async def launch(self, run: str) -> Launch:
        """Return the beginning of a run."""
        return read_launch(launch_of(await self.asker.row(run)), run)

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return the launch of a run and its journal."""
        return await self.asker.journal(run)

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Retry a run that has failed or is held, starting with the processes that serve its activities."""
        launch, _ = await self.journal(run)
        place = await self._end_of_events(run)
        async with self._carrier(run, launch.config.project) as runner:
            if runner is not None:  # a run that this process cannot carry out stays unchanged
                self._make_effects(run, launch.plan, launch.config)
            letter = await self.asker.retry(run, options, self.table)
            if runner is not None:
                await runner.away(_deliver_answer(runner, letter, run.partition("/")[0]))
        if runner is None:
            await self._delivered(letter, launch.config.project)
        return await (self._attend(run, place) if runner is None else self.resume(run))

    async def delete(self, run: str) -> None:
        """Delete a run that has ended, and its children."""
        await require_deletable(self.show(run, whole=False), run, self.place)
        await self.delete_all([run])

    async def delete_all(self, runs: Sequence[str]) -> None:
        """Delete ended runs, by the run table, and their children, together: pass some hundred at most.

        Raise `ConflictError` if one was continued since it was looked up. One whose end DBOS is about to record has ended.
        """
        await asyncio.to_thread(self._events.flush)
        with store.trouble(self.location):
            named, going = ["", *runs], ["PENDING", "ENQUEUED"]  # an empty list would be of all
            rows = await self.asker.ask(lambda client: client.list_workflows(workflow_ids=named, status=going))
            states = [await asyncio.to_thread(self.table().run, row.workflow_id) for row in rows]
            for state in states:
                if state is not None and state.status in OPEN:
                    raise ConflictError([problems.runs.RunGoesOn(run=state.run, status=state.status)])
            names = [*runs, *await asyncio.to_thread(store.runs_below, self.asker.db(), self.location.schema, runs)]
            await self.asker.ask(lambda client: client.delete_workflows(names))
            await asyncio.to_thread(store.forget, self.asker.db(), names)
            for run in runs:
                await asyncio.to_thread(trace_file(self.location.folder, run).unlink, missing_ok=True)
            await asyncio.to_thread(self.table().forget_all, runs)  # last: a deletion that is interrupted is begun again by it

    async def reach(self) -> None:
        """Check that the database server responds; raise `UnreachableError` if not.

        The local runner is closed if the server has dropped its connection, since another process may own the runs now.
        """
        if self.location.is_local:
            return
        await self._is_held()
        await self.asker.ask(lambda _: self.asker.db().connect().close())

    async def _is_held(self) -> bool:
        """Return whether the server still holds the local runner's lock; otherwise close the runner."""
        runner = self._runner_here()
        if runner is None or await asyncio.to_thread(lambda: runner.lock.is_locked):
            return True
        runner.is_lost = True
        await asyncio.to_thread(self._close_runner)
        self.asker.close()
        return False

    async def claim(self) -> None:
        """Claim the runs of the store, on a server together with other workers.

        Raise `UnavailableError` if another process owns those of a folder, or one of an earlier release those of a server.
        """
        self._works = not self.location.is_local
        self.starts_by_queue |= self._works
        if self._fronts:
            await asyncio.to_thread(self._prepare)
            return
        runner = await asyncio.to_thread(self._open)
        if runner is None:
            raise UnavailableError([problems.runs.StoreInUse(store=self.location.shown, holder=self.location.holder())])
        runner.is_worker = True
        if runner.shared is not None:  # from now on other processes leave runs to it
            with store.trouble(self.location):
                await asyncio.to_thread(runner.shared.beat, runner.rest.info(0))

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry out runs of the store until `stop`; return how many were resumed at the beginning.

        In a folder these are all runs. On a server each worker takes some, including those of dead workers.
        Raise `UnreachableError` if the database server disappears; the runs stay unchanged.
        """
        await self.claim()
        roots: list[str] = []
        async with self._carrier() as runner:
            if runner is not None and self.location.is_local:
                rows = await self.asker.ask(lambda c: c.list_workflows(name=store.WORKFLOW, status=["PENDING", "ENQUEUED"]))
                roots = [row.workflow_id for row in rows if "/" not in row.workflow_id]
                for run in roots:
                    await runner.away(runner.resume(run))
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), None if self.location.is_local else _LOOK)
            if not self.location.is_local:
                if not await self._is_held():
                    raise store.unusable(self.location, LOST)
                if not self._fronts:
                    await self.asker.ask(
                        lambda client: schedules.begin_due(self.asker.db(), partial(self._put, client), is_active(client), time())
                    )
        if (runner := self._runner_here()) is not None:
            with suppress(InstrcError):  # closed in the meantime
                await runner.away(runner.drain())
        await asyncio.to_thread(self.close)
        return len(roots)

    @property
    def keeps_schedules(self) -> bool:
        """Whether the store is on a server; a folder has no schedules."""
        return not self.location.is_local

    async def _of_schedules(self, work: Callable[[sa.Engine, DBOSClient], _T]) -> _T:
        """Call a function with the schedules of a server store."""
        if not self.keeps_schedules:
            reason = "schedules are kept in a store on a server, `postgresql://…`"
            way_out = "name such a store, or let cron begin `instrc run` beside a folder"
            raise UnavailableError([problems.runs.UnusableStore(store=self.location.shown, reason=reason, way_out=way_out)])
        if not await self.asker.is_there():
            await asyncio.to_thread(self._prepare)
        return await self.asker.ask(lambda client: work(self.asker.db(), client))

    async def schedules(self) -> list[Schedule]:
        """Return the schedules of the store, by name."""
        return await self._of_schedules(lambda engine, _: schedules.schedules_of(engine))

    async def schedule(self, name: str, clock: Clock, launch: Launch, overlap: Overlap = "skip") -> Schedule:
        """Add a schedule; workers start its runs with the current plan of the program."""
        require_name(name)
        begun = launch.to_json()
        return await self._of_schedules(lambda engine, _: schedules.add(engine, name, clock, begun, overlap))

    async def pause(self, name: str, *, paused: bool) -> Schedule:
        """Pause a schedule, or resume it."""
        return await self._of_schedules(lambda engine, _: schedules.pause(engine, name, paused=paused))

    async def unschedule(self, name: str) -> None:
        """Remove a schedule."""
        await self._of_schedules(lambda engine, _: schedules.remove(engine, name))

    async def trigger(self, name: str) -> str:
        """Request that a worker start a run now; return its id."""
        return await self._of_schedules(lambda engine, client: schedules.trigger(engine, partial(self._put, client), name))

    def close(self) -> None:
        """Suspend the runs, and release the store."""
        self._close_runner()
        self._events.close()
        self._parts.close()
        self.asker.close()
        self.rows.close()

    def _close_runner(self) -> None:
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _runner_here(self) -> Runner | None:
        return self._runner if self._runner is not None and not self._runner.closing else None

    @asynccontextmanager
    async def _carrier(self, run: str | None = None, project: str | None = None) -> AsyncIterator[Runner | None]:
        """Keep the runner of the store open in this process, or yield `None` if another process carries the run or the store.

        Any number of processes share a server. One that is not a worker carries the runs that it starts or continues, and
        leaves them to workers where one serves their project.
        """
        if run is not None and not self._works and not self.location.is_local:
            if project in await self._served_by_workers():
                yield None
                return
            if project is not None:
                serve_runs_of(project)
        while (runner := await asyncio.to_thread(self._open)) is not None and not runner.enter():
            pass  # closed in the meantime
        try:
            yield runner if runner is None or run is None or await runner.owns(run) else None
        finally:
            if runner is not None:
                runner.leave()

    @asynccontextmanager
    async def _carrier_with_tables(self, run: str, project: str | None) -> AsyncIterator[Runner | None]:
        """Do the same as `_carrier`, ensuring that another process that owns the runs has created its tables."""
        while True:
            async with self._carrier(run, project) as runner:
                if runner is not None or await self.asker.is_there():
                    yield runner
                    return
            await asyncio.sleep(POLL)

    def _open(self) -> Runner | None:
        if (here := self._runner_here()) is not None:
            return here
        if self._fronts:
            return None
        with Runner.turn:  # runs may start and stores may be opened concurrently
            if self._runner_here() is None:
                self._runner = self._open_runner()
            return self._runner_here()

    def _open_runner(self) -> Runner | None:
        if (other := Runner.current) is not None and not other.retire():
            raise UnavailableError([problems.runs.StoreInUse(store=other.location.shown)])
        with store.trouble(self.location):
            if not self.location.is_local:
                self.table()  # it records which projects runs belong to
            lock = self.location.lock(self.asker.db())
        if lock is None:
            return None
        runner = Runner(self.location, self.asker.db(), lock, self._make_effects, self.rows.writer_of, self.worker)
        try:
            runner.open()
        except BaseException:
            runner.close()
            self.asker.close()
            raise
        return runner

    def _make_effects(self, run: str, plan: PinnedPlan, config: RunConfig) -> Effects:
        effects = self.equip(run, plan, config, self.sink())
        return effects if config.budget is None else structs.replace(effects, budget=self.counted(config.budget, config.project))

    def counted(self, budget: MoneyBudget, project: str | None) -> CountedBudget:
        """Return a budget counted in a database for the workers of a project on all machines."""
        return budget if self.location.is_local else SharedBudget(budget, project or "", lambda: self.table().engine)

    async def _end_of_events(self, run: str) -> int:
        """Return the cursor after the events of a run so far, for its watcher."""
        return 0 if self.watch is None else (await asyncio.to_thread(self.trace_from, run))[1]

    async def _attend(self, run: str, place: int) -> RunReport:
        """Wait until a run of another process ends or waits; take it over if that process ends.

        The watcher gets its events after a cursor.
        """
        while not self._fronts:
            row = await self.asker.row(run)
            if self.watch is not None:
                events, place = await asyncio.to_thread(self.trace_from, run, place)
                for event in events:
                    self.watch(event)
            is_taken = row.status == "PENDING" or row.queue_name == store.PARKED
            if row.status in ENDED or (is_taken and (await self.show(run)).status != "running"):
                return await self.show(run)
            async with self._carrier(run, _project_of(row)) as runner:
                pass
            if runner is not None:
                return await self.resume(run)
            await asyncio.sleep(POLL)
        return await self.show(run)

    async def _delivered(self, letter: store.Letter, project: str | None) -> bool:
        """Wait until a message is read; take the run over if the process that should read it ends."""
        end, pause = time() + _PATIENCE, POLL / 8
        while time() < end or not self._fronts:
            with store.trouble(self.location):
                verdict = await asyncio.to_thread(store.verdict_of, self.asker.db(), letter.id)
            if verdict != "open":
                return verdict == "taken"
            async with self._carrier(letter.run, project):  # it reads the message if there is no other
                pass
            await asyncio.sleep(pause)
            pause = min(2 * pause, POLL)
        return True  # a worker reads it as soon as there is one


def _refuse_another(row: WorkflowStatus, begun: LaunchDocument) -> None:
    """Raise if a run with the same id was started differently."""
    there, forked = launch_of(row), begun["how"].get("forked")
    if (there["plan"], there["inputs"], there["how"].get("forked")) != (begun["plan"], begun["inputs"], forked):
        raise ConflictError([problems.runs.RunExists(run=begun["run"])])


def _project_of(row: WorkflowStatus) -> str | None:
    """Return the project of a run."""
    return RunConfig.from_json(launch_of(row)["how"]).project


async def _start(runner: Runner, begun: LaunchDocument) -> bool:
    """Start a run, and wait until it has ended or waits for people; return `False` if there is one with its id."""
    try:
        live = await runner.begin_new(begun)
    except DBOSWorkflowIDInUseError:
        return False
    await runner.settled(live)
    return True


async def _settle(runner: Runner, beginning: object) -> None:
    await runner.settled(await beginning)  # type: ignore[misc]  # a coroutine, awaited in the loop of the runner


async def _deliver_answer(runner: Runner, letter: store.Letter, root: str) -> bool:
    live = await runner.resume(root)
    taken = await runner.take(letter)
    if taken or live.error is not None:
        await runner.settled(live)
    return taken
