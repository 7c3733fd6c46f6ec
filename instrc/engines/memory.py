"""The engine without any store: a run lives as long as this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time
from typing import TypedDict

from instrc.runtime.boundary import copy_of, said_by
from instrc.runtime.effects import Effects, Invention
from instrc.runtime.engine import People, Question, Run, RunStatus, answer_copied, answer_of, chosen, question_of, require_fit
from instrc.runtime.interpreter import documents, versions
from instrc.runtime.plan import Cancellable, child_inputs, child_result, drive, has_pauses, plan_of
from instrc.runtime.traces import Event
from instrc.text.durations import seconds
from instrc.text.jsonvalue import Json, JsonObject
from instrc.tools.python_values import JsonLike

_PATIENCE = 3
"""Wrong answers to one question; after them it stays open."""


class MemoryPort:
    """Commands as tasks of asyncio."""

    def __init__(
        self,
        effects: Effects,
        people: People | None = None,
        *,
        patient: bool = False,
        due: dict[str, float] | None = None,
        later: set[str] | None = None,
    ) -> None:
        """`patient` waits for answers in this process instead of handing off.

        `due` and `later` are kept for a run that is handed off and goes on: when its timers end, and what was begun already.
        """
        self.effects = effects
        self.people = people
        self.patient = patient
        self.due: dict[str, float] = due if due is not None else {}
        """When timers end."""
        self.later: set[str] = later if later is not None else set()
        """Commands that somebody answers later, questions among them."""
        self.busy = 0
        """Commands that will have a result without anybody's help, deadlines left out."""
        self._timing = set(self.due)
        """Timers that somebody waits for."""
        self._done: list[tuple[str, documents.Result]] = []
        self._changed: asyncio.Future[None] | None = None
        """Ends when there is something in `_done`."""
        self._fired: set[asyncio.Task[None]] = set()
        self._asked: dict[str, int] = {}
        """How often people were asked: a command comes again when its answer was wrong."""

    def start(self, command: documents.Command) -> Cancellable:
        """Begin a task for a command."""
        return _MemoryWork(self, command)

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, documents.Result]]:
        """Wait for one result."""
        while True:
            if not self._done:
                self._changed = asyncio.get_running_loop().create_future()
                await self._changed
            found, self._done = self._done, []
            known = [each for each in found if each[0] in tasks]
            if known or any(each[0] == "" for each in found):
                return known

    async def fire(self, command: documents.FireCommand) -> None:
        """Begin a task that nobody waits for."""
        task = asyncio.ensure_future(self._fire(command))
        self._fired.add(task)
        task.add_done_callback(self._fired.discard)

    def want_handoff(self) -> bool:
        """Tell whether all that is open waits for people."""
        return not self.patient and not self.busy and bool(self.later) and not self._done and not self.overdue

    @property
    def next_due(self) -> float | None:
        """When the next timer ends."""
        return min((self.due[name] for name in self._timing if name in self.due), default=None)

    @property
    def overdue(self) -> bool:
        """Tell whether a timer should have ended by now."""
        return (due := self.next_due) is not None and due <= time()

    async def drain(self) -> None:
        """Wait for what was fired."""
        while self._fired:
            await asyncio.wait(set(self._fired))

    def give(self, command: str, result: documents.Result) -> None:
        """Deliver the result of a command that somebody answers."""
        self.later.discard(command)
        self.deliver(command, result)

    def deliver(self, command: str, result: documents.Result) -> None:
        """Let the loop know of a result; of no command, only that something has changed."""
        self._done.append((command, result))
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def forget(self, command: str) -> None:
        """Wait no more for a timer; when it ends is still known, for a run that goes on later."""
        self._timing.discard(command)

    async def _fire(self, command: documents.FireCommand) -> None:
        await self.effects.call(command)

    async def carry_out(self, command: documents.Command) -> documents.Result | None:
        """Return the result of a command; `None` if somebody gives it later."""
        match command["kind"]:
            case "model":
                return await self.effects.ask(command)
            case "activity":
                return await self.effects.call(command)
            case "timer":
                return await self._sleep(command)
            case "user":
                return await self._ask(command)
            case _:
                return None

    async def _ask(self, command: documents.UserCommand) -> documents.Result | None:
        asked = self._asked[command["id"]] = self._asked.get(command["id"], 0) + 1
        answer = await answer_of(self.people, command) if self.people is not None and asked <= _PATIENCE else None
        if answer is not None:
            self.effects.tell("told", command["id"], answer=answer, steps=list(command["steps"]))
            return {"ok": answer}
        self.effects.tell("question", command["id"], steps=list(command["steps"]), show=command["show"], schema=command["schema"])
        return None

    async def _sleep(self, command: documents.TimerCommand) -> documents.Result:
        until = self.due.setdefault(command["id"], time() + seconds(command["after"]))
        self._timing.add(command["id"])
        await asyncio.sleep(max(until - time(), 0))
        self.due.pop(command["id"], None)
        return {"ok": None}


