"""Carry out one run to its end: recorded results are used, and nothing recorded is repeated."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from copy import deepcopy
from time import time
from typing import Final, Protocol, TypeAlias, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, WorkflowStatus
from dbos._dbos import _get_dbos_instance  # `_record` says why
from dbos._error import DBOSWorkflowConflictIDError  # has no public name
from dbos._serialization import serialize_value
from dbos._sys_db import OperationResultInternal
from msgspec import Struct, field, structs

from instrc.engines.dbos import store
from instrc.engines.memory_port import MemoryPort, MemoryWork
from instrc.engines.run_table import StandingWriter
from instrc.engines.stores import RunStore
from instrc.problems.errors import ConflictError, UnavailableError
from instrc.runtime.activities import Activities
from instrc.runtime.answers import answer_facts, answer_result, decision
from instrc.runtime.effects import Effects, RunChild
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import ActivityCommand, Author, Command, FireCommand, Outcome, PinnedPlan, Result
from instrc.runtime.journal import Again, Hold, Journal, JournalEntry, rebuild_journal
from instrc.runtime.plan import Cancellable, child_inputs, child_result, drive, has_pauses, plan_of
from instrc.runtime.questions import LIMIT, Question, open_questions
from instrc.runtime.run_config import LaunchDocument, RunConfig
from instrc.runtime.traces import Event
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, as_object

Record: TypeAlias = Callable[[JournalEntry], Awaitable[None]]


SERVER_PAUSE: Final = 1.0
"""Seconds before the first retry after an error of the store."""


class DurablePort(MemoryPort):
    """Records results before the loop applies them; simultaneous ones become one entry."""

    def __init__(
        self,
        effects: Effects,
        journal: Journal,
        record: Record,
        rest: Callable[[bool], None],
        standing: StandingWriter,
        draining: Callable[[], bool] = lambda: False,
    ) -> None:
        """`rest` is called with whether the run only waits for people, after `standing` has written its state.

        While `draining`, the run is suspended once its effects in flight have ended and are recorded.
        """
        hold = Hold(journal.plan, journal.state) if journal.holds else None
        effects = structs.replace(effects, keys=journal.keys, chosen=journal.model or effects.chosen)
        super().__init__(effects, journal.state, patient=True, due=journal.due, later=journal.later, held=journal.held, hold=hold)
        self.journal = journal
        self.record = record
        self.rest = rest
        self.standing = standing
        self.draining = draining
        self.resting = 0
        """Children that wait for people."""
        self.begun: set[str] = set()
        """Effects started before a restart but not recorded; those started again are reported."""
        self.told: dict[str, Json] = {}
        """What was answered before a restart and perhaps not recorded: the answer comes again, and the trace has it once."""
        self._known_due, self._known_later, self._known_held = set(journal.due), set(journal.later), set(journal.held)
        self._again: list[tuple[Again, str, asyncio.Future[bool]]] = []
        self.letters: set[str] = journal.letters
        """What was read and recorded."""
        self._letters: dict[str, tuple[str, asyncio.Future[bool]]] = {}
        self._fired_now: list[str] = []
        self._calls: set[str] = set()
        self.lost: sa.exc.SQLAlchemyError | UnavailableError | None = None
        """The error of the store that kept a child from its result: the run is left with it, to be continued."""

    def start(self, command: Command) -> Cancellable:
        """Start a command, and note whether it is an activity."""
        self._report(command)
        if command["kind"] == "activity":
            self._calls.add(command["id"])
        return super().start(command)

    def take(
        self, command: str, data: Json, letter: str, by: Author | None = None, tag: str | None = None
    ) -> asyncio.Future[bool] | None:
        """Deliver an answer, or return `None` if there is no such question, or it shows another value than that of the `tag`.

        The future resolves to whether it was recorded: until then, the message must be kept.
        """
        recorded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if letter in self.letters:
            recorded.set_result(True)
            return recorded
        asked = open_questions(self.journal.plan, self.journal.state, self.later, self.held, (command,))
        if tag is not None and all(each.id != command or each.tag != tag for each in asked):
            return None
        result: Result = answer_result(data, by)
        if command in self.held or command == LIMIT:
            if (again := decision(command, as_object(data))) is not None:
                return self.begin_again(again, letter)
            error = self.held.pop(command)
            self.final.add(command)
            result = answer_result(as_object(data)["result"], by) if "result" in as_object(data) else {"error": error}
        elif command not in self.later or self.overdue:
            return None
        self._letters[command] = (letter, recorded)
        if command not in self.told or self.told.pop(command) != data:
            self.effects.tell("told", command, **answer_facts(data, by))
        self.rest(False)  # noqa: FBT003  -- the callback's signature
        self.give(command, result)
        return recorded

    @property
    def questions(self) -> list[Question]:
        """The open questions of the run."""
        return open_questions(self.journal.plan, self.journal.state, self.later, self.held)

    def begin_again(self, again: Again, letter: str) -> asyncio.Future[bool]:
        """Retry what holds the run, once that is recorded."""
        recorded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if letter in self.letters:
            recorded.set_result(True)
        else:
            self._again.append((again, letter, recorded))
            self.rest(False)  # noqa: FBT003  -- as above
            self.deliver("", {})
        return recorded

    async def carry_out(self, command: Command) -> Result | None:
        """Return the result of a command; an error of the store, which a child may meet, is not one."""
        try:
            return await super().carry_out(command)
        except (sa.exc.SQLAlchemyError, UnavailableError) as error:
            self.lost = error
            raise asyncio.CancelledError from None

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, Result]]:
        """Wait for results and record them."""
        await self.write_standing()
        if self.only_waits or (self.resting and not self.busy and not self._done and not self.overdue):
            self.rest(True)  # noqa: FBT003  -- the callback's signature
        if self.due.keys() - self._known_due:
            await self._keep({"due": {name: at for name, at in self.due.items() if name not in self._known_due}})
        results = [*await super().wait_first(tasks)]
        await self._keep({"results": results} if results else {})
        if self.lost is not None:
            raise self.lost
        while self.draining():
            if not self.busy:
                await self.drain()
                raise asyncio.CancelledError
            ended = [*await super().wait_first(tasks)]
            await self._keep({"results": ended} if ended else {})
        while self._again:
            await self._release(tasks, *self._again.pop(0))
        for command in [name for name in self._letters if name not in tasks]:
            self._letters.pop(command)[1].set_result(False)  # withdrawn in the meantime
        return results

    async def _release(self, tasks: Mapping[str, Cancellable], again: Again, letter: str, recorded: asyncio.Future[bool]) -> None:
        """Retry what holds the run; a request that no longer matches its state changes nothing."""
        stale = self.journal.is_stale(again)
        await self._keep({"letters": [letter]} if stale else {"again": again, "letters": [letter]})
        self.letters.add(letter)
        recorded.set_result(True)
        if stale:
            return
        self.journal.retries += 1
        self.effects.tell("again", steps=again.get("drop", []))
        keys = {**self.effects.keys, **{each: self.effects.keys.get(each, 1) + 1 for each in again.get("fresh", ())}}
        self.journal.model = again.get("model", self.journal.model)
        self.effects = structs.replace(self.effects, keys=keys, chosen=self.journal.model or self.effects.chosen)
        for command in again.get("drop", ()):
            if self.held.pop(command, None) is not None and isinstance(work := tasks.get(command), MemoryWork):
                self._known_held.discard(command)
                work.restart()
        if "limits" in again:
            versions.raise_limits(self.journal.plan, self.journal.state, again["limits"])

    def want_handoff(self) -> bool:
        """Return `False`: the run continues as long as this process lives."""
        return False

    async def write_standing(self, outcome: Outcome | None = None) -> None:
        """Write the state of the run into the run table, if it has changed."""
        asked = [] if outcome is not None else self.questions
        while self.standing.changes_with(asked, outcome):
            try:
                await asyncio.to_thread(self.standing.write, asked, outcome)
            except sa.exc.OperationalError as error:
                if isinstance(error.orig, sqlite3.Error):
                    raise
                await asyncio.sleep(SERVER_PAUSE)  # the server is unavailable: DBOS waits for it at each step as well

    @contextmanager
    def child_rests(self) -> Iterator[None]:
        """Mark that a child waits for people, so that the run rests too if nothing else is active."""
        self.busy, self.resting = self.busy - 1, self.resting + 1
        self.deliver("", {})
        try:
            yield
        finally:
            self.busy, self.resting = self.busy + 1, self.resting - 1
        self.rest(False)  # noqa: FBT003  -- the callback's signature

    @property
    def is_idle(self) -> bool:
        """Whether the run waits for an event, and nothing is in flight except what `busy` counts."""
        waits = self._changed is not None and not self._changed.done()  # not while it records or applies a result
        return waits and not (self._done or self._fired or self._again or self.overdue)

    async def drain(self) -> None:
        """Wait for detached activities, and record their results."""
        await super().drain()
        await self._keep({})

    async def _keep(self, entry: JournalEntry) -> None:
        """Record an entry, with other state needed after a restart."""
        self._known_due |= self.due.keys()
        later = sorted((self.later & self._calls) - self._known_later)
        held = {command: error for command, error in self.held.items() if command not in self._known_held}
        self._known_held |= held.keys()
        if held:
            entry["held"] = held
        self._known_later |= set(later)
        answered = [self._letters.pop(command) for command, _ in entry.get("results", ()) if command in self._letters]
        if later:
            entry["later"] = later
        if answered:
            entry["letters"] = [*entry.get("letters", ()), *(letter for letter, _ in answered)]
        if self._fired_now:
            entry["fired"], self._fired_now = self._fired_now, []
        if entry:
            await self.record(entry)
            self.standing.add(entry)
        for letter, recorded in answered:
            self.letters.add(letter)
            recorded.set_result(True)

    def _report(self, command: Command) -> None:
        if command["id"] in self.begun and command["id"] not in self.later and command["kind"] not in {"user", "timer"}:
            self.effects.tell("repeated", command["id"], key=f"{self.effects.run}/{command['id']}")

    async def _fire(self, command: FireCommand) -> None:
        self._report(command)
        await super()._fire(command)
        self._fired_now.append(command["id"])


class Live(Struct):
    """A run carried out by this process."""

    port: DurablePort | None = None
    task: asyncio.Task[Outcome | None] | None = None
    is_new: bool = False
    """Whether this process is just starting it, so that nothing of it can be recorded."""
    rest: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the run waits for people, and when it has ended."""
    change: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False
    error: BaseException | None = None

    def resting(self, rests: bool) -> None:  # noqa: FBT001  -- a callback
        """Record whether it waits for people."""
        (self.rest.set if rests else self.rest.clear)()
        self.change.set()

    def end(self) -> None:
        """Record that it is no longer carried out."""
        if (task := self.task) is not None and self.error is None and not task.cancelled():
            self.error = task.exception()
        self.over = True
        self.resting(True)  # noqa: FBT003  -- the callback's signature


