"""Run programs from Python: `instrc.run`, and the same as a coroutine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from instrc.jsonvalue import Json
from instrc.launching import Launcher, equipped, prepare, registered
from instrc.runtime.activities import Activities
from instrc.runtime.drivers.memory import People
from instrc.runtime.effects import Check, Sink
from instrc.runtime.interpreter import versions
from instrc.runtime.models.catalogue import model_of
from instrc.runtime.models.model import Model
from instrc.runtime.run import Run, waited
from instrc.source import Source

TEXT_NAME = "program.aug"


def run(
    program: str | os.PathLike[str] | Source | dict[str, Json],
    input: Json = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Activities | Mapping[str, Any] | Iterable[Any] = (),
    people: People | None = None,
    checks: Mapping[str, Check] | None = None,
    export: str | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    requests: int | None = None,
    tokens: int | None = None,
    rehearse: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
    watch: Sink | None = None,
) -> Run:
    """Run a program in this process, until it ends or waits for somebody; `Run.answer` goes on.

    `program` is a path (`.aug`, `.vibe.json`, or a compiled `.json`), the text of a program, or a compiled document.
    `input` is `prompt`, or an object of inputs by name.
    `model` is an object with the method of `instrc.Model`, or words as for `--model`: `sample`, `scripted:FILE`.
    `activities` are functions by name, functions marked with `instrc.activity`, or the JSON of processes by name; they come
    before those of `[tool.instrc.activities]`.  `people` answers questions at once; without it the run waits.
    `checks` look at what a step has filled in: a text says what is wrong, and the model is asked again.
    `requests` and `tokens` are the budget of the run.  `rehearse` makes all results of activities from their schemas.
    `watch` is given every event as it happens.  `CompileError` carries all problems of the program, its inputs and settings.
    """
    return waited(
        run_async(
            program,
            input,
            model=model,
            activities=activities,
            people=people,
            checks=checks,
            export=export,
            id=id,
            requests=requests,
            tokens=tokens,
            rehearse=rehearse,
            roots=roots,
            shared=shared,
            watch=watch,
        )
    )


async def run_async(
    program: str | os.PathLike[str] | Source | dict[str, Json],
    input: Json = None,  # noqa: A002  -- its name
    *,
    model: Model | str | None = None,
    activities: Activities | Mapping[str, Any] | Iterable[Any] = (),
    people: People | None = None,
    checks: Mapping[str, Check] | None = None,
    export: str | None = None,
    id: str | None = None,  # noqa: A002  -- its name
    requests: int | None = None,
    tokens: int | None = None,
    rehearse: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    shared: Iterable[str | os.PathLike[str]] = (),
    watch: Sink | None = None,
) -> Run:
    """Run a program as `run` does, from code that is asynchronous; `Run.accept` and `Run.proceed` go on."""
    prepared = prepare(
        _program(program), export=export, roots=[os.fspath(root) for root in roots], shared=[os.fspath(root) for root in shared]
    )
    known = registered(prepared, activities if isinstance(activities, Activities) else Activities(activities), rehearse=rehearse)
    words = model if isinstance(model, str) else prepared.settings.run.get("model")
    chosen = model_of(words, prepared.folder) if isinstance(words, str) and (model is None or isinstance(model, str)) else model
    launcher = Launcher(prepared, activities=known, requests=requests, tokens=tokens, rehearse=rehearse)
    made = launcher.launch(input, id)
    effects = equipped(prepared, made.run, chosen if not isinstance(chosen, str) else None, known, watch, checks)
    live = Run(made.plan, versions.begin(made.plan, made.inputs), effects, people)
    return await live.proceed()


def _program(program: str | os.PathLike[str] | Source | dict[str, Json]) -> str | Source | dict[str, Json]:
    if isinstance(program, Source | dict):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith((".aug", ".json"))):
        return Source(TEXT_NAME, program)
    return os.fspath(program)