class _MemoryWork:
    """One command that is being carried out."""

    def __init__(self, port: MemoryPort, command: documents.Command) -> None:
        self.port = port
        self.command = command
        self.counts = not command["id"].endswith("!within")
        port.busy += self.counts
        self.task = asyncio.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        port, command = self.port, self.command
        try:
            result = None if command["id"] in port.later else await port.carry_out(command)
            if result is None:
                port.later.add(command["id"])
                given: tuple[str, documents.Result] = ("", {})
            else:
                given = (command["id"], result)
        except asyncio.CancelledError:
            port.deliver("", {})  # what it still did while it was cancelled may be all that the run was busy with
            raise
        except Exception as error:  # noqa: BLE001  -- a defect of ours must end the run, not hang it
            given = (command["id"], {"error": {"kind": "failed", "code": "defect", "message": said_by(error)}})
        finally:
            port.busy -= self.counts
        port.deliver(*given)

    def cancel(self) -> None:
        """Stop carrying it out."""
        self.port.forget(self.command["id"])
        self.task.cancel()


# A run in this process: started, asked about, answered.


class StoredRun(TypedDict):
    """What is stored of a run that waits: plain JSON."""

    plan: documents.PinnedPlan
    state: documents.State
    due: dict[str, float]
    """When timers end."""
    later: list[str]
    """Commands that were begun and that somebody answers later."""
    children: dict[str, StoredRun]


