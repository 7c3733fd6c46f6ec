"""The workflow: one type that interprets every plan with activities, timers and child workflows."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, cast

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, ChildWorkflowError, WorkflowAlreadyStartedError

from instrc.engines.temporal import documents
from instrc.problems.errors import InstrcError
from instrc.runtime.answers import answer_facts, answer_result, decision, operator_faults
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import ActivityCommand, Command, Complaint, FireCommand, ModelCommand, Result, State
from instrc.runtime.journal import Again, Hold, Journal, JournalEntry, rebuild_journal
from instrc.runtime.plan import Cancellable, child_result, drive
from instrc.runtime.questions import LIMIT, Question, open_questions
from instrc.runtime.retry import RetryOptions, retry_of
from instrc.runtime.run_config import RunConfig, holds
from instrc.text.durations import seconds
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object

COMMANDS_IN_FLIGHT: Final = 500
"""Maximum commands in flight: Temporal allows 2,000 concurrent activities per run, and is slow long before."""
HISTORY_EVENTS: Final = 20_000
"""Maximum events in a history, if the server does not suggest a new one; its limit is 51,200."""
_CHILDREN_BYTES: Final = 20_000_000
"""Maximum bytes of a history while children, which cannot go along, are open: one may wait for a person for days."""
TASK_BYTES: Final = 3_500_000
"""Maximum bytes that one workflow task sends: the server refuses messages over 4 MB."""
_COMMAND_BYTES: Final = 2_000
"""Bytes of a command besides its argument, or with one that lies beside the history."""
_AT_LONGEST = timedelta(days=30)
"""Timeout of one attempt; a lost worker is detected by its heartbeat."""
_RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
"""Retries after the death of a worker; for errors of a handler or model, the activity names the pause itself."""


class _TemporalWork:
    """A command in execution."""

    def __init__(self, port: TemporalPort, command: Command) -> None:
        self.port = port
        self.command = command
        self.task: asyncio.Task[None] | None = None

    def begin(self, work: Coroutine[object, object, None]) -> None:
        self.task = asyncio.create_task(work)

    def fly(self) -> None:
        self.port.flying += 1
        self.begin(self._fly())

    async def _fly(self) -> None:
        command = self.command
        assert command["kind"] == "model" or command["kind"] == "activity"
        try:
            result = await self.port.result_of(command)
        except BaseException:
            self.port.flying -= 1
            self.port.release()
            self.port._done.put_nowait(("", {}))  # noqa: SLF001  -- its own
            raise
        self.port.landed(command["id"], result)

    def cancel(self) -> None:
        """Cancel its execution."""
        self.port.withdraw(self)
        if self.task is not None:
            self.task.cancel()


class TemporalPort:
    """Executes the commands of one run."""

    def __init__(self, launch: documents.Launched, carried: documents.Continued) -> None:
        self.launch = launch
        self.state = carried["state"]
        self.due: dict[str, float] = carried["due"]
        """End times of timers; kept when a new history starts."""
        self.later: set[str] = set(carried["later"])
        """Commands that are answered from outside."""
        self.unread: dict[str, Result] = carried["unread"]
        """Results of commands that have not been started again yet."""
        self.answered: set[str] = set(self.unread)
        """Commands whose answer was taken, also while it is not applied yet."""
        self.held: dict[str, Json] = carried.get("held", {})
        """Commands that hold the run, with their errors."""
        self.keys: dict[str, int] = carried.get("keys", {})
        self.model: str | None = carried.get("model")
        """The model that a retry has chosen."""
        self.entries: list[JournalEntry] | None = carried.get("entries")
        """The journal; `None` if its beginning is not known."""
        self.failed: dict[str, documents.Child] = carried.get("failed", {})
        """Failed children, which a retry continues."""
        self._hold = Hold(launch["plan"], self.state) if holds(launch) else None
        self._final: set[str] = set()
        """Commands that the operator allows to fail the run."""
        self._waiting: dict[str, _TemporalWork] = {}
        """Commands that hold the run."""
        self.children: dict[str, str] = {}
        """The keys of commands that processes serve."""
        self.flying: int = 0
        self.leaving: bool = False
        """What is open goes along into the new history: it is not withdrawn."""
        self.firing: set[asyncio.Task[None]] = set()
        self._kept_back: list[_TemporalWork] = []
        self._done: asyncio.Queue[tuple[str, Result]] = asyncio.Queue()
        self._sending = asyncio.Lock()
        self._sent: Counter[int] = Counter()
        """Bytes that workflow tasks have sent, by the length of the history at each."""

    def start(self, command: Command) -> Cancellable:
        """Start a command, or queue it while there are many in flight or a new history is about to begin."""
        work = _TemporalWork(self, command)
        name = command["id"]
        if name in self.unread:
            self.later.discard(name)
            self._done.put_nowait((name, self.unread.pop(name)))
        elif command["kind"] == "user":
            self.later.add(name)
            documents.tell(
                self.launch["run"], "question", name, steps=list(command["steps"]), show=command["show"], schema=command["schema"]
            )
        elif command["kind"] == "timer":
            self.due.setdefault(name, workflow.time() + seconds(command["after"]))
            work.begin(self._sleep(name))
        elif name in self.held:
            self._waiting[name] = work
        elif name not in self.later:
            self._begin(work)
        return work

    def _begin(self, work: _TemporalWork) -> None:
        if self.flying >= COMMANDS_IN_FLIGHT or self.ending:
            self._kept_back.append(work)
        else:
            work.fly()

    @property
    def ending(self) -> bool:
        """Return whether the history is long enough to begin a new one."""
        info = workflow.info()
        if self.children and workflow.patched("children-at-work"):  # not where an earlier release has waited for them
            return info.get_current_history_length() > 2 * HISTORY_EVENTS or info.get_current_history_size() > _CHILDREN_BYTES
        most = self.launch.get("events") or HISTORY_EVENTS
        return info.is_continue_as_new_suggested() or info.get_current_history_length() > most

    @property
    def idle(self) -> bool:
        """Return whether the run only waits for people or the operator."""
        return not self.flying and not self._kept_back and self._done.empty() and bool(self.later or self.is_held)

    @property
    def is_held(self) -> bool:
        """Return whether something holds the run."""
        return bool(self.held or self.state.get("stalled"))

    def is_late(self, command: str) -> bool:
        """Return whether a deadline of a command or an enclosing block has passed, as the server may report it late."""
        passed = (name.removesuffix("!within") for name, at in self.due.items() if at <= workflow.time())
        return any(command == place or command.startswith((f"{place}.", f"{place}[", f"{place}@")) for place in passed)

    def give(self, command: str, result: Result) -> None:
        """Deliver an answer."""
        self.answered.add(command)
        if self.held.pop(command, None) is not None:
            self._final.add(command)
            self._done.put_nowait((command, result))
        elif command in self.later:
            self.later.discard(command)
            self._done.put_nowait((command, result))
        else:
            self.unread[command] = result

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, Result]]:
        """Wait for results."""
        found = [await self._done.get()]
        while not self._done.empty():
            found.append(self._done.get_nowait())
        known = [each for each in found if each[0] in tasks and not self._holds(*each, tasks[each[0]])]
        if known and self.entries is not None:
            self.entries.append({"results": known})
        return known

    def _holds(self, command: str, result: Result, work: Cancellable) -> bool:
        """Return whether the run is held instead of applying a result."""
        if self._hold is None or command in self._final or not self._hold.takes(command, result):
            return False
        assert isinstance(work, _TemporalWork)
        self.held[command], self._waiting[command] = result["error"], work
        documents.tell(self.launch["run"], "held", command, error=result["error"])
        return True

    def begin_again(self, again: Again) -> None:
        """Retry what holds the run."""
        if self.entries is not None:
            self.entries += [self.waiting(), {"again": again}]
        documents.tell(self.launch["run"], "again", steps=again.get("drop", []))
        for command in again.get("fresh", ()):
            self.keys[command] = self.keys.get(command, 1) + 1
        self.model = again.get("model", self.model)
        for command in again.get("drop", ()):
            if self.held.pop(command, None) is not None:
                self._begin(self._waiting.pop(command))
        if "limits" in again:
            versions.raise_limits(self.launch["plan"], self.state, again["limits"])
        self._done.put_nowait(("", {}))

    def waiting(self) -> JournalEntry:
        """Return the events that the run takes along instead of recording them as they happen."""
        return {"held": dict(self.held), "due": dict(self.due), "later": sorted(self.later)}

    def key(self, command: str) -> str:
        """Return the suffix of the key of a command, and of the run of its process."""
        number = self.keys.get(command, 1)
        return f"{command}~{number}" if number > 1 else command

    async def fire(self, command: FireCommand) -> None:
        """Start a command without waiting for its result, though the run ends only after it."""
        task = asyncio.create_task(self._fire(command))
        self.firing.add(task)
        task.add_done_callback(self.firing.discard)

    async def _fire(self, command: FireCommand) -> None:
        try:
            await self.effect(command)
        finally:
            self._done.put_nowait(("", {}))

    async def drain(self) -> None:
        """Wait for detached commands."""
        while self.firing:
            await workflow.wait([*self.firing])

    def want_handoff(self) -> bool:
        """Return whether to begin a new history, once nothing is in flight; queued commands start there."""
        self.leaving = self.ending and not self.flying and not self.firing and self._done.empty()
        return self.leaving

    def carried(self) -> documents.Continued:
        """Return the state that the run takes into a new history."""
        while not self._done.empty():
            name, result = self._done.get_nowait()
            if name:
                self.unread[name] = result
        progress = cast("Journal", self)  # it has all that is read of one
        return {**documents.continued(progress, self.entries), "unread": self.unread, "failed": self.failed}

    async def effect(self, command: ModelCommand | ActivityCommand | FireCommand) -> documents.ActivityOutcome:
        """Execute a command in a worker."""
        given: documents.Effect = {"run": self.launch["run"], "digest": self.launch["digest"], "command": command}
        if command["id"] in self.keys:
            given["number"] = self.keys[command["id"]]
        if self.model is not None:
            given["chosen"] = self.model
        await self._wait_for_room(given)
        came: documents.ActivityOutcome = await workflow.execute_activity(
            documents.ACTIVITIES[command["kind"]],
            given,
            activity_id=command["id"],
            start_to_close_timeout=_AT_LONGEST,
            heartbeat_timeout=timedelta(seconds=self.launch["heartbeat"]),
            retry_policy=_RETRY,
            summary=command["id"],
        )
        return came

    async def _wait_for_room(self, given: object) -> None:
        """Wait for a workflow task that can send a command with an argument, in the order of the commands."""
        size = len(dumps(cast("Json", given), indent=False).encode()) + _COMMAND_BYTES
        size = size if size < documents.HISTORY_VALUE_BYTES else _COMMAND_BYTES
        here = workflow.info().get_current_history_length
        async with self._sending:
            if self._sent[here()] + size > TASK_BYTES:
                await asyncio.sleep(0.001)  # the end of a timer is another workflow task
            self._sent[here()] += size

    async def result_of(self, command: ModelCommand | ActivityCommand) -> Result | None:
        """Return the result of a command, or `None` if it comes later."""
        try:
            came = await self.effect(command)
            if "launch" in came:
                assert command["kind"] == "activity"
                return await self._child(came["launch"], command)
        except (ActivityError, ChildWorkflowError) as error:
            if workflow.cancellation_reason() is not None and isinstance(error.cause, CancelledError):
                raise
            return {"error": {"kind": "failed", "code": None, "message": str(error.cause or error)}}
        return None if "pending" in came else came

    async def _child(self, begun: documents.Child, command: ActivityCommand) -> Result:
        key = self.key(command["id"])
        name = f"{workflow.info().workflow_id}/{key}"
        self.children[command["id"]] = key
        self.release()
        try:
            how = RunConfig.from_json(self.launch["how"]).for_child(self.model).to_json()
            kept = self.failed.get(key, begun)
            begun = {**begun, "entries": kept} if isinstance(kept, list) else kept  # of an earlier release, only its journal
            launch: documents.Launched = {**_beginning(self.launch), **begun, "run": f"{self.launch['run']}/{key}", "how": how}
            launch["digest"] += "" if self.model is None else f"/{self.model}"  # workers keep launches by it
            if (entries := begun.get("entries")) is not None:
                journal = rebuild_journal(begun["plan"], begun["inputs"], entries)
                launch["entries"] = [*entries, {"again": retry_of(launch["run"], journal, RetryOptions(model=self.model))}]
            self.failed.pop(key, None)
            await self._wait_for_room(launch)
            ended: documents.Ended = await workflow.execute_child_workflow(
                documents.WORKFLOW, launch, id=name, task_timeout=documents.TASK_TIME
            )
        except InstrcError as error:  # it cannot continue, and is kept for a retry from an earlier step
            return {"error": {"kind": "failed", "code": None, "message": error.problems[0].message}}
        finally:
            self.children.pop(command["id"], None)
        if "entries" in ended:
            self.failed[key] = {**begun, "entries": ended["entries"], "failed": ended.get("failed", {})}
        return child_result(ended["outcome"], command)

    async def _sleep(self, name: str) -> None:
        await asyncio.sleep(max(self.due[name] - workflow.time(), 0))
        self.due.pop(name, None)
        self._done.put_nowait((name, {"ok": None}))

    def landed(self, name: str, result: Result | None) -> None:
        """Apply the result of a command in flight, and start a queued one."""
        self.flying -= 1
        if result is None and name in self.unread:
            result = self.unread.pop(name)
        if result is None:
            self.later.add(name)
        self._done.put_nowait(("" if result is None else name, result or {}))
        self.release()

    def release(self) -> None:
        """Start queued commands, up to the limit."""
        while self._kept_back and self.flying < COMMANDS_IN_FLIGHT and not self.ending:
            self._kept_back.pop(0).fly()

    def withdraw(self, work: _TemporalWork) -> None:
        """Drop a command that is no longer needed."""
        if self.leaving:
            return
        name = work.command["id"]
        self.later.discard(name)
        self.due.pop(name, None)
        if work in self._kept_back:
            self._kept_back.remove(work)


def _beginning(launch: documents.Launched) -> documents.Launched:
    """Return a launch without the state that it was continued with."""
    without = {"carried", "entries", "failed"}
    return cast("documents.Launched", {name: value for name, value in launch.items() if name not in without})


_PLAN = SearchAttributeKey.for_keyword(documents.PLAN_ATTRIBUTE)
_STATUS = SearchAttributeKey.for_keyword(documents.STATUS_ATTRIBUTE)


@workflow.defn(name=documents.WORKFLOW)
class RunWorkflow:
    """A run."""

    @workflow.init
    def __init__(self, launch: documents.Launched) -> None:
        carried = launch.get("carried")
        self.launch = launch
        self.unfired: list[FireCommand] = []
        if carried is None:
            entries = launch.get("entries", [])
            journal = rebuild_journal(launch["plan"], launch["inputs"], entries, holds=holds(launch))
            self.unfired += journal.unfired.values()
            carried = {**documents.continued(journal, entries), "failed": launch.get("failed", {})}
        self.state: State = carried["state"]
        self.port: TemporalPort = TemporalPort(launch, carried)
        self.status: str = ""

    @workflow.run
    async def run(self, launch: documents.Launched) -> documents.Ended:
        """Run to the end, or into a new history."""
        port = _Watched(self)
        for command in self.unfired:
            await port.fire(command)
        outcome = await drive(launch["plan"], self.state, port)
        if outcome is None:
            workflow.continue_as_new({**_beginning(launch), "inputs": {}, "carried": self.port.carried()})
        await self.port.drain()
        self.note(outcome["status"])
        documents.tell(launch["run"], "ended", outcome=outcome)
        ended: documents.Ended = {"outcome": outcome, "record": versions.record(launch["plan"], self.state)}
        if outcome["status"] == "failed" and workflow.info().parent is not None and self.port.entries is not None:
            ended["entries"], ended["failed"] = [*self.port.entries, self.port.waiting()], self.port.failed
        return ended

    @workflow.update(name=documents.ANSWER)
    def answer(self, letter: documents.AnswerMessage) -> None:
        """Accept an answer."""
        self._take(letter)

    @answer.validator
    def refuse(self, letter: documents.AnswerMessage) -> None:
        """Raise for an answer to a closed question, or one that does not fit: the question stays open."""
        wrong = self._faults(letter)
        if wrong is None:
            raise ApplicationError(letter["answer"], type=documents.NO_QUESTION)
        if wrong:
            raise ApplicationError(wrong[0]["message"], wrong[0]["pointer"], type=documents.REJECTED)

    @workflow.signal(name=f"{documents.ANSWER}-signal")
    def told(self, letter: documents.AnswerMessage) -> None:
        """Accept an answer if the server lacks updates; an invalid one is ignored, and the question stays open."""
        if self._faults(letter) == []:
            self._take(letter)

    @workflow.update(name=documents.AGAIN)
    def again(self, again: Again) -> bool:
        """Retry what holds the run, or return `False` if another retry came first."""
        if self.journal().is_stale(again):
            return False
        self.port.begin_again(again)
        self.note("running")
        return True

    @workflow.query(name=documents.JOURNAL)
    def recorded(self) -> documents.RecordedRun | None:
        """Return the journal of the run, or `None` if its launch is unknown."""
        if self.port.entries is None:
            return None
        launch: documents.Launched = {**_beginning(self.launch), "inputs": self.state["inputs"]}
        return {"launch": launch, "entries": [*self.port.entries, self.port.waiting()], "failed": self.port.failed}

    def journal(self) -> Journal:
        """Return the progress of the run as a journal."""
        entries = [*(self.port.entries or ()), self.port.waiting()]
        return rebuild_journal(self.launch["plan"], self.state["inputs"], entries, holds=holds(self.launch))

    def questions(self) -> list[Question]:
        """Return the open questions of the run."""
        if self.state["outcome"] is not None:
            return []
        found = open_questions(self.launch["plan"], self.state, self.port.later, self.port.held)
        return [each for each in found if each.id not in self.port.answered]

    @workflow.query(name=documents.REPORT)
    def report(self) -> documents.Standing:
        """Return the state of the run."""
        plan, state = self.launch["plan"], self.state
        outcome = versions.outcome(plan, state)
        return {
            "outcome": outcome,
            "idle": self.port.idle,
            "flying": self.port.flying,
            "due": min(self.port.due.values(), default=None),
            "questions": [(each.id, list(each.steps), each.show, each.schema, each.by) for each in self.questions()],
            "children": sorted(self.port.children.values()),
            "record": versions.record(plan, state),
        }

    def note(self, status: str) -> None:
        """Write the state of the run into its search attributes."""
        if self.launch.get("attributes") and status != self.status:
            self.status = status
            plan = self.launch["plan"]["digest"]
            workflow.upsert_search_attributes([_PLAN.value_set(plan), _STATUS.value_set(status)])

    def _faults(self, letter: documents.AnswerMessage) -> list[Complaint] | None:
        if letter["answer"] in self.port.answered or self.port.is_late(letter["answer"]):
            return None
        asked = next((each for each in self.questions() if each.id == letter["answer"]), None)
        if asked is not None and letter.get("tag", asked.tag) != asked.tag:
            return None
        if asked is not None and asked.by == "operator":
            return operator_faults(asked, letter["data"])
        return versions.faults(self.launch["plan"], self.state, letter["answer"], letter["data"])

    def _take(self, letter: documents.AnswerMessage) -> None:
        command, data = letter["answer"], letter["data"]
        by = letter.get("by")
        documents.tell(self.launch["run"], "told", command, **answer_facts(data, by))
        if command not in self.port.held and command != LIMIT:
            self.port.give(command, answer_result(data, by))
        elif (again := decision(command, as_object(data))) is not None:
            self.port.begin_again(again)
        else:
            fails = "result" not in as_object(data)
            self.port.give(command, {"error": self.port.held[command]} if fails else answer_result(as_object(data)["result"], by))
        self.note("running")


class _Watched:
    """The port of a workflow, which also records the state of the run."""

    def __init__(self, flow: RunWorkflow) -> None:
        self.flow = flow
        port = flow.port
        self.start, self.wait_first, self.fire = port.start, port.wait_first, port.fire

    def want_handoff(self) -> bool:
        port = self.flow.port
        self.flow.note(("held" if port.is_held else "waiting") if port.idle else "running")
        return self.flow.port.want_handoff()


@workflow.defn(name=documents.TICK)
class TickWorkflow:
    """A tick of a schedule, which lasts as long as its run, so that the next one is skipped meanwhile."""

    @workflow.run
    async def run(self, tick: documents.Tick) -> None:
        """Start the run, and wait for its end."""
        run = documents.run_of_tick(tick["launch"]["run"], workflow.info().workflow_id)
        launch: documents.Launched = {**tick["launch"], "run": run}
        with suppress(ChildWorkflowError, WorkflowAlreadyStartedError):  # it was cancelled, or has already been started
            await workflow.execute_child_workflow(
                documents.WORKFLOW,
                launch,
                id=tick["prefix"] + run,
                task_timeout=documents.TASK_TIME,
                memo=documents.memo_of(launch),
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            )
