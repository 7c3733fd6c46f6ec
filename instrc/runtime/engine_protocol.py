"""The protocols that every engine in `engines/` implements, and what the engines share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

from instrc.runtime.effects import Effects
from instrc.runtime.interpreter import documents
from instrc.runtime.journal import Journal
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.questions import People
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_config import RunConfig
from instrc.runtime.run_launch import Launch
from instrc.runtime.run_report import RunFilter, RunReport
from instrc.runtime.traces import Event, Sink, join_sinks, read_events, told_apart, trace_file, written_to
from instrc.text.jsonvalue import Json


class Engine(Protocol):
    """Starts runs and keeps them."""

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it on, until it ends or waits for somebody."""

    async def runs(self, chosen: RunFilter | None = None) -> list[RunReport]:
        """Return the runs that are kept, all or those that are chosen, the latest first."""

    async def counts(self) -> dict[str, int]:
        """Return how many runs are kept, by program."""

    async def show(self, run: str) -> RunReport:
        """Return how a run stands; raise `NotFoundError` if there is none."""

    async def answer(self, run: str, step: str, data: Json, by: documents.Author | None = None) -> RunReport:
        """Answer a question of a run; raise `AnswerError` for a wrong answer, which leaves it open. `by` is recorded with it."""

    async def cancel(self, run: str) -> RunReport:
        """End a run."""

    async def resume(self, run: str) -> RunReport:
        """Go on with a run that no process carries on."""

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Go on with a run that has failed, or that is held; raise `ConflictError` where that would change nothing."""

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return what a run began with, and what is recorded of it."""

    async def delete(self, run: str) -> None:
        """Forget a run that has ended, and those below it."""

    async def delete_all(self, runs: Sequence[str]) -> None:
        """Forget runs that have ended, and those below them."""

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""

    def trace_from(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return what has happened in a run behind a place, in order, and the place after it; the first place is 0."""

    def usage(self, run: str) -> dict[str, float] | None:
        """Return what models have used in a run, or `None` if only its trace says it."""


class ForkingEngine(Engine, Protocol):
    """An engine of this program, which also begins forks of its runs."""

    async def fork(self, run: str, options: ForkOptions) -> RunReport:
        """Begin another run with what is recorded of one."""


@runtime_checkable
class Serving(Protocol):
    """An engine whose runs another process can carry: a worker."""

    async def reach(self) -> None:
        """Make sure that the server of the engine, if it has one, answers; raise `UnreachableError` if it does not."""

    async def claim(self) -> bool:
        """Take what only one process may have at a time; `False` if another has it, and this one may stand by."""

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry runs until it is told to stop; return how many went on at once."""


Equip: TypeAlias = "Callable[[str, documents.PinnedPlan, RunConfig, Sink], Effects]"
"""Creates the effects of a run from its id, plan and configuration; the sink receives its events."""


Keep: TypeAlias = Literal["all", "open"]
"""Which runs are kept: of a stream of many, only those that wait for somebody, and no traces."""


class EngineOptions(TypedDict, total=False):
    """What every engine is made with, beside its store and what makes effects."""

    people: People | None
    """Who can be asked at once."""
    watch: Sink | None
    parts: Callable[[AnswerPart], object] | None
    """Who is told of answers while models write them."""
    keep: Keep
    traces: str | None
    """The URL of a database for traces, where the store of an engine is none."""


class TracedEngine:
    """What the engines share: traces in a folder, and what they were made with."""

    def __init__(self, folder: Path | None, equip: Equip, options: EngineOptions) -> None:
        self.folder = folder
        parts = options.get("parts")
        self.equip: Equip = equip if parts is None else lambda *given: replace(equip(*given), parts=parts)
        self.people: People | None = options.get("people")
        self.watch: Sink | None = told_apart(options.get("watch"))
        self.keep: Keep = options.get("keep", "all")

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""
        return self.trace_from(run)[0]

    def trace_from(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return what has happened behind a place, as far as it is noted on this machine, and the place after it."""
        return ([], 0) if self.folder is None else read_events(trace_file(self.folder, run), place)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:  # noqa: ARG002  -- other processes carry none of its runs
        """Return what other processes have written since the last time of answers in some runs, in all where one is ""."""
        return []

    def usage(self, run: str) -> dict[str, float] | None:  # noqa: ARG002  -- others know it
        """Return what models have used in a run, or `None` if only its trace says it."""
        return None

    def sink(self) -> Sink:
        """Return what takes the events of runs: the traces, if they are kept, then whoever watches."""
        traces = self.folder if self.keep == "all" else None
        return join_sinks(None if traces is None else written_to(traces), self.watch)
