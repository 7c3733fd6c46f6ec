"""The public functions for runs: begin, find and rehearse them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial, wraps
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, cast

from instrc.api.programs import AnyPath, project_of
from instrc.compiler.resolve import InMemory
from instrc.engines.equip import LocalObjects
from instrc.engines.folder import EngineRun
from instrc.engines.hosts import EngineName, LocalContext, host_of
from instrc.engines.launch import Launcher, RehearseMode, given_inputs, version_of
from instrc.engines.memory import LiveRun
from instrc.engines.prepare import Prepared, prepare
from instrc.problems.errors import CompileWarning, InputError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check
from instrc.runtime.interpreter import versions
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.model import Model
from instrc.runtime.models.partial import TellPart
from instrc.runtime.questions import People
from instrc.runtime.run import Run, run_to_end
from instrc.runtime.run_report import RunFilter, RunStatus
from instrc.runtime.stream import RunStream
from instrc.runtime.traces import Sink
from instrc.testing.rehearsal import Rehearsal, made_inputs, rehearsal_of
from instrc.text import arguments
from instrc.text.arguments import as_plain, attribute, source_or_path, takes_plain_values, takes_plain_values_async
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json
from instrc.text.source import Source
from instrc.tools.python_values import JsonLike, json_of

ProgramLike: TypeAlias = str | os.PathLike[str] | Source | dict[str, Json]
Handlers: TypeAlias = Activities | Mapping[str, object] | Iterable[object]
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


@takes_plain_values_async
async def run_async(
    program: ProgramLike,
    input: JsonLike = None,  # noqa: A002  -- its name
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
    budget: str | None = None,
    settings: Mapping[str, object] | None = None,
    cache: str | os.PathLike[str] | Literal[False] | None = None,
    rehearse: RehearseMode = False,
    vibes: InMemory | None = None,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
    watch: Sink | None = None,
    parts: TellPart | None = None,
) -> Run:
    """Run a program as `run` does, in asynchronous code; `Run.answer_async` continues it.

        async def main() -> None:
            run = await instrc.run_async('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{}]))
            assert run.status == "done"

        asyncio.run(main())

    The arguments are those of `run`.
    """
    require_types(model, export, id, requests, tokens, watch=watch, parts=parts)
    _require_mode(rehearse)
    places = arguments.paths("roots", roots), arguments.paths("shared", shared)  # for another version too
    prepared = partial(prepared_program, export=export, roots=places[0], shared=places[1], vibes=vibes)
    local = _local_objects(model, activities, checks)
    launcher = Launcher(
        prepared(program),
        model=model if isinstance(model, str) else None,
        local=local,
        requests=requests,
        tokens=tokens,
        rehearse=rehearse,
        given=settings,
        cache=cache if cache is None or cache is False else AnswerCache(arguments.path("cache", cache)),
        budget=as_plain(arguments.text_or_none("budget", budget)),
    )
    launch = launcher.launch(input, id)
    if arguments.text("engine", engine) == "memory" and store is None:
        state = versions.begin(launch.plan, launch.inputs)
        live = LiveRun(launch.plan, state, launcher.effects(launch.run, watch, parts), people)
        live.version = lambda other: version_of(launch, prepared(other), local)
        return await live.resume_async()
    host = host_of(engine, None if store is None else arguments.path("store", store))
    context = LocalContext(local, people, watch, parts, prepared)
    host.take(launch.run, context)
    return EngineRun(host, await host.start(launch), context)


def blocking(
    function: Callable[_Given, Coroutine[object, object, _Result]],
) -> Callable[[Callable[[], object]], Callable[_Given, _Result]]:
    """Make a function for synchronous code of an asynchronous one; the decorated function has its name and its docstring."""

    def decorate(described: Callable[[], object]) -> Callable[_Given, _Result]:
        @wraps(described)
        def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
            return run_to_end(function(*given, **named))

        call.__dict__["__signature__"] = inspect.signature(function)
        call.__annotations__ = function.__annotations__
        del call.__dict__["__wrapped__"]
        return call

    return decorate


@blocking(run_async)
def run() -> None:
    """Run a program until it ends or waits for an answer; `Run.answer` continues it.

        run = instrc.run('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted({"draft": {}}))

    `program` is a path (`.aug`, `.vibe.json`, or a compiled `.json`), the text of a program, or a compiled document.  `input` is
    `prompt`, or an object of inputs.  `model`, an object like `instrc.Model` or a text as for `--model`, comes before that of the
    project; `settings` are like `{"temperature": 0}`.  `cache` is a file of answers not to be asked for again.  `activities` are
    functions by name, marked functions, or processes.  `people` answers questions at once; without it the run waits.  A text from
    one of `checks` lets the model be asked again.  `engine` is `memory`, stored only with a `store`; `durable`, in the store, by
    any process; `temporal`, on a server.  `store` is a folder or a URL.  An `id` continues its run.  `requests`, `tokens` and
    `budget` (`"2 USD"`) are limits.  `rehearse` invents answers and results.  `watch` gets events, `parts` growing answers.
    """


def _with_arguments_of(function: Callable[_Given, object]) -> Callable[[Callable[..., _Result]], Callable[_Given, _Result]]:
    """Give a function that forwards all its arguments the signature of another one, without `parts`, which it passes itself."""

    def made(passing: Callable[..., _Result]) -> Callable[_Given, _Result]:
        taken = inspect.signature(function)
        kept = [each for each in taken.parameters.values() if each.name != "parts"]
        passing.__dict__["__signature__"] = taken.replace(parameters=kept, return_annotation="RunStream")
        return passing

    return made


@_with_arguments_of(run_async)
@takes_plain_values
def stream(*given: Any, **options: Any) -> RunStream:  # noqa: ANN401  -- those of `run_async`, which looks at them
    """Run a program as `run_async` does, and see the answers of its models while they are written.

        async def main() -> None:
            stream = instrc.stream('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{"text": "Dear"}]))
            async for part in stream:
                assert part.value == {"text": "Dear"}
            assert stream.run.status == "done"

        asyncio.run(main())

    The arguments are those of `run` without `parts`; a run that another process carries yields no parts.
    An `AnswerPart` has `key` (which answer it is a part of), `steps`, `value` (what is written so far, without thoughts) and
    `complete` (the members of it that are finished); the last part of an answer is the whole.  A model whose answer is not
    accepted begins again, under another key.  `gemini:`, `gigachat:`, and models that do not stream give one
    part, the whole.  Leaving the loop early cancels a run in memory.  What the run raises is raised by the loop.
    """
    inspect.signature(stream).bind(*given, **options)
    return RunStream(lambda tell: run_async(*given, **options, parts=tell))


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
    require_types(model, None, id, None, None, watch=watch)
    report = await host.show(arguments.text("id", id))
    local = _local_objects(model, activities, checks)
    context = LocalContext(local, people, watch)
    if local.names or people is not None or watch is not None:
        host.take(id, context, ended=report.status in {"done", "cancelled"})
    return EngineRun(host, report, context)


@blocking(find_run_async)
def find_run() -> None:
    """Return a stored run, to read its state, to answer it or to continue it; raise `NotFoundError` if there is none.

        run = instrc.run('@{ title: "Ask_User", type: "object" }', "?", store=".instrc", id="letter-1")
        found = instrc.find_run("letter-1", engine="memory")
        assert found.status == "waiting"

    Give `model`, `activities` and `checks` again if the run was begun with them and the settings do not name them.
    """


@takes_plain_values
def runs(
    *,
    engine: EngineName = "durable",
    store: str | os.PathLike[str] | None = None,
    status: RunStatus | None = None,
    program: str | None = None,
    since: str | None = None,
) -> list[Run]:
    """Return the runs in a store, the latest first.

        for run in instrc.runs(store=".instrc", engine="memory", status="held", since="P7D"):
            run.retry()

    `status` is one of `running`, `waiting`, `held`, `done`, `failed`, `stopped`, `cancelled`; `program` is the name of a program;
    `since` is a span of time up to now, as ISO 8601 writes it.  `Run.delete` forgets one that has ended.
    """
    host = host_of(arguments.text("engine", engine), None if store is None else arguments.path("store", store))
    chosen = RunFilter.of(status, program, since)
    return [EngineRun(host, report) for report in run_to_end(host.runs(chosen))]


@takes_plain_values
def rehearse(
    program: ProgramLike,
    input: JsonLike = None,  # noqa: A002  -- its name
    *,
    export: str | None = None,
    vibes: InMemory | None = None,
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
    prepared = prepared_program(program, export, roots, shared, vibes)
    return rehearsal(prepared, input)


def rehearsal(prepared: Prepared, value: JsonLike) -> Rehearsal:
    """Return the rehearsal of a prepared program; raise `InputError` if the input does not fit."""
    given = cast("Json", json_of(value))
    inputs: dict[str, Json] = given if isinstance(given, dict) else {} if given is None else {"prompt": given}
    wrong: list[Problem] = []
    made = made_inputs(prepared.inputs)
    given_inputs(prepared.inputs, {**made, **inputs}, wrong)
    if wrong:
        raise InputError(wrong)
    return rehearsal_of(prepared.document, inputs, made)


def prepared_program(
    program: ProgramLike,
    export: str | None,
    roots: Iterable[AnyPath],
    shared: Iterable[AnyPath],
    vibes: InMemory | None,
) -> Prepared:
    """Return a program that can run; suspicious places, and what is lost of a vibe, become Python warnings."""
    report = Report()
    named = program if isinstance(program, dict) else source_or_path(program)
    prepared = prepare(named, export=export, project=project_of(roots, shared, vibes, report))
    report.problems.extend(prepared.warnings)
    for problem in report.once():
        warn_caller(CompileWarning(problem))
    return prepared


def require_types(model: object, export: object, id: object, requests: object, tokens: object, **functions: object) -> None:  # noqa: A002  -- its name
    """Refuse options of a type that they cannot have."""
    if not (model is None or isinstance(model, str) or callable(attribute(model, "answer"))):
        arguments.instance("model", model, str, "words or an object with the method of `instrc.Model`")
    arguments.text_or_none("export", export)
    arguments.text_or_none("id", id)
    arguments.natural_or_none("requests", requests)
    arguments.natural_or_none("tokens", tokens)
    for name, function in functions.items():
        if function is not None and not callable(function):
            arguments.instance(name, function, type(None), "a function")


def _require_mode(rehearse: object) -> None:
    if rehearse != "with-activities" and not isinstance(rehearse, bool):
        arguments.instance("rehearse", rehearse, bool, '`True`, `False` or `"with-activities"`')


def _local_objects(model: Model | str | None, activities: Handlers, checks: Mapping[str, Check] | None) -> LocalObjects:
    given = activities if isinstance(activities, Activities) else Activities(activities)
    return LocalObjects(None if isinstance(model, str) else model, given or None, {} if checks is None else _checks(checks))


def _checks(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Return checks by the names of steps."""
    found = arguments.mapping("checks", checks)
    for name, check in found.items():
        arguments.text("checks", name)
        if not callable(check):
            arguments.instance("checks", check, type(None), "functions by the names of steps")
    return dict(found)
