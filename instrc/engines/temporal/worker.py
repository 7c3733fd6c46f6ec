"""Workers, which execute the tasks of a task queue, one attempt each."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Final

from msgspec.structs import replace
from temporalio import activity as temporal
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from instrc.engines.temporal import documents
from instrc.engines.temporal.workflow import RunWorkflow, TickWorkflow
from instrc.problems.errors import InstrcError
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import Equip, WorkerOptions
from instrc.runtime.interpreter.documents import ActivityCommand, Result
from instrc.runtime.plan import child_inputs, has_pauses, plan_of
from instrc.runtime.run_config import RunConfig
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import Sink
from instrc.text.jsonvalue import Json

KEPT_PLANS: Final = 256
"""Maximum plans of runs that a Temporal worker caches."""


class _Launch(Exception):  # noqa: N818  -- no error: the workflow starts a child
    def __init__(self, process: Json, command: ActivityCommand) -> None:
        super().__init__()
        self.process = process
        self.command = command


class Carrying:
    """Executes the effects of all runs."""

    def __init__(self, client: Client, equip: Equip, sink: Sink) -> None:
        self.client = client
        self.equip = equip
        self.sink = sink
        self._launches: OrderedDict[str, documents.Launched] = OrderedDict()

    @property
    def all(self) -> list[Callable[..., object]]:
        """Return the activities that a worker registers: one for each kind of effect."""

        def named(name: str) -> Callable[..., object]:
            @temporal.defn(name=name)
            async def carry_out(given: documents.Effect) -> documents.ActivityOutcome:
                return await self._carry_out(given)

            return carry_out

        return [named(name) for name in documents.ACTIVITIES.values()]

    async def _carry_out(self, given: documents.Effect) -> documents.ActivityOutcome:
        beating = asyncio.ensure_future(_beat())
        try:
            return await self._attempt(given)
        except _Again as again:
            message = "it is tried again"
            raise ApplicationError(message, next_retry_delay=timedelta(seconds=again.pause)) from None
        except (asyncio.CancelledError, ApplicationError):
            raise
        except Exception as error:  # noqa: BLE001  -- whatever failed on this worker, the next attempt may run elsewhere
            problem = error.problems[0].with_hint if isinstance(error, InstrcError) else f"{type(error).__name__}: {error}"
            raise ApplicationError(redacted(problem)) from None
        finally:
            beating.cancel()

    async def _attempt(self, given: documents.Effect) -> documents.ActivityOutcome:
        launch = await self._launch(given["digest"])
        command = given["command"]
        equipped = self.equip(given["run"], launch["plan"], RunConfig.from_json(launch["how"]), self.sink)
        keys = {command["id"]: given["number"]} if "number" in given else {}
        chosen = given.get("chosen", equipped.chosen)
        effects = replace(equipped, keys=keys, chosen=chosen, first=temporal.info().attempt, pause=_again, child=_launched)
        try:
            result = await (effects.ask(command) if command["kind"] == "model" else effects.call(command))
        except _Launch as launched:
            return {"launch": self._child(effects, launched, given["digest"], pauses=has_pauses(launch["plan"]))}
        return {"pending": True} if result is None else result

    def _child(self, effects: Effects, launched: _Launch, digest: str, *, pauses: bool) -> documents.Child:
        plan = plan_of(launched.process, activities=effects.activities.names(), pauses=pauses)
        inputs = child_inputs(launched.command, launched.process)
        return {"name": launched.command["called"], "plan": plan, "inputs": inputs, "digest": f"{digest}/{plan['digest']}"}

    async def _launch(self, digest: str) -> documents.Launched:
        """Return the launch of this activity's run: read once from its history, as it never changes."""
        if digest not in self._launches:
            info = temporal.info()
            assert info.workflow_id is not None
            handle = self.client.get_workflow_handle(info.workflow_id, run_id=info.workflow_run_id)
            async for event in handle.fetch_history_events(page_size=1):
                payloads = event.workflow_execution_started_event_attributes.input.payloads
                [self._launches[digest]] = await self.client.data_converter.decode(payloads)
                break
            while len(self._launches) > KEPT_PLANS:
                self._launches.popitem(last=False)
        return self._launches[digest]


async def _beat() -> None:
    """Send heartbeats while the effect runs."""
    span = temporal.info().heartbeat_timeout
    while span is not None:
        await asyncio.sleep(span.total_seconds() / 4)  # most effects finish before the first heartbeat, which costs a request
        temporal.heartbeat()


class _Again(Exception):  # noqa: N818  -- no error: it leaves the loop of attempts to Temporal
    def __init__(self, pause: float) -> None:
        super().__init__(pause)
        self.pause = pause


async def _again(pause: float) -> None:
    raise _Again(pause)


async def _launched(_run: str, process: Json, command: ActivityCommand) -> Result:
    raise _Launch(process, command)


_PASSED = ("instrc", "jsonschema", "jsonschema_specifications", "referencing", "rpds", "attr", "orjson", "re2", "regex", "idna")
"""Modules that a workflow does not reload: the interpreter is pure, and so is what it reads schemas with."""


def runner() -> WorkflowRunner:
    """Return the workflow runner for workers and replays."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*_PASSED))


_ACTIVITIES = 200
"""Default number of concurrent activities per worker."""


@asynccontextmanager
async def serving(client: Client, queue: str, sink: Sink, equip: Equip | None, options: WorkerOptions) -> AsyncIterator[Worker]:
    """Serve a task queue; without `equip` only workflows, so that runs can be queried."""
    activities = [] if equip is None else Carrying(client, equip, sink).all
    worker = Worker(
        client,
        task_queue=queue,
        workflows=[RunWorkflow, TickWorkflow],
        activities=activities,
        workflow_runner=runner(),
        identity=options.name,
        max_concurrent_activities=options.slots or _ACTIVITIES,
        graceful_shutdown_timeout=timedelta(seconds=options.drain),
    )
    # the library has no setting for it
    worker._workflow_worker._deadlock_timeout_seconds = documents.TASK_TIME.seconds  # type: ignore[union-attr]  # noqa: SLF001
    documents.sinks.append(sink)
    try:
        async with worker:
            yield worker
    finally:
        documents.sinks.remove(sink)


Opening = Callable[[bool], AbstractAsyncContextManager[object]]
"""Starts serving; `True` with activities, `False` only workflows, so that a run can be queried."""


class SharedWorker:
    """A worker for one event loop that lives as long as it is in use."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self._users = 0
        self._carries = False
        self._change = asyncio.Condition()
        self._open = AsyncExitStack()

    @asynccontextmanager
    async def used(self, *, carry: bool) -> AsyncIterator[None]:
        """Serve during the context; a caller that needs to `carry` runs waits for read-only users."""
        async with self._change:
            await self._change.wait_for(lambda: not self._users or self._carries or not carry)
            if not self._users:
                await self._open.enter_async_context(self.opening(carry))
                self._carries = carry
            self._users += 1
        try:
            yield
        finally:
            async with self._change:
                self._users -= 1
                if not self._users:
                    await self._open.aclose()
                self._change.notify_all()
