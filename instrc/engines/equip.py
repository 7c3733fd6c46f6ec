"""Create the effects of a run from its plan, its configuration and the settings of its project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from time import time
from typing import Final, cast

from msgspec import Struct, field, structs

from instrc import problems
from instrc.engines.approvals import ALL, NOBODY, NameRules, Opening, OwnOpening, approval_of, common
from instrc.engines.places import scheme_of
from instrc.engines.prepare import Prepared, Reach, activities_of, imported, reach_of, rehearsed
from instrc.engines.projects import folder_of, is_here
from instrc.problems.errors import ConflictError, InstrcError, SettingsError, unusable
from instrc.process.request_settings import RequestSettings, request_settings
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check, Effects
from instrc.runtime.interpreter.documents import PinnedPlan, bare_name, spellings
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.catalogue import model_of, require_other
from instrc.runtime.models.model import Model, Sample
from instrc.runtime.models.settings import RequestTable
from instrc.runtime.questions import Question
from instrc.runtime.run_config import RunConfig
from instrc.runtime.telemetry import Telemetry, listened, logged
from instrc.runtime.traces import Sink, join_sinks
from instrc.text import arguments
from instrc.text.arguments import as_plain, is_on
from instrc.text.jsontext import digest_of, dumps, loads
from instrc.text.jsonvalue import Json, as_object
from instrc.tools.class_checks import ClassCheck
from instrc.vibes.service_settings import PeopleSettings, ServiceSettings
from instrc.vibes.settings import Settings, read_settings

TELEMETRY = "INSTRC_TELEMETRY"
"""Environment variable that enables OpenTelemetry."""


class LocalObjects(Struct, frozen=True):
    """Python objects that exist only in the process that started a run: other processes cannot create them from the settings."""

    model: Model | None = None
    activities: Activities | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)
    classes: Mapping[str, ClassCheck] = field(default_factory=dict)
    """Classes of vibes, by the bare names of their steps; a process without them checks answers by schemas alone."""
    spec: str | None = None
    """Spec of the model that continues the run in place of the stored one."""

    @property
    def names(self) -> list[str]:
        """The names of the objects that are set, which are stored with the run."""
        given = {"model": self.model is not None, "activities": bool(self.activities), "checks": bool(self.checks)}
        return [name for name, is_given in given.items() if is_given]


settings_of = lru_cache(maxsize=16)(read_settings)


def equip(run: str, plan: PinnedPlan, config: RunConfig, sink: Sink, local: LocalObjects | None = None) -> Effects:
    """Return the effects of a run; raise `ConflictError` if it uses objects of the program that started it."""
    if local is None and config.local:
        raise ConflictError([problems.runs.NeedsItsProgram(run=run.partition("/")[0], uses=tuple(config.local))])
    local = local or LocalObjects()
    if local.spec is not None:
        config = structs.replace(config, model=local.spec)
    folder, processes = folder_of(config), config.processes
    settings = settings_of(folder)
    prepared = Prepared(
        run, plan["process"], folder, settings, processes, step=plan["options"].get("step"), classes=local.classes
    )
    given = local.activities or Activities()
    activities = rehearsed_activities(plan, config)
    if activities is None:
        activities = activities_of(prepared, given) if given else _registered_in(folder)
    model, words = local.model, config.model or settings.run.get("model")  # earlier releases recorded none: it was generated
    if model is None and words:
        model = _shared_model(words, folder, dumps(config.settings, indent=False))
    if model is None:
        require_chosen_model(reach_of(plan, activities, processes), settings)
    return effects_of(prepared, plan, run, model, activities, sink, local.checks, config)


def rehearsed_activities(plan: PinnedPlan, config: RunConfig) -> Activities | None:
    """Return the activities that generate results in a rehearsal, or `None` for any other run."""
    if not config.rehearse:
        return None
    if (activities := _rehearsals.get(plan["digest"])) is None:
        activities = _rehearsals[plan["digest"]] = rehearsed(plan, config.processes)
    return activities if not activities or config.invented is None or config.invents("results") else None


_rehearsals: dict[str, Activities] = {}
"""Activities of rehearsals by the digest of their plan, since many items share a plan."""


def opening_for(
    config: RunConfig, own: OwnOpening | None, has_keys: Callable[[], bool], program: str, question: Question
) -> Opening:
    """Return who may answer a question of a run: as a service's `own` project says, else by the settings of the run's."""
    folder = folder_of(config)
    if own is not None and is_here(config.project, folder):
        return own(program, question, named=config.project is not None)
    settings: ServiceSettings | None = FOR_NOBODY
    with suppress(InstrcError, OSError):
        if folder.is_dir():
            settings = settings_of(folder).service
    return opening_of(settings, has_keys, program, question)


FOR_NOBODY: Final = ServiceSettings(people={ALL: PeopleSettings((NOBODY,))})
"""Settings for questions of a project whose folder is elsewhere: only a program names candidates; operators delegate the rest."""


def opening_of(settings: ServiceSettings | None, has_keys: Callable[[], bool], program: str, question: Question) -> Opening:
    """Return who may answer a question, and when it is due: from the program or the settings, and for operators from neither."""
    settings = settings or ServiceSettings()
    people = [settings.people_of(program, spellings(step)) for step in question.steps or (question.id,)]
    names = names_of(settings, has_keys)
    listed = common(names.clear(each.candidates) for each in people)
    due = min((each.due for each in people if each.due is not None), default=None)
    asked = () if question.by == "operator" else approval_of(question, (), names).approvers or listed
    return Opening(asked or (NOBODY,), None if due is None else time() + due)


def names_of(settings: ServiceSettings, has_keys: Callable[[], bool]) -> NameRules:
    """Return how names are read with these settings' keys and identity provider."""
    return NameRules(None if settings.oidc is None else settings.oidc.issuer, settings.oidc is not None and has_keys())


