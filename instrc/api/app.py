"""The runs of an application, with shared configuration."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self

from msgspec.structs import replace

from instrc.api.batch import ItemResult, Pace, Progress, mapped
from instrc.api.evaluation import evaluation_of
from instrc.api.preparation import Handlers, ProgramLike, classes_of, local_objects, prepared_program, require_mode, require_types
from instrc.api.programs import AnyPath
from instrc.compiler.resolve import InMemory
from instrc.engines.equip import LocalObjects, require_model
from instrc.engines.hosts import EngineRun, Host, LocalContext, close_store, host_of, store_key
from instrc.engines.launch import Launcher, RehearseMode, version_of
from instrc.engines.memory import LiveRun
from instrc.engines.prepare import Prepared
from instrc.problems.errors import SettingsError
from instrc.problems.settings import InvalidOption
from instrc.runtime.activities import Activities
from instrc.runtime.effects import Check
from instrc.runtime.interpreter import versions
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.catalogue import words_from
from instrc.runtime.models.clients import close_clients
from instrc.runtime.models.model import Model
from instrc.runtime.models.partial import TellPart
from instrc.runtime.run import Run, Value
from instrc.runtime.run_report import RunFilter, RunStatus
from instrc.runtime.stream import RunStream
from instrc.runtime.traces import Sink
from instrc.testing.evaluation.checks import CheckFunction
from instrc.testing.evaluation.compared_evaluation import ComparedEvaluation
from instrc.testing.evaluation.results import CaseResult
from instrc.testing.evaluation.runner import Budget, EvalOptions
from instrc.text import arguments
from instrc.text.arguments import as_plain, source_or_path, takes_plain_values, takes_plain_values_async
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.source import Source
from instrc.tools.python_types import Adapter
from instrc.tools.python_values import JsonLike
from instrc.vibes.settings import EngineName

LOOK_SECONDS: Final = 1.0
"""Seconds between two checks for changed files of a program."""
KEPT_PROGRAMS: Final = 256
"""Maximum compiled programs that an application caches."""


_users: Final[Counter[object]] = Counter()
"""Number of applications and runs that use the clients of an event loop, and a store."""


class App:
    """The runs of an application, with the models, activities, vibes and store that they share.

        async def main() -> None:
            async with instrc.App(model=instrc.Scripted([{}])) as app:
                run = await app.run('@{ title: "Draft", type: "object" }', "a letter")
            assert run.status == "done"

        asyncio.run(main())

    Create it once: a program is compiled when it is first run, and again when one of its files has changed.
    Provider clients are shared by all runs of an event loop.  Leaving `async with` closes them and the store.
    `project` is the folder from which programs are read, with its settings.  `model`, `activities`, `vibes`,
    `engine` and `store` are as for `run`.  `checks` are functions by step name; a text that one returns makes the model
    be asked again.  `settings` are like `{"temperature": 0}`.  `cache` is a file of answers to reuse.
    `requests`, `tokens` and `budget` (`"2 USD"`) are limits of each run.  `roots` and `shared` are folders of vibes.
    `watch` receives events, `parts` partial answers.
    """

    @takes_plain_values
    def __init__(
        self,
        *,
        project: AnyPath | None = None,
        model: Model | str | None = None,
        activities: Handlers = (),
        vibes: InMemory | None = None,
        checks: Mapping[str, Check] | None = None,
        engine: EngineName = "memory",
        store: AnyPath | None = None,
        requests: int | None = None,
        tokens: int | None = None,
        budget: str | None = None,
        settings: Mapping[str, object] | None = None,
        cache: AnyPath | Literal[False] | None = None,
        roots: Iterable[AnyPath] = (),
        shared: Iterable[AnyPath] = (),
        watch: Sink | None = None,
        parts: TellPart | None = None,
    ) -> None:
        require_types(model, None, None, requests, tokens, watch=watch, parts=parts)
        self._folder = None if project is None else Path(arguments.path("project", project))
        if self._folder is not None and not os.path.isdir(self._folder):  # noqa: PTH112  -- `Path.is_dir` raises for a long name
            given = arguments.excerpt(str(self._folder))
            raise SettingsError([InvalidOption(option="project", given=given, wanted="a folder that exists")])
        self._model = model
        self._vibes = list(vibes) if isinstance(vibes, Iterable) and not isinstance(vibes, str | Mapping) else vibes
        self._local: LocalObjects = replace(local_objects(model, activities, checks), classes=classes_of(self._vibes))
        self._roots, self._shared = arguments.paths("roots", roots), arguments.paths("shared", shared)
        self._engine: EngineName = engine
        self._store = None if store is None else arguments.path("store", store)
        self._limits = requests, tokens, as_plain(arguments.text_or_none("budget", budget))
        self._settings = settings
        self._cache = cache if cache is None or cache is False else AnswerCache(arguments.path("cache", cache))
        self._watch, self._parts = watch, parts
        self._entered = ExitStack()
        self._launchers: dict[str, _Compiled] = {}
        arguments.text("engine", engine)

    async def __aenter__(self) -> Self:
        self._entered.enter_context(self._in_use())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._entered.pop_all().close()
        await self.close()

    async def close(self) -> None:
        """Close the clients of models in this event loop, and the store, if no other application uses them.

        Runs in the store are unchanged.
        """
        if asyncio.get_running_loop() not in _users:
            await close_clients()
        if store_key(self._engine, self._store) not in _users:
            close_store(self._engine, self._store)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the clients and the store open during the context."""
        used = (asyncio.get_running_loop(), store_key(self._engine, self._store))
        _users.update(used)
        try:
            yield
        finally:
            _users.subtract(used)
            for key in used:
                if not _users[key]:
                    del _users[key]

    @takes_plain_values_async
    async def run(
        self,
        program: ProgramLike,
        input: JsonLike = None,  # noqa: A002  -- its name
        *,
        id: str | None = None,  # noqa: A002  -- its name
        export: str | None = None,
        rehearse: RehearseMode = False,
        as_: type[Value] | Adapter[Value] | None = None,
    ) -> Run[Value]:
        """Run a program until it ends or waits for an answer; `Run.answer_async` continues it.

            run = await app.run("mail.aug", "Thank Ann", id="friday", as_=Draft)
            print(run.value.text)

        `as_` is the class of `run.value`, which otherwise is JSON: a model, a dataclass, a `TypedDict`, `list[Draft]`, or a
        `TypeAdapter` of any other type.
        """
        return (await self._run(program, input, id, export, rehearse, self._parts)).typed(as_)

    async def _run(
        self,
        program: ProgramLike,
        value: JsonLike,
        run_id: str | None,
        export: str | None,
        rehearse: RehearseMode,
        parts: TellPart | None,
    ) -> Run:
        require_types(None, export, run_id, None, None)
        require_mode(rehearse)
        launcher = self._launcher(program, export, rehearse)
        launch = launcher.launch(value, run_id)
        context = self._context_of(self._local, export, parts)
        with self._in_use():
            if self._engine == "memory" and self._store is None:
                state = versions.begin(launch.plan, launch.inputs)
                live = LiveRun(launch.plan, state, launcher.effects(launch.run, context.watch, parts))
                live.version = lambda other: version_of(launch, context.prepare(other), self._local)
                return await live.resume_async()
            host = self._host()
            host.take(launch.run, context)
            return EngineRun(host, await host.start(launch), context)

    @takes_plain_values
    def stream(
        self,
        program: ProgramLike,
        input: JsonLike = None,  # noqa: A002  -- its name
        *,
        id: str | None = None,  # noqa: A002  -- its name
        export: str | None = None,
        rehearse: RehearseMode = False,
        as_: type[Value] | Adapter[Value] | None = None,
    ) -> RunStream[Value]:
        """Run a program, and receive the answers of its models while they are written.

            async for part in app.stream("mail.aug", "Thank Ann"):
                print(part.value)

        `as_` is the class of `stream.run.value`, as for `run`.
        """

        async def begin(tell: TellPart) -> Run[Value]:
            return (await self._run(program, input, id, export, rehearse, tell)).typed(as_)

        return RunStream(begin, self._parts)

    @takes_plain_values
    def map(
        self,
        program: ProgramLike,
        inputs: Iterable[JsonLike] | AsyncIterable[JsonLike],
        *,
        concurrency: int = 4,
        rate: float | None = None,
        id: str | None = None,  # noqa: A002  -- its name
        export: str | None = None,
        rehearse: RehearseMode = False,
        as_: type[Value] | Adapter[Value] | None = None,
        progress: Progress | None = None,
    ) -> AsyncIterator[ItemResult[Value]]:
        """Run a program for each input, and yield the results as they arrive.

            async for item in app.map("triage.aug", letters, concurrency=20):
                print(item.number, item.value if item.ok else item.run or item.error)

        At most `concurrency` runs are active, and at most `rate` start per second.  With a store and an `id` the runs are
        `ID.0`, `ID.1` and so on, and the same call after a kill continues: runs that have ended are not repeated.
        An item whose run cannot start has an `error`; a program or setting that is wrong for all of them is raised.
        `as_` is the class of the values.  `progress` is called with each result; `True` shows a bar, in a terminal or a notebook.
        """
        run_id = arguments.text_or_none("id", id)
        if isinstance(inputs, str | bytes | Mapping) or not isinstance(inputs, Iterable | AsyncIterable):
            raise TypeError(f"`inputs` takes an iterable of inputs, not {arguments.excerpt(inputs)}")
        if rate is not None and (not isinstance(rate, int | float) or isinstance(rate, bool) or not rate > 0):
            raise TypeError(f"`rate` takes a number above 0, not {arguments.excerpt(rate)}")

        async def begin(number: int, item: JsonLike) -> Run[Value]:
            item_id = None if run_id is None else f"{run_id}.{number}"
            return (await self._run(program, item, item_id, export, rehearse, self._parts)).typed(as_)

        pace = Pace(arguments.positive_number("concurrency", concurrency), rate)
        return mapped(begin, inputs, pace, progress=progress)

    @takes_plain_values_async
    async def find(
        self,
        id: str,  # noqa: A002  -- its name
        *,
        model: str | None = None,
        as_: type[Value] | Adapter[Value] | None = None,
    ) -> Run[Value]:
        """Return a stored run, to read its state, answer or continue it; raise `NotFoundError` if there is none.

            run = await app.find("friday")
            await run.answer_async("approve", {"decision": "Approve"})

        `model` replaces the model that it was started with; `as_` is the class of its value.
        """
        host = self._host()
        report = await host.engine.show(arguments.text("id", id))
        local = self._local
        if model is not None and not report.has_ended:
            spec = words_from(arguments.text("model", model), Path())
            require_model(report.config, id, spec)
            local = replace(local, spec=spec)
        context = self._context_of(local, None, self._parts)
        if local.names or local.classes or local.spec is not None or any((context.watch, context.parts)):
            host.take(id, context, ended=report.status in {"done", "cancelled"})
        return EngineRun(host, report, context).typed(as_)

    @takes_plain_values_async
    async def runs(self, *, status: RunStatus | None = None, program: str | None = None, since: str | None = None) -> list[Run]:
        """Return the stored runs, latest first; the arguments are those of `instrc.runs`.

        held = await app.runs(status="held", since="P7D")
        """
        host = self._host()
        return [EngineRun(host, report) for report in await host.engine.runs(RunFilter.of(status, program, since))]

    @takes_plain_values_async
    async def evaluate(
        self,
        program: ProgramLike,
        cases: AnyPath | Iterable[object],
        *,
        against: AnyPath | Source | dict[str, Json] | None = None,
        export: str | None = None,
        checks: Mapping[str, CheckFunction | JsonLike] | None = None,
        repeat: int | None = None,
        concurrency: int = 4,
        requests: int | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        store: AnyPath | None = None,
        fresh: bool = False,
        progress: Callable[[CaseResult], object] | None = None,
    ) -> ComparedEvaluation:
        """Run a program for each case of a data set, and check the results; the arguments are those of `instrc.evaluate`.

        result = await app.evaluate("triage.aug", "triage.eval.jsonl")

        Activities of the application are called only if the data set says `"activities": "real"`.
        `requests`, `tokens` and `cost` are the budget of all runs together; the limits of the application hold for each.
        """
        require_types(None, export, None, requests, tokens)
        options = EvalOptions(
            model=self._model,
            repeats=repeat,
            concurrency=concurrency,
            settings={} if self._settings is None else self._settings,
            activities=self._local.activities or Activities(),
            calls=False,
            limits=self._limits,
            budget=Budget(requests, tokens, cost),
            folder=None if store is None else Path(arguments.path("store", store)),
            fresh=fresh,
            progress=progress,
        )
        compiled = (export, self._roots, self._shared, self._vibes)
        return await evaluation_of(self._named(program), cases, self._other(against), checks, options, compiled)

    def _host(self) -> Host:
        return host_of(self._engine, self._store)

    def _context_of(self, local: LocalObjects, export: str | None, parts: TellPart | None) -> LocalContext:
        return LocalContext(local, self._watch, parts, partial(self._prepared, export=export))

    def _named(self, program: ProgramLike) -> ProgramLike:
        """Return a program with its path resolved in the project folder."""
        if self._folder is None or isinstance(program, dict):
            return program
        named = source_or_path(program)
        if isinstance(named, str):
            return str(self._folder / named)
        return Source(str(self._folder / named.name), named.text)

    def _other(self, against: AnyPath | Source | dict[str, Json] | None) -> AnyPath | Source | dict[str, Json] | None:
        """Return another version with its path resolved in the project folder, if it is a file there."""
        if self._folder is None or against is None or isinstance(against, dict | Source):
            return against
        file = self._folder / arguments.path("against", against)
        return file if os.path.exists(file) else against  # noqa: PTH110  -- no error for a NUL

    def _prepared(self, program: ProgramLike, export: str | None) -> Prepared:
        return prepared_program(self._named(program), export, self._roots, self._shared, self._vibes, self._model)

    def _launcher(self, program: ProgramLike, export: str | None, rehearse: RehearseMode) -> Launcher:
        """Return the launcher of a program, recompiled if one of its files has changed."""
        named = program if isinstance(program, dict) else source_or_path(program)
        source = [named.name, named.text] if isinstance(named, Source) else named
        key = dumps([source, export, rehearse], indent=False)
        known = self._launchers.get(key)
        if known is not None and (monotonic() - known.looked < LOOK_SECONDS or known.stamps == _stamps(known.launcher.prepared)):
            self._launchers[key] = known._replace(looked=monotonic())
            return known.launcher
        prepared = self._prepared(program, export)
        requests, tokens, budget = self._limits
        launcher = Launcher(
            prepared,
            model=self._model if isinstance(self._model, str) else None,
            local=self._local,
            requests=requests,
            tokens=tokens,
            rehearse=rehearse,
            given=self._settings,
            cache=self._cache,
            budget=budget,
        )
        if len(self._launchers) >= KEPT_PROGRAMS:
            self._launchers.clear()
        self._launchers[key] = _Compiled(launcher, _stamps(prepared), monotonic())
        return launcher


class _Compiled(NamedTuple):
    launcher: Launcher
    stamps: Sequence[tuple[Path, int, int]]
    looked: float


def _stamps(prepared: Prepared) -> list[tuple[Path, int, int]]:
    """Return the modification times and sizes of a program's files."""
    result: list[tuple[Path, int, int]] = []
    for file in prepared.sources():
        with suppress(OSError):  # the file is gone, or the program is a text
            status = file.stat()
            result.append((file, status.st_mtime_ns, status.st_size))
    return result
