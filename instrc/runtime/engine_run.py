"""A run of an engine that stores runs, as a program holds it."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.engine import Engine, RunReport
from instrc.runtime.events import Event
from instrc.runtime.handle import Run
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.questions import Question, RunStatus


class EngineRun(Run):
    """A run in a store or on a server: what is said of it is as of the last call."""

    def __init__(self, engine: Engine, report: RunReport) -> None:
        self.engine = engine
        self.report: RunReport = report

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.report.run

    @property
    def status(self) -> RunStatus:
        """In one word how it stands."""
        return self.report.status

    @property
    def outcome(self) -> Outcome | None:
        """How it has ended; `None` while it has not."""
        return self.report.outcome

    @property
    def record(self) -> JsonObject | None:
        """What is recorded so far, in the shape of the process."""
        return self.report.record

    @property
    def questions(self) -> list[Question]:
        """What the run waits for."""
        return list(self.report.questions)

    @property
    def trace(self) -> list[Event]:
        """What has happened, in order, as far as it is noted on this machine."""
        return self.engine.trace(self.id)

    async def answer_async(self, step: str, data: Json) -> EngineRun:
        """Do what `answer` does, from code that is asynchronous."""
        self.report = await self.engine.answer(self.id, step, data)
        return self

    async def resume_async(self) -> EngineRun:
        """Do what `resume` does, from code that is asynchronous."""
        self.report = await (self.engine.show if self._is_settled else self.engine.resume)(self.id)
        return self

    async def cancel_async(self) -> EngineRun:
        """Do what `cancel` does, from code that is asynchronous."""
        self.report = await self.engine.cancel(self.id)
        return self

    @property
    def _is_settled(self) -> bool:
        return self.report.outcome is not None or self.report.status == "cancelled"
