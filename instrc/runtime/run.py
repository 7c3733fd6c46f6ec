"""A run in this process: started, asked about, answered."""

from __future__ import annotations

from instrc import problems
from instrc.jsonvalue import AnyJson as Json
from instrc.problems.problem import CompileError
from instrc.runtime.drive import drive
from instrc.runtime.drivers.memory import MemoryPort
from instrc.runtime.effects import Effects, Event, child_inputs, child_result
from instrc.runtime.handle import Run
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.plan import plan_of
from instrc.runtime.questions import People, Question, Status, chosen, question_of


class LiveRun(Run):
    """A run that lives in this process: its plan and state are plain JSON, so that it can be kept and gone on with."""

    def __init__(self, plan: Json, state: Json, effects: Effects, people: People | None = None) -> None:
        self.plan = plan
        self.state = state
        self.effects = effects
        self.people = people
        self.events: list[Event] = []
        self.due: dict[str, float] = {}
        self.later: set[str] = set()
        """Commands that were begun and that somebody answers later."""
        self.cancelled = False
        self._sink = effects.sink
        effects.sink = self._note
        effects.child = self._child

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
    def outcome(self) -> Json:
        """How it has ended; `None` while it has not."""
        return versions.outcome(self.plan, self.state)

    @property
    def status(self) -> Status:
        """In one word how it stands."""
        outcome = self.outcome
        if outcome is not None:
            status: Status = outcome["status"]
            return status
        return "cancelled" if self.cancelled else "waiting" if self.questions else "running"

    @property
    def record(self) -> Json:
        """What is recorded so far, in the shape of the process."""
        return versions.record(self.plan, self.state)

    @property
    def questions(self) -> list[Question]:
        """What the run waits for."""
        if self.outcome is not None or self.cancelled:
            return []
        open_ = versions.pending(self.plan, self.state)
        return [question_of(command) for command in open_ if command["kind"] == "user" or command["id"] in self.later]

    async def answer_async(self, step: str, data: Json) -> LiveRun:
        """Do what `answer` does, from code that is asynchronous."""
        self.accept(step, data)
        return await self.resume_async()

    async def resume_async(self) -> LiveRun:
        """Do what `resume` does, from code that is asynchronous."""
        if self.outcome is None and not self.cancelled:
            port = MemoryPort(self.effects, self.people, due=self.due, later=self.later)
            if await drive(self.plan, self.state, port) is not None:
                self.effects.tell("ended", outcome=self.outcome)
            await port.drain()
        return self

    async def cancel_async(self) -> LiveRun:
        """Do what `cancel` does, from code that is asynchronous."""
        self.cancelled = self.outcome is None
        return self

    def accept(self, step: str, data: Json) -> None:
        """Take an answer in, without going on."""
        question = chosen(self.questions, step, self.id)
        wrong = versions.faults(self.plan, self.state, question.id, data)
        if wrong is None or wrong:
            at = wrong[0]["pointer"] if wrong else ""
            reason = wrong[0]["message"] if wrong else "it is not asked any more"
            raise CompileError([problems.runs.RejectedAnswer(step=step, pointer=at, reason=reason)])
        self.effects.tell("told", question.id, answer=data, steps=list(question.steps))
        self.later.discard(question.id)
        versions.apply(self.plan, self.state, question.id, {"ok": data})

    async def _child(self, run: str, process: Json, command: ActivityCommand) -> Result:
        """Run a process that serves an activity, in this process, to its end."""
        effects = self.effects
        inner = Effects(run, effects.model, effects.activities, effects.sink, effects.checks, effects.processes)
        inner.child, inner.model_retry, inner.others = self._child, effects.model_retry, effects.others
        plan = plan_of(process, activities=effects.activities.names())
        state = versions.begin(plan, child_inputs(command, process))
        port = MemoryPort(inner, self.people, patient=True)
        outcome = await drive(plan, state, port)
        await port.drain()
        return child_result(outcome, command)