MakeEffects: TypeAlias = "Callable[[str, PinnedPlan, RunConfig], Effects]"
"""Creates the effects of a run from its id, its plan and its launch configuration."""
WriterOf: TypeAlias = "Callable[[LaunchDocument, Sequence[JournalEntry]], StandingWriter]"
"""Returns the writer of a run's state, from its launch and its journal entries."""
_PATIENCE = 5.0
"""Seconds for DBOS to begin a run that it has accepted."""
_GOING: Final = frozenset({"PENDING", "ENQUEUED"})
"""Statuses of runs that have not ended."""


class Claims:
    """The runs that this process carries out, or is about to."""

    def __init__(self, client: DBOSClient, queue: str) -> None:
        self.client = client
        self._queue = queue
        self.live: dict[str, Live] = {}
        self.resumed: set[str] = set()
        """Runs that were carried before, perhaps by a process that has died."""
        self.parked: dict[str, float | None] = {}
        """Runs that this process has left, while they wait or after an error of the store, and when it resumes each."""
        self._executor = ""
        self._left: set[str] = set()
        """Runs that this executor has taken and left again."""
        self.unable: set[str] = set()
        """Runs that an error of this process has ended: they are left as they are, and not requeued."""
        self._taking = asyncio.Lock()
        """Held while runs are taken out of a queue, or put into one by what was read of them."""
        self.replaced: set[str] = set()
        """Runs whose tasks end since others carry them on."""
        self._errors = Counter[str]()
        """Errors of the store in a row, for each run."""

    def begin_anew(self, executor: str) -> None:
        """Record the executor name under which DBOS now takes runs."""
        self._executor = executor
        self._left.clear()

    async def take_up(self, run: str, begin: Callable[[], Awaitable[object]] | None = None) -> Live:
        """Carry out a recorded run, or `begin` a new one; one that has ended is unchanged."""
        if (known := self.live.get(run)) is not None:
            return known
        live = self.live[run] = Live(is_new=begin is not None)
        try:
            if begin is not None:
                await begin()
            elif not await self._enqueue(run, live):
                return live  # not cancelled, as a retry may have restarted it since it ended
        except BaseException:
            self.live.pop(run, None)
            raise
        if live.over and live.task is None:  # cancelled while being enqueued
            await self.cancel(run)
        return live

    async def row(self, run: str) -> WorkflowStatus | None:
        """Return the recorded state of a run."""
        return next(iter(await asyncio.to_thread(self.client.list_workflows, workflow_ids=[run])), None)

    async def _enqueue(self, run: str, live: Live, *, again: bool = False) -> bool:
        """Put a run into the queue of this process, unless it is there, or DBOS has taken it out and begins it in a moment.

        Return `False` for a run that has ended. A child that was withdrawn goes on if its caller does, by a retry.
        """
        async with self._taking:
            row, root = await self.row(run), await self.row(run.partition("/")[0])
            if not (row and root and root.status in _GOING and row.status in {*_GOING, "CANCELLED"}):
                self._drop(run, live)
                return False
            begins = row.status == "PENDING" and row.executor_id == self._executor and run not in self._left and not again
            if not begins and (row.status != "ENQUEUED" or row.queue_name != self._queue):
                self.resumed.add(run)
                await asyncio.to_thread(self.client.resume_workflow, run, queue_name=self._queue)
        if begins:
            try:
                await asyncio.wait_for(live.change.wait(), _PATIENCE)
            except TimeoutError:
                return await self._enqueue(run, live, again=True)
        return True

    async def begin_queued(self, begin: Callable[[], Collection[str]]) -> None:
        """Let DBOS `begin` the runs of a queue; none is put into a queue meanwhile: it would begin twice."""
        async with self._taking:
            left = {*self._left}
            self._left -= left.intersection(await asyncio.to_thread(begin))  # not those that were left again meanwhile

    async def carried_by(self, run: str) -> Live:
        """Record this task as the one that carries a run, and end an earlier one: DBOS records only the results of the latest."""
        live, task = self.live.get(run), asyncio.current_task()
        assert task is not None
        if live is None or live.over or (live.task is not None and live.task.done()):
            live = self.live[run] = Live()
        earlier, live.task, live.port = live.task, task, None
        live.resting(False)  # noqa: FBT003  -- what the callback takes; what the earlier task waited for is asked again
        self._left.discard(run)
        task.add_done_callback(lambda ended: self._end(run, live) if live.task is ended else None)
        if earlier is not None:
            root = run.partition("/")[0]
            self.replaced.add(root)
            earlier.cancel()
            await asyncio.wait({earlier})
            self.replaced.discard(root)
        self.unable.discard(run)  # unless it fails again
        return live

    async def cancel(self, run: str) -> None:
        """Cancel a run and its children."""
        await asyncio.to_thread(self.client.cancel_workflow, run)
        for name, live in list(self.live.items()):
            if name == run or name.startswith(f"{run}/"):
                if live.task is not None:
                    live.task.cancel()
                else:
                    self._drop(name, live)

    def _end(self, run: str, live: Live) -> None:
        self.resumed.discard(run)
        self._drop(run, live)
        if live.error is not None or live.task is None or live.task.cancelled():
            self._left.add(run)
        if not isinstance(live.error, sa.exc.SQLAlchemyError):
            self._errors.pop(run, None)
        elif "/" not in run and self._queue == store.QUEUE:  # of a folder; a server's are released, or rescued
            self.parked[run] = self.retry_at(run)

    def retry_at(self, run: str) -> float:
        """Count an error of the store, and return when the run is continued: after a pause that doubles, up to four minutes."""
        self._errors[run] += 1
        return time() + SERVER_PAUSE * float(1 << min(self._errors[run] - 1, 8))

    def _drop(self, run: str, live: Live) -> None:
        if self.live.get(run) is live:
            del self.live[run]
        live.end()