class LiveRun(Run):
    """A run that lives in this process: its plan and state are plain JSON, so that it can be kept and continued."""

    def __init__(
        self, plan: documents.PinnedPlan, state: documents.State, effects: Effects, people: People | None = None
    ) -> None:
        self.plan = plan
        self.state = state
        self.effects = replace(effects, sink=self._note, child=self._child)
        self.people = people
        self.events: list[Event] = []
        self.due: dict[str, float] = {}
        self.later: set[str] = set()
        """Commands that were begun and that somebody answers later."""
        self.children: dict[str, LiveRun] = {}
        """Processes that serve activities and wait for people, by their commands."""
        self.cancelled: bool = False
        self._sink = effects.sink

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if self._sink is not None:
            self._sink(event)

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.effects.run

    @property
    def only_step(self) -> str | None:
        """The name of the only step of a program, which has no key in its record."""
        return self.plan["options"].get("step")

    @property
    def invented(self) -> tuple[Invention, ...]:
        """What was made from its schema."""
        return self.effects.invented

    @property
    def trace(self) -> list[Event]:
        """What has happened, in order."""
        return copy_of(self.events)

    @property
    def outcome(self) -> documents.Outcome | None:
        """How it has ended; `None` while it has not."""
        return copy_of(self._outcome)

    @property
    def _outcome(self) -> documents.Outcome | None:
        return versions.outcome(self.plan, self.state)

    @property
    def status(self) -> RunStatus:
        """In one word how it stands."""
        outcome = self._outcome
        if outcome is not None:
            return outcome["status"]
        return "cancelled" if self.cancelled else "waiting" if self._questions else "running"

    @property
    def record(self) -> JsonObject:
        """What is recorded so far, in the shape of the process."""
        return copy_of(versions.record(self.plan, self.state))

    @property
    def questions(self) -> list[Question]:
        """What the run waits for."""
        return [question.apart() for question in self._questions]

    @property
    def _questions(self) -> list[Question]:
        if self._outcome is not None or self.cancelled:
            return []
        return questions_of(self.stored())

    async def answer_async(self, step: str, data: JsonLike) -> LiveRun:
        """Do what `answer` does, from code that is asynchronous."""
        if self.overdue:
            await self.resume_async()
        self.accept(step, data)
        return await self.resume_async()

    async def resume_async(self) -> LiveRun:
        """Do what `resume` does, from code that is asynchronous."""
        if self._outcome is None and not self.cancelled:
            await self._resume_children()
            open_ = {command["id"] for command in versions.pending(self.plan, self.state)}
            self.due = {name: at for name, at in self.due.items() if name in open_}
            port = MemoryPort(self.effects, self.people, due=self.due, later=self.later)
            if await drive(self.plan, self.state, port) is not None:
                self.effects.tell("ended", outcome=self._outcome)
            await port.drain()
        return self

    async def _resume_children(self) -> None:
        """Go on with the processes that serve activities and wait for people; take in those that end."""
        commands = {command["id"]: command for command in versions.pending(self.plan, self.state)}
        for name, child in list(self.children.items()):
            command = commands.get(name)
            if command is None or command["kind"] != "activity":
                del self.children[name]  # nobody waits for it any more
            elif (ended := (await child.resume_async()).outcome) is not None:
                del self.children[name]
                self.later.discard(name)
                versions.apply(self.plan, self.state, name, child_result(ended, command))

    @property
    def overdue(self) -> bool:
        """Tell whether a timer has ended since it was continued: what it ends is not to be answered any more."""
        open_ = {command["id"] for command in versions.pending(self.plan, self.state)} if self.due else set()
        passed = any(name in open_ and at <= time() for name, at in self.due.items())
        return passed or any(child.overdue for child in self.children.values())

    async def cancel_async(self) -> LiveRun:
        """Do what `cancel` does, from code that is asynchronous."""
        self.cancelled = self._outcome is None
        return self

    def accept(self, step: str, answer: JsonLike) -> None:
        """Take an answer in, without going on."""
        data = answer_copied(step, answer)
        question = chosen(self._questions, step, self.id)
        below, slash, asked = question.id.partition("/")
        if slash:
            self.children[below].accept(asked, data)
            return
        require_fit(versions.faults(self.plan, self.state, question.id, data), step)
        self.effects.tell("told", question.id, answer=data, steps=list(question.steps))
        self.later.discard(question.id)
        versions.apply(self.plan, self.state, question.id, {"ok": data})
        if self._outcome is not None:
            self.effects.tell("ended", outcome=self._outcome)

    async def _child(self, run: str, process: Json, command: documents.ActivityCommand) -> documents.Result | None:
        """Run a process that serves an activity, in this process, to its end; `None` if it waits for somebody."""
        pauses = has_pauses(self.plan)
        plan = plan_of(process, activities=self.effects.activities.names(), pauses=pauses)
        child = self._below(run, plan, versions.begin(plan, child_inputs(command, process)))
        if (ended := (await child.resume_async()).outcome) is not None:
            return child_result(ended, command)
        self.children[command["id"]] = child
        return None

    def _below(self, run: str, plan: documents.PinnedPlan, state: documents.State) -> LiveRun:
        return LiveRun(plan, state, replace(self.effects, run=run), self.people)

    def stored(self) -> StoredRun:
        """Return what the run needs to go on later: plain JSON."""
        children = {name: child.stored() for name, child in self.children.items()}
        return {"plan": self.plan, "state": self.state, "due": self.due, "later": sorted(self.later), "children": children}

    def restore(self, stored: StoredRun) -> None:
        """Take in what was kept of the run."""
        self.due, self.later = stored["due"], set(stored["later"])
        for name, child in stored.get("children", {}).items():
            self.children[name] = self._below(f"{self.id}/{name}", child["plan"], child["state"])
            self.children[name].restore(child)


def questions_of(stored: StoredRun) -> list[Question]:
    """Return what a run waits for, with the processes that serve its activities."""
    children, later = stored.get("children", {}), set(stored["later"])
    found: list[Question] = []
    for command in versions.pending(stored["plan"], stored["state"]):
        name = command["id"]
        if name in children:
            found += [asked.below(name) for asked in questions_of(children[name])]
        elif command["kind"] == "user" or name in later:
            found.append(question_of(command))
    return found
