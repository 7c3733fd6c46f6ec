"""Prepare a program for execution: compile it, and load its settings and activities."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from os.path import realpath
from pathlib import Path

from msgspec import Struct, field, structs

from instrc import problems
from instrc.compiler.compose.outcomes import files_of_processes
from instrc.compiler.ir import Artefact, FlatGraph
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.errors import CompileError, InstrcError, SettingsError, unusable
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.process.flow import Chunk, Listed, Named
from instrc.process.process import Process
from instrc.process.request_settings import WordsLevel
from instrc.runtime.activities import ONCE, Activities, Activity
from instrc.runtime.boundary import guarded, words_of
from instrc.runtime.interpreter.documents import PinnedPlan, bare_name, spellings, use_of
from instrc.runtime.interpreter.v1.runnable import PlanUnit
from instrc.runtime.interpreter.versions import program_of
from instrc.runtime.models.model import instance_of
from instrc.runtime.plan import plan_of
from instrc.runtime.served_activities import served
from instrc.schema.strip import is_meta, strip
from instrc.schema.validation import json_fault
from instrc.schema.walk import nodes, object_of_inputs, with_definitions, without
from instrc.schema.wellformed import problems_of
from instrc.text.files import read_whole, reason
from instrc.text.jsontext import digest_of, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, listing, mapping, optional_text, require_tree
from instrc.text.source import Source
from instrc.tools.class_checks import ClassCheck
from instrc.tools.tool import Hint
from instrc.vibes.find_files import program_name, unreadable
from instrc.vibes.project import DEFAULT_PROJECT, Project
from instrc.vibes.roots import Root
from instrc.vibes.settings import Settings, read_settings
from instrc.vibes.settings_places import entry_place, readable_path


class Prepared(Struct, frozen=True):
    """A program ready to run."""

    name: str
    document: Json
    """A process, a tool, or a direct call."""
    folder: Path
    """Project folder, where files and modules of its settings are looked up."""
    settings: Settings
    processes: dict[str, Json] = field(default_factory=dict)
    """Processes that its plans name, by address."""
    declared: dict[str, Json] | None = None
    """Schemas of the source's inputs by name, `prompt` included; `None` without a source."""
    sources: Callable[[], list[Path]] = list
    """Returns the source files, without outputs."""
    step: str | None = None
    """Name of the only step of a tool without step keys."""
    takes: dict[str, Json] = field(default_factory=dict)
    """Argument schemas declared by the vibes of activities, by the digest of a process and the use in it."""
    purpose: str | None = None
    """Purpose of its tool, as shown to a model."""
    hints: tuple[Hint, ...] | None = None
    """Hints in the descriptions of its tool; `None` if unknown."""
    classes: Mapping[str, ClassCheck] = field(default_factory=dict)
    """Classes of vibes in memory, by the bare names of their steps."""
    words: WordsLevel | None = None
    """How much of the schema a message contains, if `instrc tune` set it."""
    warnings: tuple[Problem, ...] = ()
    """Warnings about a program that can still be run."""

    @property
    def inputs(self) -> dict[str, Json] | None:
        """The known schemas of its inputs by name: those listed by a process, or else those of the source."""
        listed = self.document.get("inputs") if isinstance(self.document, dict) else None
        return listed if isinstance(listed, dict) else self.declared

    @property
    def names(self) -> set[str]:
        """The names of all steps and members in it and its processes, in every spelling."""
        found = nodes(self.document, *self.processes.values())
        return {name for node in found for key in mapping(node.get("properties")) for name in spellings(key)}


