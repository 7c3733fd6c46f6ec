"""Run programs from Python: `instrc.run`, `instrc.find_run`, and the same as coroutines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from instrc import arguments
from instrc.importing.vibes_in_memory import schemas_in_memory
from instrc.jsonvalue import Json
from instrc.launching.engines import EngineName
from instrc.launching.equipping import Own, equipped, how_of
from instrc.launching.handlers import all_activities
from instrc.launching.hosting import Here, close_stores, host_of
from instrc.launching.launcher import Launcher, given_inputs
from instrc.launching.preparing import Prepared, prepare
from instrc.plain_values import takes_plain_values, takes_plain_values_async
from instrc.problems.problem import CompileError, CompileWarning, Problem
from instrc.problems.report import Report
from instrc.python.objects import attribute
from instrc.rehearsing.rehearsal import Rehearsal, made_inputs, rehearsal_of
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check
from instrc.runtime.engine_run import EngineRun
from instrc.runtime.events import Sink
from instrc.runtime.handle import Run, run_to_end
from instrc.runtime.interpreter import versions
from instrc.runtime.models.catalogue import model_of
from instrc.runtime.models.model import Model
from instrc.runtime.questions import People
from instrc.runtime.run import LiveRun
from instrc.source import Source

__all__ = ["close_stores", "find_run", "find_run_async", "rehearsal", "rehearse", "run", "run_async"]
TEXT_NAME = "program.aug"
ProgramLike: TypeAlias = str | os.PathLike[str] | Source | dict[str, Json]
Handlers: TypeAlias = Activities | Mapping[str, object] | Iterable[object]


def run(
    program: ProgramLike,
    input: Json = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Handlers = (),
    people: People | None = None,
    checks: Mapping[str, Check] | None = None,
    engine: EngineName = "memory",
    store: str | os.PathLike[str] | None = None,
    export: str | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    requests: int | None = None,
    tokens: int | None = None,
    rehearse: bool = False,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
    watch: Sink | None = None,
) -> Run:
    """Run a program until it ends or waits for an answer; `Run.answer` continues it.

        run = instrc.run('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted({"draft": {}}))
        assert run.value == {}

    `program` is a path (`.aug`, `.vibe.json`, or a compiled `.json`), the text of a program, or a compiled document.
    `input` is `prompt`, or an object of inputs by name.
    `model` is an object with the method of `instrc.Model`, or a text as for `--model`: `sample`, `scripted:FILE`; if neither it
    nor a setting names one, answers are generated from their schemas.
    `activities` are functions by name, functions marked with `instrc.activity`, or the JSON of processes by name; they come
    before those of `[tool.instrc.activities]`.  `people` answers questions immediately; without it the run waits.
    `checks` are functions that check the value of a step: if one returns a text (the error), the model is asked again.
    `engine` carries out the run: `memory`, in this process, stored only if a `store` is given; `durable`, in the store, by this
    process and, when that has ended, by any other; `temporal`, on a server.  `store` is a folder, or the URL of a database.
    With an `id` the same call continues the run that it has begun before.
    `requests` and `tokens` are the budget of the run.  `rehearse` generates all results of activities from their schemas.
    `vibes` are instructions from memory by name, as for `compile`; a run that is continued is given them again.
    `watch` is given every event as it happens.  `CompileError` contains all problems of the program, its inputs and settings.
    """
    return run_to_end(
        run_async(
            program,
            input,
            model=model,
            activities=activities,
            people=people,
            checks=checks,
            engine=engine,
            store=store,
            export=export,
            id=id,
            requests=requests,
            tokens=tokens,
            rehearse=rehearse,
            vibes=vibes,
            roots=roots,
            shared=shared,
            watch=watch,
        )
    )


@takes_plain_values_async
async def run_async(
    program: ProgramLike,
    input: Json = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Handlers = (),
    people: People | None = None,
    checks: Mapping[str, Check] | None = None,
    engine: EngineName = "memory",
    store: str | os.PathLike[str] | None = None,
    export: str | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    requests: int | None = None,
    tokens: int | None = None,
    rehearse: bool = False,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
    watch: Sink | None = None,
) -> Run:
    """Run a program as `run` does, in asynchronous code; `Run.answer_async` continues it.

        async def main() -> None:
            run = await instrc.run_async('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{}]))
            assert run.status == "done"

        asyncio.run(main())

    The arguments are those of `run`.
    """
    _require(model, export, id, requests, tokens, watch)
    places, further = arguments.paths("roots", roots), arguments.paths("shared", shared)
    prepared = _prepared(program, export, places, further, vibes)
    own = _own_equipment(model, activities, checks)
    known = all_activities(prepared, own.activities or Activities(), rehearse=rehearse)
    words = model if isinstance(model, str) else None
    how = how_of(prepared, model=words, rehearse=rehearse, own=own)
    made = Launcher(prepared, activities=known, requests=requests, tokens=tokens, how=how, rehearse=rehearse).launch(input, id)
    if arguments.text("engine", engine) == "memory" and store is None:
        effects = equipped(prepared, made.run, _model(own, how, prepared), known, watch, own.checks)
        return await LiveRun(made.plan, versions.begin(made.plan, made.inputs), effects, people).resume_async()
    host = host_of(engine, None if store is None else arguments.path("store", store))
    host.take(made.run, Here(own, people, watch))
    return EngineRun(host, await host.start(made))


@takes_plain_values
def rehearse(
    program: ProgramLike,
    input: Json = None,  # noqa: A002  -- its name
    *,
    export: str | None = None,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
) -> Rehearsal:
    """Rehearse a program until each of its branches was taken, with generated answers, results and failures.

        rehearsal = instrc.rehearse('when prompt is "a" { @{ title: "Draft", type: "object" } }')
        assert not rehearsal.missed

    A `Rehearsal` has `runs`, each with `choices`, `branches` and `outcome`, and the branches that it has `missed`, with reasons.
    `input` and `vibes` are as for `run`; inputs that are not given are generated too.  Nothing is called, asked or stored.
    """
    arguments.text_or_none("export", export)
    places, further = arguments.paths("roots", roots), arguments.paths("shared", shared)
    prepared = _prepared(program, export, places, further, vibes)
    return rehearsal(prepared, input)


def rehearsal(prepared: Prepared, given: Json) -> Rehearsal:
    """Return the rehearsal of a prepared program; `CompileError` if the input does not fit."""
    inputs: dict[str, Json] = given if isinstance(given, dict) else {} if given is None else {"prompt": given}
    wrong: list[Problem] = []
    made = made_inputs(prepared.inputs)
    given_inputs(prepared.inputs, {**made, **inputs}, wrong)
    if wrong:
        raise CompileError(wrong)
    return rehearsal_of(prepared.document, inputs, made)


def find_run(
    id: str,  # noqa: A002  -- its name
    *,
    engine: EngineName = "durable",
    store: str | os.PathLike[str] | None = None,
    model: Model | None = None,
    activities: Handlers = (),
    checks: Mapping[str, Check] | None = None,
    people: People | None = None,
    watch: Sink | None = None,
) -> Run:
    """Return a stored run, to read its state, to answer it or to continue it; `CompileError` if there is none.

        run = instrc.run('@{ title: "Ask_User", type: "object" }', "?", store=".instrc", id="letter-1")
        found = instrc.find_run("letter-1", engine="memory")
        assert found.status == "waiting"

    Give `model`, `activities` and `checks` again if the run was begun with them and the settings do not name them.
    """
    work = find_run_async(
        id, engine=engine, store=store, model=model, activities=activities, checks=checks, people=people, watch=watch
    )
    return run_to_end(work)


@takes_plain_values_async
async def find_run_async(
    id: str,  # noqa: A002  -- its name
    *,
    engine: EngineName = "durable",
    store: str | os.PathLike[str] | None = None,
    model: Model | None = None,
    activities: Handlers = (),
    checks: Mapping[str, Check] | None = None,
    people: People | None = None,
    watch: Sink | None = None,
) -> Run:
    """Return a stored run, as `find_run` does, in asynchronous code.

        async def status() -> str:
            return (await instrc.find_run_async("letter-1")).status

    The arguments are those of `find_run`.
    """
    host = host_of(arguments.text("engine", engine), None if store is None else arguments.path("store", store))
    _require(model, None, id, None, None, watch)
    report = await host.show(arguments.text("id", id))
    own = _own_equipment(model, activities, checks)
    if report.outcome is None and (own.words or people is not None or watch is not None):
        host.take(id, Here(own, people, watch))
    return EngineRun(host, report)


def _own_equipment(model: Model | str | None, activities: Handlers, checks: Mapping[str, Check] | None) -> Own:
    given = activities if isinstance(activities, Activities) else Activities(activities)
    return Own(None if isinstance(model, str) else model, given or None, {} if checks is None else _checks(checks))


def _model(own: Own, how: dict[str, Json], prepared: Prepared) -> Model | None:
    """Return the model that is given, else that of the words or of the project."""
    words = how["model"]
    return model_of(words, prepared.folder) if own.model is None and isinstance(words, str) else own.model


def _prepared(
    program: ProgramLike,
    export: str | None,
    roots: list[str],
    shared: list[str],
    vibes: Mapping[str, object] | None,
) -> Prepared:
    """Return a program that can run; what is suspicious in it, or lost of a vibe, is a warning of Python."""
    report = Report()
    memory = schemas_in_memory(vibes, report)
    prepared = prepare(_program(program), export=export, roots=roots, shared=shared, memory=memory)
    report.problems.extend(prepared.warnings)
    for problem in report.once():
        warnings.warn(CompileWarning(problem), stacklevel=4)
    return prepared


def _program(program: ProgramLike) -> str | Source | dict[str, Json]:
    if isinstance(program, Source | dict):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith((".aug", ".json"))):
        return Source(TEXT_NAME, program)
    return arguments.path("program", program)


def _require(model: object, export: object, id: object, requests: object, tokens: object, watch: object) -> None:  # noqa: A002  -- its name
    """Refuse options of a type that they cannot have."""
    if not (model is None or isinstance(model, str) or callable(attribute(model, "answer"))):
        arguments.instance("model", model, str, "words or an object with the method of `instrc.Model`")
    arguments.text_or_none("export", export)
    arguments.text_or_none("id", id)
    arguments.whole_or_none("requests", requests)
    arguments.whole_or_none("tokens", tokens)
    if watch is not None and not callable(watch):
        arguments.instance("watch", watch, type(None), "a function")


def _checks(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Return checks by the names of steps."""
    found = arguments.mapping("checks", checks)
    for name, check in found.items():
        arguments.text("checks", name)
        if not callable(check):
            arguments.instance("checks", check, type(None), "functions by the names of steps")
    return dict(found)
