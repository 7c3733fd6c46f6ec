"""Begin runs of one program, on the engine that was chosen."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Literal, TypeAlias, TypeVar, Unpack, cast
from weakref import WeakValueDictionary

import msgspec

from instrc import problems
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.engines.prepare import Prepared, Reach, activities_of, imported, prepare, reach_of, rehearsed, unregistered
from instrc.engines.stores import USUAL_FOLDER, require_place, scheme_of
from instrc.problems.errors import ConflictError, InputError, InstrcError, SettingsError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.process.flow import Chunk
from instrc.process.process import Process
from instrc.process.request_settings import RequestSettings
from instrc.runtime.activities import Activities, complaints
from instrc.runtime.answers import ask_people
from instrc.runtime.boundary import NotJsonError, received
from instrc.runtime.effects import Check, Effects, Invention
from instrc.runtime.engine_protocol import Engine, EngineOptions, Equip
from instrc.runtime.interpreter.documents import Author, PinnedPlan, bare_name
from instrc.runtime.journal import Journal
from instrc.runtime.models.batching import Batching
from instrc.runtime.models.budget import MoneyBudget, file_of, read_budget, require_prices
from instrc.runtime.models.cache import ANSWERS_FILE, AnswerCache
from instrc.runtime.models.catalogue import invents, model_of, require_other, words_from
from instrc.runtime.models.model import Model, Sample
from instrc.runtime.models.partial import TellPart
from instrc.runtime.models.settings import RequestTable
from instrc.runtime.plan import plan_digest, plan_of
from instrc.runtime.questions import People
from instrc.runtime.reconnect import RECONNECT_SECONDS, answer_or_resume, retry_after_reconnect
from instrc.runtime.retry import ForkOptions, ProgramVersion, RetryOptions, fork_of, origin_of, wrong_id
from instrc.runtime.run_config import CacheConfig, OnFailure, RunConfig
from instrc.runtime.run_launch import Launch
from instrc.runtime.run_report import RunReport
from instrc.runtime.session import SessionTool
from instrc.runtime.telemetry import Telemetry, listened, logged
from instrc.runtime.traces import Event, Sink, join_sinks, told_apart
from instrc.text import arguments
from instrc.text.arguments import as_plain, is_on
from instrc.text.callers import warn_caller
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, tokens, without_type
from instrc.tools.python_values import JsonLike, json_of
from instrc.vibes.project import DEFAULT_PROJECT, Project
from instrc.vibes.settings import REQUEST, Settings, read_settings, request_settings

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


_settings_of = lru_cache(maxsize=16)(read_settings)


def equip(run: str, plan: PinnedPlan, config: RunConfig, sink: Sink, own: Own | None = None) -> Effects:
    """Return the effects of a run, whoever began it; `ConflictError` if it uses what only the program that began it has."""
    if own is None and config.local:
        raise ConflictError([problems.runs.NeedsItsProgram(run=run.partition("/")[0], uses=tuple(config.local))])
    own = own or Own()
    folder, processes = Path(config.folder), config.processes
    settings = _settings_of(folder)
    prepared = Prepared(run, plan["process"], folder, settings, processes, step=plan["options"].get("step"))
    given = own.activities or Activities()
    activities = _rehearsed_for(plan, config)
    if activities is None:
        activities = activities_of(prepared, given) if given else _registered_in(folder)
    model, words = own.model, config.model or settings.run.get("model")  # earlier releases noted none: it was invented
    if model is None and words:
        model = _shared_model(words, folder, config.batch, dumps(config.settings, indent=False))
    if model is None:
        _require_model(reach_of(plan, activities, processes), settings)
    return equipped(prepared, plan, run, model, activities, sink, own.checks, config)


def _rehearsed_for(plan: PinnedPlan, config: RunConfig) -> Activities | None:
    """Return the activities of a rehearsal that makes their results, also where the plan calls none; `None` for any other run."""
    if not config.rehearse:
        return None
    made = _rehearsed_once(plan, config.processes)
    return made if not made or config.invented is None or config.invents("results") else None


_rehearsals: dict[str, Activities] = {}
"""Activities of rehearsals by the digest of their plan: many items have one plan."""


def _rehearsed_once(plan: PinnedPlan, processes: Mapping[str, Json]) -> Activities:
    digest = plan["digest"]
    if digest not in _rehearsals:
        _rehearsals[digest] = rehearsed(plan, processes)
    return _rehearsals[digest]


@lru_cache(maxsize=16)
def _registered_in(folder: Path) -> Activities:
    return activities_of(Prepared("", {}, folder, _settings_of(folder)), Activities())


@lru_cache(maxsize=16)
def _shared_model(words: str, folder: Path, batch: int, given: str) -> Model:
    """Return a model that all runs of this process share, so that they can share calls."""
    model = model_of(words, folder, request_table(_settings_of(folder), as_object(loads(given))))
    return Batching(model, batch) if batch > 1 else model


def _require_model(reach: Reach, settings: Settings) -> None:
    """Refuse a run that asks a model where none is chosen: nothing is invented unless that was said."""
    if None in reach.models:
        file = None if settings.file is None else settings.file.as_posix()
        raise SettingsError([problems.runs.NoModel(step=reach.models[None], settings=file)])


def equipped(
    prepared: Prepared,
    plan: PinnedPlan,
    run: str,
    model: Model | None,
    activities: Activities,
    sink: Sink | None,
    checks: Mapping[str, Check],
    config: RunConfig,
) -> Effects:
    """Return the effects of a run; without a `model` no step of it may ask the model of the run."""
    made = {bare_name(name): check for name, check in checks.items()}
    for name, said in prepared.settings.checks.items():
        if bare_name(name) not in made:
            made[bare_name(name)] = cast("Check", imported("check", said, prepared.folder))
    asks_others = not (config.rehearse and config.invents("answers"))
    table = request_table(prepared.settings, config.settings)
    others = cache(lambda words: model_of(words, prepared.folder, table))
    for words in plan["options"].get("models", {}).values() if asks_others else ():
        others(words)  # one that cannot be had is told before anything is done
    return Effects(
        run,
        model or Sample(),
        activities,
        join_sinks(sink, logged if listened() else None, Telemetry() if is_on(TELEMETRY) else None),
        made,
        _all_processes(prepared, activities),
        others=others if asks_others else None,
        chosen=config.chosen,
        prices=prepared.settings.prices,
        takes={} if config.invents("results") else {**activities.takes(), **config.takes},
        step=prepared.step,
        invented=tuple(config.invented or ()),
        table=table,
        sentences=prepared.settings.sentences,
        words=config.model or prepared.settings.run.get("model") or "",
        cache=None if config.cache is None else AnswerCache(config.cache.file, config.cache.sample),
        budget=config.budget,
    )


def _all_processes(prepared: Prepared, activities: Activities) -> Mapping[str, Json]:
    """Return the processes that plans name, of the program and of the processes that serve its activities."""
    found = dict(prepared.processes)
    for address, process in activities.processes():
        if found.setdefault(address, process) != process:
            reason = "it means one process in the program and another one in a process that serves an activity"
            raise SettingsError([problems.runs.UnusableSetting(what="address", word=address, reason=reason)])
    return found


def request_table(settings: Settings, given: Mapping[str, object]) -> RequestTable:
    """Return all that is set for requests to models, by the project and for one run."""
    general = {key: value for key, value in settings.run.items() if key in REQUEST}
    store = str(settings.run.get("store", ""))
    server = store if scheme_of(store) == "postgresql" else ""
    return RequestTable(cast("RequestSettings", general), settings.requests, cast("RequestSettings", given), server)


RehearseMode: TypeAlias = bool | Literal["with-activities"]
"""Whether a run invents answers, and the results of activities too, unless it is to call them."""


class Launcher:
    """Begins runs of one program: its plan, models and activities are found once. `SettingsError` if one of them is missing."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        model: str | None = None,
        own: Own | None = None,
        batch: int = 1,
        requests: int | None = None,
        tokens: int | None = None,
        rehearse: RehearseMode = False,
        given: Mapping[str, object] | None = None,
        cache: AnswerCache | Literal[False] | None = None,
        budget: str | None = None,
    ) -> None:
        """`model` are its words, before those of the settings; `batch` is how many chunks of one kind share a call of it.

        A rehearsal asks nobody but a model that is given.  `given` are settings of requests for these runs alone.
        `cache` comes before that of the project; `False` is none.  `budget` is what models may cost, as `2 USD`.
        """
        self.prepared = prepared
        self.own: Own = own or Own()
        if isinstance(self.own.model, Sample):  # any process can make another one
            model, self.own = "sample", replace(self.own, model=None)
        makes_results = rehearse is True
        self.set: RequestSettings = given_settings({} if given is None else given)
        own_handlers = self.own.activities or Activities()
        self.activities: Activities = (
            rehearsed(plan_of(prepared.document), prepared.processes) if makes_results else activities_of(prepared, own_handlers)
        )
        settings = prepared.settings.run
        self.plan: PinnedPlan = plan_of(
            prepared.document,
            activities=self.activities.names(),
            models=models_of(prepared.document, prepared.settings, prepared.folder, (prepared.name, prepared.step or "")),
            step=prepared.step,
            asks=settings.get("asks", 2),
            elements=settings.get("elements", 100),
            requests=requests if requests is not None else settings.get("requests"),
            tokens=tokens if tokens is not None else settings.get("tokens"),
            pauses=not makes_results,
        )
        wrong = [] if makes_results else list(unregistered(self.plan, self.activities))
        if wrong:
            raise SettingsError(wrong)
        self.config: RunConfig = self._config(model, batch, rehearse, self._cache_config(cache))
        if rehearse is not True or self.config.model != "sample":
            self.config = msgspec.structs.replace(self.config, budget=self._budget(budget))

    def _config(self, model: str | None, batch: int, rehearse: RehearseMode, cache: CacheConfig | None) -> RunConfig:
        """Return the configuration of the runs.

        A model that is not chosen or not known is a problem now: a run that starts with it could never continue.
        """
        prepared, own = self.prepared, self.own
        reach = reach_of(self.plan, self.activities, prepared.processes)
        words = words_from(model, Path()) if model else "sample" if rehearse else prepared.settings.run.get("model")
        if own.model is None and words is None:
            _require_model(reach, prepared.settings)
        of_run = words if own.model is None else None
        invents_all = rehearse and of_run == "sample"
        asked = {of_run if invents_all else each or of_run for each in reach.models}
        made = {each: model_of(each, prepared.folder) for each in sorted(each for each in {of_run, *asked} if each)}
        invented: list[Invention] = ["answers"] if any(invents(made.get(each or "", own.model)) for each in asked) else []
        if invented and reach.handlers and not rehearse:
            raise SettingsError(problems.runs.RealActivity(activity=name) for name in reach.handlers)
        invented += ["results"] if rehearse is True and self.activities else []
        return RunConfig(
            folder=prepared.folder.absolute().as_posix(),
            model=words,
            rehearse=bool(rehearse),
            batch=batch,
            processes=prepared.processes,
            takes=prepared.takes,
            invented=invented if invented or rehearse else None,
            failed=cast("OnFailure | None", prepared.settings.run.get("failed")),
            settings=as_object(cast("Json", self.set)),
            step=self.plan["options"].get("step"),
            local=own.words,
            cache=cache,
        )

    def _cache_config(self, cache: AnswerCache | Literal[False] | None) -> CacheConfig | None:
        """Return where answers are cached; raise `SettingsError` if the file cannot be used."""
        named = self.prepared.settings.run.get("cache")
        if cache is None and named is not None:
            cache = AnswerCache(self.prepared.folder / named)
        if not cache:
            return None
        cache.require()
        return CacheConfig(Path(cache.file).absolute().as_posix(), cache.sample)

    def _budget(self, budget: str | None) -> MoneyBudget | None:
        """Return what models may cost; raise `SettingsError` if a model that may be asked has no price."""
        said = self.prepared.settings.run.get("budget") if budget is None else budget
        if said is None:
            return None
        limits = [limit.strip() for limit in said.split(",")]
        for limit in limits:
            read_budget(limit)
        reach = reach_of(self.plan, self.activities, self.prepared.processes)
        of_run = None if self.own.model is not None else self.config.model
        words = [str(each or of_run) for each in reach.models if each or of_run]
        require_prices((one.strip() for each in words for one in each.split(",")), self.prepared.settings.prices)
        return MoneyBudget(limits, file_of(self.prepared.folder), self.prepared.name)

    def effects(self, run: str, watch: Sink | None, parts: TellPart | None = None) -> Effects:
        """Return the effects of a run that only this process carries."""
        config, model = self.config, self.own.model
        if model is None and config.model is not None:
            model = model_of(config.model, self.prepared.folder, request_table(self.prepared.settings, config.settings))
        sink = told_apart(watch)
        made = equipped(self.prepared, self.plan, run, model, self.activities, sink, self.own.checks, config)
        return replace(made, parts=parts)

    def launch(self, given: JsonLike, run: str | None = None, entry: Json = None) -> Launch:
        """Return a run that is to begin; `InputError` if its inputs do not fit.

        `entry` is the answer of its first chunk, where that is filled already.
        """
        wrong: list[Problem] = [] if run is None else [*wrong_id(run)]
        inputs = given_inputs(self.prepared.inputs if entry is None else self.plan["process"].get("inputs"), given, wrong)
        if wrong:
            raise InputError(wrong)
        try:
            inputs = cast("dict[str, Json]", received(inputs))
        except NotJsonError as error:
            word = next(iter(tokens(error.pointer)), "prompt")
            raise InputError([problems.runs.InvalidInput(word=word, reason=f"is not JSON, {error}")]) from None
        plan = self.plan
        if entry is not None:
            plan = {**plan, "options": {**plan["options"], "entry": entry}}
            plan["digest"] = plan_digest(plan)
        return Launch(run or new_id(self.prepared.name), self.prepared.name, plan, inputs, self.config)


