"""Engines in a program: one for each store, whose runs may use functions that only this program has."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from instrc.jsonvalue import Json, JsonObject
from instrc.launching.engines import STORE, engine_of
from instrc.launching.equipping import Own, remade
from instrc.runtime.asking import ask_people
from instrc.runtime.effects import Effects
from instrc.runtime.engine import Engine, Launch, RunReport
from instrc.runtime.events import Event, Sink
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.questions import People


@dataclass(frozen=True, slots=True)
class Here:
    """What a run was begun with in this program."""

    own: Own = field(default_factory=Own)
    people: People | None = None
    watch: Sink | None = None


class Host:
    """An engine of this program; it knows for each run what it was begun with here, until the run ends."""

    def __init__(self, name: str, store: Path | None) -> None:
        self.engine: Engine = engine_of(name, store, equip=self._equip, watch=self._watch)
        self._here: dict[str, Here] = {}

    def take(self, run: str, here: Here) -> None:
        """Note what a run is begun or continued with here."""
        self._here[run] = here

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it on, until it ends or waits for somebody."""
        return await self._ask_people(await self.engine.start(launch))

    async def runs(self) -> list[RunReport]:
        """Return all runs that are kept, the latest first."""
        return await self.engine.runs()

    async def show(self, run: str) -> RunReport:
        """Return how a run stands."""
        return await self.engine.show(run)

    async def answer(self, run: str, step: str, data: Json) -> RunReport:
        """Answer a question of a run and carry it on."""
        return await self._ask_people(await self.engine.answer(run, step, data))

    async def cancel(self, run: str) -> RunReport:
        """End a run."""
        return await self._ask_people(await self.engine.cancel(run))

    async def resume(self, run: str) -> RunReport:
        """Go on with a run."""
        return await self._ask_people(await self.engine.resume(run))

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""
        return self.engine.trace(run)

    def close(self) -> None:
        """Give the store free; the runs stay as they are."""
        close = getattr(self.engine, "close", None)
        if close is not None:
            close()

    async def _ask_people(self, report: RunReport) -> RunReport:
        here = self._here.get(report.run)
        report = await ask_people(self.engine, report, None if here is None else here.people)
        if report.outcome is not None or report.status == "cancelled":
            self._here.pop(report.run, None)
        return report

    def _equip(self, run: str, plan: PinnedPlan, how: JsonObject, sink: Sink) -> Effects:
        here = self._here.get(run.partition("/")[0])
        return remade(run, plan, how, sink, None if here is None else here.own)

    def _watch(self, event: Event) -> None:
        here = self._here.get(event["run"].partition("/")[0])
        if here is not None and here.watch is not None:
            here.watch(event)


_hosts: dict[tuple[str, str], Host] = {}
"""By the name of the engine and the place of its store."""


def host_of(name: str, store: str | os.PathLike[str] | None) -> Host:
    """Return the engine of this program for a store: one for all its runs."""
    place = os.fspath(store) if store is not None else STORE
    key = (name, place if "://" in place else os.path.abspath(place))  # noqa: PTH100  -- a key, not a path
    if key not in _hosts:
        _hosts[key] = Host(name, Path(place))
    return _hosts[key]


def close_stores() -> None:
    """Give the stores free that runs of this program hold.

        instrc.close_stores()

    The runs stay as they are, and go on when somebody asks for them.
    """
    while _hosts:
        _hosts.popitem()[1].close()
