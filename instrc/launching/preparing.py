"""From a program on disk to what can be run: compiled, with the settings around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path

from instrc import problems
from instrc.ir.artefact import Artefact
from instrc.ir.process import Process
from instrc.ir.steps import Chunk
from instrc.jsontext import loads
from instrc.jsonvalue import Json, require_tree
from instrc.passes.compose.planned import files_of_processes
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.regular import read_whole
from instrc.runtime.interpreter.names import bare_name
from instrc.schema.doubts import doubtful
from instrc.schema.validation import json_fault
from instrc.schema.wellformed import problems_of
from instrc.source import Source
from instrc.vibes.project import read_settings
from instrc.vibes.settings import Settings
from instrc.workspace import OptionOverrides, Workspace


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
    declared: dict[str, Json] | None = None
    """The schemas of the inputs of its source by name, `prompt` among them; `None` if there is no source to ask."""
    sources: Callable[[], list[Path]] = list
    """Lists the files it was made from; none of them is an output."""
    step: str | None = None
    """The name of the only step of a tool that has no keys of steps."""
    warnings: tuple[Problem, ...] = ()
    """What is suspicious in the program, though it can be run."""

    @property
    def inputs(self) -> dict[str, Json] | None:
        """The schemas of its inputs by name, as far as they are known: those that a process lists, else those of the source."""
        listed = self.document.get("inputs") if isinstance(self.document, dict) else None
        return listed if isinstance(listed, dict) else self.declared


def prepare(
    program: str | Source | Json,
    *,
    export: str | None = None,
    roots: Iterable[str] = (),
    shared: Iterable[str] = (),
    locked: bool = False,
    memory: Mapping[str, Json] | None = None,
) -> Prepared:
    """Compile a program, or read a compiled document; `CompileError` says why it cannot be run.

    `program` is a path of a source, a vibe, or a compiled document (`.json`), a source, or the document itself.
    `memory` are schemas by name, before those of all folders.
    """
    if isinstance(program, dict):
        require_tree(program)
        _require_sound(program, "a document")
        return Prepared("run", program, Path(), read_settings(Path()))
    name = program.name if isinstance(program, Source) else str(program)
    place = Path() if name == "-" else Path(name)
    settings = read_settings(place.parent)
    folder = settings.file.parent if settings.file is not None else place.parent
    workspace = Workspace(roots, shared, locked=locked, memory=memory)
    if isinstance(program, str) and program.endswith(".json") and not program.endswith(".vibe.json"):
        document = _read(program)
        _require_sound(document, program)
        stem = Path(program).name.removesuffix(".json").rpartition(".")[0] or Path(program).stem
        return Prepared(
            stem, document, folder, settings, _named_by_plans(document, None, workspace, name), sources=workspace.files(name)
        )
    report = Report()
    compiled = workspace.compile(program if isinstance(program, Source) else name, OptionOverrides(), report)
    report.stop_if_failed()
    found = [artefact for artefact in compiled if export is None or artefact.name == export]
    if len(found) != 1:
        names = tuple(artefact.name for artefact in compiled)
        raise CompileError([problems.calls.SeveralExports(at=Source(name, "").whole(), program=name, names=names)])
    document = found[0].documents[found[0].kind]
    plan, named = found[0].plan, _named_by_plans(document, found[0], workspace, name)
    declared = None if plan is None else plan.flat.graph.inputs
    return Prepared(
        found[0].name,
        document,
        folder,
        settings,
        named,
        declared,
        workspace.files(name),
        step=found[0].step,
        warnings=tuple(report.problems),
    )


def process_at(address: str, workspace: Workspace, beside: str) -> tuple[Json, dict[str, Json]]:
    """Return the process at an address, compiled, and those that its plans name, by their addresses."""
    file = _file_at(address, workspace, beside)
    artefact = _compiled_at(address, file, workspace)
    document = artefact.documents[artefact.kind]
    return document, _named_by_plans(document, artefact, workspace, file)


def _file_at(address: str, workspace: Workspace, beside: str) -> str:
    """Return the file that an address leads to from beside another."""
    registry = workspace.registry(beside)
    file = address.partition("#")[0]
    program = registry.load_program(file)
    return program.path if program is not None else registry.load(file).source.name


def _compiled_at(address: str, path: str, workspace: Workspace) -> Artefact:
    """Return the export of a file that an address chooses."""
    name = address.partition("#")[2]
    report = Report()
    compiled = workspace.compile(path, OptionOverrides(), report)
    report.stop_if_failed()
    found = [artefact for artefact in compiled if not name or bare_name(artefact.name) == bare_name(name)]
    if len(found) != 1:
        names = tuple(artefact.name for artefact in compiled)
        raise CompileError([problems.calls.SeveralExports(at=Source(path, "").whole(), program=address, names=names)])
    return found[0]


def _read(path: str) -> Json:
    try:
        return loads(read_whole(path))
    except OSError as error:
        reason = (error.strerror or "no reason").lower()
        raise CompileError([problems.files.UnreadableFile(at=Source(path, "").whole(), path=path, reason=reason)]) from None
    except ValueError as error:
        raise CompileError([problems.files.InvalidJson(at=Source(path, "").whole(), reason=str(error))]) from None


def _require_sound(document: Json, name: str) -> None:
    """Refuse a compiled document whose schemas are none: what runs it takes them for granted."""
    if json_fault(document) is not None:
        return  # whoever reads the process says that
    called = document.get("tool") if isinstance(document, dict) else None
    for schema in (document, called):
        if isinstance(schema, dict) and next(doubtful(schema), None) is not None:
            wrong = problems_of(schema, lambda _: Source(name, "").whole())
            if wrong:
                raise CompileError(wrong)


def _named_by_plans(document: Json, artefact: Artefact | None, workspace: Workspace, name: str) -> dict[str, Json]:
    """Return the processes that plans name by address, in a document and in those processes.

    An address is looked up in the roots of the program that names it, which may have other roots than the program that is run.
    """
    found: dict[str, Json] = {}
    files: dict[str, str] = {}
    waiting = [(document, artefact, name)]
    while waiting:
        document, artefact, name = waiting.pop()
        said = [] if artefact is None or artefact.plan is None else files_of_processes(artefact.plan.flat.graph)
        others = [each for each in _addresses(document) if each not in dict(said)]
        for address, path in (*said, *((each, _file_at(each, workspace, name)) for each in others)):
            if address not in found:
                files[address] = path
                artefact = _compiled_at(address, path, workspace)
                found[address] = artefact.documents[artefact.kind]
                waiting.append((found[address], artefact, path))
            elif realpath(files[address]) != realpath(path):
                reason = f"it means two files, `{files[address]}` and `{path}`"
                where = Source(name, "").whole()
                raise CompileError([problems.runs.UnusableSetting(at=where, what="address", word=address, reason=reason)])
    return found


def _addresses(document: Json) -> list[str]:
    """Return the addresses of the processes that plans of a document may call."""
    if not Process.describes(document):
        return []
    chunks = [context for context in Process.from_json(document).contexts() if isinstance(context, Chunk)]
    plans = [step.plan for chunk in chunks for step in chunk.steps if isinstance(step.plan, dict)]
    said = [tool.get("process") for plan in plans for tool in plan.values() if isinstance(tool, dict)]
    return [address for address in dict.fromkeys(said) if isinstance(address, str)]