def given_settings(given: Mapping[str, object]) -> RequestSettings:
    """Return settings of requests that are given for a run; a `SettingsError` has all that is wrong with them."""
    plain = as_plain(dict(arguments.mapping("settings", given)))
    made, wrong = request_settings({arguments.text("settings", key): value for key, value in plain.items()})
    if wrong:
        raise SettingsError(
            problems.runs.UnusableSetting(what="setting", word=key, reason=reason, nearest=close) for key, reason, close in wrong
        )
    return made


_ASSIGNED = r"(\w+)=\S*"
"""An input as other commands take it, `lang=de`: here it would be the whole prompt."""


def new_id(name: str) -> str:
    """Return an id for a run: short enough to be typed."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")[:40]
    return f"{word or 'run'}-{token_hex(3)}"


def given_inputs(declared: Json, value: JsonLike, wrong: list[Problem]) -> dict[str, Json]:
    """Return the inputs by name: an object gives them so, anything else is `prompt`; one that is left out has its default.

    `declared` has their schemas by name; where it is no object nothing is known of them, and nothing is refused.
    """
    given = cast("Json", json_of(value))
    inputs: dict[str, Json] = dict(given) if isinstance(given, dict) else {} if given is None else {"prompt": given}
    if not isinstance(declared, dict):
        return inputs
    wrong += [
        problems.runs.InvalidInput(
            word=name, reason=f"is not declared; there are {names_as_text(declared)}", only_prompt=declared.keys() <= {"prompt"}
        )
        for name in inputs
        if name not in declared and name != "prompt"
    ]
    if isinstance(given, str) and (written := re.fullmatch(_ASSIGNED, given)) and written[1] in {"prompt", *declared}:
        wrong.append(problems.runs.InvalidInput(word=written[1], reason="is not given with `=`", beside_text=True))
        return inputs
    for name, schema in declared.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = schema["default"]
        if name not in inputs and name != "prompt":
            text = given is not None and not isinstance(given, dict)
            wrong.append(problems.runs.InvalidInput(word=name, reason="is missing", beside_text=text))
        elif name in inputs and (found := complaints(inputs[name], schema)):
            at = f" at `{found[0]['pointer']}`" if found[0]["pointer"] else ""
            wrong.append(problems.runs.InvalidInput(word=name, reason=f"does not fit{at}: {found[0]['message']}"))
    return inputs


def models_of(document: Json, settings: Settings, folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the model of each step of a document for which the project in a folder has set one; see `models_by_step`."""
    return models_by_step(document, _by_vibe(settings, folder), names)


