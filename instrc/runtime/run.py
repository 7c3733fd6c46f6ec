"""A run in this process: started, asked about, answered."""

from __future__ import annotations

from dataclasses import replace
from time import time
from typing import TypedDict

from instrc import problems
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.problem import CompileError
from instrc.runtime.child_runs import child_inputs, child_result
from instrc.runtime.drive import drive
from instrc.runtime.drivers.memory import MemoryPort
from instrc.runtime.effects import Effects
from instrc.runtime.events import Event
from instrc.runtime.handle import Run
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan, State
from instrc.runtime.plan import has_pauses, plan_of
from instrc.runtime.questions import People, Question, RunStatus, chosen, question_of


class StoredRun(TypedDict):
    """What is stored of a run that waits: plain JSON."""

    plan: PinnedPlan
    state: State
    due: dict[str, float]
    """When timers end."""
    later: list[str]
    """Commands that were begun and that somebody answers later."""
    children: dict[str, StoredRun]


class LiveRun(Run):
    """A run that lives in this process: its plan and state are plain JSON, so that it can be kept and continued."""

    def __init__(self, plan: PinnedPlan, state: State, effects: Effects, people: People | None = None) -> None:
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
    def trace(self) -> list[Event]:
        """What has happened, in order."""
        return self.events

    @property
    def outcome(self) -> Outcome | None:
        """How it has ended; `None` while it has not."""
        return versions.outcome(self.plan, self.state)

    @property
    def status(self) -> RunStatus:
        """In one word how it stands."""
        outcome = self.outcome
        if outcome is not None:
            return outcome["status"]
        return "cancelled" if self.cancelled else "waiting" if self.questions else "running"

    @property
    def record(self) -> JsonObject:
        """What is recorded so far, in the shape of the process."""
        return versions.record(self.plan, self.state)

    @property
    def questions(self) -> list[Question]:
        """What the run waits for."""
        if self.outcome is not None or self.cancelled:
            return []
        return questions_of(self.stored())

    async def answer_async(self, step: str, data: Json) -> LiveRun:
        """Do what `answer` does, from code that is asynchronous."""
        if self.overdue:
            await self.resume_async()
        self.accept(step, data)
        return await self.resume_async()

    async def resume_async(self) -> LiveRun:
        """Do what `resume` does, from code that is asynchronous."""
        if self.outcome is None and not self.cancelled:
            await self._resume_children()
            open_ = {command["id"] for command in versions.pending(self.plan, self.state)}
            self.due = {name: at for name, at in self.due.items() if name in open_}
            port = MemoryPort(self.effects, self.people, due=self.due, later=self.later)
            if await drive(self.plan, self.state, port) is not None:
                self.effects.tell("ended", outcome=self.outcome)
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
        self.cancelled = self.outcome is None
        return self

    def accept(self, step: str, data: Json) -> None:
        """Take an answer in, without going on."""
        question = chosen(self.questions, step, self.id)
        below, slash, asked = question.id.partition("/")
        if slash:
            self.children[below].accept(asked, data)
            return
        wrong = versions.faults(self.plan, self.state, question.id, data)
        if wrong is None or wrong:
            at = wrong[0]["pointer"] if wrong else ""
            reason = wrong[0]["message"] if wrong else "it is not asked any more"
            raise CompileError([problems.runs.RejectedAnswer(step=step, pointer=at, reason=reason)])
        self.effects.tell("told", question.id, answer=data, steps=list(question.steps))
        self.later.discard(question.id)
        versions.apply(self.plan, self.state, question.id, {"ok": data})
        if self.outcome is not None:
            self.effects.tell("ended", outcome=self.outcome)

    async def _child(self, run: str, process: Json, command: ActivityCommand) -> Result | None:
        """Run a process that serves an activity, in this process, to its end; `None` if it waits for somebody."""
        pauses = has_pauses(self.plan)
        plan = plan_of(process, activities=self.effects.activities.names(), pauses=pauses)
        child = self._below(run, plan, versions.begin(plan, child_inputs(command, process)))
        if (ended := (await child.resume_async()).outcome) is not None:
            return child_result(ended, command)
        self.children[command["id"]] = child
        return None

    def _below(self, run: str, plan: PinnedPlan, state: State) -> LiveRun:
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
            below = questions_of(children[name])
            found += [Question(f"{name}/{asked.id}", asked.steps, asked.show, asked.schema, asked.by) for asked in below]
        elif command["kind"] == "user" or name in later:
            found.append(question_of(command))
    return found
