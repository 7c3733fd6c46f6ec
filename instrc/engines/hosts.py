"""The engines of this program: one per store, with the local context of the runs started here."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import TypeVar, Unpack
from weakref import WeakValueDictionary

from msgspec import Struct, field, structs

from instrc import problems
from instrc.engines.equip import LocalObjects, equip, require_model
from instrc.engines.launch import forked, names_as_text, version_of
from instrc.engines.places import require_place, scheme_of
from instrc.engines.prepare import Prepared, prepare
from instrc.engines.stores import USUAL_FOLDER
from instrc.problems.errors import ConflictError, unusable
from instrc.problems.suggest import nearest
from instrc.runtime.answers import copy_answer
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import CountsMoney, Engine, EngineOptions, Equip, Keep
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.models.partial import TellPart
from instrc.runtime.reconnect import RECONNECT_SECONDS, answer_or_resume, retry_after_reconnect
from instrc.runtime.retry import ForkOptions, ProgramVersion, RetryOptions
from instrc.runtime.run import Run
from instrc.runtime.run_config import Launch, RunConfig
from instrc.runtime.run_report import RunReport
from instrc.runtime.traces import Event, Sink
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json
from instrc.tools.python_values import JsonLike
from instrc.vibes.settings import read_settings

ENGINES: dict[str, str] = {
    "memory": "instrc.engines.folder:FolderEngine",
    "durable": "instrc.engines.dbos.durable_engine:DurableEngine",
    "temporal": "instrc.engines.temporal.temporal_engine:TemporalEngine",
}
"""Class of each engine, as `module:class`; called with the place of its store, `equip`, and `EngineOptions`."""


def engine_of(
    name: str,
    store: Path | None,
    *,
    equip: Equip = equip,
    **options: Unpack[EngineOptions],
) -> Engine:
    """Return the engine of a name for a store."""
    if name not in ENGINES:
        reason = f"engines are {names_as_text(ENGINES)}"
        near = nearest(name, ENGINES)
        raise unusable("engine", name, reason, near)
    if store is not None:
        require_place(store)
    if store is not None and name == "memory" and (scheme := scheme_of(store)):
        reason = f"the store is a database (`{scheme}:…`), and it keeps no runs there: choose `durable`, or a folder as the store"
        raise unusable("engine", name, reason)
    module, _, maker = ENGINES[name].partition(":")
    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        raise unusable("engine", name, f"`{error.name}` is not installed; it comes with `pip install 'instrc[{name}]'`") from None
    engine: Engine = getattr(loaded, maker)(store, equip, **options)
    return engine


class LocalContext(Struct, frozen=True, weakref=True):
    """The objects of this program that a run was started with."""

    objects: LocalObjects = field(default_factory=LocalObjects)
    watch: Sink | None = None
    parts: TellPart | None = None
    prepare: Callable[[ProgramVersion], Prepared] = prepare
    """Prepares another version of its program."""


_T = TypeVar("_T")


_hosts: dict[tuple[str, str], Host] = {}
"""Hosts by engine name and store."""


def host_of(name: str, store: str | os.PathLike[str] | None) -> Host:
    """Return the host of a store; all runs of the store share it."""
    key = store_key(name, store)
    if key not in _hosts:
        _hosts[key] = Host(name, Path(USUAL_FOLDER if store is None else store))
    return _hosts[key]


def store_key(name: str, store: str | os.PathLike[str] | None) -> tuple[str, str]:
    """Return the key that identifies an engine's store."""
    place = os.fspath(store) if store is not None else USUAL_FOLDER
    return name, place if scheme_of(place) else os.path.abspath(place)  # noqa: PTH100  -- a key, not a path


def close_store(name: str, store: str | os.PathLike[str] | None) -> None:
    """Release a store, if open; it opens again on next use."""
    if (host := _hosts.pop(store_key(name, store), None)) is not None:
        host.close()


def close_stores() -> None:
    """Release the stores held by this program.

        instrc.close_stores()

    The runs stay unchanged, and continue on next use.
    """
    while _hosts:
        _hosts.popitem()[1].close()