class RunCarrier(Protocol):
    """Carries out runs, each with its models and activities."""

    location: RunStore
    engine: sa.Engine
    client: DBOSClient
    claims: Claims
    make_effects: MakeEffects
    writer_of: WriterOf

    async def release(self, run: str) -> None:
        """Release the claim of a run on a server, for a process that can carry it."""

    @property
    def draining(self) -> bool:
        """Whether runs are suspended once their effects in flight have ended."""

    def leaves(self, run: str) -> bool:
        """Return whether it leaves a run suspended, to be continued."""

    async def begin(self, launch: LaunchDocument) -> Live:
        """Start a run, or resume one with its id."""

    async def resume(self, run: str) -> Live:
        """Resume a run."""


def child_of(carrier: RunCarrier, launch: LaunchDocument, journal: Journal, parent: Live, activities: Activities) -> RunChild:
    """Return a function that runs a process for an activity, as an awaited child run."""

    async def child(run: str, process: Json, command: ActivityCommand) -> Result:
        found = await carrier.claims.row(run)
        if found is not None and found.status in ({"SUCCESS"} if journal.retries else {"SUCCESS", "CANCELLED"}):  # by an operator
            return child_result(cast("Outcome", found.output or store.CANCELLED), command)
        if found is not None:
            if found.status == "CANCELLED" and (at := found.completed_at):  # withdrawn, and continued by a retry of its caller
                letter = store.Letter(digest_of([run, at]), run, {"again": {"drop": [], "shift": time() - at / 1000}})
                with suppress(sa.exc.IntegrityError):  # a process that was killed has sent it
                    await asyncio.to_thread(store.send, carrier.engine, letter)
            starting = asyncio.create_task(carrier.resume(run))
        else:
            plan = plan_of(process, activities=activities.names(), pauses=has_pauses(launch["plan"]))
            begun: LaunchDocument = {
                "run": run,
                "name": launch["name"],
                "plan": plan,
                "inputs": child_inputs(command, process),
                "how": RunConfig.from_json(launch["how"]).for_child(journal.model).to_json(),
            }
            starting = asyncio.create_task(carrier.begin(begun), context=Context())
        try:
            live = await asyncio.shield(starting)
            return child_result(await _outcome_of(run, live, parent, carrier), command)
        except asyncio.CancelledError:
            if carrier.leaves(run) or parent.port is None:
                starting.cancel()
                await asyncio.wait([starting])
            else:
                await asyncio.shield(_cancel(carrier, run, starting))
            raise

    return child


