"""Public functions for runs: start, find and rehearse them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from instrc.api.app import App
from instrc.api.preparation import Handlers, ProgramLike, blocking, prepared_program
from instrc.api.programs import AnyPath
from instrc.compiler.resolve import InMemory
from instrc.engines.launch import RehearseMode, given_inputs
from instrc.engines.prepare import Prepared
from instrc.problems.errors import InputError
from instrc.problems.problem import Problem
from instrc.runtime.models.model import Model
from instrc.runtime.run import Run, Value, run_to_end
from instrc.runtime.run_report import RunStatus
from instrc.runtime.stream import RunStream
from instrc.testing.rehearsal import Rehearsal, made_inputs, rehearsal_of
from instrc.text import arguments
from instrc.text.arguments import takes_plain_values, takes_plain_values_async
from instrc.text.jsonvalue import Json
from instrc.tools.python_types import Adapter
from instrc.tools.python_values import JsonLike, json_of
from instrc.vibes.settings import EngineName


@takes_plain_values_async
async def run_async(
    program: ProgramLike,
    input: JsonLike = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Handlers = (),
    vibes: InMemory | None = None,
    engine: EngineName = "memory",
    store: AnyPath | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    export: str | None = None,
    rehearse: RehearseMode = False,
    as_: type[Value] | Adapter[Value] | None = None,
) -> Run[Value]:
    """Run a program like `run`, in asynchronous code; `Run.answer_async` continues it.

        async def main() -> None:
            run = await instrc.run_async('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{}]))
            assert run.status == "done"

        asyncio.run(main())

    The arguments are those of `run`.
    """
    app = App(model=model, activities=activities, vibes=vibes, engine=engine, store=store)
    return await app.run(program, input, id=id, export=export, rehearse=rehearse, as_=as_)


@blocking(run_async)
def run() -> None:
    """Run a program until it ends or waits for an answer; `Run.answer` continues it.

        run = instrc.run('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted({"draft": {}}))

    `program` is a path (`.aug`, `.vibe.json`, or a compiled `.json`), the text of a program, or a compiled document.  `input` is
    `prompt`, or an object of inputs.  `model`, an object like `instrc.Model` or a text as for `--model`, overrides the project's.
    `activities` are functions by name, marked functions, or processes.  `engine` is `memory`, stored only
    with a `store`; `durable`, in the store, for any process; `temporal`, on a server.  `store` is a folder or a URL.  An existing
    `id` continues its run.  `rehearse` generates answers and results.  `as_` is the class of `run.value`.  `instrc.App` has what
    several runs share: settings, checks, limits, a cache, listeners.
    """


@takes_plain_values
def stream(
    program: ProgramLike,
    input: JsonLike = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Handlers = (),
    vibes: InMemory | None = None,
    engine: EngineName = "memory",
    store: AnyPath | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    export: str | None = None,
    rehearse: RehearseMode = False,
    as_: type[Value] | Adapter[Value] | None = None,
) -> RunStream[Value]:
    """Run a program like `run_async`, and receive the answers of its models while they are written.

        async def main() -> None:
            stream = instrc.stream('@{ title: "Draft", type: "object" }', "a letter", model=instrc.Scripted([{"text": "Dear"}]))
            async for part in stream:
                assert part.value == {"text": "Dear"}
            assert stream.run.status == "done"

        asyncio.run(main())

    The arguments are those of `run`; a run in another process yields no parts.
    An `AnswerPart` has `key` (the answer that it belongs to), `steps`, `value` (written so far, without thoughts) and
    `complete` (its finished members); the last part of an answer is complete.  A model whose answer is rejected
    starts over under another key.  `gemini:`, `gigachat:`, and models without streaming yield one
    complete part.  Leaving the loop early cancels a run in memory.  The loop raises the errors of the run.
    """
    app = App(model=model, activities=activities, vibes=vibes, engine=engine, store=store)
    return app.stream(program, input, id=id, export=export, rehearse=rehearse, as_=as_)


@takes_plain_values_async
async def find_run_async(
    id: str,  # noqa: A002  -- its name
    *,
    engine: EngineName = "memory",
    store: AnyPath | None = None,
    model: Model | str | None = None,
    activities: Handlers = (),
    as_: type[Value] | Adapter[Value] | None = None,
) -> Run[Value]:
    """Return a stored run like `find_run`, in asynchronous code.

        async def status() -> str:
            return (await instrc.find_run_async("letter-1")).status

    The arguments are those of `find_run`.
    """
    spec, given = (model, None) if isinstance(model, str) else (None, model)
    app = App(model=given, activities=activities, engine=engine, store=store)
    return await app.find(id, model=spec, as_=as_)


@blocking(find_run_async)
def find_run() -> None:
    """Return a stored run, to read its state, answer or continue it; raise `NotFoundError` if there is none.

        run = instrc.run('@{ title: "Ask_User", type: "object" }', "?", store=".instrc", id="letter-1")
        found = instrc.find_run("letter-1", engine="memory")
        assert found.status == "waiting"

    Pass `model` and `activities` again if the run was started with them and the settings do not name them.
    `as_` is the class of its value, as for `run`.
    """


@takes_plain_values
def runs(
    *,
    engine: EngineName = "memory",
    store: AnyPath | None = None,
    status: RunStatus | None = None,
    program: str | None = None,
    since: str | None = None,
) -> list[Run]:
    """Return the runs in a store, latest first.

        for run in instrc.runs(store=".instrc", engine="memory", status="held", since="P7D"):
            run.retry()

    `status` is one of `running`, `waiting`, `held`, `done`, `failed`, `stopped`, `cancelled`; `program` is the name of a program;
    `since` is an ISO 8601 duration before now.  `Run.delete` deletes one that has ended.
    """
    return run_to_end(App(engine=engine, store=store).runs(status=status, program=program, since=since))


@takes_plain_values
def rehearse(
    program: ProgramLike,
    input: JsonLike = None,  # noqa: A002  -- its name
    *,
    export: str | None = None,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
) -> Rehearsal:
    """Rehearse a program until each of its branches has been taken, with generated answers, results and failures.

        rehearsal = instrc.rehearse('when prompt is "a" { @{ title: "Draft", type: "object" } }')
        assert not rehearsal.missed

    A `Rehearsal` has `runs`, each with `choices`, `branches` and `outcome`, and the `missed` branches, with reasons.
    `input` and `vibes` are as for `run`; missing inputs are generated too.  Nothing is called, asked or stored.
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
