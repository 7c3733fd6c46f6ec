"""The engine `temporal`: runs live on a server, and any worker of their task queue continues them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Final, Unpack, cast

from google.protobuf.duration_pb2 import Duration
from msgspec import Struct, structs
from temporalio.api.common.v1 import Payloads, WorkflowExecution, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest, StartWorkflowExecutionRequest
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from instrc import problems
from instrc.engines.deletion import forget_beside, require_deletable
from instrc.engines.places import scheme_of, shared_place
from instrc.engines.schedules import Clock, Overlap, Schedule, require_name
from instrc.engines.stores import USUAL_FOLDER
from instrc.engines.temporal import documents, schedules
from instrc.engines.temporal.connection import LATE, connected, has_search_attributes, trouble
from instrc.engines.temporal.worker import SharedWorker, serving
from instrc.problems.errors import AnswerError, ConflictError, InstrcError, NotFoundError, UnreachableError
from instrc.runtime.answers import copy_answer, find_question
from instrc.runtime.engine_protocol import EngineOptions, Equip, TracedEngine, WorkerOptions
from instrc.runtime.interpreter.documents import Author, Outcome
from instrc.runtime.journal import Again, Journal, JournalEntry, rebuild_journal
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.questions import Question, read_shown_id
from instrc.runtime.retry import RetryOptions, retry_of
from instrc.runtime.run_config import Launch, RunConfig, holds, read_launch
from instrc.runtime.run_report import RunFilter, RunReport, RunStatus, status_of
from instrc.runtime.traces import TRACE_BYTES, Sink, TracePage, join_sinks
from instrc.text.jsonvalue import Json, JsonObject

HEARTBEAT = 15.0
"""Seconds without a heartbeat after which a worker is considered dead."""
_HEALTH = timedelta(seconds=5)
"""Timeout for the server's health check."""
_FIRST_LOOK = 0.05
"""Initial interval in seconds: each check is a query to the run's worker, so the interval grows."""