def prepare(
    program: str | Source | Json,
    *,
    export: str | None = None,
    project: Project = DEFAULT_PROJECT,
    change: Callable[[FlatGraph], FlatGraph] | None = None,
    model: str | None = None,
    tuned: bool = True,
) -> Prepared:
    """Compile a program, or read a compiled document; raise `CompileError` if it cannot run.

    `program` is the path of a source, a vibe or a compiled document (`.json`), a source, or the document itself.
    `change` transforms a source, as in `CompileOptions`; `model` overrides the project's;
    `tuned` selects the form chosen by `instrc tune`.
    """
    if isinstance(program, dict):
        require_tree(program)
        _require_sound(program, "a document")
        takes: dict[str, Json] = {}
        _tools_in(program, takes)
        return Prepared("run", program, Path(), read_settings(Path()), takes=takes)
    name = program.name if isinstance(program, Source) else str(program)
    place = Path() if name == "-" else Path(name)
    settings = read_settings(place.parent)
    folder = settings.file.parent if settings.file is not None else place.parent
    workspace = Workspace(project)
    if isinstance(program, str) and program.endswith(".json") and not program.endswith(".vibe.json"):
        document = _read(program)
        _require_sound(document, program)
        stem = program_name(program)
        takes = {}
        named = _named_by_plans(document, None, workspace, name, takes)
        return Prepared(stem, document, folder, settings, named, sources=workspace.files(name), takes=takes)
    report = Report()
    overrides = OptionOverrides(change=change, model=model, tuned=tuned)
    compiled = workspace.compile(program if isinstance(program, Source) else name, overrides, report)
    report.stop_if_failed()
    chosen = _only(compiled, lambda word: export is None or word == export, name, name)
    document = chosen.documents[chosen.kind]
    takes = {}
    plan, named = chosen.plan, _named_by_plans(document, chosen, workspace, name, takes)
    declared = None if plan is None else plan.flat.graph.inputs
    return Prepared(
        chosen.name,
        document,
        folder,
        settings,
        named,
        declared,
        workspace.files(name),
        step=chosen.step,
        purpose=chosen.purpose,
        hints=chosen.hints,
        takes=takes,
        words=chosen.words,
        warnings=tuple(report.problems),
    )


def _require_sound(document: Json, name: str) -> None:
    """Raise for a compiled document with invalid schemas, which the engine relies on."""
    if json_fault(document) is not None:
        return  # reported when the process is read
    called = document.get("tool") if isinstance(document, dict) else None
    for schema in (document, called):
        if isinstance(schema, dict) and (wrong := problems_of(schema, lambda _: Source(name, "").whole())):
            raise CompileError(wrong)


def _read(path: str) -> Json:
    try:
        return loads(read_whole(path))
    except OSError as error:
        raise CompileError([unreadable(path, reason(error))]) from None
    except ValueError as error:
        raise CompileError([problems.files.InvalidJson(at=Source(path, "").whole(), reason=str(error))]) from None


def _named_by_plans(
    document: Json, artefact: Artefact | None, workspace: Workspace, name: str, takes: dict[str, Json]
) -> dict[str, Json]:
    """Return the processes that plans in a document refer to, recursively, by address; record the inputs of their activities.

    An address is resolved in the roots of the program that contains it, which may differ from those of the main program.
    """
    found: dict[str, Json] = {}
    files: dict[str, str] = {}
    waiting = [(document, artefact, name)]
    while waiting:
        document, artefact, name = waiting.pop()
        tools = _tools_in(document, takes)
        said = [] if artefact is None or artefact.plan is None else files_of_processes(artefact.plan.flat.graph)
        others = [each for each in _addresses(tools) if each not in dict(said)]
        for address, path in (*said, *((each, _file_at(each, workspace, name)) for each in others)):
            if address not in found:
                files[address] = path
                artefact = _compiled_at(address, path, workspace)
                found[address] = artefact.documents[artefact.kind]
                waiting.append((found[address], artefact, path))
            elif realpath(files[address]) != realpath(path):
                reason = f"it means two files, `{files[address]}` and `{path}`"
                where = Source(name, "").whole()
                raise SettingsError([problems.runs.UnusableSetting(at=where, what="address", word=address, reason=reason)])
    return found


def _tools_in(document: Json, takes: dict[str, Json]) -> list[tuple[str, JsonObject]]:
    """Return the tools that plans in a document may call, by use; record the inputs of its activities."""
    if not Process.describes(document):
        return []
    process = Process.from_json(document)
    tools = _planned_tools(process)
    inputs = [*_inputs_of_activities(process), *_inputs_of_tools(tools)]
    of = digest_of(plan_of(document)["process"]) if inputs else ""
    for use, schema in ((f"{of} {use}", schema) for use, schema in inputs):
        takes[use] = {"anyOf": [takes[use], schema]} if takes.get(use, schema) != schema else schema
    return tools


def _inputs_of_activities(process: Process) -> Iterable[tuple[str, Json]]:
    """Yield what directly called activities may be given, by use."""
    for step in process.steps():
        if step.engine.takes is not None:
            match step.engine.arguments:
                case Named(members):
                    labels = [None if name.isdigit() else name for name in members]
                case Listed() | None:
                    labels = [None, None]
                case _:
                    labels = [None]
            yield use_of(step.key, step.engine.activity or step.key), _labelled(step.engine.takes, labels)


