"""What an engine is to those who start runs and ask about them: the API, the command line, servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

from instrc.jsonvalue import Json, JsonObject
from instrc.problems.problem import CompileError
from instrc.runtime.effects import Effects
from instrc.runtime.events import Event, Sink
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan
from instrc.runtime.questions import Question, RunStatus


@dataclass(frozen=True, slots=True)
class Launch:
    """A run that is to begin."""

    run: str
    name: str
    """What the program is called."""
    plan: PinnedPlan
    inputs: JsonObject
    how: JsonObject = field(default_factory=dict)
    """How to make the effects anew in another process: plain JSON that `launching` writes and reads."""


class LaunchDocument(TypedDict):
    """A run that is to begin, as plain JSON."""

    run: str
    name: str
    plan: PinnedPlan
    inputs: JsonObject
    how: JsonObject


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run stands."""

    run: str
    name: str
    status: RunStatus
    outcome: Outcome | None
    questions: tuple[Question, ...] = ()
    began: float | None = None
    """Seconds since 1970."""
    ended: float | None = None
    how: JsonObject = field(default_factory=dict)
    record: JsonObject | None = None


Equip: TypeAlias = "Callable[[str, PinnedPlan, JsonObject, Sink], Effects]"
"""Makes the effects of a run from its id, its plan, what was noted of how, and where to tell events."""

Keep: TypeAlias = Literal["all", "open"]
"""Which runs are kept: of a stream of many, only those that wait for somebody, and no traces."""


class Engine(Protocol):
    """Starts runs and keeps them."""

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it on, until it ends or waits for somebody."""

    async def runs(self) -> list[RunReport]:
        """Return all runs that are kept, the latest first."""

    async def show(self, run: str) -> RunReport:
        """Return how a run stands; `CompileError` if there is none."""

    async def answer(self, run: str, step: str, data: Json) -> RunReport:
        """Answer a question of a run; `CompileError` for a wrong answer, which leaves it open."""

    async def cancel(self, run: str) -> RunReport:
        """End a run."""

    async def resume(self, run: str) -> RunReport:
        """Go on with a run that no process carries on."""

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""


class UnreachableError(CompileError):
    """The server of an engine does not answer; a moment later it may."""


@runtime_checkable
class Serving(Protocol):
    """An engine whose runs another process can carry: a worker."""

    async def reach(self) -> None:
        """Make sure that the server of the engine, if it has one, answers; an `UnreachableError` if it does not."""

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry runs until it is told to stop; return how many went on at once."""