async def _outcome_of(run: str, live: Live, parent: Live, carrier: RunCarrier) -> Outcome:
    """Wait for a child; while it waits for people, so does its parent."""
    port = parent.port
    assert port is not None
    while not live.over:
        await live.rest.wait()
        if not live.over:
            with port.child_rests():
                while live.rest.is_set() and not live.over:
                    live.change.clear()
                    await live.change.wait()
    if live.error is not None:
        raise live.error
    if live.task is None or live.task.cancelled():
        if carrier.leaves(run):
            raise asyncio.CancelledError
        found = await carrier.claims.row(run)
        if found is not None and found.status == "SUCCESS":  # it ended before this process took it
            return cast("Outcome", found.output)
        return store.CANCELLED
    return cast("Outcome", live.task.result())


async def _cancel(carrier: RunCarrier, run: str, starting: asyncio.Task[Live]) -> None:
    """Cancel a child once it has started: one that is still starting could not be found, and would continue on its own."""
    await asyncio.wait([starting])
    if starting.exception() is None:
        await carrier.claims.cancel(run)


async def carry(carrier: RunCarrier, launch: LaunchDocument) -> Outcome | None:
    """Carry out a run to its end; an error of this process leaves it unchanged, to be continued."""
    live = await carrier.claims.carried_by(launch["run"])
    try:
        return await _interpret(carrier, launch, live)
    except asyncio.CancelledError:
        if live.port is not None and not carrier.leaves(launch["run"]):
            await asyncio.shield(asyncio.to_thread(live.port.standing.close))
        raise
    except DBOSWorkflowConflictIDError:  # DBOS would wait for the end of the run, which others carry
        live.port = None  # its children are left like it, to be continued
        if "/" in launch["run"]:  # so is the run above
            live.error = store.unusable(carrier.location, "another worker carries the run")
        await asyncio.sleep(_PATIENCE)
    except Exception as error:
        live.port, live.error = None, error  # as above; it is passed on to the waiting caller
        if isinstance(error, sa.exc.SQLAlchemyError):
            raise
        carrier.claims.unable.add(launch["run"])
        if isinstance(error, ConflictError):  # it needs objects of another process, which may continue it
            await carrier.release(launch["run"])
    raise asyncio.CancelledError