def _labelled(schema: JsonObject, labels: list[str | None]) -> Json:
    """Return what holds for inputs, as far as their labels say which ones they are.

    One without a label may be any of them; an object without labels is all of them if it has all that are required,
    or, if none is, one that the schema names.
    """
    known: JsonObject = {word: schema[word] for word in schema if word in {"properties", "$defs"}}
    if labels == [None]:
        required = listing(schema.get("required"))
        is_all: JsonObject = (
            {"required": required} if required else {"anyOf": [{"required": [n]} for n in mapping(schema.get("properties"))]}
        )
        return {**known, "if": {"type": "object", **is_all}, "then": without(schema, "$defs")}
    return known if None in labels else schema


def _addresses(tools: Iterable[tuple[str, JsonObject]]) -> list[str]:
    """Return the addresses of the processes among the tools of plans."""
    return [address for address in dict.fromkeys(tool.get("process") for _, tool in tools) if isinstance(address, str)]


def _planned_tools(process: Process) -> list[tuple[str, JsonObject]]:
    """Return the tools that plans of a process may call, by use."""
    plans = [(step.key, step.plan) for step in process.steps() if isinstance(step.plan, dict)]
    tools = [(key, name, tool) for key, plan in plans for name, tool in plan.items() if isinstance(tool, dict)]
    return [(use_of(key, optional_text(tool.get("activity")) or name), tool) for key, name, tool in tools]


def _inputs_of_tools(tools: Iterable[tuple[str, JsonObject]]) -> Iterable[tuple[str, Json]]:
    """Yield the input schemas of the activities and processes that plans call, by use."""
    for use, tool in tools:
        arguments = mapping(tool.get("arguments"))
        if mapping(arguments.get("properties")):
            yield use, _labelled(arguments, ["", *(None if name.isdigit() else name for name in mapping(tool.get("bound")))])


def _file_at(address: str, workspace: Workspace, beside: str) -> str:
    """Return the file at an address relative to another."""
    registry = workspace.registry(beside)
    file = address.partition("#")[0]
    program = registry.load_program(file)
    return program.path if program is not None else registry.load(file).source.name


def _compiled_at(address: str, path: str, workspace: Workspace) -> Artefact:
    """Return the export of a file that an address selects."""
    name = address.partition("#")[2]
    report = Report()
    compiled = workspace.compile(path, OptionOverrides(), report)
    report.stop_if_failed()
    return _only(compiled, lambda word: not name or bare_name(word) == bare_name(name), path, address)


def _only(compiled: Iterable[Artefact], is_meant: Callable[[str], bool], path: str, program: str) -> Artefact:
    """Return the only export of a file with a name that is meant; raise `CompileError` if there are none or several."""
    found = [artefact for artefact in compiled if is_meant(artefact.name)]
    if len(found) != 1:
        names = tuple(artefact.name for artefact in compiled)
        raise CompileError([problems.calls.SeveralExports(at=Source(path, "").whole(), program=program, names=names)])
    return found[0]


def process_at(address: str, workspace: Workspace, beside: str) -> tuple[Json, dict[str, Json], dict[str, Json]]:
    """Return the compiled process at an address; the processes of its plans, by address; the inputs of its activities."""
    file = _file_at(address, workspace, beside)
    artefact = _compiled_at(address, file, workspace)
    document, takes = artefact.documents[artefact.kind], dict[str, Json]()
    return document, _named_by_plans(document, artefact, workspace, file, takes), takes


_ADDRESS = "aug:"


def activities_of(prepared: Prepared, own: Activities) -> Activities:
    """Return the activities registered by the caller and the project; the caller's take precedence.

    An activity that the caller replaces is not looked up, and may be missing.
    """
    found = Activities()
    for name, said in prepared.settings.activities.items():
        if own.find(name) is not None:
            continue
        if isinstance(said, str) and said.startswith(_ADDRESS):
            where = (prepared.folder / "pyproject.toml").as_posix()
            process, named, takes = process_at(said, Workspace(), where)
            found.add(name, Activity(name, None, process, processes=named, takes=takes))
        elif isinstance(said, str):
            found.add(name, imported("activity", said, prepared.folder))
        elif isinstance(said, dict):
            found.add(name, served(name, said, prepared.folder))
    return found.with_those_of(own)


_UNSET = "https://unset.example"
"""Placeholder for an unset environment variable while a table is only checked."""


