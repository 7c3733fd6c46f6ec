"""How the effects of a run are made, in the process that begins it and in any other that continues it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import cast

from instrc import problems
from instrc.arguments import is_on
from instrc.jsonvalue import Json, JsonObject, as_integer, as_object, as_text, as_texts
from instrc.launching.handlers import activities_of, imported, rehearsed
from instrc.launching.preparing import Prepared
from instrc.problems.problem import CompileError
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check, Effects
from instrc.runtime.events import Sink
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.interpreter.names import bare_name
from instrc.runtime.models.batching import Batching
from instrc.runtime.models.catalogue import model_of
from instrc.runtime.models.model import Model
from instrc.runtime.models.sampling import Sample
from instrc.runtime.telemetry import Telemetry, join_sinks, listened, logged
from instrc.vibes.project import read_settings
from instrc.vibes.settings import Settings

TELEMETRY = "INSTRC_TELEMETRY"
"""The variable of the environment that turns OpenTelemetry on."""


@dataclass(frozen=True, slots=True)
class Own:
    """What only the caller of a run has, as functions of Python: other processes cannot make it from the settings."""

    model: Model | None = None
    activities: Activities | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """What there is, by name: it is noted with the run."""
        there = {"model": self.model is not None, "activities": bool(self.activities), "checks": bool(self.checks)}
        return [name for name, given in there.items() if given]


def how_of(prepared: Prepared, *, model: str | None, rehearse: bool, batch: int = 1, own: Own | None = None) -> JsonObject:
    """Return what another process needs to continue a run: plain JSON, without secrets.

    A model that nobody knows is a problem now: a run that has begun with it could never go on.
    """
    words = model or prepared.settings.run.get("model")
    named = set(prepared.settings.models.values())
    for each in sorted({words, *named} if isinstance(words, str) and (own is None or own.model is None) else named):
        model_of(each, prepared.folder)
    how: JsonObject = {
        "folder": prepared.folder.absolute().as_posix(),
        "model": words,
        "rehearse": rehearse,
        "batch": batch,
        "processes": prepared.processes,
    }
    if own is not None and own.words:
        how["own"] = [*own.words]
    return how


def equip(run: str, plan: PinnedPlan, how: JsonObject, sink: Sink) -> Effects:
    """Return the effects of a run that another process has begun."""
    return remade(run, plan, how, sink, None)


def remade(run: str, plan: PinnedPlan, how: JsonObject, sink: Sink, own: Own | None) -> Effects:
    """Return the effects of a run; `CompileError` if it uses what only the program that began it has."""
    if own is None and (uses := how.get("own")):
        raise CompileError([problems.runs.NeedsItsProgram(run=run.partition("/")[0], uses=tuple(as_texts(uses)))])
    own = own or Own()
    folder = Path(as_text(how.get("folder", ".")))
    processes, step = as_object(how.get("processes") or {}), plan["options"].get("step")
    prepared = Prepared(run, plan["process"], folder, _settings_of(folder), processes, step=step)
    activities = _rehearsed_once(plan, prepared.processes) if how.get("rehearse") else _registered_in(folder)
    if own.activities:
        activities = activities.with_those_of(own.activities)
    words = how.get("model")
    shared = (
        _shared_model(words, folder, as_integer(how.get("batch") or 1)) if own.model is None and isinstance(words, str) else None
    )
    return equipped(prepared, run, own.model or shared, activities, sink, own.checks)


def _rehearsed_once(plan: PinnedPlan, processes: Mapping[str, Json]) -> Activities:
    digest = plan["digest"]
    if digest not in _rehearsals:
        _rehearsals[digest] = rehearsed(plan, processes)
    return _rehearsals[digest]


_rehearsals: dict[str, Activities] = {}
"""Activities of rehearsals by the digest of their plan: many items have one plan."""


@lru_cache(maxsize=16)
def _settings_of(folder: Path) -> Settings:
    return read_settings(folder)


@lru_cache(maxsize=16)
def _registered_in(folder: Path) -> Activities:
    return activities_of(Prepared("", {}, folder, _settings_of(folder)))


@lru_cache(maxsize=16)
def _shared_model(words: str, folder: Path, batch: int) -> Model:
    """Return a model that all runs of this process share, so that they can share calls."""
    model = model_of(words, folder)
    return Batching(model, batch) if batch > 1 else model


def equipped(
    prepared: Prepared,
    run: str,
    model: Model | None,
    activities: Activities,
    sink: Sink | None,
    checks: Mapping[str, Check] | None = None,
) -> Effects:
    """Return the effects of a run."""
    imports = {bare_name(name): imported("check", said, prepared.folder) for name, said in prepared.settings.checks.items()}
    made = cast("dict[str, Check]", imports)
    made |= {bare_name(name): check for name, check in (checks or {}).items()}
    others = {words: model_of(words, prepared.folder) for words in set(prepared.settings.models.values())}
    processes = _all_processes(prepared, activities)
    heard = join_sinks(sink, logged if listened() else None, Telemetry() if is_on(TELEMETRY) else None)
    prices = prepared.settings.prices
    return Effects(run, model or Sample(), activities, heard, made, processes, others=others, prices=prices, step=prepared.step)


def _all_processes(prepared: Prepared, activities: Activities) -> Mapping[str, Json]:
    """Return the processes that plans name, of the program and of the processes that serve its activities."""
    found = dict(prepared.processes)
    for address, process in activities.processes():
        if found.setdefault(address, process) != process:
            reason = "it means one process in the program and another one in a process that serves an activity"
            raise CompileError([problems.runs.UnusableSetting(what="address", word=address, reason=reason)])
    return found
