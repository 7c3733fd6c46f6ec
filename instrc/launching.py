"""From a program on disk and the settings around it to a run: what the API, the command line and servers share."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

from instrc import problems
from instrc.ir.flow import Chunk
from instrc.ir.process import Process
from instrc.jsonvalue import Json, loads
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.runtime.activities import Activities, Activity
from instrc.runtime.drivers.memory import People
from instrc.runtime.effects import Check, Effects, Sink
from instrc.runtime.engine import Engine, Launch
from instrc.runtime.engine import Report as RunReport
from instrc.runtime.interpreter.names import bare_name
from instrc.runtime.models.batching import Batching
from instrc.runtime.models.catalogue import model_of
from instrc.runtime.models.model import Model
from instrc.runtime.models.sampling import Sample, instance_of
from instrc.runtime.plan import digest_of, plan_of
from instrc.runtime.retrying import ONCE
from instrc.runtime.served import served
from instrc.runtime.session import Offer
from instrc.runtime.telemetry import Telemetry, joined, listened, logged
from instrc.source import Source
from instrc.vibes.settings import Settings, read_settings
from instrc.workspace import Wishes, Workspace

ENGINES = {
    "memory": "instrc.runtime.folder:FolderEngine",
    "durable": "instrc.runtime.drivers.dbos.engine:DurableEngine",
    "temporal": "instrc.runtime.drivers.temporal.engine:TemporalEngine",
}
"""What makes each engine: `module:callable`, called with the folder of its store, `equip`, `people` and `watch`."""
STORE = ".instrc"
"""The folder that runs are kept in."""
TELEMETRY = "INSTRC_TELEMETRY"
"""The variable of the environment that turns OpenTelemetry on."""
_ADDRESS = "aug:"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program that can be run."""

    name: str
    document: Json
    """A process, a tool, or a direct call."""
    folder: Path
    """Of its project: where files and modules of its settings are looked up."""
    settings: Settings
    processes: dict[str, Json] = field(default_factory=dict)
    """The processes that its plans name, by their addresses."""


def prepare(
    program: str | Source | Json, *, export: str | None = None, roots: Iterable[str] = (), shared: Iterable[str] = ()
) -> Prepared:
    """Compile a program, or read a compiled document; `CompileError` says why it cannot be run.

    `program` is a path of a source, a vibe, or a compiled document (`.json`), a source, or the document itself.
    """
    if isinstance(program, dict):
        return Prepared("run", program, Path(), read_settings(Path()))
    name = program.name if isinstance(program, Source) else str(program)
    place = Path() if name == "-" else Path(name)
    settings = read_settings(place.parent)
    folder = settings.file.parent if settings.file is not None else place.parent
    workspace = Workspace(roots, shared)
    if isinstance(program, str) and program.endswith(".json") and not program.endswith(".vibe.json"):
        document = _read(program)
        stem = Path(program).name.removesuffix(".json").rpartition(".")[0] or Path(program).stem
        return Prepared(stem, document, folder, settings, _named_by_plans(document, workspace, name))
    report = Report()
    compiled = workspace.compile(program, Wishes(), report)
    report.stop_if_failed()
    found = [artefact for artefact in compiled if export is None or artefact.name == export]
    if len(found) != 1:
        names = tuple(artefact.name for artefact in compiled)
        raise CompileError([problems.launches.SeveralExports(at=Source(name, "").whole(), program=name, names=names)])
    document = found[0].documents[found[0].kind]
    return Prepared(found[0].name, document, folder, settings, _named_by_plans(document, workspace, name))