def wrong_activities(files: Iterable[str], project: Project = DEFAULT_PROJECT) -> Iterable[Problem]:
    """Yield the problems of activity tables and addresses in the settings of some files, as a run would report them.

    No project module is imported, and no library or environment variable is required.
    """
    seen: set[Path] = set()
    for folder in dict.fromkeys(Path(file).parent for file in files):
        try:
            settings = read_settings(folder)
        except (InstrcError, ValueError):
            continue  # reported when the files are checked, or a name without a file
        if settings.file is None or settings.file in seen:
            continue
        seen.add(settings.file)
        for name, said in settings.activities.items():
            try:
                if isinstance(said, dict):
                    served(name, said, settings.file.parent, _UNSET)
                elif isinstance(said, str) and said.startswith(_ADDRESS):
                    process_at(said, Workspace(project), settings.file.as_posix())
            except InstrcError as error:
                source = Source(readable_path(settings.file).as_posix(), read_whole(str(settings.file)).decode("utf-8-sig"))
                for problem in error.problems:
                    if not isinstance(problem, problems.settings.MissingExtra):
                        yield problem if problem.at is not None else structs.replace(problem, at=entry_place(source, name))


def rehearsed(plan: PinnedPlan, processes: Mapping[str, Json]) -> Activities:
    """Return activities that generate results from schemas, for everything that a plan and its processes call."""
    found = Activities()
    schemas: dict[str, Json] = {}
    for each in (plan, *map(plan_of, processes.values())):
        for name, schema in called_activities(each):
            schemas.setdefault(name, schema)
    for name, schema in schemas.items():

        def answer(_input: Json, schema: Json = schema) -> Json:
            return instance_of(schema)

        found.add(name, Activity(name, answer, None, ONCE))
    return found


def imported(what: str, words: str, folder: Path) -> Callable[..., object]:
    """Return the function `package.module:function` from the settings; modules next to the settings are importable."""
    module, colon, name = words.partition(":")
    try:
        if not colon or not module or not name:
            raise ImportError("it is written `package.module:function`")  # noqa: TRY301  -- reported below with the others
        with_folder = os.fspath(folder.absolute())
        if with_folder not in sys.path:
            sys.path.insert(0, with_folder)
        with guarded():
            found: object = import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
    except Exception as error:  # noqa: BLE001  -- importing a module may raise anything
        raise unusable(what, words, words_of(error)) from None
    if not callable(found):
        raise unusable(what, words, "it is not a function")
    return found


def called_activities(plan: PinnedPlan) -> Iterable[tuple[str, Json]]:
    """Yield the activities that a plan calls, with the schema of their results."""
    yield from _called_of(unit for region in program_of(plan).regions for unit in region.units)


def _called_of(units: Iterable[PlanUnit]) -> Iterable[tuple[str, Json]]:
    for unit in units:
        if unit.kind in {"activity", "fire"}:
            step = unit.steps[0]
            schema = unit.schema
            if step.output and isinstance(schema, dict):
                inside = as_object(schema["properties"])["output"]
                schema = {**inside, "$defs": schema["$defs"]} if "$defs" in schema and isinstance(inside, dict) else inside
            yield step.engine.activity or step.key, schema
        elif unit.kind == "plan":
            for name, tool in (unit.steps[0].plan or {}).items():
                if isinstance(tool, dict) and not isinstance(tool.get("process"), str):
                    yield str(tool.get("activity", name)), tool.get("output", True)


class Reach(Struct, frozen=True):
    """The models and activities that a run may call, including those of processes that serve its activities."""

    models: Mapping[str | None, str] = field(default_factory=dict)
    """Model specs, `None` for the run's model, each with a step that it completes."""
    handlers: tuple[str, ...] = ()
    """Activities carried out from outside: by a function, an HTTP service, a tool of an MCP server."""
    asks_people: bool = False


def reach_of(plan: PinnedPlan, activities: Activities, processes: Mapping[str, Json]) -> Reach:
    """Return the models and activities that a run may call."""
    models: dict[str | None, str] = {}
    handlers: dict[str, None] = {}
    asks_people = False
    known = {**dict(activities.processes()), **processes}
    waiting, seen = [plan], {plan["digest"]}

    def enter(process: Json) -> None:
        below = plan_of(process, activities=activities.names())
        if below["digest"] not in seen:
            seen.add(below["digest"])
            waiting.append(below)

    while waiting:
        runnable = program_of(waiting.pop())
        units = [unit for region in runnable.regions for unit in region.units]
        asks_people |= any(unit.kind == "user" for unit in units)
        for unit in units:
            if unit.kind == "model":
                models.setdefault(unit.model, unit.called or unit.steps[0].key)
        for address in _addresses(_planned_tools(runnable.process)):
            if address in known:
                enter(known[address])
        for name in (*(name for name, _ in _called_of(units)), *runnable.options.get("fires", {}).values()):
            found = activities.find(name)
            if found is not None and found.process is not None:
                enter(found.process)
            elif found is not None:
                handlers[found.name] = None
    return Reach(models, tuple(handlers), asks_people)


