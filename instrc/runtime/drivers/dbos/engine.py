"""The engine `durable`: runs survive the process that carries them, and nothing that is recorded is done again.

One process carries the runs of a store, the first that holds its lock.  Others begin runs, answer and cancel through the store;
when that process ends, whoever waits for a run takes it over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from secrets import token_hex

from dbos import WorkflowStatus

from instrc import problems
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.problem import CompileError
from instrc.runtime.drivers.dbos import mail, store
from instrc.runtime.drivers.dbos.asker import StoreClient
from instrc.runtime.drivers.dbos.lock import acquired
from instrc.runtime.drivers.dbos.reports import launch_json, launch_of, report_of
from instrc.runtime.drivers.dbos.rest import POLL
from instrc.runtime.drivers.dbos.runner import Runner
from instrc.runtime.effects import Effects
from instrc.runtime.engine import Equip, Keep, Launch, LaunchDocument, RunReport
from instrc.runtime.events import Event, Sink
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.questions import People, chosen
from instrc.runtime.traces import read_trace, sink_of

_ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})

_LOOK = 2.0
"""Seconds between two looks of a worker whether the server of its database is there."""


class DurableEngine:
    """Runs in a store that outlives this process."""

    def __init__(
        self,
        where: Path | str | None,
        equip: Equip,
        *,
        people: People | None = None,
        watch: Sink | None = None,
        keep: Keep = "all",
    ) -> None:
        """With `keep="open"` no traces are written."""
        self.location: store.StoreLocation = store.location_of(where)
        self.equip = equip
        self.people = people
        self.watch = watch
        self.keep = keep
        self.asker: StoreClient = StoreClient(self.location)
        self._runner: Runner | None = None

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run, and wait until it ends or waits for somebody; a run that was begun in the same way goes on."""
        begun = launch_json(launch)
        async with self._carrier_with_tables() as runner:
            row = await self.asker.find(launch.run)
            if row is not None:
                _refuse_another(row, begun)
            elif runner is not None:
                with store.trouble(self.location):
                    await runner.away(_settle(runner, runner.begin(begun)))
        if row is not None:
            return await self.resume(launch.run)
        if runner is None:
            await self.asker.begin(launch.run, begun)
        _refuse_another(await self.asker.row(launch.run), begun)  # another process, or thread, may have begun one at that moment
        return await (self._attend(launch.run) if runner is None else self.show(launch.run))

    async def runs(self) -> list[RunReport]:
        """Return all runs that are kept, the latest first."""
        if not await self.asker.is_there():
            return []
        rows = await self.asker.ask(lambda client: client.list_workflows(name=store.WORKFLOW, sort_desc=True))
        return [await self.asker.ask(lambda client, row=row: report_of(client, row, whole=False)) for row in rows]  # type: ignore[misc]  # as below

    async def show(self, run: str) -> RunReport:
        """Return how a run stands, with what the processes wait for that serve its activities."""
        row = await self.asker.row(run)
        below = (
            []
            if row.status in _ENDED
            else await self.asker.ask(lambda client: client.list_workflows(workflow_id_prefix=f"{run}/"))
        )
        return await self.asker.ask(lambda client: report_of(client, row, children=below, whole=True))

    async def answer(self, run: str, step: str, data: Json) -> RunReport:
        """Answer a question of a run; this process continues it if no other carries the runs of this store."""
        report = await self.show(run)
        question = chosen(list(report.questions), step, run)
        child, slash, asked = question.id.rpartition("/")
        owner = f"{run}/{child}" if slash else run
        await self.asker.refuse_wrong(owner, asked, step, data)
        letter = mail.Letter(token_hex(16), owner, {"answer": asked, "data": data})
        async with self._carrier() as runner:
            if runner is not None:
                taken = await runner.away(_deliver_answer(runner, letter, run.partition("/")[0]))
        if runner is None:
            with store.trouble(self.location):
                await asyncio.to_thread(mail.send, self.asker.db(), letter)
            taken = await self._delivered(letter)
        if not taken:
            raise CompileError([problems.runs.NoSuchQuestion(run=run, step=step, open=())])
        return await self.show(run)

    async def cancel(self, run: str) -> RunReport:
        """End a run, and what it has begun; one that has ended stays as it is."""
        row = await self.asker.row(run)
        if row.status not in _ENDED:
            runner = self._runner_here()
            below = await self.asker.ask(lambda client: client.list_workflows(workflow_id_prefix=f"{run}/"))
            for each in (row, *below):
                if each.status not in _ENDED:
                    await self.asker.ask(lambda client, each=each: client.cancel_workflow(each.workflow_id))  # type: ignore[misc]  # a default is not inferred
            if runner is not None and runner.enter():
                try:
                    await runner.away(runner.cancel(run))
                finally:
                    runner.leave()
            else:
                with store.trouble(self.location):
                    await asyncio.to_thread(mail.send, self.asker.db(), mail.Letter(token_hex(16), run, {"cancel": True}))
        return await self.show(run)

    async def resume(self, run: str) -> RunReport:
        """Go on with a run until it ends or waits; another process that carries the runs of this store is left to it."""
        row = await self.asker.row(run)
        if row.status == "CANCELLED":
            raise CompileError([problems.runs.NoSuchQuestion(run=run, step="", open=())])
        if row.status not in _ENDED:
            async with self._carrier() as runner:
                if runner is not None:
                    with store.trouble(self.location):
                        await runner.away(_settle(runner, runner.resume(run.partition("/")[0])))
            if runner is None:
                return await self._attend(run)
        return await self.show(run)

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""
        return read_trace(self.location.folder, run)

    async def reach(self) -> None:
        """Make sure that the server of a database answers; an `UnreachableError` if it does not."""
        if not self.location.is_file:
            with store.unreachable():
                await self.asker.reach()

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry all runs of the store until `stop`; return how many went on. Another process that does so is a problem.

        An `UnreachableError` if the server of a database ends meanwhile: the runs are left as they are.
        """
        with nullcontext() if self.location.is_file else store.unreachable():
            return await self._serve(stop)

    async def _serve(self, stop: asyncio.Event) -> int:
        async with self._carrier() as runner:
            if runner is None:
                raise CompileError([problems.runs.StoreInUse(store=self.location.shown)])
            rows = await self.asker.ask(lambda client: client.list_workflows(name=store.WORKFLOW, status=["PENDING", "ENQUEUED"]))
            roots = [row.workflow_id for row in rows if "/" not in row.workflow_id]
            for run in roots:
                await runner.away(runner.resume(run))
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), None if self.location.is_file else _LOOK)
            if not self.location.is_file and not await asyncio.to_thread(lambda: runner.lock.is_locked):
                await asyncio.to_thread(self.close)
                reason = "its server has ended the connection"
                raise CompileError([problems.runs.UnusableStore(store=self.location.shown, reason=reason)])
        self.close()
        return len(roots)

    def close(self) -> None:
        """Leave the runs as they are, and give the store free."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        self.asker.close()

    # --- who carries ----------------------------------------------------------------------------------------------------------

    def _runner_here(self) -> Runner | None:
        return self._runner if self._runner is not None and not self._runner.closing else None

    @asynccontextmanager
    async def _carrier(self) -> AsyncIterator[Runner | None]:
        """Hold what carries the runs in this process, so that nobody closes it meanwhile; `None` if another process does."""
        while (runner := await asyncio.to_thread(self._open)) is not None and not runner.enter():
            pass  # it was closed since then
        try:
            yield runner
        finally:
            if runner is not None:
                runner.leave()

    @asynccontextmanager
    async def _carrier_with_tables(self) -> AsyncIterator[Runner | None]:
        """Do what `_carrier` does; another process that carries the runs has made its tables by then."""
        while True:
            async with self._carrier() as runner:
                if runner is not None or await self.asker.is_there():
                    yield runner
                    return
            await asyncio.sleep(POLL)

    def _open(self) -> Runner | None:
        if (here := self._runner_here()) is not None:
            return here
        with Runner.turn:  # several runs may begin at once, and several stores be opened
            if self._runner_here() is None:
                self._runner = self._open_runner()
            return self._runner_here()

    def _open_runner(self) -> Runner | None:
        if (other := Runner.current) is not None and not other.retire():
            raise CompileError([problems.runs.StoreInUse(store=other.location.shown)])
        lock = acquired(self.location, self.asker.db())
        if lock is None:
            return None
        runner = Runner(self.location, self.asker.db(), lock, self._make_effects, self.people)
        try:
            runner.open()
        except BaseException:
            runner.close()
            self.asker.close()
            raise
        return runner

    def _make_effects(self, run: str, plan: PinnedPlan, how: JsonObject) -> Effects:
        traces = self.location.folder if self.keep == "all" else None
        return self.equip(run, plan, how, sink_of(traces, self.watch))

    async def _attend(self, run: str) -> RunReport:
        """Wait until a run that another process carries ends or waits; take it over when that process ends."""
        while True:
            row = await self.asker.row(run)
            if row.status in _ENDED or (row.status == "PENDING" and (await self.show(run)).status != "running"):
                return await self.show(run)
            async with self._carrier() as runner:
                pass
            if runner is not None:
                return await self.resume(run)
            await asyncio.sleep(POLL)

    async def _delivered(self, letter: mail.Letter) -> bool:
        """Wait until a letter was read; take the run over when the process that should read it ends."""
        while True:
            with store.trouble(self.location):
                verdict = await asyncio.to_thread(mail.verdict_of, self.asker.db(), letter.id)
            if verdict != "open":
                return verdict == "taken"
            async with self._carrier():  # which reads the mail, if there is no other
                pass
            await asyncio.sleep(POLL)


def _refuse_another(row: WorkflowStatus, begun: LaunchDocument) -> None:
    """Refuse to continue a run that only has the id of the one that is to begin."""
    there = launch_of(row)
    if (there["plan"], there["inputs"]) != (begun["plan"], begun["inputs"]):
        raise CompileError([problems.runs.RunExists(run=begun["run"])])


async def _settle(runner: Runner, beginning: object) -> None:
    await runner.settled(await beginning)  # type: ignore[misc]  # a coroutine, awaited in the loop of the runner


async def _deliver_answer(runner: Runner, letter: mail.Letter, root: str) -> bool:
    live = await runner.resume(root)
    taken = await runner.take(letter)
    if taken or live.error is not None:
        await runner.settled(live)
    return taken