class TemporalEngine(TracedEngine):
    """Runs on a Temporal server."""

    def __init__(
        self,
        folder: Path | str | None,
        equip: Equip,
        *,
        queue: str | None = None,
        prefix: str = "",
        heartbeat: float = HEARTBEAT,
        events: int | None = None,
        **options: Unpack[EngineOptions],
    ) -> None:
        """With `keep="open"` no traces are written; `prefix` precedes the ids of runs on the server.

        `events` is the length at which a new history begins.
        """
        self._store: Path | str = folder or USUAL_FOLDER
        in_database = bool(scheme_of(self._store))
        self.place: Path = Path(USUAL_FOLDER if in_database else self._store)
        traces = options.get("traces") or (str(self._store) if in_database else None)
        self._traces = None if traces is None else shared_place(traces)
        parts = options.get("parts")
        super().__init__(self.place, equip, {**options, "parts": parts if self._traces is None else self._traces.beside(parts)})
        self.queue: str = queue or os.environ.get("INSTRC_TASK_QUEUE", documents.QUEUE)
        self.worker: WorkerOptions = options.get("worker", WorkerOptions(drain=0.0))
        self.prefix = prefix
        self.heartbeat = heartbeat
        self.events = events
        self._connection: tuple[asyncio.AbstractEventLoop, Client] | None = None
        self._worker: tuple[asyncio.AbstractEventLoop, SharedWorker] | None = None
        self._attributed: bool | None = None
        self.only_asks = False
        """Workers elsewhere carry the runs; this process does not."""

    async def start(self, launch: Launch) -> RunReport:
        """Start a run, and wait until it ends or waits for a person; an identical earlier run continues."""
        begun = await self._launched(launch)
        try:
            await self._begin(begun)
        except WorkflowAlreadyStartedError:
            memo: Mapping[str, object] = {}
            with suppress(NotFoundError):  # it is of another task queue, or no run
                memo = await (await (await self._reader()).described(launch.run)).memo()
            if memo.get("begun") != documents.pinned(begun):
                raise ConflictError([problems.runs.RunExists(run=launch.run)]) from None
        return await self._attend(launch.run)

    async def _launched(self, launch: Launch) -> documents.Launched:
        """Return the workflow argument of a run."""
        begun = launch.to_json()
        digest = documents.digest_of(launch.plan["digest"], begun["how"])
        with trouble():
            if self._attributed is None:
                self._attributed = await has_search_attributes(await self._client())
        more = {"digest": digest, "heartbeat": self.heartbeat, "events": self.events, "attributes": self._attributed}
        return cast("documents.Launched", {**begun, **more})

    async def _begin(self, begun: documents.Launched) -> None:
        """Start a run."""
        with trouble():
            await (await self._client()).start_workflow(
                documents.WORKFLOW,
                begun,
                id=self.prefix + begun["run"],
                task_queue=self.queue,
                task_timeout=documents.TASK_TIME,
                memo=documents.memo_of(begun),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )

    async def _begin_again(self, begun: documents.Launched, ended: WorkflowExecutionDescription) -> None:
        """Start the new history of a run after an execution that has ended.

        Its id is that of the request: the server takes another attempt after the same execution for this one.
        """
        client = await self._client()
        asked = StartWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_id=ended.id,
            workflow_type=WorkflowType(name=documents.WORKFLOW),
            task_queue=TaskQueue(name=self.queue),
            workflow_task_timeout=Duration(seconds=documents.TASK_TIME.seconds),
            input=Payloads(payloads=await client.data_converter.encode([begun])),
            memo=ended.raw_description.workflow_execution_info.memo,
            identity=client.identity,
            request_id=ended.run_id,
        )
        try:
            await client.workflow_service.start_workflow_execution(asked)
        except RPCError as error:
            if error.status != RPCStatusCode.ALREADY_EXISTS:  # a later attempt is under way
                raise

    async def runs(self, chosen: RunFilter | None = None) -> list[RunReport]:
        """Return the runs on the server that match a filter, latest first."""
        client = await self._client()
        query = f'WorkflowType = "{documents.WORKFLOW}"'
        if chosen is not None and chosen.began is not None:
            query += f' AND StartTime >= "{datetime.fromtimestamp(chosen.began, UTC).isoformat()}"'
        with trouble():
            rows = [row async for row in client.list_workflows(query)]
        found = dict.fromkeys(row.id.removeprefix(self.prefix) for row in rows if row.id.startswith(self.prefix))
        async with self._served(carry=False):
            reader = await self._reader()
            reports: list[RunReport] = []
            for run in found:  # once each, even if retried
                with suppress(InstrcError):  # a run of another task queue, or deleted while they are listed
                    reports.append(await reader.report(await reader.described(run)))
        chosen_reports = [report for report in reports if chosen is None or chosen.takes(report)]
        return sorted(chosen_reports, key=lambda report: -(report.began or 0))

    async def show(self, run: str, *, whole: bool = True) -> RunReport:  # noqa: ARG002  -- required by the protocol
        """Return the state of a run."""
        described = await (await self._reader()).described(run)
        async with self._served(carry=False):
            return await (await self._reader()).report(described)

    async def answer(self, run: str, step: str, data: Json, by: Author | None = None) -> RunReport:
        """Answer a question of a run, and wait until it ends or waits again."""
        data = await asyncio.to_thread(copy_answer, step, data)
        described = await (await self._reader()).described(run)
        async with self._served(carry=True):
            report = await (await self._reader()).report(described)
            question = find_question(list(report.questions), step, run, report)
            step, (child, slash, asked) = read_shown_id(step)[0], question.id.rpartition("/")
            handle = (await self._client()).get_workflow_handle(self.prefix + (f"{run}/{child}" if slash else run))
            letter: documents.AnswerMessage = {"answer": asked, "tag": question.tag, "data": data}
            if by is not None:
                letter["by"] = by
            try:
                with trouble():
                    await handle.execute_update(documents.ANSWER, letter, id=token_hex(16))
            except WorkflowUpdateFailedError as error:
                raise _refusal(error, run, step) from None
            except RPCError:
                raise NotFoundError([problems.runs.NoSuchQuestion(run=run, step=step, open=())]) from None
            return await self._attend(run)

    async def cancel(self, run: str) -> RunReport:
        """Cancel a run; one that no worker can continue is terminated, as it would not notice."""
        reader = await self._reader()
        if (await reader.described(run)).status == WorkflowExecutionStatus.RUNNING:
            async with self._served(carry=False):
                handle = (await self._client()).get_workflow_handle(self.prefix + run)
                with trouble():
                    stuck = await reader.is_stuck(handle.id)
                    await (handle.terminate("no worker can continue it") if stuck else handle.cancel())
                    with suppress(WorkflowFailureError):
                        await handle.result()
        return await self.show(run)

    async def resume(self, run: str) -> RunReport:
        """Serve the task queue of a run until the run ends or waits."""
        await (await self._reader()).described(run)
        return await self._attend(run)

    async def launch(self, run: str) -> Launch:
        """Return the launch of a run."""
        return (await self.journal(run))[0]

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return the launch of a run and its journal."""
        found, journal = await self._recorded(run)
        return read_launch(found["launch"], run), journal

    async def _recorded(self, run: str) -> tuple[documents.RecordedRun, Journal]:
        """Return what the workflow of a run has recorded, even after its end, and its journal."""
        described = await (await self._reader()).described(run)
        async with self._served(carry=False):
            handle = (await self._client()).get_workflow_handle(described.id, run_id=described.run_id)
            found: documents.RecordedRun | None = None
            with trouble(), suppress(WorkflowQueryFailedError):  # a worker of an earlier release has no such query
                found = await handle.query(documents.JOURNAL)
        if found is None:
            raise ConflictError([problems.runs.NoJournal(run=run)])
        launch = found["launch"]
        return found, rebuild_journal(launch["plan"], launch["inputs"], found["entries"], holds=holds(launch))

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Retry a run that has failed, in a new history, or that is held."""
        described = await (await self._reader()).described(run)
        found, journal = await self._recorded(run)
        launch, failed = found["launch"], found.get("failed")
        going = described.status == WorkflowExecutionStatus.RUNNING
        ended = not going and described.status != WorkflowExecutionStatus.COMPLETED
        idle = max(time() - described.close_time.timestamp(), 0.0) if described.close_time else 0.0
        again = retry_of(run, journal, options, ended=ended, idle=idle)
        for command in sorted(set(again.get("anew", ())).difference(again.get("fresh", ()))):
            if await self._has(f"{run}/{journal.key(command)}"):
                again["fresh"] = [*again.get("fresh", ()), command]
        _require_retryable(run, journal, again, failed or {})
        client = await self._client()
        async with self._served(carry=True):
            with trouble():
                if going:
                    await client.get_workflow_handle(described.id).execute_update(documents.AGAIN, again, id=token_hex(16))
                else:
                    if failed is None:
                        raise ConflictError([problems.runs.NoJournal(run=run)])
                    entries: list[JournalEntry] = [*found["entries"], {"again": again}]
                    renewed = rebuild_journal(launch["plan"], launch["inputs"], entries, holds=holds(launch))
                    launch["carried"] = {**documents.continued(renewed, entries), "failed": failed}
                    await self._begin_again(launch, described)
            return await self._attend(run)

    async def _has(self, child: str) -> bool:
        """Return whether a process has been begun for an activity."""
        with suppress(NotFoundError):
            await (await self._reader()).described(child)
            return True
        return False

    async def delete(self, run: str) -> None:
        """Delete a run that has ended, its children, and the tick of its schedule, whose history has its result.

        Of a run whose history the server has deleted, delete what lies beside it.
        """
        client, workflow = await self._client(), self.prefix + run
        await require_deletable(self.show(run), run, self._store)
        with trouble():
            query = f'WorkflowType IN ("{documents.WORKFLOW}", "{documents.TICK}")'
            rows = [row async for row in client.list_workflows(query)]
        for row in rows:  # a run that was retried has several executions
            if row.id in {workflow, documents.tick_of_run(workflow)} or row.id.startswith(f"{workflow}/"):
                execution = WorkflowExecution(workflow_id=row.id, run_id=row.run_id)
                asked = DeleteWorkflowExecutionRequest(namespace=client.namespace, workflow_execution=execution)
                with suppress(NotFoundError), trouble():  # the list may be late
                    await client.workflow_service.delete_workflow_execution(asked)
        if self._traces is not None:
            await asyncio.to_thread(self._traces.forget, run)
        await asyncio.to_thread(forget_beside, run, self.place, self._store)

    @property
    def keeps_schedules(self) -> bool:
        """Return `True`: a server always supports schedules."""
        return True

    async def schedules(self) -> list[Schedule]:
        """Return the schedules of the server, by name."""
        return await schedules.schedules_of(await self._client(), self.prefix, self.queue)

    async def schedule(self, name: str, clock: Clock, launch: Launch, overlap: Overlap = "skip") -> Schedule:
        """Add a schedule; the server starts its runs with the current plan of the program."""
        require_name(name)
        begun = await self._launched(structs.replace(launch, run=name))
        tick: documents.Tick = {"launch": begun, "prefix": self.prefix}
        return await schedules.add(await self._client(), self.queue, name, clock, tick, overlap)

    async def pause(self, name: str, *, paused: bool) -> Schedule:
        """Pause a schedule, or resume it."""
        return await schedules.pause(await self._client(), self.prefix, self.queue, name, paused=paused)

    async def unschedule(self, name: str) -> None:
        """Remove a schedule."""
        await schedules.remove(await self._client(), self.prefix, self.queue, name)

    async def trigger(self, name: str) -> str:
        """Start a run now on a worker; return its id."""
        found, tick = await schedules.tick_of(await self._client(), self.prefix, self.queue, name)
        run = found.run_at(time())
        with suppress(WorkflowAlreadyStartedError):  # in the same second
            await self._begin({**tick["launch"], "run": run})
        return run

    def trace_from(self, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
        """Return the events after a cursor: of every worker, if the project has a shared place for them."""
        return super().trace_from(run, place, most) if self._traces is None else self._traces.read(run, place, most)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:
        """Return partial answers written by other workers since the last call, if the traces are in a database."""
        return [] if self._traces is None else self._traces.parts_of(runs)

    def sink(self) -> Sink:
        """Return the sink of a run's events: the traces, if stored, and the watchers."""
        return super().sink() if self._traces is None or self.keep != "all" else join_sinks(self._traces.write, self.watch)

    def close(self) -> None:
        """Write pending traces."""
        if self._traces is not None:
            self._traces.close()

    async def reach(self) -> None:
        """Check that the server responds; raise `UnreachableError` if not."""
        client = await self._client()
        try:
            with trouble():
                await client.service_client.check_health(timeout=_HEALTH)
        except InstrcError as error:
            raise UnreachableError(error.problems) from None

    async def claim(self) -> None:
        """Do nothing: any number of workers may serve a task queue."""

    async def serve(self, stop: asyncio.Event) -> int:
        """Serve the task queue until `stop`."""
        with trouble():
            await has_search_attributes(await self._client())
        async with self._served(carry=True):
            await stop.wait()
        return 0

    async def _client(self) -> Client:
        loop = asyncio.get_running_loop()
        if self._connection is None or self._connection[0] is not loop:
            self._connection = (loop, await connected(self.place, self._traces))
        return self._connection[1]

    async def _reader(self) -> ServerClient:
        return ServerClient(await self._client(), self.prefix, self.queue)

    @asynccontextmanager
    async def _served(self, *, carry: bool) -> AsyncIterator[None]:
        """Serve the queue in this process, unless it is already served here."""
        client = await self._client()
        loop = asyncio.get_running_loop()
        if self._worker is None or self._worker[0] is not loop:
            self._worker = (loop, SharedWorker(partial(self._serve, client)))
        async with self._worker[1].used(carry=carry and not self.only_asks):
            yield

    def _serve(self, client: Client, carry: bool) -> AbstractAsyncContextManager[object]:  # noqa: FBT001  -- as `Opening` says
        return serving(client, self.queue, self.sink(), self.equip if carry else None, self.worker)

    async def _attend(self, run: str) -> RunReport:
        """Serve until a run ends or waits: its end is pushed by the server, its waiting is polled."""
        async with self._served(carry=True):
            ended = asyncio.ensure_future((await self._client()).get_workflow_handle(self.prefix + run).result())
            pause = _FIRST_LOOK
            try:
                while True:
                    if ended.done():
                        await asyncio.sleep(pause)  # the server could not say
                    else:
                        await asyncio.wait({ended}, timeout=pause)
                    report, idle = await (await self._reader()).standing(await (await self._reader()).described(run))
                    if idle:
                        return report
                    pause = min(pause * 1.5, 1.0)
            finally:
                ended.cancel()
                await asyncio.gather(ended, return_exceptions=True)


def _refusal(error: WorkflowUpdateFailedError, run: str, step: str) -> InstrcError:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == documents.REJECTED:
        pointer = str(cause.details[0]) if cause.details else ""
        return AnswerError([problems.runs.RejectedAnswer(step=step, pointer=pointer, reason=cause.message)])
    return NotFoundError([problems.runs.NoSuchQuestion(run=run, step=step, open=())])


def _require_retryable(run: str, journal: Journal, again: Again, failed: Mapping[str, documents.Child]) -> None:
    """Raise `ConflictError` if a failed process that continues with a run would fail again with what is recorded."""
    for command in sorted(set(again.get("drop", ())).difference(again.get("fresh", ()))):
        key = journal.key(command)
        child = failed.get(key)
        if isinstance(child, dict) and "entries" in child:  # an earlier release has reported only its journal
            below = rebuild_journal(child["plan"], child["inputs"], child["entries"])
            continued = retry_of(f"{run}/{key}", below, RetryOptions(model=again.get("model", journal.model)))
            _require_retryable(f"{run}/{key}", below, continued, child.get("failed", {}))


_STUCK: Final = 3
"""Attempts at one workflow task after which a run is stuck: the server tries again for ever, with longer and longer pauses."""
REPORT_TRIES: Final = 5
"""Maximum queries to a worker that has just taken a run over and was too slow."""
_PAUSE = 0.5


class ServerClient(Struct, frozen=True):
    """Queries a server and its workers."""

    client: Client
    prefix: str
    queue: str

    def _missing(self, run: str) -> InstrcError:
        return NotFoundError([problems.runs.NoSuchRun(run=run, store=f"the server, task queue `{self.queue}`")])

    async def described(self, run: str) -> WorkflowExecutionDescription:
        """Return the server's description of a run; raise `NotFoundError` if there is none, or another task queue has it."""
        missing = self._missing(run)
        with trouble():
            try:
                described = await self.client.get_workflow_handle(self.prefix + run).describe()
            except RPCError as error:
                if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
                    raise missing from None
                raise
        if (described.workflow_type, described.task_queue) != (documents.WORKFLOW, self.queue):
            raise missing
        return described

    async def report(self, described: WorkflowExecutionDescription) -> RunReport:
        """Return the state of a run."""
        return (await self.standing(described))[0]

    async def standing(self, described: WorkflowExecutionDescription) -> tuple[RunReport, bool]:
        """Return the state of a run, and whether it can only continue after an answer."""
        memo = await described.memo()
        run = described.id.removeprefix(self.prefix)
        if "name" not in memo:  # the server may still list a run that was just deleted
            raise self._missing(run)
        outcome: Outcome | None = None
        record: JsonObject | None = None
        idle = True
        questions: list[Question] = []
        unknown: list[str] = []
        if described.status == WorkflowExecutionStatus.COMPLETED:
            with trouble():
                try:
                    ended: documents.Ended = await self.client.get_workflow_handle(described.id, run_id=described.run_id).result()
                except RPCError as error:
                    if error.status != RPCStatusCode.NOT_FOUND:
                        raise
                    raise self._missing(run) from None  # it has been deleted just now
            outcome, record = ended["outcome"], ended["record"]
        elif described.status == WorkflowExecutionStatus.RUNNING:
            found = await self._asked(described.id)
            record, outcome = (None, None) if found is None else (found["record"], found["outcome"])
            questions, idle, unknown = await self._questions(described.id, found)
        status: RunStatus = "running"
        if outcome is not None:
            status = outcome["status"]
        elif described.status != WorkflowExecutionStatus.RUNNING:
            status = "cancelled"
        else:
            status = status_of(questions)
        ended_at = described.close_time.timestamp() if described.close_time else None
        began = described.start_time.timestamp()
        config = RunConfig.from_json(memo["how"])
        report = RunReport(run, memo["name"], status, outcome, tuple(questions), began, ended_at, config, record)
        return structs.replace(report, unknown=tuple(unknown)), idle

    async def is_stuck(self, workflow: str) -> bool:
        """Return whether no worker can continue a run, or a child that it would wait for."""
        described = (await self.client.get_workflow_handle(workflow).describe()).raw_description
        if described.pending_workflow_task.attempt >= _STUCK:
            return True
        children = [child.workflow_id for child in described.pending_children if child.workflow_id]  # one may be about to begin
        return any(await asyncio.gather(*map(self.is_stuck, children)))

    async def _asked(self, workflow: str) -> documents.Standing | None:
        """Return how a run stands, or `None` if no worker can continue it."""
        handle = self.client.get_workflow_handle(workflow)
        with trouble():
            for tries in range(REPORT_TRIES):
                try:
                    found: documents.Standing = await handle.query(documents.REPORT)
                except WorkflowQueryFailedError:
                    pass
                except RPCError as error:
                    late = error.status in LATE and not tries  # for busy workers
                    if error.status not in {RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.RESOURCE_EXHAUSTED} and not late:
                        raise  # otherwise the server does not know the worker yet, or too many ask about the run
                else:
                    return found
                if await self.is_stuck(workflow):
                    return None
                await asyncio.sleep(_PAUSE)
            last: documents.Standing = await handle.query(documents.REPORT)
            return last

    async def _questions(self, workflow: str, found: documents.Standing | None) -> tuple[list[Question], bool, list[str]]:
        """Return the questions of a run and its children, whether it waits for nothing else, and the prefixes of unknown ones."""
        if found is None:
            return [], False, [""]
        unknown: list[str] = []
        questions = [Question(name, tuple(steps), show, schema, by) for name, steps, show, schema, by in found["questions"]]
        idle = found["idle"] or found["flying"] == len(found["children"]) > 0
        if found["due"] is not None and found["due"] <= time():
            idle = False  # the server is about to end a timer
        for child in found["children"]:
            try:
                below, waits, hidden = await self._questions(f"{workflow}/{child}", await self._asked(f"{workflow}/{child}"))
            except RPCError:
                below, waits, hidden = [], False, []  # the server is about to begin it
            questions += [asked.below(child) for asked in below]
            idle = idle and waits
            unknown += [f"{child}/{prefix}" for prefix in hidden]
        return questions, idle, unknown
