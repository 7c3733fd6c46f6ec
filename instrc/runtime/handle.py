"""A run as a program holds it, whatever engine carries it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.events import Event
from instrc.runtime.interpreter.documents import Done, Outcome
from instrc.runtime.questions import Question, RunStatus

_T = TypeVar("_T")


class RunFailedError(Exception):
    """The result of a run was asked for, and there is none; `outcome` says why."""

    def __init__(self, outcome: Outcome | None) -> None:
        super().__init__(words_of(outcome))
        self.outcome = outcome


class Run(ABC):
    """One run: how it stands since the last call, what it waits for, and what can be done about it."""

    @property
    @abstractmethod
    def id(self) -> str:
        """The id of the run."""

    @property
    @abstractmethod
    def status(self) -> RunStatus:
        """In one word how it stands."""

    @property
    @abstractmethod
    def outcome(self) -> Outcome | None:
        """How it has ended; `None` while it has not."""

    @property
    @abstractmethod
    def record(self) -> JsonObject | None:
        """What is recorded so far, in the shape of the process."""

    @property
    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """What the run waits for."""

    @property
    @abstractmethod
    def trace(self) -> list[Event]:
        """What has happened, in order."""

    @abstractmethod
    async def answer_async(self, step: str, data: Json) -> Run:
        """Do what `answer` does, from code that is asynchronous."""

    @abstractmethod
    async def resume_async(self) -> Run:
        """Do what `resume` does, from code that is asynchronous."""

    @abstractmethod
    async def cancel_async(self) -> Run:
        """Do what `cancel` does, from code that is asynchronous."""

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.status}>"

    def answer(self, step: str, data: Json) -> Run:
        """Answer a question, by its id, a step or a chunk of it, and carry the run on. A wrong answer leaves it open."""
        return run_to_end(self.answer_async(step, data))

    def resume(self) -> Run:
        """Go on until the run ends or only waits for somebody; see then how it stands."""
        return run_to_end(self.resume_async())

    def cancel(self) -> Run:
        """End the run; what it has begun is not undone."""
        return run_to_end(self.cancel_async())

    @property
    def output(self) -> Json:
        """What all steps have brought, by their keys; `RunFailedError` if the run has not come to its end."""
        return self._done()["output"]

    @property
    def value(self) -> Json:
        """What the last step has brought; `RunFailedError` if the run has not come to its end."""
        return self._done()["value"]

    def _done(self) -> Done:
        outcome = self.outcome
        if outcome is None or outcome["status"] != "done":
            raise RunFailedError(outcome)
        return outcome

    @property
    def usage(self) -> dict[str, float]:
        """What models have used, all asking again included: `requests`, `input_tokens`, `output_tokens`, `cost` in US dollars.

        `cost` is there where a model says it, or the settings have its price.
        """
        used: dict[str, float] = {"requests": 0}
        for event in self.trace:
            if event["event"] == "answered":
                used["requests"] += 1
                for name, count in (*event["usage"].items(), ("cost", event["cost"])):
                    if isinstance(count, int | float):
                        used[name] = used.get(name, 0) + count
        return used

    @property
    def metrics(self) -> JsonObject:
        """The metrics of all answers, by command and path; those of an answer that was not accepted are not among them."""
        found: JsonObject = {}
        trace = self.trace
        rejected = {(event["run"], event["id"]) for event in trace if event["event"] == "rejected"}
        for event in trace:
            if event["event"] == "answered" and (event["run"], event["id"]) not in rejected:
                found |= {f"{event['id']}.{path}": value for path, value in event["metrics"].items()}
        return found


def words_of(outcome: Outcome | None) -> str:
    """Say how a run has ended."""
    if outcome is None:
        return "the run has not ended"
    if outcome["status"] == "failed":
        return f"`{outcome['error']['step']}` failed ({outcome['error']['kind']}): {outcome['error']['message']}"
    return f"`{outcome['step']}` was refused, so the run has stopped" if outcome["status"] == "stopped" else outcome["status"]


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine to its end, from code that is not asynchronous; a `RuntimeError` inside of code that is."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        inside = False
    else:
        inside = True
    if not inside:
        return asyncio.run(work)
    work.close()
    asynchronous = getattr(work, "__name__", "")
    message = f"an event loop is running (this is asynchronous code, or a notebook): use `await` with `{asynchronous}` instead"
    raise RuntimeError(message)
