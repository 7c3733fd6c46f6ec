"""The public functions for runs: begin, find and rehearse them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, ParamSpec, cast

from instrc.api.app import App
from instrc.api.preparation import Handlers, ProgramLike, blocking, prepared_program
from instrc.compiler.resolve import InMemory
from instrc.engines.hosts import EngineName
from instrc.engines.launch import RehearseMode, given_inputs
from instrc.engines.prepare import Prepared
from instrc.problems.errors import InputError
from instrc.problems.problem import Problem
from instrc.runtime.effects import Check
from instrc.runtime.models.model import Model
from instrc.runtime.models.partial import TellPart
from instrc.runtime.questions import People
from instrc.runtime.run import Run, run_to_end
from instrc.runtime.run_report import RunStatus
from instrc.runtime.stream import RunStream
from instrc.runtime.traces import Sink
from instrc.testing.rehearsal import Rehearsal, made_inputs, rehearsal_of
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values, takes_plain_values_async
from instrc.text.jsonvalue import Json
from instrc.tools.python_values import JsonLike, json_of

_Given = ParamSpec("_Given")


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
    app = App(
        model=model,
        activities=activities,
        vibes=vibes,
        people=people,
        checks=checks,
        engine=engine,
        store=store,
        requests=requests,
        tokens=tokens,
        budget=budget,
        settings=settings,
        cache=cache,
        roots=roots,
        shared=shared,
        watch=watch,
    )
    return await app.run(program, input, id=id, export=export, rehearse=rehearse, parts=parts)


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


def _giving_parts(function: Callable[_Given, object]) -> Callable[[Callable[..., RunStream]], Callable[_Given, RunStream]]:
    """Give a function that passes all its arguments on the signature of another one."""

    def typed(passing: Callable[..., RunStream]) -> Callable[_Given, RunStream]:
        passing.__dict__["__signature__"] = inspect.signature(function).replace(return_annotation="RunStream")
        return passing

    return typed


@_giving_parts(run_async)
@takes_plain_values
def stream(*given: Any, parts: TellPart | None = None, **options: Any) -> RunStream:  # noqa: ANN401  -- those of `run_async`
    """Run a program as `run_async` does, and see the answers of its models while they are written.

        async def main() -> None:
            stream = instrc.stream('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{"text": "Dear"}]))
            async for part in stream:
                assert part.value == {"text": "Dear"}
            assert stream.run.status == "done"

        asyncio.run(main())

    The arguments are those of `run`; a run that another process carries yields no parts.
    An `AnswerPart` has `key` (which answer it is a part of), `steps`, `value` (what is written so far, without thoughts) and
    `complete` (the members of it that are finished); the last part of an answer is the whole.  A model whose answer is not
    accepted begins again, under another key.  `gemini:`, `gigachat:`, and models that do not stream give one
    part, the whole.  Leaving the loop early cancels a run in memory.  The loop raises the errors of the run.
    """
    inspect.signature(stream).bind(*given, **options)
    return RunStream(lambda tell: run_async(*given, **options, parts=tell), parts)


@takes_plain_values_async
async def find_run_async(
    id: str,  # noqa: A002  -- its name
    *,
    engine: EngineName = "memory",
    store: str | os.PathLike[str] | None = None,
    model: Model | str | None = None,
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
    spec = model if isinstance(model, str) else None
    app = App(
        model=None if isinstance(model, str) else model,
        activities=activities,
        people=people,
        checks=checks,
        engine=engine,
        store=store,
        watch=watch,
    )
    return await app.find(id, model=spec)


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
    engine: EngineName = "memory",
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
    return run_to_end(App(engine=engine, store=store).runs(status=status, program=program, since=since))


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
