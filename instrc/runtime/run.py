"""A run in this process: started, asked about, answered."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from instrc import problems
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.runtime.drive import drive
from instrc.runtime.drivers.memory import MemoryPort, People
from instrc.runtime.effects import Effects, Event, child_inputs, child_result
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import ActivityCommand, Command, Result
from instrc.runtime.interpreter.names import bare_name, is_numbered
from instrc.runtime.plan import plan_of

Status: TypeAlias = Literal["running", "waiting", "done", "failed", "stopped", "cancelled"]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Question:
    """What a run waits for: a person, or a system that answers later."""

    id: str
    steps: tuple[str, ...]
    show: Json
    schema: Json
    by: Literal["person", "system"] = "person"


class RunFailedError(Exception):
    """The result of a run was asked for, and there is none; `outcome` says why."""

    def __init__(self, outcome: Json) -> None:
        super().__init__(words_of(outcome))
        self.outcome = outcome


class Run:
    """One run: its plan and state are plain JSON, so that it can be kept and gone on with."""

    def __init__(self, plan: Json, state: Json, effects: Effects, people: People | None = None) -> None:
        self.plan = plan
        self.state = state
        self.effects = effects
        self.people = people
        self.trace: list[Event] = []
        """What has happened, in order."""
        self.due: dict[str, float] = {}
        self.later: set[str] = set()
        """Commands that were begun and that somebody answers later."""
        self._sink = effects.sink
        effects.sink = self._note
        effects.child = self._child

    def _note(self, event: Event) -> None:
        self.trace.append(event)
        if self._sink is not None:
            self._sink(event)

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.effects.run

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
        return "waiting" if self.questions else "running"

    @property
    def output(self) -> Json:
        """What all steps have brought, by their keys; `RunFailedError` if the run has not come to its end."""
        if self.outcome is None or self.outcome["status"] != "done":
            raise RunFailedError(self.outcome)
        return self.outcome["output"]

    @property
    def value(self) -> Json:
        """What the last step has brought; `RunFailedError` if the run has not come to its end."""
        return None if self.output is None else self.outcome["value"]

    @property
    def record(self) -> Json:
        """What is recorded so far, in the shape of the process."""
        return versions.record(self.plan, self.state)

    @property
    def metrics(self) -> dict[str, Json]:
        """The metrics of all answers, by command and path; those of an answer that was not accepted are not among them."""
        found: dict[str, Json] = {}
        rejected = {(event["run"], event["id"]) for event in self.trace if event["event"] == "rejected"}
        for event in self.trace:
            if event["event"] == "answered" and (event["run"], event["id"]) not in rejected:
                found |= {f"{event['id']}.{path}": value for path, value in event["metrics"].items()}
        return found

    @property
    def questions(self) -> list[Question]:
        """What the run waits for."""
        if self.outcome is not None:
            return []
        open_ = versions.pending(self.plan, self.state)
        return [question_of(command) for command in open_ if command["kind"] == "user" or command["id"] in self.later]

    async def proceed(self) -> Run:
        """Carry the run on until it ends, or only waits for somebody."""
        port = MemoryPort(self.effects, self.people, due=self.due, later=self.later)
        if await drive(self.plan, self.state, port) is not None:
            self.effects.tell("ended", outcome=self.outcome)
        await port.drain()
        return self

    def answer(self, step: str, data: Json) -> Run:
        """Answer a question, by its id, a step or a chunk of it, and carry the run on. A wrong answer leaves it open."""
        self.accept(step, data)
        return waited(self.proceed())

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


def question_of(command: Command) -> Question:
    """Return an open command as what is asked."""
    if command["kind"] == "user":
        return Question(command["id"], tuple(command["steps"]), command["show"], command["schema"])
    assert command["kind"] == "activity"
    return Question(command["id"], (command["step"],), command["input"], command["schema"], "system")


def chosen(questions: list[Question], step: str, run: str) -> Question:
    """Return the question of a name: its id, a step, the bare name of a step, or its chunk."""
    ways = (
        lambda question: question.id == step,
        lambda question: step in question.steps,
        lambda question: not is_numbered(step) and bare_name(step) in map(bare_name, question.steps),
        lambda question: question.id.rpartition(".")[2] == step,
    )
    for way in ways:
        found = [question for question in questions if way(question)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    open_ = tuple(question.id for question in questions)
    raise CompileError([problems.runs.NoSuchQuestion(run=run, step=step, open=open_)])


def words_of(outcome: Json) -> str:
    """Say how a run has ended."""
    if outcome is None:
        return "the run has not ended"
    if outcome["status"] == "failed":
        return f"`{outcome['error']['step']}` failed ({outcome['error']['kind']}): {outcome['error']['message']}"
    return f"`{outcome['step']}` was refused, so the run has stopped" if outcome["status"] == "stopped" else outcome["status"]


def waited(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, from code that is not asynchronous."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        inside = False
    else:
        inside = True
    if not inside:
        return asyncio.run(work)
    work.close()
    message = "this is called from a running event loop: await the asynchronous form instead"
    raise RuntimeError(message)
