"""The activities of a worker: effects of runs, one attempt each, since the retries are Temporal's."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from temporalio import activity as temporal
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from instrc.jsonvalue import Json
from instrc.limits.runs import KEPT_PLANS
from instrc.problems.problem import CompileError
from instrc.runtime.child_runs import child_inputs
from instrc.runtime.drivers.recording import as_recorded
from instrc.runtime.drivers.temporal import names
from instrc.runtime.drivers.temporal.documents import ActivityOutcome, Child, Effect, Launched
from instrc.runtime.effects import Effects
from instrc.runtime.engine import Equip
from instrc.runtime.events import Sink
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.plan import has_pauses, plan_of
from instrc.runtime.secrets import redacted


class _Again(Exception):  # noqa: N818  -- no error: it leaves the loop of attempts to Temporal
    def __init__(self, pause: float) -> None:
        super().__init__(pause)
        self.pause = pause


class _Launch(Exception):  # noqa: N818  -- no error: the workflow starts a child
    def __init__(self, process: Json, command: ActivityCommand) -> None:
        super().__init__()
        self.process = process
        self.command = command


class Carrying:
    """Carries out the effects of all runs."""

    def __init__(self, client: Client, equip: Equip, sink: Sink) -> None:
        self.client = client
        self.equip = equip
        self.sink = sink
        self._launches: OrderedDict[str, Launched] = OrderedDict()

    @property
    def all(self) -> list[Callable[..., object]]:
        """What a worker registers."""
        return [self.model, self.activity, self.fire]

    @temporal.defn(name=names.ACTIVITIES["model"])
    async def model(self, given: Effect) -> ActivityOutcome:
        """Ask a model."""
        return await self._carry_out(given)

    @temporal.defn(name=names.ACTIVITIES["activity"])
    async def activity(self, given: Effect) -> ActivityOutcome:
        """Call an activity."""
        return await self._carry_out(given)

    @temporal.defn(name=names.ACTIVITIES["fire"])
    async def fire(self, given: Effect) -> ActivityOutcome:
        """Call an activity whose result nobody waits for."""
        return await self._carry_out(given)

    async def _carry_out(self, given: Effect) -> ActivityOutcome:
        beating = asyncio.ensure_future(_beat())
        try:
            return await self._attempt(given)
        except _Again as again:
            message = "it is tried again"
            raise ApplicationError(message, next_retry_delay=timedelta(seconds=again.pause)) from None
        except (asyncio.CancelledError, ApplicationError):
            raise
        except Exception as error:  # noqa: BLE001  -- whatever hinders this worker: the next attempt may be elsewhere
            problem = error.problems[0].with_hint if isinstance(error, CompileError) else f"{type(error).__name__}: {error}"
            raise ApplicationError(redacted(problem)) from None
        finally:
            beating.cancel()

    async def _attempt(self, given: Effect) -> ActivityOutcome:
        launch = await self._launch(given["digest"])
        command = given["command"]
        equipped = self.equip(given["run"], launch["plan"], launch["how"], self.sink)
        effects = replace(equipped, first=temporal.info().attempt, pause=_again, child=_launched)
        try:
            result = await (effects.ask(command) if command["kind"] == "model" else effects.call(command))
        except _Launch as launched:
            return {"launch": self._child(effects, launched, given["digest"], pauses=has_pauses(launch["plan"]))}
        return {"pending": True} if result is None else as_recorded(result)

    def _child(self, effects: Effects, launched: _Launch, digest: str, *, pauses: bool) -> Child:
        plan = plan_of(launched.process, activities=effects.activities.names(), pauses=pauses)
        inputs = child_inputs(launched.command, launched.process)
        return {"name": launched.command["called"], "plan": plan, "inputs": inputs, "digest": f"{digest}/{plan['digest']}"}

    async def _launch(self, digest: str) -> Launched:
        """Return what the run of this activity began with: read once from its history, since it is the same for all."""
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


async def _again(pause: float) -> None:
    raise _Again(pause)


async def _launched(_run: str, process: Json, command: ActivityCommand) -> Result:
    raise _Launch(process, command)


async def _beat() -> None:
    """Show that this worker is alive, for as long as the effect lasts."""
    span = temporal.info().heartbeat_timeout
    while span is not None:
        await asyncio.sleep(span.total_seconds() / 4)  # most effects are over before the first one, which is a request of its own
        temporal.heartbeat()