class Launcher:
    """Begins runs of one program: its plan is made once. `CompileError` if an activity is not registered."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        activities: Activities,
        requests: int | None = None,
        tokens: int | None = None,
        how: Mapping[str, Json] | None = None,
        rehearse: bool = False,
    ) -> None:
        settings = prepared.settings.run
        self.name = prepared.name
        self.how = dict(how or {})
        self.plan = plan_of(
            prepared.document,
            activities=activities.names(),
            models=models_by_step(prepared.document, prepared.settings.models),
            asks=settings.get("asks", 2),
            elements=settings.get("elements", 100),
            requests=requests if requests is not None else settings.get("requests"),
            tokens=tokens if tokens is not None else settings.get("tokens"),
        )
        wrong = [] if rehearse else list(_unregistered(self.plan, activities))
        if wrong:
            raise CompileError(wrong)

    def launch(self, given: Json, run: str | None = None, entry: Json = None) -> Launch:
        """Return a run that is to begin; `CompileError` if its inputs do not fit.

        `entry` is the answer of its first chunk, where that is filled already.
        """
        wrong: list[Problem] = []
        inputs = inputs_of(self.plan["process"], given, wrong)
        if wrong:
            raise CompileError(wrong)
        plan = self.plan
        if entry is not None:
            plan = {**plan, "options": {**plan["options"], "entry": entry}}
            plan["digest"] = digest_of(plan)
        return Launch(run or new_id(self.name), self.name, plan, inputs, self.how)


def offers_of(
    file: str, engine: Engine, model: str | None, *, rehearse: bool, roots: Iterable[str] = (), shared: Iterable[str] = ()
) -> Iterator[Offer]:
    """Yield the exports of a file as tools of a session."""
    report = Report()
    compiled = Workspace(roots, shared).compile(file, Wishes(), report)
    report.stop_if_failed()
    for artefact in compiled:
        prepared = prepare(file, export=artefact.name, roots=roots, shared=shared)
        if artefact.kind == "tool":
            yield Offer(artefact.name, artefact.documents["tool"])
            continue
        known = registered(prepared, Activities(), rehearse=rehearse)
        launcher = Launcher(prepared, activities=known, how=how_of(prepared, model=model, rehearse=rehearse), rehearse=rehearse)

        async def begin(name: str, entry: Json, prompt: str, launcher: Launcher = launcher) -> Json:
            try:
                launch = launcher.launch(prompt, new_id(name), entry)
            except CompileError as error:
                return {"error": str(error)}
            work = asyncio.ensure_future(engine.start(launch))  # it goes on alone
            done, _ = await asyncio.wait({work}, timeout=_PATIENCE)
            if not done:
                _going.add(work)
                work.add_done_callback(_going.discard)
                return {"run": launch.run, "status": "running"}
            report = work.result()
            outcome = (
                {}
                if report.outcome is None
                else {key: report.outcome[key] for key in ("output", "error") if key in report.outcome}
            )
            return {"run": launch.run, "status": report.status, **outcome}

        yield Offer(artefact.name, artefact.documents["tool"], begin)


_PATIENCE = 0.5
"""Seconds after which a process that was started goes on alone."""
_going: set[asyncio.Future[RunReport]] = set()
"""Runs that go on alone: the loop itself keeps no hold on tasks."""


def session_model(words: str | None, file: Path) -> Model:
    """Return the model of a session: the one that is named, else that of the project."""
    settings = read_settings(file.parent)
    folder = settings.file.parent if settings.file is not None else file.parent
    return model_of(words or settings.run.get("model") or "sample", folder)


def new_id(name: str) -> str:
    """Return an id for a run: short enough to be typed."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")[:40]
    return f"{word or 'run'}-{token_hex(3)}"


def inputs_of(process: Json, given: Json, wrong: list[Problem]) -> dict[str, Json]:
    """Return the inputs by name: an object gives them so, anything else is `prompt`."""
    from instrc.runtime.validation import complaints  # few processes declare their inputs

    declared = process.get("inputs") if isinstance(process, dict) else None
    inputs: dict[str, Json] = dict(given) if isinstance(given, dict) else {} if given is None else {"prompt": given}
    if isinstance(declared, dict):
        odd = [name for name in inputs if name not in declared and name != "prompt"]
        wrong += [
            problems.launches.InvalidInput(word=name, reason=f"is not declared; there are {_listed(declared)}") for name in odd
        ]
        for name, schema in declared.items():
            if name not in inputs and name != "prompt":
                wrong.append(problems.launches.InvalidInput(word=name, reason="is missing"))
            elif name in inputs and (found := complaints(inputs[name], schema)):
                at = f" at `{found[0]['pointer']}`" if found[0]["pointer"] else ""
                wrong.append(problems.launches.InvalidInput(word=name, reason=f"does not fit{at}: {found[0]['message']}"))
    return inputs


