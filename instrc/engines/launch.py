"""Start runs of one program."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from instrc import problems
from instrc.engines import equip
from instrc.engines.prepare import (
    Prepared,
    activities_of,
    inputs_schema,
    models_of,
    output_schema,
    reach_of,
    rehearsed,
    taken_inputs,
    unregistered,
)
from instrc.engines.projects import folder_of, project_name
from instrc.problems.errors import ConflictError, InputError, NotFoundError, SettingsError
from instrc.problems.problem import Problem
from instrc.process.request_settings import RequestSettings
from instrc.runtime.activities import COMPLAINTS, Activities, complaints
from instrc.runtime.boundary import NotJsonError, received
from instrc.runtime.effects import Effects, Invention
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.interpreter.documents import PinnedPlan
from instrc.runtime.models.budget import MoneyBudget, file_of, read_budget, require_prices
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.catalogue import invents, model_of, words_from
from instrc.runtime.models.model import Sample
from instrc.runtime.models.partial import TellPart
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import ForkOptions, fork_of, origin_of, wrong_id
from instrc.runtime.run_config import CacheConfig, Launch, OnFailure, RunConfig
from instrc.runtime.traces import Sink, told_apart
from instrc.text.jsonvalue import Json, JsonObject, as_object, pointer, tokens
from instrc.tools.python_values import JsonLike, json_of

RehearseMode: TypeAlias = bool | Literal["with-activities"]
"""Whether a run uses generated answers, and generated activity results too, unless activities are called."""


class Launcher:
    """Starts runs of one program; plan, models and activities are looked up once. Raise `SettingsError` if one is missing."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        model: str | None = None,
        local: equip.LocalObjects | None = None,
        requests: int | None = None,
        tokens: int | None = None,
        rehearse: RehearseMode = False,
        given: Mapping[str, object] | None = None,
        cache: AnswerCache | Literal[False] | None = None,
        budget: str | None = None,
    ) -> None:
        """`model` is a spec that overrides the settings.

        A rehearsal uses only a model passed here.  `given` are request settings of these runs.
        `cache` overrides that of the project; `False` means none.  `budget` limits model costs, such as `2 USD`.
        """
        self.prepared = prepared
        self.local: equip.LocalObjects = local or equip.LocalObjects()
        if isinstance(self.local.model, Sample):  # any process can create another one
            model, self.local = "sample", replace(self.local, model=None)
        makes_results = rehearse is True
        self.set: RequestSettings = equip.given_settings({} if given is None else given)
        if prepared.words is not None:
            self.set = {"words": prepared.words, **self.set}
        handlers = self.local.activities or Activities()
        self.activities: Activities = (
            rehearsed(plan_of(prepared.document), prepared.processes) if makes_results else activities_of(prepared, handlers)
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
        self.config: RunConfig = self._config(model, rehearse, self._cache_config(cache))
        if rehearse is not True or self.config.model != "sample":
            self.config = msgspec.structs.replace(self.config, budget=self._budget(budget))

    def _config(self, model: str | None, rehearse: RehearseMode, cache: CacheConfig | None) -> RunConfig:
        """Return the configuration of the runs.

        A missing or unknown model is an error now: a run started with it could never continue.
        """
        prepared, local = self.prepared, self.local
        reach = reach_of(self.plan, self.activities, prepared.processes)
        words = words_from(model, Path()) if model else "sample" if rehearse else prepared.settings.run.get("model")
        if local.model is None and words is None:
            equip.require_chosen_model(reach, prepared.settings)
        of_run = words if local.model is None else None
        invents_all = rehearse and of_run == "sample"
        asked = {of_run if invents_all else each or of_run for each in reach.models}
        made = {each: model_of(each, prepared.folder) for each in sorted(each for each in {of_run, *asked} if each)}
        invented: list[Invention] = ["answers"] if any(invents(made.get(each or "", local.model)) for each in asked) else []
        if invented and reach.handlers and not rehearse:
            raise SettingsError(problems.runs.RealActivity(activity=name) for name in reach.handlers)
        invented += ["results"] if rehearse is True and self.activities else []
        return RunConfig(
            folder=prepared.folder.absolute().as_posix(),
            project=project_name(prepared.folder),
            model=words,
            rehearse=bool(rehearse),
            processes=prepared.processes,
            takes={**self.activities.takes(), **prepared.takes},
            invented=invented if invented or rehearse else None,
            failed=cast("OnFailure | None", prepared.settings.run.get("failed")),
            settings=as_object(cast("Json", self.set)),
            step=self.plan["options"].get("step"),
            local=local.names,
            cache=cache,
        )

    def _cache_config(self, cache: AnswerCache | Literal[False] | None) -> CacheConfig | None:
        """Return the cache configuration; raise `SettingsError` if the file is unusable."""
        named = self.prepared.settings.run.get("cache")
        if cache is None and named is not None:
            cache = AnswerCache(self.prepared.folder / named)
        if not cache:
            return None
        cache.require()
        return CacheConfig(Path(cache.file).absolute().as_posix(), cache.sample)

    def _budget(self, budget: str | None) -> MoneyBudget | None:
        """Return the cost limit of models; raise `SettingsError` if a model has no price."""
        said = self.prepared.settings.run.get("budget") if budget is None else budget
        if said is None:
            return None
        limits = [limit.strip() for limit in said.split(",")]
        for limit in limits:
            read_budget(limit)
        reach = reach_of(self.plan, self.activities, self.prepared.processes)
        of_run = None if self.local.model is not None else self.config.model
        words = [str(each or of_run) for each in reach.models if each or of_run]
        require_prices((one.strip() for each in words for one in each.split(",")), self.prepared.settings.prices)
        return MoneyBudget(limits, file_of(self.prepared.folder), self.prepared.name)

    def effects(self, run: str, watch: Sink | None, parts: TellPart | None = None) -> Effects:
        """Return the effects of a run that only this process carries out."""
        config, model = self.config, self.local.model
        if model is None and config.model is not None:
            model = model_of(config.model, self.prepared.folder, equip.request_table(self.prepared.settings, config.settings))
        sink = told_apart(watch)
        made = equip.effects_of(self.prepared, self.plan, run, model, self.activities, sink, self.local.checks, config)
        return replace(made, parts=parts)

    def asks_people(self, activity: str) -> bool:
        """Return whether the process that serves an activity, or one below it, asks people.

        An unknown one may: a plan names its process, or another version of the project has served it.
        """
        found = self.activities.find(activity)
        if found is None or found.process is None:
            return found is None
        plan = plan_of(found.process, activities=self.activities.names())
        return reach_of(plan, self.activities, self.prepared.processes).asks_people

    @cached_property
    def schemas(self) -> tuple[JsonObject, JsonObject]:
        """The JSON Schemas of a run's inputs and of its result."""
        return inputs_schema(self.prepared), output_schema(self.plan)

    def launch(self, given: JsonLike, run: str | None = None, *, closed: bool = False) -> Launch:
        """Return the launch of a run; raise `InputError` for invalid inputs. With `closed`, no undeclared input is allowed."""
        wrong: list[Problem] = [] if run is None else [*wrong_id(run)]
        inputs = given_inputs(taken_inputs(self.prepared) if closed else self.prepared.inputs, given, wrong, closed=closed)
        if wrong:
            raise InputError(wrong)
        try:
            inputs = cast("dict[str, Json]", received(inputs))
        except NotJsonError as error:
            word = next(iter(tokens(error.pointer)), "prompt")
            raise InputError([problems.runs.InvalidInput(word=word, reason=f"is not JSON, {error}")]) from None
        return Launch(run or new_id(self.prepared.name), self.prepared.name, self.plan, inputs, self.config)


_ASSIGNED = r"(\w+)=\S*"
"""An input in the form of other commands, `lang=de`: here it would be the whole prompt."""


def new_id(name: str) -> str:
    """Return an id for a run, short enough to type."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")[:40]
    return f"{word or 'run'}-{token_hex(5)}"


def given_inputs(declared: Json, value: JsonLike, wrong: list[Problem], *, closed: bool = False) -> dict[str, Json]:
    """Return the inputs by name: from an object, or any other value as `prompt`; missing ones get their defaults.

    `declared` has their schemas by name; without an object nothing is known of them, and nothing is refused.
    With `closed`, it has the schema of `prompt` too, if there is one.
    """
    given = cast("Json", json_of(value))
    inputs: dict[str, Json] = dict(given) if isinstance(given, dict) else {} if given is None else {"prompt": given}
    if not isinstance(declared, dict):
        return inputs
    free = () if closed else ("prompt",)
    others, only_prompt = names_as_text(declared), declared.keys() <= {"prompt"}
    undeclared = [name for name in inputs if name not in declared and name not in free]
    wrong += [
        problems.runs.InvalidInput(word=name, reason=f"is not declared; there are {others}", only_prompt=only_prompt)
        for name in undeclared[:COMPLAINTS]
    ]
    if free and isinstance(given, str) and (written := re.fullmatch(_ASSIGNED, given)) and written[1] in {"prompt", *declared}:
        wrong.append(problems.runs.InvalidInput(word=written[1], reason="is not given with `=`", beside_text=True))
        return inputs
    for name, schema in declared.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = schema["default"]
        if name not in inputs and name not in free:
            beside = not isinstance(given, dict | None)
            wrong.append(problems.runs.InvalidInput(word=name, reason="is missing", beside_text=beside, pointer=""))
        for each in complaints(inputs[name], schema) if name in inputs else ():
            at, place = f" at `{each['pointer']}`" if each["pointer"] else "", pointer([name]) + each["pointer"]
            wrong.append(problems.runs.InvalidInput(word=name, reason=f"does not fit{at}: {each['message']}", pointer=place))
    return inputs


def names_as_text(names: Iterable[str]) -> str:
    """Return names formatted for a problem."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def version_of(before: Launch, prepared: Prepared, local: equip.LocalObjects | None = None) -> Launcher:
    """Return a launcher for another version of a program, with the model, settings and limits of a run."""
    config, options = before.config, before.plan["options"]
    calls = config.rehearse and equip.rehearsed_activities(before.plan, config) is None
    return Launcher(
        prepared,
        model=words_from(config.model, folder_of(config)) if config.model else None,
        local=local,
        requests=options.get("requests"),
        tokens=options.get("tokens"),
        rehearse="with-activities" if calls else config.rehearse,
        given=config.settings,
        cache=False if config.cache is None else AnswerCache(config.cache.file, config.cache.sample),
        budget=None if config.budget is None else ", ".join(config.budget.limits),
    )


async def forked(engine: Engine, run: str, options: ForkOptions, version: Callable[[Launch], Launcher] | None = None) -> Launch:
    """Return the launch of a run with the recorded results of another, of the same program or of another `version`."""
    if options.run is not None:
        await _require_new(engine, options.run)
    before, journal = await engine.journal(run)
    launch = before if version is None else version(before).launch(before.inputs)
    made = await asyncio.to_thread(fork_of, run, journal, options, launch.plan, launch.inputs)  # of many steps or long values
    if options.model is not None:
        equip.require_model(before.config, run, options.model)
    config = msgspec.structs.replace(
        launch.config,
        forked=origin_of(run, options, made),
        chosen=options.model or journal.model or before.config.chosen or launch.config.chosen,
        cache=launch.config.cache if options.step is None else None,  # a fork at a step wants another answer
        failed=before.config.failed or launch.config.failed,
        settings=as_object(cast("Json", equip.given_settings({**launch.config.settings, **options.settings}))),
        starter=None,
        metadata=before.config.metadata,  # a person's data are found by them
    )
    return replace(launch, run=options.run or new_id(launch.name), config=config, entries=made.entries)


async def _require_new(engine: Engine, run: str) -> None:
    """Raise if the id of a fork exists, as that run may have another origin."""
    try:
        await engine.show(run)
    except NotFoundError:
        return
    raise ConflictError([problems.runs.RunExists(run=run)])