async def _interpret(carrier: RunCarrier, launch: LaunchDocument, live: Live) -> Outcome | None:
    """Rebuild the state of a run from its journal, and run it to its end."""
    run, plan = launch["run"], launch["plan"]
    is_new, live.is_new = live.is_new, False
    steps = [] if is_new else await asyncio.to_thread(carrier.client.list_workflow_steps, run)
    for _ in range(max((step["function_id"] for step in steps), default=0)):
        DBOS.reserve_step()
    entries = store.entries_of(launch, steps)
    entries += [] if is_new else await _retried(carrier, run, entries)
    config = RunConfig.from_json(launch["how"])
    journal = rebuild_journal(plan, launch["inputs"], entries, holds=config.holds)
    effects = carrier.make_effects(run, plan, config)
    effects = structs.replace(effects, child=child_of(carrier, launch, journal, live, effects.activities), program=launch["name"])
    writer = carrier.writer_of(launch, entries)
    port = live.port = DurablePort(effects, journal, _record, live.resting, writer, lambda: carrier.draining)
    if steps:
        effects.tell("resumed", steps=len(steps))
    events = [] if is_new else (await asyncio.to_thread(store.trace_from, carrier.location, carrier.engine, run))[0]
    events = [event for event in events if event["run"] == run]
    _read_earlier(port, events)
    for asked, result in _answered(entries) if steps else ():
        if all(event["event"] != "told" or event.get("id") != asked for event in events):
            effects.tell("told", asked, **answer_facts(result["ok"], result["by"]))  # a crash has lost the end of the trace
        port.told.pop(asked, None)
    port.begun -= journal.held.keys()  # these have ended, so it is certain that they failed
    if not carrier.location.is_local and (steps or run in carrier.claims.resumed):
        port.begun |= _next_commands(journal)  # a crash loses the last events of a trace, but not the next steps
    with effects.carried():
        for command in journal.unfired.values():
            await port.fire(command)
        outcome = await drive(plan, journal.state, port)
        await port.drain()
        effects.tell("ended", outcome=outcome)  # before its row says so, by which streams end
        await port.write_standing(outcome)
    return outcome