def models_by_step(document: Json, models: Mapping[str, str]) -> dict[str, str]:
    """Return the model of each step for which the project has set one; a pattern is compared with the name of the vibe."""
    found: dict[str, str] = {}
    if models and Process.describes(document):
        patterns = [(bare_name(pattern.rpartition("/")[2]), model) for pattern, model in models.items()]
        for context in Process.from_json(document).contexts():
            for step in context.steps if isinstance(context, Chunk) and context.executor == "model" else ():
                chosen = next((model for pattern, model in patterns if fnmatchcase(bare_name(step.key), pattern)), None)
                if chosen is not None:
                    found[step.key] = chosen
    return found


# --- effects ------------------------------------------------------------------------------------------------------------------


def activities_of(prepared: Prepared, workspace: Workspace | None = None) -> Activities:
    """Return the activities that the project has registered."""
    found = Activities()
    for name, said in prepared.settings.activities.items():
        if isinstance(said, str) and said.startswith(_ADDRESS):
            where = (prepared.folder / "pyproject.toml").as_posix()
            found.add(name, process_at(said, workspace or Workspace(), where))
        elif isinstance(said, str):
            found.add(name, imported("activity", said, prepared.folder))
        else:
            found.add(name, served(name, said, prepared.folder))
    return found


def rehearsed(plan: Json) -> Activities:
    """Return activities that make their results from the schemas, for all that a plan calls."""
    found = Activities()
    for name, schema in _called(plan):

        def answer(_input: Json, schema: Json = schema) -> Json:
            return instance_of(schema)

        found.add(name, Activity(name, answer, None, ONCE))
    return found


def registered(prepared: Prepared, given: Activities, *, rehearse: bool) -> Activities:
    """Return all activities of a run: those given, before those of the project; in a rehearsal, made ones for the others."""
    found = rehearsed(plan_of(prepared.document)) if rehearse else activities_of(prepared)
    for name in given.names():
        found.add(name, given.find(name))
    return found


def how_of(prepared: Prepared, *, model: str | None, rehearse: bool, batch: int = 1) -> dict[str, Json]:
    """Return what another process needs to go on with a run: plain JSON, without secrets."""
    return {
        "folder": prepared.folder.absolute().as_posix(),
        "model": model or prepared.settings.run.get("model"),
        "rehearse": rehearse,
        "batch": batch,
        "processes": prepared.processes,
    }


def equip(run: str, plan: Json, how: Mapping[str, Json], sink: Sink) -> Effects:
    """Return the effects of a run that another process has begun."""
    folder = Path(how.get("folder", "."))
    prepared = Prepared(run, plan["process"], folder, _settings_of(folder), how.get("processes") or {})
    digest = plan["digest"]
    if how.get("rehearse"):
        if digest not in _rehearsals:
            _rehearsals[digest] = rehearsed(plan)
        activities = _rehearsals[digest]
    else:
        activities = _registered_in(folder)
    words = how.get("model")
    model = _shared(words, folder, how.get("batch") or 1) if isinstance(words, str) else None
    return equipped(prepared, run, model, activities, sink)


_rehearsals: dict[str, Activities] = {}
"""Activities of rehearsals by the digest of their plan: many items have one plan."""


@lru_cache(maxsize=16)
def _settings_of(folder: Path) -> Settings:
    return read_settings(folder)


@lru_cache(maxsize=16)
def _registered_in(folder: Path) -> Activities:
    return activities_of(Prepared("", {}, folder, _settings_of(folder)))


@lru_cache(maxsize=16)
def _shared(words: str, folder: Path, batch: int) -> Model:
    """Return a model that all runs of this process share, so that they can share calls."""
    model = model_of(words, folder)
    return Batching(model, batch) if batch > 1 else model


def engine_of(name: str, store: Path | None, *, people: People | None = None, watch: Sink | None = None, **more: Any) -> Engine:
    """Return the engine of a name, with its store."""
    if name not in ENGINES:
        reason = f"engines are {_listed(ENGINES)}"
        raise CompileError([problems.launches.UnusableSetting(what="engine", word=name, reason=reason)])
    module, _, maker = ENGINES[name].partition(":")
    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        reason = f"`{error.name}` is not installed; it comes with `pip install 'instrc[{name}]'`"
        raise CompileError([problems.launches.UnusableSetting(what="engine", word=name, reason=reason)]) from None
    made: Engine = getattr(loaded, maker)(store, equip, people=people, watch=watch, **more)
    return made


