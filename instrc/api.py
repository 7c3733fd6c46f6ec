"""The public functions: compile and check, schemas, runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeAlias, TypeVar, Unpack, cast, overload

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.ir import Artefact
from instrc.compiler.resolve import InMemory, schemas_in_memory
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.engines.folder import EngineRun
from instrc.engines.launch import EngineName, Here, Launcher, Own, RehearseMode, close_stores, given_inputs, host_of, version_of
from instrc.engines.memory import LiveRun
from instrc.engines.prepare import Prepared, prepare, wrong_activities
from instrc.problems.problem import CompileError, CompileWarning, Problem
from instrc.problems.report import Report
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check
from instrc.runtime.engine import People, Run, RunFilter, RunStatus, run_to_end
from instrc.runtime.interpreter import versions
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.model import Model
from instrc.runtime.models.partial import TellPart
from instrc.runtime.stream import RunStream
from instrc.runtime.traces import Sink
from instrc.schema import inclusion as comparing
from instrc.schema import strip as stripping
from instrc.schema.flattening import flatten as flattening
from instrc.schema.flattening.run import FlattenKeywords
from instrc.schema.inclusion import Subsumption
from instrc.schema.plain_checks import is_sound
from instrc.schema.references import Locate, kind_in_words
from instrc.schema.strip import Split
from instrc.schema.wellformed import problems_of
from instrc.testing.rehearsal import Rehearsal, made_inputs, rehearsal_of
from instrc.text import arguments
from instrc.text.arguments import (
    TEXT_NAME,
    ProgramInput,
    as_plain,
    attribute,
    source_or_path,
    takes_plain_values,
    takes_plain_values_async,
    takes_shared_parts,
)
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json, JsonObject, require_tree
from instrc.text.limits import FLAT_SCHEMAS
from instrc.text.names import free_name
from instrc.text.source import Source
from instrc.tools.python_classes import module, module_parts
from instrc.tools.python_types import PythonType, schema_of_python
from instrc.tools.python_values import JsonLike, json_of
from instrc.vibes.find_files import find_files, is_there, unreadable
from instrc.vibes.project import Project

if TYPE_CHECKING:
    import referencing

    from instrc.compiler.ir import Artefact, Emit
    from instrc.schema.flattening.provenance import Flat
    from instrc.testing.evaluation.checks import CheckFunction, CheckKind
    from instrc.testing.evaluation.dataset import DataSet
    from instrc.testing.evaluation.results import CaseResult, EvaluationResult


BATCH_ITEMS: Final = 10_000
"""Items of one batch."""


def module_of(artefacts: Iterable[Artefact], source: str) -> str:
    """Return a module with the classes of each export: what the model fills in, call by call, its steps, and the result.

    `source` is named in the first line.
    """
    documents: dict[str, tuple[dict[str, Json], Json]] = {}
    for artefact in artefacts:
        name = free_name(artefact.name, documents.__contains__)
        documents[name] = ({name: artefact.documents["tool"], **_later(artefact, name)}, artefact.documents["result"])
    return module(f"Classes for {source}.", module_parts(documents))


def _later(artefact: Artefact, name: str) -> dict[str, Json]:
    """Return what the model fills in after the entry of a process, by name."""
    if "process" not in artefact.documents:
        return {}
    from instrc.testing.preview import later_schemas  # brings the interpreter

    return {f"{name}_{chunk}": schema for chunk, schema in later_schemas(artefact).items()}


# Compile and check, as the commands of the same names do.


AnyPath: TypeAlias = str | os.PathLike[str]


@takes_plain_values
def compile(  # noqa: A001  -- `instrc.compile` is its name; nothing here compiles Python
    program: ProgramInput,
    *,
    emit: Emit | Literal["auto"] = "auto",
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel", "plain"] | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> list[JsonObject]:
    """Return one JSON document for each export of a program, in order.

        program = '"Write a letter" | Introspect_Mixin(Draft)'
        [tool] = instrc.compile(program, vibes={"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}})

    `program` is a path if it is an `os.PathLike` or a text of one line that ends in `.aug` or `.json`, else the text itself.
    `emit` chooses the document: `tool`, `result`, `flat`, `process`, `call`, or the one that fits (`auto`).
    `vibes` are instructions from memory by name: JSON Schemas, models of pydantic, dataclasses, `TypedDict`s, annotated
    functions, and tools as OpenAI, Anthropic, MCP, Gemini and others write them.  A list of classes and functions goes by their
    names, `vibes=[Draft]`, or by those that `instrc.instruction` gives them.
    `roots` and `shared` are registry folders in addition to those of the project; `naming` is by default that of the project.
    With `locked`, a reference that differs from the project's `aug.lock`, or is not in it, is a problem.
    `CompileError` contains all problems; warnings of a program that compiles go to the `report`, or are Python warnings
    (`CompileWarning`) without one.
    """
    told = Report() if report is None else report
    compiled = artefacts(
        program,
        vibes=vibes,
        roots=roots,
        shared=shared,
        naming=naming,
        hints=hints,
        batch=batch,
        sketch=sketch,
        locked=locked,
        report=told,
    )
    if report is None:
        _warn(told)
    found = Report()
    documents = []
    arguments.text("emit", emit)
    for artefact in compiled:
        kind = artefact.kind if emit == "auto" else emit
        if kind in artefact.documents:
            documents.append(artefact.documents[kind])
        else:
            found.add(problems.calls.NoSuchDocument(asked=kind, program=artefact.name, present=tuple(artefact.documents)))
    found.stop_if_failed()
    return documents


@takes_plain_values
def artefacts(
    program: ProgramInput,
    *,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel", "plain"] | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> tuple[Artefact, ...]:
    """Return all documents of each export of a program, with its name and title.

        [artefact] = instrc.artefacts('@{ title: "Draft", type: "object" }')
        assert artefact.documents["tool"]["title"] == "Draft"

    The arguments are those of `compile`.
    """
    _refuse(naming, batch)
    for name, value in (("hints", hints), ("sketch", sketch), ("locked", locked)):
        arguments.truth(name, value)
    told = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    found = Report()  # of this program alone: what an earlier one did wrong does not stop it
    overrides = OptionOverrides(naming=naming, hints=hints, batch=batch, sketch=sketch)
    workspace = Workspace(_project(roots, shared, vibes, found, locked=locked))
    compiled = workspace.compile(source_or_path(program), overrides, found)
    if told is not None:
        told.problems.extend(found.problems)
    found.stop_if_failed()
    if told is None:
        _warn(found)
    return compiled


def _warn(report: Report) -> None:
    """Show the warnings in a report as warnings of Python, at the line that called the public function."""
    for problem in report.once():
        if problem.severity == "warning":
            warn_caller(CompileWarning(problem))


def _refuse(naming: object, batch: object) -> None:
    """Raise a `CompileError` for options that cannot be worked with."""
    found = Report()
    if not isinstance(batch, int) or isinstance(batch, bool) or not 1 <= batch <= BATCH_ITEMS:
        wanted = f"a whole number from 1 to {BATCH_ITEMS:,}"
        found.add(problems.settings.InvalidOption(option="batch", given=arguments.excerpt(batch), wanted=wanted))
    if naming is not None and not (isinstance(naming, str) and naming in {"step", "camel", "plain"}):
        found.add(
            problems.settings.InvalidOption(
                option="naming", given=arguments.excerpt(naming), wanted='`"step"`, `"camel"` or `"plain"`'
            )
        )
    found.stop_if_failed()


@takes_plain_values
def types(
    program: ProgramInput,
    *,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel", "plain"] | None = None,
    batch: int = 1,
    locked: bool = False,
) -> str:
    """Return a Python module with typed classes: what a model fills in, its steps, and the result of each export.

        Path("models.py").write_text(instrc.types("reply.aug"))

    The classes are pydantic models; `lift(...).as_model(AnswerALetter)` makes an instance of one.
    The arguments are those of `compile`.  The generator needs the extra `types`.
    """
    report = Report()
    compiled = artefacts(
        program,
        vibes=vibes,
        roots=roots,
        shared=shared,
        naming=naming,
        hints=False,  # what a step reads is for the model: nobody who reads a class can use it
        batch=batch,
        locked=locked,
        report=report,
    )
    _warn(report)

    named = source_or_path(program)
    file = named.name if isinstance(named, Source) else os.path.basename(named)  # noqa: PTH119  -- the path as it was given
    return module_of(compiled, file)


def _is_program(text: str) -> bool:
    """Tell whether a text is a program and no path."""
    return "\n" in text or (any(sign in text for sign in '|({"') and not os.path.exists(text))  # noqa: PTH110  -- never raises


@takes_plain_values
def check(
    *paths: ProgramInput,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    locked: bool = False,
) -> tuple[Problem, ...]:
    """Return the problems of programs, vibes and folders of both, by file and place; no error is raised for them.

        for problem in instrc.check("programs", vibes={"Draft": {"type": "objekt"}}):
            print(problem)

    Each of `paths` is a file or a folder, or a text as for `compile`: a `Source`, a text of several lines, or one with a sign
    of the language (`|`, `(`, `{`, `"`) that names no file.
    `vibes` are instructions from memory, as for `compile`: the programs see them, and they are checked too.
    """
    report = Report()
    texts = [source_or_path(path) if isinstance(path, str) and _is_program(path) else path for path in paths]
    sources = [each for each in texts if isinstance(each, Source)]
    places = arguments.paths("paths", [each for each in texts if not isinstance(each, Source)])
    arguments.truth("locked", locked)
    try:
        workspace = Workspace(_project(roots, shared, vibes, report, locked=locked))
        if vibes:
            workspace.check_memory(report)
    except CompileError as error:
        return error.problems
    files = find_files(places, report)
    for path in files:
        workspace.check(path, report)
    for source in sources:
        workspace.check(source, report)
    report.problems += wrong_activities([*files, *(source.name for source in sources)])
    return report.once()


@takes_plain_values
def registry(
    path: AnyPath = ".",
    *,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
) -> referencing.Registry[Json]:
    """Return the vibes that are visible to a file or a folder, as a registry with which validators follow `aug:` references.

        registry = instrc.registry(vibes={"Draft": {"type": "object", "required": ["text"]}})
        assert not jsonschema.Draft202012Validator({"$ref": "aug:Draft"}, registry=registry).is_valid({})

    A vibe is read when it is first referred to; nothing else is ever retrieved.
    `vibes` are instructions from memory, as for `compile`: `aug:Draft` refers to one that is called `Draft`.
    `CompileError` if there is no such file or folder, or a vibe from memory has no schema.
    """
    place = arguments.path("path", path)
    if not is_there(place):
        raise CompileError([unreadable(place, "there is no such file or folder")])
    inside = os.path.join(place, TEXT_NAME) if os.path.isdir(place) else place  # noqa: PTH112, PTH118  -- any path of a caller's
    return Workspace(_project(roots, shared, vibes, Report())).registry(inside).reference_registry()


def _project(
    roots: Iterable[AnyPath],
    shared: Iterable[AnyPath],
    vibes: InMemory | None,
    report: Report,
    *,
    locked: bool = False,
) -> Project:
    """Return what these arguments of the public functions say of a project, with notes on the vibes in the report."""
    memory = schemas_in_memory(vibes, report)
    return Project(tuple(arguments.paths("roots", roots)), tuple(arguments.paths("shared", shared)), locked, memory)


# Runs, also as coroutines.


__all__ = [
    "close_stores",
    "evaluate",
    "evaluate_async",
    "find_run",
    "find_run_async",
    "rehearsal",
    "rehearse",
    "run",
    "run_async",
    "runs",
    "stream",
]
ProgramLike: TypeAlias = str | os.PathLike[str] | Source | dict[str, Json]
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
Handlers: TypeAlias = Activities | Mapping[str, object] | Iterable[object]


def run(
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
    work = run_async(
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
        budget=budget,
        settings=settings,
        cache=cache,
        rehearse=rehearse,
        vibes=vibes,
        roots=roots,
        shared=shared,
        watch=watch,
        parts=parts,
    )
    return run_to_end(work)


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
    _require(model, export, id, requests, tokens, watch=watch, parts=parts)
    places = arguments.paths("roots", roots), arguments.paths("shared", shared)  # for another version too
    prepared = partial(_prepared, export=export, roots=places[0], shared=places[1], vibes=vibes)
    own = _own_equipment(model, activities, checks)
    if rehearse != "with-activities" and not isinstance(rehearse, bool):
        arguments.instance("rehearse", rehearse, bool, '`True`, `False` or `"with-activities"`')
    launcher = Launcher(
        prepared(program),
        model=model if isinstance(model, str) else None,
        own=own,
        requests=requests,
        tokens=tokens,
        rehearse=rehearse,
        given=settings,
        cache=cache if cache is None or cache is False else AnswerCache(arguments.path("cache", cache)),
        budget=as_plain(arguments.text_or_none("budget", budget)),
    )
    made = launcher.launch(input, id)
    if arguments.text("engine", engine) == "memory" and store is None:
        live = LiveRun(made.plan, versions.begin(made.plan, made.inputs), launcher.effects(made.run, watch, parts), people)
        live.version = lambda other: version_of(made, prepared(other), own)
        return await live.resume_async()
    host = host_of(engine, None if store is None else arguments.path("store", store))
    here = Here(own, people, watch, parts, prepared)
    host.take(made.run, here)
    return EngineRun(host, await host.start(made), here)


def _with_arguments_of(function: Callable[_Given, object]) -> Callable[[Callable[..., _Result]], Callable[_Given, _Result]]:
    """Let a function that passes all its arguments on take those of another one but `parts`, which it gives itself."""

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

    The arguments are those of `run` without `parts`; a run that another process carries gives no parts.
    An `AnswerPart` has `key` (which answer it is a part of), `steps`, `value` (what is written so far, without thoughts) and
    `complete` (the members of it that are finished); the last part of an answer is the whole.  A model whose answer is not
    accepted begins again, under another key.  `gemini:`, `gigachat:`, and models that do not stream give one
    part, the whole.  Leaving the loop early cancels a run in memory.  What the run raises is raised by the loop.
    """
    inspect.signature(stream).bind(*given, **options)
    return RunStream(lambda tell: run_async(*given, **options, parts=tell))


def evaluation_checks() -> dict[str, CheckKind]:
    """Return the checks of evaluations by their words."""
    from instrc.taskbench.sample import plan_check
    from instrc.testing.evaluation.checks import KINDS, CheckKind  # as below
    from instrc.testing.evaluation.judge import JUDGE

    return {**KINDS, "judge": JUDGE, "plan": CheckKind(plan_check, ("tools", "score", "min"), expects=True)}


def evaluate(
    program: ProgramLike,
    cases: AnyPath | Iterable[object],
    *,
    model: Model | str | None = None,
    checks: Mapping[str, CheckFunction | JsonLike] | None = None,
    repeat: int | None = None,
    activities: Handlers = (),
    settings: Mapping[str, object] | None = None,
    concurrency: int = 4,
    requests: int | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    export: str | None = None,
    store: AnyPath | None = None,
    fresh: bool = False,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    progress: Callable[[CaseResult], object] | None = None,
) -> EvaluationResult:
    """Run a program for each case of a data set, and check what comes out.

        draft = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
        cases = [{"input": "a letter", "expected": {"text": "Dear Ann"}}]
        found = instrc.evaluate(draft, cases, model=instrc.Scripted({"draft": {"text": "Dear Ann"}}))
        assert found.scores() == {"case 1": 1.0}

    `cases` is a file, as `triage.eval.jsonl` (one of Python is run: its function `cases` yields them), or a list of cases with
    `input`, and `id`, `expected`, `tags`, `weight`, `answers` where they are wanted.  `checks` are functions that are given an
    `instrc.CheckedRun`, and give back true, false, a number from 0 to 1 (from 0.5 on it passes), or a text of what is wrong; or
    checks as a data set has them, `{"label": "equal"}`.  Each case is run `repeat` times, `concurrency` runs at the same time.
    Activities are not called, unless they are given or the data set says so: a case gives their results, else these are made
    from the schemas.  `requests`, `tokens` and `cost` (US dollars) are the budget of all runs together.
    In the folder `store` runs that have ended are kept with their traces: they are not made again, unless `fresh` is true.
    `progress` is given each result as it comes.  `EvaluationResult.rows()` is for pandas.  `CompileError` contains all problems.
    """
    return run_to_end(
        evaluate_async(
            program,
            cases,
            model=model,
            checks=checks,
            repeat=repeat,
            activities=activities,
            settings=settings,
            concurrency=concurrency,
            requests=requests,
            tokens=tokens,
            cost=cost,
            export=export,
            store=store,
            fresh=fresh,
            vibes=vibes,
            roots=roots,
            shared=shared,
            progress=progress,
        )
    )


@takes_plain_values_async
async def evaluate_async(
    program: ProgramLike,
    cases: AnyPath | Iterable[object],
    *,
    model: Model | str | None = None,
    checks: Mapping[str, CheckFunction | JsonLike] | None = None,
    repeat: int | None = None,
    activities: Handlers = (),
    settings: Mapping[str, object] | None = None,
    concurrency: int = 4,
    requests: int | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    export: str | None = None,
    store: AnyPath | None = None,
    fresh: bool = False,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    progress: Callable[[CaseResult], object] | None = None,
) -> EvaluationResult:
    """Evaluate a program as `evaluate` does, in asynchronous code.

        async def share() -> float:
            found = await instrc.evaluate_async("triage.aug", "triage.eval.jsonl", model="openai:gpt-5")
            return statistics.fmean(found.scores().values())

    The arguments are those of `evaluate`.
    """
    from instrc.testing.evaluation.dataset import cases_of, data_set_of, read_data_set
    from instrc.testing.evaluation.runner import Budget, EvalOptions, evaluated  # who only compiles does without them

    _require(model, export, None, requests, tokens)
    prepared = _prepared(program, export, roots, shared, vibes)
    given = dict(arguments.mapping("checks", {} if checks is None else checks))
    functions = {name: check for name, check in given.items() if callable(check)}
    report = Report()
    data: DataSet | None
    if isinstance(cases, str | os.PathLike):
        data = read_data_set(arguments.path("cases", cases), report)
    else:
        data = data_set_of(cases_of(arguments.several("cases", cases)), Path(), report)
    report.stop_if_failed()
    assert data is not None
    written = cast("JsonObject", json_of({name: check for name, check in given.items() if name not in functions}))
    options = EvalOptions(
        model=model,
        repeats=arguments.whole_or_none("repeat", repeat),
        concurrency=max(arguments.whole_number("concurrency", concurrency), 1),
        settings={} if settings is None else settings,
        activities=activities if isinstance(activities, Activities) else Activities(activities),
        checks=functions,
        kinds=evaluation_checks(),
        budget=Budget(requests, tokens, None if cost is None else arguments.instance("cost", cost, (int, float), "a number")),
        folder=None if store is None else Path(arguments.path("store", store)),
        fresh=arguments.truth("fresh", fresh),
        progress=progress,
    )
    return await evaluated(prepared, replace(data, checks={**data.checks, **written}), options)


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
    prepared = _prepared(program, export, roots, shared, vibes)
    return rehearsal(prepared, input)


def rehearsal(prepared: Prepared, value: JsonLike) -> Rehearsal:
    """Return the rehearsal of a prepared program; `CompileError` if the input does not fit."""
    given = cast("Json", json_of(value))
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
    _require(model, None, id, None, None, watch=watch)
    report = await host.show(arguments.text("id", id))
    own = _own_equipment(model, activities, checks)
    here = Here(own, people, watch)
    if own.words or people is not None or watch is not None:
        host.take(id, here, ended=report.status in {"done", "cancelled"})
    return EngineRun(host, report, here)


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
    return [EngineRun(host, report) for report in run_to_end(host.runs()) if chosen.takes(report)]


def _own_equipment(model: Model | str | None, activities: Handlers, checks: Mapping[str, Check] | None) -> Own:
    given = activities if isinstance(activities, Activities) else Activities(activities)
    return Own(None if isinstance(model, str) else model, given or None, {} if checks is None else _checks(checks))


def _prepared(
    program: ProgramLike,
    export: str | None,
    roots: Iterable[AnyPath],
    shared: Iterable[AnyPath],
    vibes: InMemory | None,
) -> Prepared:
    """Return a program that can run; what is suspicious in it, or lost of a vibe, is a warning of Python."""
    report = Report()
    named = program if isinstance(program, dict) else source_or_path(program)
    prepared = prepare(named, export=export, project=_project(roots, shared, vibes, report))
    report.problems.extend(prepared.warnings)
    for problem in report.once():
        warn_caller(CompileWarning(problem))
    return prepared


def _require(model: object, export: object, id: object, requests: object, tokens: object, **told: object) -> None:  # noqa: A002  -- its name
    """Refuse options of a type that they cannot have."""
    if not (model is None or isinstance(model, str) or callable(attribute(model, "answer"))):
        arguments.instance("model", model, str, "words or an object with the method of `instrc.Model`")
    arguments.text_or_none("export", export)
    arguments.text_or_none("id", id)
    arguments.whole_or_none("requests", requests)
    arguments.whole_or_none("tokens", tokens)
    for name, function in told.items():
        if function is not None and not callable(function):
            arguments.instance(name, function, type(None), "a function")


def _checks(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Return checks by the names of steps."""
    found = arguments.mapping("checks", checks)
    for name, check in found.items():
        arguments.text("checks", name)
        if not callable(check):
            arguments.instance("checks", check, type(None), "functions by the names of steps")
    return dict(found)


# Schemas: a type or a function of Python is one too, and what is none is refused.
#
# Inside the compiler the functions of the same names are called, for plain values that have been checked.


SchemaLike: TypeAlias = Mapping[str, object] | bool | PythonType
"""A schema, or what pydantic says the schema of: a model, a typed dict, a dataclass, an annotated function."""


@overload
def flatten(
    schema: SchemaLike,
    documents: Mapping[str, Json] | None = None,
    *,
    trace: Literal[False] = False,
    **options: Unpack[FlattenKeywords],
) -> Json: ...


@overload
def flatten(
    schema: SchemaLike, documents: Mapping[str, Json] | None = None, *, trace: Literal[True], **options: Unpack[FlattenKeywords]
) -> Flat: ...


@overload
def flatten(
    schema: SchemaLike, documents: Mapping[str, Json] | None = None, *, trace: bool, **options: Unpack[FlattenKeywords]
) -> Json | Flat: ...


@takes_shared_parts
def flatten(
    schema: SchemaLike,
    documents: Mapping[str, Json] | None = None,
    *,
    base: str = "",
    trace: bool = False,
    distribute: int = 0,
    limit: int = FLAT_SCHEMAS,
    report: Report | None = None,
    locate: Locate | None = None,
    nullable: bool = False,
    share: bool = True,
) -> Json | Flat:
    """Return a schema in 2020-12 that accepts exactly the same instances, without references and, where possible, `allOf`.

        flat = instrc.flatten({"allOf": [{"type": "integer"}, {"minimum": 1}]})

    `schema` may be a model of pydantic, a dataclass, a `TypedDict` or an annotated function: its schema is meant.
    `documents` holds schemas by absolute URI without fragment; it may read them on demand.  `base` is the URI of `schema`.
    `distribute` multiplies `anyOf` with `anyOf` out up to that many branches.  `limit` is the number of schemas that the
    result may have.  Warnings go to `report`; `locate` finds the places of problems.  `nullable` reads that keyword of OpenAPI.
    A result that would grow to more than eight times its input, and over 2,000 schemas, keeps the parts that stand in several
    places under `$defs`, also where they differ in their annotations only, unless `share` is false.
    With `trace` the result is a `Flat`: the schema and where each of its keywords came from.

    A schema that has nothing to resolve and nothing to fold is returned as it is, the same object, in the words of its own draft.
    A circle of references with nothing in between adds nothing, and is an error in the `report`, if one is given.
    Raise a `CompileError` for what is no schema, references that lead nowhere, unknown dialects and results over the limit.
    """
    return flattening.flatten(
        _checked(schema),
        documents,
        base=base,
        trace=trace,
        distribute=distribute,
        limit=limit,
        report=report,
        locate=locate,
        nullable=nullable,
        share=share,
    )


@takes_plain_values
def split(answer: Json, schema: SchemaLike | None = None) -> Split:
    """Return an answer's `output`, and its `thoughts` and `metrics` by path, in the order of the answer.

        parts = instrc.split({"text": "Dear Ann", "_note": "short", "$score": 9})

    Keys that begin with `_` are thoughts, with `$` metrics.  With a `schema` (or a model, a dataclass, a `TypedDict`) only those
    count that it declares as properties where they stand: a `_key` in a free-form map is data.  Without one the names decide.

    A path is written with dots, `step1_page.items.0._note`; a key that is empty, holds a dot or a backslash
    has these escaped by a backslash (the empty key is a lone backslash).
    What is inside a thought or metric stays in it and is not divided further.
    An answer that holds itself, or has a key that is no text, is a `TypeError`.
    """
    return stripping.split(answer, None if schema is None else _checked(schema))


@takes_shared_parts
def strip(schema: SchemaLike, which: Collection[str]) -> Json:
    """Return a schema without the kinds named, at every depth; the same object if it has none of them.

        result = instrc.strip({"type": "object", "properties": {"text": {}, "_note": {}}}, {"thoughts"})

    `schema` may be a model of pydantic, a dataclass, a `TypedDict` or an annotated function: its schema is meant.
    `which` are `thoughts` (properties that begin with `_`), `metrics` (with `$`), `engine` (keywords for the engine), `all`.
    A property goes together with its name in `required`, `dependentRequired` and `dependentSchemas`.  Engine keywords go where
    they stand beside a schema's own; a property that is called `references` is a property like others.
    Nothing in `const`, `enum`, `default` or `examples` is touched.  `CompileError` for a kind that does not exist.
    """
    return stripping.strip(_checked(schema), which)


@takes_plain_values
def subsumes(a: SchemaLike, b: SchemaLike, documents: Mapping[str, Json] | None = None) -> Subsumption:
    """Return whether `a` accepts every instance that `b` accepts.

        assert instrc.subsumes({"type": "number"}, {"type": "integer"}).verdict == "yes"

    Each may be a model of pydantic, a dataclass, a `TypedDict` or an annotated function: its schema is meant.
    `yes` is proven; `no` comes with a witness that has been tried on both; everything else is `unknown`.
    Both schemas are flattened first, with `documents` for their references.
    Raise a `CompileError` if `jsonschema-rs` (the extra `subsume`) is not installed, or a schema cannot be read.
    """
    return comparing.subsumes(_checked(a), _checked(b), documents)


def _checked(value: object) -> Json:
    """Return a schema as plain JSON; `TypeError` for one that holds itself and is wrong somewhere."""
    plain = cast("Json", as_plain(dict(value)) if isinstance(value, Mapping) and not isinstance(value, dict) else value)
    if not isinstance(plain, dict | bool):
        described = schema_of_python(value)
        if described is None:
            raise CompileError([problems.schemas.InvalidSchema(pointer="", reason=f"{kind_in_words(plain)} is not a schema")])
        plain = described.schema
    if not is_sound(plain):
        require_tree(plain)
        if found := problems_of(plain):
            raise CompileError(found)
    return plain