def _read_earlier(port: DurablePort, events: Iterable[Event]) -> None:
    """Read from the earlier events of a run which effects have begun, and which questions were shown and answered."""
    for event in events:
        if event["event"] in {"called", "asked"} and "id" in event:
            port.begun.add(event["id"])
        elif event["event"] == "question":
            port.shown.add(event["id"])
        elif event["event"] == "told":
            port.told[event["id"]] = event["answer"]
            port.shown.discard(event["id"])
        elif event["event"] == "again":
            port.told = {}


async def _retried(carrier: RunCarrier, run: str, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Record retries of a run that were requested while no process carried it out."""
    known = {letter for entry in entries for letter in entry.get("letters", ())}
    made: list[JournalEntry] = []
    for letter in await asyncio.to_thread(store.unread, carrier.engine, run):
        if "again" in letter.body and letter.id not in known:
            made.append({"again": cast("Again", letter.body["again"]), "letters": [letter.id]})
            await _record(made[-1])
            await asyncio.to_thread(store.settle, carrier.engine, letter.id, "taken")
    return made


async def _record(entry: JournalEntry) -> None:
    """Write an entry into the journal of the run, as a DBOS step.

    `DBOS.run_step_async` would look for an earlier result of the step first, in a transaction of its own; all of them were read
    when the run was taken up, and the write itself fails if the run was cancelled or taken over.
    """
    text, form = serialize_value(entry, None, DBOSPortableJSONSerializer())
    result: OperationResultInternal = {
        "workflow_uuid": cast("str", DBOS.workflow_id),
        "function_id": DBOS.reserve_step().step_id,
        "function_name": store.STEP,
        "output": text,
        "error": None,
        "serialization": form,
        "started_at_epoch_ms": int(time() * 1000),
        "child_workflow_id": None,
    }
    await asyncio.to_thread(_get_dbos_instance()._sys_db.record_operation_result, result)  # noqa: SLF001  -- as said above


def _answered(entries: Iterable[JournalEntry]) -> list[tuple[str, Result]]:
    """Return the answers of people, as recorded."""
    return [(command, result) for entry in entries for command, result in entry.get("results", ()) if result.get("by")]


def _next_commands(journal: Journal) -> set[str]:
    """Return the next commands of a run that are not held: a previous process may have started them."""
    state = deepcopy(journal.state)
    open_ = {command["id"] for find in (versions.issue, versions.pending) for command in find(journal.plan, state)}
    return (open_ | journal.unfired.keys()) - journal.held.keys()