def equipped(
    prepared: Prepared,
    run: str,
    model: Model | None,
    activities: Activities,
    sink: Sink | None,
    checks: Mapping[str, Check] | None = None,
) -> Effects:
    """Return the effects of a run."""
    made = {bare_name(name): imported("check", said, prepared.folder) for name, said in prepared.settings.checks.items()}
    made |= {bare_name(name): check for name, check in (checks or {}).items()}
    others = {words: model_of(words, prepared.folder) for words in set(prepared.settings.models.values())}
    heard = joined(sink, logged if listened() else None, Telemetry() if os.environ.get(TELEMETRY) else None)
    return Effects(run, model or Sample(), activities, heard, made, prepared.processes, others=others)


def imported(what: str, words: str, folder: Path) -> Callable[..., Any]:
    """Return the function that `package.module:function` of the settings names; modules beside the settings are found."""
    module, colon, name = words.partition(":")
    try:
        if not colon or not module or not name:
            message = "it is written `package.module:function`"
            raise ImportError(message)  # noqa: TRY301  -- told below like the others
        with_folder = os.fspath(folder.absolute())
        if with_folder not in sys.path:
            sys.path.insert(0, with_folder)
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001  -- whatever a module does when it is imported
        raise CompileError([problems.launches.UnusableSetting(what=what, word=words, reason=str(error))]) from None
    if not callable(found):
        raise CompileError([problems.launches.UnusableSetting(what=what, word=words, reason="it is no function")])
    function: Callable[..., Any] = found
    return function


def process_at(address: str, workspace: Workspace, beside: str) -> Json:
    """Return the process at an address, compiled."""
    registry = workspace.registry(beside)
    file, _, name = address.partition("#")
    program = registry.load_program(file)
    path = program.path if program is not None else registry.load(file).source.name
    report = Report()
    compiled = workspace.compile(path, Wishes(), report)
    report.stop_if_failed()
    found = [artefact for artefact in compiled if not name or bare_name(artefact.name) == bare_name(name)]
    if len(found) != 1:
        names = tuple(artefact.name for artefact in compiled)
        raise CompileError([problems.launches.SeveralExports(at=Source(path, "").whole(), program=address, names=names)])
    return found[0].documents[found[0].kind]


def _read(path: str) -> Json:
    try:
        return loads(Path(path).read_bytes())
    except OSError as error:
        reason = (error.strerror or "no reason").lower()
        raise CompileError([problems.rim.UnreadableFile(at=Source(path, "").whole(), path=path, reason=reason)]) from None
    except ValueError as error:
        raise CompileError([problems.rim.InvalidJson(at=Source(path, "").whole(), reason=str(error))]) from None


def _named_by_plans(document: Json, workspace: Workspace, name: str) -> dict[str, Json]:
    """Return the processes that plans and activities of a document name by address."""
    found: dict[str, Json] = {}
    if not Process.describes(document):
        return found
    for context in Process.from_json(document).contexts():
        for step in context.steps if isinstance(context, Chunk) else ():
            for tool in step.plan.values() if isinstance(step.plan, dict) else ():
                address = tool.get("process") if isinstance(tool, dict) else None
                if isinstance(address, str) and address not in found:
                    found[address] = process_at(address, workspace, name)
    return found


def _called(plan: Json) -> Iterable[tuple[str, Json]]:
    """Yield the activities that a plan calls, with the schema of what they give back."""
    from instrc.runtime.interpreter.v1.program import Program

    for region in Program(plan).regions:
        for unit in region.units:
            if unit.kind in {"activity", "fire"}:
                step = unit.steps[0]
                schema = unit.schema
                if step.output:
                    inside = schema["properties"]["output"]
                    schema = {**inside, "$defs": schema["$defs"]} if "$defs" in schema and isinstance(inside, dict) else inside
                yield step.activity or step.key, schema
            elif unit.kind == "plan":
                for name, tool in unit.steps[0].plan.items():
                    if isinstance(tool, dict) and not isinstance(tool.get("process"), str):
                        yield str(tool.get("activity", name)), tool.get("output", True)


def _unregistered(plan: Json, activities: Activities) -> Iterable[Problem]:
    for name in dict.fromkeys(name for name, _ in _called(plan)):
        if activities.find(name) is None:
            near = nearest(name, activities.names())
            yield problems.launches.UnregisteredActivity(activity=name, nearest=near)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