def unregistered(plan: PinnedPlan, activities: Activities) -> Iterable[Problem]:
    """Yield a problem for each unregistered activity that a plan calls."""
    for name in dict.fromkeys(name for name, _ in called_activities(plan)):
        if activities.find(name) is None:
            found = activities.find(name.removesuffix("_Activity"))
            near = nearest(name, activities.names())
            handler = None if found is None else found.name
            yield problems.runs.UnregisteredActivity(activity=name, nearest=near, handler=handler)


def taken_inputs(prepared: Prepared) -> dict[str, Json]:
    """Return the schemas of a program's inputs: `prompt`, if it is used, and the declared inputs."""
    document = as_object(prepared.document)
    inputs = dict(prepared.inputs or {"prompt": {}})
    if Process.describes(document) and not any(read.first == "prompt" for read in Process.from_json(document).reads()):
        inputs.pop("prompt", None)
    elif inputs.get("prompt") == {}:
        inputs["prompt"] = {"type": "string", "description": "The request, in words."}
    return inputs


def inputs_schema(prepared: Prepared) -> JsonObject:
    """Return the JSON Schema of a program's inputs as one object."""
    document = as_object(prepared.document)
    said = (prepared.purpose, as_object(document.get("tool") or {}).get("description"), document.get("title"))
    goal = next((text for text in said if isinstance(text, str) and text), prepared.name).rstrip().removesuffix(".")
    return {"description": goal, **object_of_inputs(taken_inputs(prepared)), "additionalProperties": False}


def output_schema(plan: PinnedPlan) -> JsonObject:
    """Return the JSON Schema of a program's result: each step by key, or the content of its tool.

    Blocks, and steps shared by a model and a server, may have any value.
    """
    program = program_of(plan)
    units = program.regions[0].units
    if program.whole:
        return as_object(strip(as_object(units[0].schema), {"all"}))
    keys = [step.key for unit in units for step in unit.steps]
    properties: JsonObject = {}
    for unit in units:
        for step in unit.steps:
            shared = keys.count(step.key) > 1 or step.plan is not None or bool(step.among)
            properties |= {} if is_meta(step.key) else {step.key: {} if shared else step.schema}
        key = getattr(unit.block, "key", None)
        properties |= {} if key is None else {key: {}}
    made: JsonObject = {"type": "object", "properties": properties}
    return as_object(strip(with_definitions(made, program.definitions), {"all"}))


def models_of(document: Json, settings: Settings, folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the model of each step of a document for which the project in a folder has set one; see `models_by_step`."""
    return models_by_step(document, _by_vibe(settings, folder), names)


def _by_vibe(settings: Settings, folder: Path) -> dict[str, str]:
    """Return the models that the project has set; a pattern with a folder, `judge/*`, is that of the vibes which are there."""
    found: dict[str, str] = {}
    for pattern, model in settings.models.items():
        place = pattern.removeprefix("aug:").strip("/")
        if "/" not in place:
            found[pattern] = model
            continue
        for root in settings.roots or (folder / "schemas",):
            for file in sorted(Root(root, shared=False).files()):
                name = file.relative_to(root).as_posix().removesuffix(".vibe.json").partition("@")[0]
                if fnmatchcase(name, place):
                    found.setdefault(name.rpartition("/")[2], model)
    return found


def models_by_step(document: Json, models: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the model of each step for which the project has set one; a pattern is compared with the name of the vibe.

    A tool is one call: the first of its steps with a model of its own decides for all; one without steps goes by its `names`.
    """
    patterns = [(bare_name(pattern.rpartition("/")[2]), model) for pattern, model in models.items()]

    def chosen(word: str) -> str | None:
        return next((model for pattern, model in patterns if fnmatchcase(bare_name(word), pattern)), None)

    if not patterns:
        return {}
    if Process.describes(document):
        chunks = [each for each in Process.from_json(document).contexts() if isinstance(each, Chunk)]
        keys = [step.key for chunk in chunks if chunk.executor == "model" for step in chunk.steps]
        return {key: model for key in keys if (model := chosen(key)) is not None}
    keys = list(mapping(mapping(document).get("properties")))
    whole = next((model for word in (*names, *keys) if (model := chosen(word)) is not None), None)
    return {} if whole is None else dict.fromkeys(["", *keys], whole)