def _by_vibe(settings: Settings, folder: Path) -> dict[str, str]:
    """Return the models that the project has set; a pattern with a folder, `judge/*`, is that of the vibes which are there."""
    found: dict[str, str] = {}
    for pattern, model in settings.models.items():
        place = pattern.removeprefix("aug:").strip("/")
        if "/" not in place:
            found[pattern] = model
            continue
        for root in settings.roots or (folder / "schemas",):
            for file in sorted(root.rglob("*.vibe.json")):
                name = file.relative_to(root).as_posix().removesuffix(".vibe.json").partition("@")[0]
                if fnmatchcase(name, place):
                    found.setdefault(name.rpartition("/")[2], model)
    return found


def models_by_step(document: Json, models: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the model of each step for which the project has set one; a pattern is compared with the name of the vibe.

    A tool is one call: the first of its steps for which a model is set decides for all; one without steps goes by its `names`.
    """
    patterns = [(bare_name(pattern.rpartition("/")[2]), model) for pattern, model in models.items()]

    def chosen(word: str) -> str | None:
        return next((model for pattern, model in patterns if fnmatchcase(bare_name(word), pattern)), None)

    if not patterns:
        return {}
    if Process.describes(document):
        chunks = [each for each in Process.from_json(document).contexts() if isinstance(each, Chunk)]
        keys = [step.key for chunk in chunks if chunk.executor == "model" for step in chunk.steps]
        return {key: model for key in keys if (model := chosen(key)) is not None}
    properties = document.get("properties") if isinstance(document, dict) else None
    keys = list(properties) if isinstance(properties, dict) else []
    whole = next((model for word in (*names, *keys) if (model := chosen(word)) is not None), None)
    return {} if whole is None else dict.fromkeys(["", *keys], whole)


def names_as_text(names: Iterable[str]) -> str:
    """Return names as a problem shows them."""
    return ", ".join(f"`{name}`" for name in names) or "none"


EngineName: TypeAlias = Literal["memory", "durable", "temporal"]
ENGINES: dict[str, str] = {
    "memory": "instrc.engines.folder:FolderEngine",
    "durable": "instrc.engines.dbos.durable_engine:DurableEngine",
    "temporal": "instrc.engines.temporal.temporal_engine:TemporalEngine",
}
"""What makes each engine: `module:callable`, called with the place of its store, `equip`, and `EngineOptions`."""


def engine_of(
    name: str,
    store: Path | None,
    *,
    equip: Equip = equip,
    **options: Unpack[EngineOptions],
) -> Engine:
    """Return the engine of a name, with its store."""
    if name not in ENGINES:
        reason = f"engines are {names_as_text(ENGINES)}"
        near = nearest(name, ENGINES)
        raise SettingsError([problems.runs.UnusableSetting(what="engine", word=name, reason=reason, nearest=near)])
    if store is not None:
        require_place(store)
    if store is not None and name == "memory" and (scheme := scheme_of(store)):
        reason = f"the store is a database (`{scheme}:…`), and it keeps no runs there: choose `durable`, or a folder as the store"
        raise SettingsError([problems.runs.UnusableSetting(what="engine", word=name, reason=reason)])
    module, _, maker = ENGINES[name].partition(":")
    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        reason = f"`{error.name}` is not installed; it comes with `pip install 'instrc[{name}]'`"
        raise SettingsError([problems.runs.UnusableSetting(what="engine", word=name, reason=reason)]) from None
    made: Engine = getattr(loaded, maker)(store, equip, **options)
    return made


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Here:
    """What a run was begun with in this program."""

    own: Own = field(default_factory=Own)
    people: People | None = None
    watch: Sink | None = None
    parts: TellPart | None = None
    prepare: Callable[[ProgramVersion], Prepared] = prepare
    """Reads another version of its program."""


_T = TypeVar("_T")


class Host:
    """An engine of this program; it knows for each run what it was begun with here, until the run ends."""

    def __init__(self, name: str, store: Path | None) -> None:
        traces = read_settings(Path()).run.get("traces") if name == "temporal" else None
        self.engine: Engine = engine_of(name, store, equip=self._equip, watch=self._watch, traces=traces)
        self._here: dict[str, Here] = {}
        self._ended: WeakValueDictionary[str, Here] = WeakValueDictionary()
        """Of runs that have ended and that somebody still holds: they may be forked."""

    async def _lasting(self, work: Callable[[bool], Awaitable[_T]]) -> _T:
        """Do something with the engine; its server may be lost meanwhile, for as long as the settings say."""
        limit = read_settings(Path()).run.get("reconnect", RECONNECT_SECONDS)
        return await retry_after_reconnect(self.engine, work, limit, warn_caller)

    def take(self, run: str, here: Here, *, ended: bool = False) -> None:
        """Note what a run is begun or continued with here; of one that has `ended`, as long as the caller keeps it."""
        (self._ended if ended else self._here)[run] = here

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it on, until it ends or waits for somebody."""
        return await self._ask_people(await self._lasting(lambda _again: self.engine.start(launch)))

    async def runs(self) -> list[RunReport]:
        """Return all runs that are kept, the latest first."""
        return await self.engine.runs()

    async def show(self, run: str) -> RunReport:
        """Return how a run stands."""
        return await self.engine.show(run)

    async def answer(self, run: str, step: str, data: Json, by: Author | None = None) -> RunReport:
        """Answer a question of a run and carry it on."""
        assert by is None  # a program of Python answers for itself
        report = await self._lasting(lambda again: answer_or_resume(self.engine, run, step, data, again=again))
        return await self._ask_people(report)

    async def cancel(self, run: str) -> RunReport:
        """End a run."""
        return await self._ask_people(await self.engine.cancel(run))

    async def resume(self, run: str) -> RunReport:
        """Go on with a run."""
        return await self._ask_people(await self._lasting(lambda _again: self.engine.resume(run)))

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Go on with a run that has failed, or that is held."""
        await check_retry(self.engine, run, options)
        work = self._lasting(lambda again: self.engine.resume(run) if again else self.engine.retry(run, options))
        return await self._ask_people(await work)

    async def fork(self, run: str, options: ForkOptions) -> RunReport:
        """Begin another run with what is recorded of one."""
        found, program = self._here.get(run, self._ended.get(run)), options.program
        here = found or Here()
        version = None if program is None else lambda before: version_of(before, here.prepare(program), here.own)
        launch = await forked(self.engine, run, options, version)
        if found is not None:
            self.take(launch.run, found)
        return await self.start(launch)

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return what a run began with, and what is recorded of it."""
        return await self.engine.journal(run)

    async def delete(self, run: str) -> None:
        """Forget a run that has ended."""
        await self.engine.delete(run)
        self._here.pop(run, None)

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""
        return self.engine.trace(run)

    def trace_from(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return what has happened in a run behind a place, in order, and the place after it."""
        return self.engine.trace_from(run, place)

    def usage(self, run: str) -> dict[str, float] | None:
        """Return what models have used in a run; `None` if only its trace says it."""
        return self.engine.usage(run)

    def close(self) -> None:
        """Give the store free; the runs stay as they are."""
        close = getattr(self.engine, "close", None)
        if close is not None:
            close()

    async def _ask_people(self, report: RunReport) -> RunReport:
        here = self._here.get(report.run)
        report = await ask_people(self.engine, report, None if here is None else here.people)
        if here is not None and report.status in {"done", "cancelled"}:  # any other may be retried
            self._ended[report.run] = self._here.pop(report.run, here)
        return report

    def _equip(self, run: str, plan: PinnedPlan, config: RunConfig, sink: Sink) -> Effects:
        root = run.partition("/")[0]
        here = self._here.get(root, self._ended.get(root))
        if here is None:
            return equip(run, plan, config, sink)
        return replace(equip(run, plan, config, sink, here.own), parts=here.parts)

    def _watch(self, event: Event) -> None:
        here = self._here.get(event["run"].partition("/")[0])
        if here is not None and here.watch is not None:
            here.watch(event)


async def check_retry(engine: Engine, run: str, options: RetryOptions) -> None:
    """Note what a run may spend from now on; `InstrcError` if it has no budget, or cannot ask the model that is chosen."""
    if not options.budget and options.model is None:
        return
    config = (await engine.show(run)).config
    if options.model is not None:
        require_model(config, run, options.model)
    if options.budget:
        if config.budget is None:
            advice = "begin another one with it: `instrc run … --budget`"
            raise ConflictError([problems.runs.NothingToRetry(run=run, reason="it has no budget in money", advice=advice)])
        config.budget.raise_for(run, options.budget)


def require_model(config: RunConfig, run: str, words: str) -> None:
    """Refuse another model for a run that cannot go on with it."""
    folder = Path(config.folder)
    settings = _settings_of(folder)
    invented = config.rehearse or config.invents("answers")
    others = None if invented else partial(model_of, folder=folder, table=request_table(settings, config.settings))
    require_other(run, words, others, None if config.budget is None else settings.prices)


def version_of(before: Launch, prepared: Prepared, own: Own | None = None) -> Launcher:
    """Return what begins runs of another version of a program as a run was begun: with its model, settings and limits."""
    config, options = before.config, before.plan["options"]
    calls = config.rehearse and _rehearsed_for(before.plan, config) is None
    return Launcher(
        prepared,
        model=words_from(config.model, Path(config.folder)) if config.model else None,
        own=own,
        batch=config.batch,
        requests=options.get("requests"),
        tokens=options.get("tokens"),
        rehearse="with-activities" if calls else config.rehearse,
        given=config.settings,
        cache=False if config.cache is None else AnswerCache(config.cache.file, config.cache.sample),
        budget=None if config.budget is None else ", ".join(config.budget.limits),
    )


async def forked(engine: Engine, run: str, options: ForkOptions, version: Callable[[Launch], Launcher] | None = None) -> Launch:
    """Return a run that is to begin with what is recorded of another one, of the same program or another `version` of it."""
    if options.run is not None:
        await _require_new(engine, options.run)
    before, journal = await engine.journal(run)
    launch = before
    if version is not None:
        launch = version(before).launch(before.inputs, entry=before.plan["options"].get("entry"))
    made = fork_of(run, journal, options, launch.plan, launch.inputs)
    if options.model is not None:
        require_model(before.config, run, options.model)
    config = msgspec.structs.replace(
        launch.config,
        forked=origin_of(run, options, made),
        chosen=options.model or journal.model or before.config.chosen or launch.config.chosen,
        cache=launch.config.cache if options.step is None else None,  # a fork at a step wants another answer
        failed=before.config.failed or launch.config.failed,
    )
    return replace(launch, run=options.run or new_id(launch.name), config=config, entries=made.entries)


async def _require_new(engine: Engine, run: str) -> None:
    """Refuse the id of a fork that a run has: what that was forked from need not be the same."""
    try:
        await engine.show(run)
    except InstrcError as error:
        if all(isinstance(problem, problems.runs.NoSuchRun) for problem in error.problems):
            return
        raise
    raise ConflictError([problems.runs.RunExists(run=run)])


_hosts: dict[tuple[str, str], Host] = {}
"""By the name of the engine and the place of its store."""


def host_of(name: str, store: str | os.PathLike[str] | None) -> Host:
    """Return the engine of this program for a store: one for all its runs."""
    place = os.fspath(store) if store is not None else USUAL_FOLDER
    key = (name, place if scheme_of(place) else os.path.abspath(place))  # noqa: PTH100  -- a key, not a path
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


def asking(
    settings: Settings, words: str, given: Mapping[str, object], step: str | None, sink: Sink | None, *, kept: bool
) -> Effects:
    """Return what asks a model once for what a program sends it, as a run does; answers that are kept are not paid for twice."""
    folder = Path() if settings.file is None else settings.file.parent
    table = request_table(settings, given_settings(given))
    cache = AnswerCache(folder / settings.run.get("cache", ANSWERS_FILE)) if kept else None
    if cache is not None:
        cache.require()
    asked = Effects("preview", model_of(words, folder, table), Activities(), sink, table=table, words=words, cache=cache)
    return replace(asked, sentences=settings.sentences, prices=settings.prices, step=step)


_PATIENCE = 0.5
"""Seconds after which a process that was started goes on alone."""
_going: set[asyncio.Future[RunReport]] = set()
"""Runs that go on alone: the loop itself keeps no hold on tasks."""


def offers_of(
    file: str,
    engine: Engine,
    model: str | None,
    *,
    rehearse: RehearseMode,
    project: Project = DEFAULT_PROJECT,
) -> Iterator[SessionTool]:
    """Yield the exports of a file as tools of a session."""
    report = Report()
    compiled = Workspace(project).compile(file, OptionOverrides(), report)
    report.stop_if_failed()
    for artefact in compiled:
        prepared = prepare(file, export=artefact.name, project=project)
        if artefact.kind == "tool":
            yield SessionTool(artefact.name, artefact.documents["tool"])
            continue
        launcher = Launcher(prepared, model=model, rehearse=rehearse)

        async def begin(name: str, entry: Json, prompt: str, launcher: Launcher = launcher) -> Json:
            try:
                launch = launcher.launch(prompt, new_id(name), entry)
            except InstrcError as error:
                return {"error": str(error)}
            work = asyncio.ensure_future(engine.start(launch))  # it goes on alone
            done, _ = await asyncio.wait({work}, timeout=_PATIENCE)
            if not done:
                _going.add(work)
                work.add_done_callback(_going.discard)
                return {"run": launch.run, "status": "running"}
            report = work.result()
            ended: JsonObject = {"run": launch.run, "status": report.status}
            if report.outcome is not None and report.outcome["status"] == "done":
                ended["output"] = report.outcome["output"]
            elif report.outcome is not None and report.outcome["status"] == "failed":
                ended["error"] = without_type(report.outcome["error"])
            return ended

        yield SessionTool(artefact.name, artefact.documents["tool"], begin)


def session_model(words: str | None, file: Path, *, rehearse: bool = False) -> Model:
    """Return the model of a session: the one that is named, else that of the project."""
    settings = read_settings(file.parent)
    folder = settings.file.parent if settings.file is not None else file.parent
    chosen = words_from(words, Path()) if words else "sample" if rehearse else settings.run.get("model")
    if chosen is None:
        _require_model(Reach({None: "chat"}), settings)
    return model_of(str(chosen), folder, request_table(settings, {}))