@lru_cache(maxsize=16)
def _registered_in(folder: Path) -> Activities:
    return activities_of(Prepared("", {}, folder, settings_of(folder)), Activities())


@lru_cache(maxsize=16)
def _shared_model(words: str, folder: Path, given: str) -> Model:
    """Return a model shared by all runs of this process."""
    return model_of(words, folder, request_table(settings_of(folder), as_object(loads(given))))


def require_chosen_model(reach: Reach, settings: Settings) -> None:
    """Raise `SettingsError` if a step needs the run's model and none is chosen."""
    if None in reach.models:
        file = None if settings.file is None else settings.file.as_posix()
        raise SettingsError([problems.runs.NoModel(step=reach.models[None], settings=file)])


def effects_of(
    prepared: Prepared,
    plan: PinnedPlan,
    run: str,
    model: Model | None,
    activities: Activities,
    sink: Sink | None,
    checks: Mapping[str, Check],
    config: RunConfig,
) -> Effects:
    """Return the effects of a run; without a `model`, no step may use the run's model."""
    by_step = {bare_name(name): check for name, check in checks.items()}
    for name, reference in prepared.settings.checks.items():
        if bare_name(name) not in by_step:
            by_step[bare_name(name)] = cast("Check", imported("check", reference, prepared.folder))
    telemetry = Telemetry() if is_on(TELEMETRY) else None
    asks_others = not (config.rehearse and config.invents("answers"))
    table = request_table(prepared.settings, config.settings)
    others = cache(lambda words: model_of(words, prepared.folder, table))
    for words in plan["options"].get("models", {}).values() if asks_others else ():
        others(words)  # an unknown model is reported before anything runs
    return Effects(
        run,
        model or Sample(),
        activities,
        join_sinks(sink, logged if listened() else None, telemetry),
        by_step,
        _all_processes(prepared, activities),
        others=others if asks_others else None,
        chosen=config.chosen,
        prices=prepared.settings.prices,
        takes={} if config.invents("results") else {**activities.takes(), **config.takes},
        of=digest_of(plan["process"]),
        step=prepared.step,
        invented=tuple(config.invented or ()),
        table=table,
        sentences=prepared.settings.sentences,
        words=config.model or prepared.settings.run.get("model") or "",
        classes=prepared.classes,
        telemetry=telemetry,
        program=prepared.name,
        cache=None if config.cache is None else AnswerCache(config.cache.file, config.cache.sample),
        budget=config.budget,
    )


def _all_processes(prepared: Prepared, activities: Activities) -> Mapping[str, Json]:
    """Return the processes that plans refer to: those of the program and of processes that serve its activities."""
    known = dict(prepared.processes)
    for address, process in activities.processes():
        if known.setdefault(address, process) != process:
            reason = "it means one process in the program and another one in a process that serves an activity"
            raise unusable("address", address, reason)
    return known


def request_table(settings: Settings, given: Mapping[str, object]) -> RequestTable:
    """Return the request settings for models: those of the project and of one run."""
    general = {key: value for key, value in settings.run.items() if key in RequestSettings.__annotations__}
    store = str(settings.run.get("store", ""))
    server = store if scheme_of(store) == "postgresql" else ""
    return RequestTable(cast("RequestSettings", general), settings.requests, cast("RequestSettings", given), server)


def given_settings(given: Mapping[str, object]) -> RequestSettings:
    """Return the request settings of one run; raise `SettingsError` with all invalid ones."""
    plain = as_plain(dict(arguments.mapping("settings", given)))
    valid, wrong = request_settings({arguments.text("settings", key): value for key, value in plain.items()})
    if wrong:
        raise SettingsError(
            problems.runs.UnusableSetting(what="setting", word=key, reason=reason, nearest=close) for key, reason, close in wrong
        )
    return valid


def require_model(config: RunConfig, run: str, words: str) -> None:
    """Raise an error if a run cannot continue with another model."""
    folder = folder_of(config)
    settings = settings_of(folder)
    invented = config.rehearse or config.invents("answers")
    others = None if invented else partial(model_of, folder=folder, table=request_table(settings, config.settings))
    require_other(run, words, others, None if config.budget is None else settings.prices)


def asking(settings: Settings, words: str, given: Mapping[str, object], step: str | None) -> Effects:
    """Return effects that form one request of a program to a model, as a run does."""
    folder = Path() if settings.file is None else settings.file.parent
    table = request_table(settings, given_settings(given))
    asked = Effects("preview", model_of(words, folder, table), Activities(), table=table, words=words)
    return structs.replace(asked, sentences=settings.sentences, prices=settings.prices, step=step)