class Host:
    """An engine of this program, with the local context of each run until the run ends."""

    def __init__(self, name: str, store: Path | None, *, keep: Keep = "all") -> None:
        traces = read_settings(Path()).run.get("traces") if name == "temporal" else None
        self.engine: Engine = engine_of(name, store, equip=self._equip, watch=self._watch, traces=traces, keep=keep)
        self._contexts: dict[str, LocalContext] = {}
        self._ended: WeakValueDictionary[str, LocalContext] = WeakValueDictionary()
        """The contexts of ended runs that the caller still holds: they may be forked."""

    async def _lasting(self, work: Callable[[bool], Awaitable[_T]]) -> _T:
        """Await `work`, repeating it after each reconnection to the server, for as long as the settings allow."""
        limit = read_settings(Path()).run.get("reconnect", RECONNECT_SECONDS)
        return await retry_after_reconnect(self.engine, work, limit, warn_caller)

    def take(self, run: str, context: LocalContext, *, ended: bool = False) -> None:
        """Keep the context of a run; that of one that has `ended` only lives as long as the caller's handle."""
        (self._ended if ended else self._contexts)[run] = context

    async def start(self, launch: Launch) -> RunReport:
        """Start a run, and continue it until it ends or waits for an answer."""
        return self._kept(await self._lasting(lambda _again: self.engine.start(launch)))

    async def answer(self, run: str, step: str, data: Json) -> RunReport:
        """Answer a question of a run, and continue the run."""
        report = await self._lasting(lambda again: answer_or_resume(self.engine, run, step, data, again=again))
        return self._kept(report)

    async def cancel(self, run: str) -> RunReport:
        """End a run."""
        return self._kept(await self.engine.cancel(run))

    async def resume(self, run: str) -> RunReport:
        """Continue a run."""
        return self._kept(await self._lasting(lambda _again: self.engine.resume(run)))

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Retry a run that has failed or is held."""
        await check_retry(self.engine, run, options)
        work = self._lasting(lambda again: self.engine.resume(run) if again else self.engine.retry(run, options))
        return self._kept(await work)

    async def fork(self, run: str, options: ForkOptions) -> RunReport:
        """Start another run with the recorded results of a run."""
        known, program = self._contexts.get(run, self._ended.get(run)), options.program
        context = known or LocalContext()
        version = None if program is None else lambda before: version_of(before, context.prepare(program), context.objects)
        launch = await forked(self.engine, run, options, version)
        if known is not None:
            self.take(launch.run, known)
        return await self.start(launch)

    async def delete(self, run: str) -> None:
        """Delete a run that has ended."""
        await self.engine.delete(run)
        self._contexts.pop(run, None)

    def close(self) -> None:
        """Release the store; its runs stay unchanged."""
        close = getattr(self.engine, "close", None)
        if close is not None:
            close()

    def _kept(self, report: RunReport) -> RunReport:
        """Keep the context of a run until it has ended, and then as long as the caller holds it."""
        context = self._contexts.get(report.run)
        if context is not None and report.status in {"done", "cancelled"}:  # any other error may be retried
            self._ended[report.run] = self._contexts.pop(report.run, context)
        return report

    def _equip(self, run: str, plan: PinnedPlan, config: RunConfig, sink: Sink) -> Effects:
        root = run.partition("/")[0]
        context = self._contexts.get(root, self._ended.get(root))
        if context is None:
            return equip(run, plan, config, sink)
        return structs.replace(equip(run, plan, config, sink, context.objects), parts=context.parts)

    def _watch(self, event: Event) -> None:
        context = self._contexts.get(event["run"].partition("/")[0])
        if context is not None and context.watch is not None:
            context.watch(event)


class EngineRun(Run):
    """A run in a store or on a server; its properties are as of the last call."""

    def __init__(self, host: Host, report: RunReport, context: object = None) -> None:
        """Create the handle of a run; it keeps `context`, which the host holds weakly, alive."""
        self._host = host
        self._report = report
        self._context = context

    @property
    def report(self) -> RunReport:
        """The state of the run, as of the last call."""
        return self._report

    @property
    def trace(self) -> list[Event]:
        """The events in order; a `RuntimeWarning` if none are kept here."""
        found = self._host.engine.trace_from(self.id)[0]
        if not found and (self.report.outcome is not None or self.report.record):
            message = f"no trace of `{self.id}` is here: it lies in the folder of the process that has carried the run"
            warn_caller(message)
        return found

    @property
    def usage(self) -> dict[str, float]:
        """The usage of models, as recorded in the store, else by the trace."""
        recorded = self._host.engine.usage(self.id)
        return super().usage if recorded is None else recorded

    async def answer_async(self, step: str, data: JsonLike) -> EngineRun:
        """Answer a question and continue the run."""
        self._report = await self._host.answer(self.id, step, copy_answer(step, data))
        return self

    async def resume_async(self) -> EngineRun:
        """Continue until the run ends or waits."""
        self._report = await (self._host.engine.show if self._is_settled else self._host.resume)(self.id)
        return self

    async def cancel_async(self) -> EngineRun:
        """Cancel the run."""
        self._report = await self._host.cancel(self.id)
        return self

    async def _retry_async(self, options: RetryOptions) -> EngineRun:
        """Go on with a run that has failed, or that is held."""
        self._report = await self._host.retry(self.id, options)
        return self

    async def _fork_async(self, options: ForkOptions) -> EngineRun:
        """Begin another run with the recorded results of this one."""
        return EngineRun(self._host, await self._host.fork(self.id, options), self._context)

    async def delete_async(self) -> None:
        """Delete the run."""
        await self._host.delete(self.id)

    @property
    def _is_settled(self) -> bool:
        return self.report.outcome is not None or self.report.status == "cancelled"


async def check_retry(engine: Engine, run: str, options: RetryOptions) -> None:
    """Raise the budget of a run before a retry; raise `InstrcError` if it has none, or if the chosen model is unusable."""
    if not options.budget and options.model is None:
        return
    config = (await engine.show(run)).config
    if options.model is not None:
        require_model(config, run, options.model)
    if options.budget:
        if config.budget is None:
            advice = "begin another one with it: `instrc run … --budget`"
            raise ConflictError([problems.runs.NothingToRetry(run=run, reason="it has no budget in money", advice=advice)])
        budget = engine.counted(config.budget, config.project) if isinstance(engine, CountsMoney) else config.budget
        budget.raise_for(run, options.budget)
