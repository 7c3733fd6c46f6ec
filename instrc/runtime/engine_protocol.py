"""Protocols implemented by every engine in `engines/`, and their common part."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

import msgspec
from msgspec.structs import replace

from instrc.runtime.effects import Effects
from instrc.runtime.interpreter import documents
from instrc.runtime.journal import Journal
from instrc.runtime.models.budget import CountedBudget, MoneyBudget
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_config import Launch, RunConfig
from instrc.runtime.run_report import RunFilter, RunReport
from instrc.runtime.traces import TRACE_BYTES, Sink, TracePage, join_sinks, read_events, told_apart, trace_file, written_to
from instrc.text.jsonvalue import Json


class Engine(Protocol):
    """Starts and stores runs."""

    async def start(self, launch: Launch) -> RunReport:
        """Start a run, and continue it until it ends or waits for a person."""

    async def runs(self, chosen: RunFilter | None = None) -> list[RunReport]:
        """Return the stored runs that match a filter, latest first."""

    async def run_ids(self, chosen: RunFilter) -> list[str]:
        """Return the ids of the runs that match a filter, latest first."""
        return [report.run for report in await self.runs(chosen)]

    async def counts(self) -> dict[str, int]:
        """Return the number of stored runs, by program."""
        return Counter(report.name for report in await self.runs())

    async def show(self, run: str, *, whole: bool = True) -> RunReport:
        """Return the state of a run; the record may be missing unless `whole`. Raise `NotFoundError` if there is no such run."""

    async def answer(self, run: str, step: str, data: Json, by: documents.Author | None = None) -> RunReport:
        """Answer a question of a run; raise `AnswerError` for an invalid answer, which leaves it open. `by` is recorded.

        `step` may be the `shown_id` of the question; raise `StaleError` if it shows another value when the run takes the answer.
        """

    async def cancel(self, run: str) -> RunReport:
        """Cancel a run."""

    async def resume(self, run: str) -> RunReport:
        """Continue a run that no process carries out."""

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Retry a run that has failed or is held; raise `ConflictError` if that would change nothing."""

    async def launch(self, run: str) -> Launch:
        """Return the beginning of a run: its plan, inputs and configuration."""

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return the launch of a run and its journal."""

    async def delete(self, run: str) -> None:
        """Delete a run that has ended, and its children."""

    async def delete_all(self, runs: Sequence[str]) -> None:
        """Delete runs that have ended, and their children."""
        for run in runs:
            await self.delete(run)

    def trace_from(self, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
        """Return the events of a run after a cursor, in order, and the new cursor; the first cursor is 0.

        These have about `most` characters, or are one longer event; at the end of the trace, the cursor stays.
        """

    def usage(self, run: str) -> dict[str, float] | None:  # noqa: ARG002  -- others know it
        """Return the model usage of a run, or `None` if only its trace has it."""
        return None


@runtime_checkable
class Serving(Protocol):
    """An engine whose runs can be carried out by another process, a worker."""

    async def reach(self) -> None:
        """Check that the engine's server, if any, responds; raise `UnreachableError` if not."""

    async def claim(self) -> None:
        """Become a worker of the store; raise `UnavailableError` if another process owns all its runs."""

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry out runs until stopped; return how many were resumed at the beginning."""


Equip: TypeAlias = "Callable[[str, documents.PinnedPlan, RunConfig, Sink], Effects]"
"""Creates the effects of a run from its id, plan and configuration; the sink receives its events."""


Keep: TypeAlias = Literal["all", "open"]
"""Runs to keep: `open` keeps only streamed runs that wait for people, without traces."""


class WorkerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A process that carries out runs of a store, as it describes itself."""

    name: str
    host: str
    process: int
    projects: list[str]
    slots: int | None
    """Maximum concurrent runs, waiting ones excluded; `None` for no limit."""
    busy: int
    began: float
    seen: float = 0.0


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a process that carries out the runs of a store."""

    name: str | None = None
    slots: int | None = None
    """Maximum concurrent runs, waiting ones excluded; `None` for no limit, and 0 for none on a server."""
    drain: float = 10.0
    """Seconds for effects in flight to end on shutdown."""


@runtime_checkable
class CountsMoney(Protocol):
    """An engine that counts model costs itself, for all processes that carry out its runs."""

    def counted(self, budget: MoneyBudget, project: str | None) -> CountedBudget:
        """Return a project's budget as counted by the engine."""


@runtime_checkable
class WorkerListing(Protocol):
    """An engine that knows the workers of its store."""

    async def workers(self) -> list[WorkerInfo]:
        """Return the live workers."""

    async def queue(self) -> list[tuple[str, int, float]]:
        """Return the number of runs that wait for a worker, by project ("" for any worker), and since when."""

    async def unserved(self, runs: Mapping[str, str | None]) -> dict[str, str]:
        """Return the running runs, given with their projects, that wait for a worker because no live one serves the project.

        Each is returned with its project, or "" if it has none.
        """


class EngineOptions(TypedDict, total=False):
    """Arguments common to all engines, besides store and effects."""

    watch: Sink | None
    parts: Callable[[AnswerPart], object] | None
    """Receiver of partial answers while models write them."""
    keep: Keep
    worker: WorkerOptions
    traces: str | None
    """URL of a database for traces, for an engine whose store is not a database."""


class TracedEngine(Engine):
    """Common part of the engines: traces in a folder, and their options."""

    def __init__(self, folder: Path | None, equip: Equip, options: EngineOptions) -> None:
        self.folder = folder
        parts = options.get("parts")
        self.equip: Equip = equip if parts is None else lambda *given: replace(equip(*given), parts=parts)
        self.watch: Sink | None = told_apart(options.get("watch"))
        self.keep: Keep = options.get("keep", "all")

    def trace_from(self, run: str, place: int = 0, most: int = TRACE_BYTES) -> TracePage:
        """Return the events after a cursor, as far as they are stored on this machine, and the new cursor."""
        return ([], 0) if self.folder is None else read_events(trace_file(self.folder, run), place, most)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:  # noqa: ARG002  -- other processes carry none of its runs
        """Return partial answers written by other processes since the last call, for the given runs, or for all if one is ""."""
        return []

    def sink(self) -> Sink:
        """Return the sink of a run's events: the traces, if stored, and the watchers."""
        traces = self.folder if self.keep == "all" else None
        return join_sinks(None if traces is None else written_to(traces), self.watch)
