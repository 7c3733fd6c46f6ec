"""Compile files, lower them for targets, and print or write the documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field, structs

from instrc import problems
from instrc.cli.output import FINE, PROBLEMS, Format, report_written, show, unwritable, verdict, write_files
from instrc.cli.terminal import write, write_error
from instrc.compiler.ir import Artefact, Fusion, Step
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.schema.flattening.flatten import flatten
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_text, pointer, tokens
from instrc.text.names import file_name, free_name
from instrc.text.source import Source
from instrc.vibes.find_files import shown_path
from instrc.vibes.project import DEFAULT_PROJECT, Project

if TYPE_CHECKING:
    from instrc.compiler.ir import Artefact, Plan
    from instrc.providers.dialect import Dialect
    from instrc.providers.lowering.context import Recursion
    from instrc.schema.flattening.provenance import KeywordOrigin
    from instrc.text.source import Span
    from instrc.tools.tool import Tool
    from instrc.vibes.registry import Registry
    from instrc.vibes.vibe import Vibe


class Emit(StrEnum):
    """The documents to print or write."""

    TOOL = "tool"
    RESULT = "result"
    FLAT = "flat"
    PROCESS = "process"
    CALL = "call"
    ALL = "all"


class NamedArtefact(Struct, frozen=True):
    """An artefact, its source file, and the stem of its own files, unique in this run."""

    file: str
    stem: str
    artefact: Artefact

    @property
    def file_name(self) -> str:
        """The stem, made valid for the file system."""
        return file_name(self.stem)


def exports(compiled: Iterable[tuple[str, Artefact]]) -> Iterator[NamedArtefact]:
    """Yield the artefacts of a run; a duplicate name, ignoring case, gets the suffix `_2`."""
    taken: set[str] = set()
    for file, artefact in compiled:
        stem = free_name(artefact.name, lambda name: file_name(name).casefold() in taken)
        taken.add(file_name(stem).casefold())
        yield NamedArtefact(file, stem, artefact)


def document_to_print(export: NamedArtefact, emit: Emit | None, report: Report) -> Json:
    """Return the document to print: the requested one, the default one, or an object of all by kind."""
    documents = export.artefact.documents
    if emit is Emit.ALL:
        return {str(kind): document for kind, document in documents.items()}
    if emit is None:
        return documents[export.artefact.kind]
    for kind, document in documents.items():
        if kind == emit.value:
            return document
    report.add(
        problems.calls.NoSuchDocument(
            at=Source(shown_path(export.file), "").whole(), asked=emit.value, program=export.stem, present=tuple(documents)
        )
    )
    return None


def documents_to_write(export: NamedArtefact, emit: Emit | None, report: Report) -> dict[str, Json]:
    """Return the documents to write by file name: all of them, or the requested one."""
    if emit is None or emit is Emit.ALL:
        return {f"{export.file_name}.{kind}.json": document for kind, document in export.artefact.documents.items()}
    return {f"{export.file_name}.{emit}.json": document_to_print(export, emit, report)}


class Output(Struct):
    """The output of a run: documents for standard output and for files."""

    documents: list[Json] = field(default_factory=list)
    """Documents to print."""
    files: dict[Path, Json] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """Files of this run that must not be overwritten."""

    def deliver(self) -> None:
        """Write the files, all or none (`OSError`), then print: a single document alone, several as an array."""
        if self.files:
            write_files({path: f"{dumps(document)}\n" for path, document in self.files.items()}, self.sources)
        if self.documents:
            write(f"{dumps(self.documents[0] if len(self.documents) == 1 else self.documents)}\n")


_ITEM = re.compile(r"_item\d+$")
"""Suffix of a step's key in a batch."""


class Places:
    """The places of one artefact; each vibe is flattened once to find the origins of its keywords."""

    def __init__(self, artefact: Artefact, file: str, registry: Registry) -> None:
        self.plan: Plan | None = artefact.plan
        self.file = file
        self.registry = registry
        self._origins: dict[str, Mapping[str, tuple[KeywordOrigin, ...]]] = {}

    def of(self, place: str) -> Span | None:
        """Return where the part at a JSON Pointer of the tool was written, or `None` if unknown."""
        try:
            if self.plan is None:
                return self._in_vibe(self.registry.open(Path(self.file)), place)
            return self._in_program(self.plan, tuple(map(str, tokens(place))))
        except (InstrcError, OSError):
            return None

    def _in_program(self, plan: Plan, path: tuple[str, ...]) -> Span | None:
        steps = plan.flat.graph.steps
        by_key = {key: steps[number] for number, key in plan.keys.items()}
        step: Step | None
        if plan.bare and len(by_key) == 1:
            (step,) = by_key.values()
        elif path[:1] == ("properties",) and len(path) > 1:
            step, path = by_key.get(path[1]) or by_key.get(_ITEM.sub("", path[1])), path[2:]
        else:
            step = None
        return None if step is None else self._in_step(step, path)

    def _in_step(self, step: Step, path: tuple[str, ...]) -> Span:
        """Return the place in the vibe of a step, or of an enclosing mixin, that has the property, or else the step's own."""
        content = step.content
        used = (content.instruction, *(each.mixin for each in content.mixins)) if isinstance(content, Fusion) else ()
        for uri in (each.uri for each in used):
            vibe = None if uri is None or "#" in uri else self.registry.load(uri)
            if vibe is not None and any(each.startswith(pointer(path[:2])) for each in self._origins_in(vibe)):
                return self._in_vibe(vibe, pointer(path))
        return step.span

    def _in_vibe(self, vibe: Vibe, place: str) -> Span:
        for origin in self._origins_in(vibe).get(place, ()):
            found = vibe.span(origin.pointer) if origin.uri in {"", vibe.uri} else self.registry.locate(*origin)
            if found is not None:
                return found
        return vibe.span(place)

    def _origins_in(self, vibe: Vibe) -> Mapping[str, tuple[KeywordOrigin, ...]]:
        found = self._origins.get(vibe.uri)
        if found is None:
            try:
                flat = flatten(vibe.schema, self.registry.documents, base=vibe.uri, trace=True, nullable=True, share=False)
                found = flat.origins
            except InstrcError:  # untraceable values are reported at the step
                found = {}
            self._origins[vibe.uri] = found
        return found


class LoweredTool(NamedTuple):
    """A payload for a target, and the reverse map for `instrc lift`."""

    stem: str
    file_name: str
    """File name without extension, made valid for the file system."""
    target: str
    payload: Json
    map: Json


class Delivery(Struct, frozen=True):
    """The requested artefacts of a run, their form, and their destination."""

    emit: Emit | None = None
    """Kind of document; `None` for the program's default."""
    folder: Path | None = None
    """Folder for files instead of standard output."""
    targets: Sequence[str] = ()
    way_back: Path | None = None
    """File for the reverse map."""
    recursion: Recursion | None = None
    strict: bool = False


def one_by_one(
    exports: Sequence[NamedArtefact], wanted: Delivery, report: Report, registry: Callable[[str], Registry] | None = None
) -> Iterator[LoweredTool]:
    """Yield each tool, or flat view if requested, for each target; losses and failures are reported.

    If no document is requested, a process yields one tool per chunk of the model.
    `registry` returns the registry for a file, so that losses can be shown at their origin.
    """
    from instrc.providers.lowering.lower import lower  # needed with --target only

    for export in exports:
        for tool in _tools(export, wanted.emit, report):
            for target in _existing_targets(wanted.targets, report):
                with _placing_problems(report, export, registry) as found:
                    result = lower(tool, target, recursion=wanted.recursion, strict=wanted.strict, report=found)
                    part = tool.name.removeprefix(export.stem) if tool.name.startswith(f"{export.stem}_") else ""
                    yield LoweredTool(tool.name, export.file_name + part, target.name, result.payload, result.map)


def _tools(export: NamedArtefact, emit: Emit | None, report: Report) -> Iterator[Tool]:
    from instrc.tools.tool import Tool

    if emit is None and export.artefact.kind == "process":
        yield from _chunks(export)
        return
    schema = document_to_print(export, Emit.FLAT if emit is Emit.FLAT else Emit.TOOL, report)
    if schema is not None:
        yield Tool(
            _name_of(export, schema),
            schema,
            export.artefact.purpose,
            hints=export.artefact.hints,
            sentences=export.artefact.sentences,
        )


def _chunks(export: NamedArtefact) -> Iterator[Tool]:
    """Yield the tool that starts a process, then those of the model's later chunks, named after their chunks."""
    from instrc.testing.preview import later_schemas  # imports the views of the runtime
    from instrc.tools.tool import Tool

    tool = export.artefact.documents["tool"]
    hints, sentences = export.artefact.hints, export.artefact.sentences
    yield Tool(export.stem, tool, export.artefact.purpose, hints=hints, sentences=sentences)
    for chunk, schema in later_schemas(export.artefact).items():
        yield Tool(f"{export.stem}_{chunk}", schema, export.artefact.title, hints=hints, sentences=sentences)


def _name_of(export: NamedArtefact, schema: Json) -> str:
    """Return the name of a tool: an imported vibe has its server's name as title, which the model's calls must use."""
    title = schema.get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or not export.file.endswith(".json") or any(map(str.isspace, title)):
        return export.stem
    return title if _letters(title) and _letters(title) in _letters(export.stem) else export.stem


def _letters(name: str) -> str:
    """Return a name with letters and digits only, as file names and references allow fewer signs than tool names."""
    return "".join(filter(str.isalnum, comparison_key(name)))


def _existing_targets(targets: Sequence[str], report: Report) -> list[Dialect]:
    """Return the existing targets, without duplicates."""
    from instrc.providers.targets import dialect

    known = []
    for target in dict.fromkeys(targets):
        with _placing_problems(report) as found:
            known.append(dialect(target))
        if found.failed:
            return []
    return known


@contextmanager
def _placing_problems(
    report: Report,
    export: NamedArtefact | None = None,
    registry: Callable[[str], Registry] | None = None,
    owners: Mapping[str, NamedArtefact] | None = None,
) -> Iterator[Report]:
    """Collect problems and assign them to their place: the origin of a loss if known, or else the file.

    A problem that names one of several tools belongs to its owner, all others to `export`.
    """
    found = Report()
    try:
        yield found
    except InstrcError as error:
        found.take(error)
    finally:
        if export is not None and found.problems:
            found.problems[:] = _placed(found.problems, export, registry, owners or {})
        report.problems.extend(_hinted_once(found.problems, report))


def _placed(
    found: list[Problem],
    export: NamedArtefact,
    registry: Callable[[str], Registry] | None,
    owners: Mapping[str, NamedArtefact],
) -> list[Problem]:
    """Return problems with losses placed in their vibe or step, and others in their file."""
    places: dict[int, Places] = {}
    placed: list[Problem] = []
    for each in found:
        at, owner = each.at, export
        if isinstance(each, problems.targets.LossyTargetStrict | problems.targets.LossyTarget):
            owner = export if each.tool is None else owners.get(each.tool, export)
            if registry is not None:
                known = places.setdefault(id(owner), Places(owner.artefact, owner.file, registry(owner.file)))
                at = known.of(f"{each.pointer}/{each.keyword}")
        placed.append(structs.replace(each, at=at or Source(shown_path(owner.file), "").whole()))
    return placed


def _hinted_once(found: list[Problem], report: Report) -> list[Problem]:
    """Return the problems with a hint only on the first loss of the whole report."""
    said = any(isinstance(each, problems.targets.LossyTarget) for each in report.problems)
    hinted: list[Problem] = []
    for each in found:
        hinted.append(structs.replace(each, first=False) if said and isinstance(each, problems.targets.LossyTarget) else each)
        said = said or isinstance(each, problems.targets.LossyTarget)
    return hinted


def compile_files(
    files: list[str],
    overrides: OptionOverrides,
    wanted: Delivery | None = None,
    project: Project = DEFAULT_PROJECT,
    shape: Format = Format.TEXT,
) -> int:
    """Compile files, deliver the output, show the problems, and return the exit code."""
    wanted = wanted or Delivery()
    report, output = Report(), Output(sources=tuple(files))
    workspace = None
    artefacts: list[tuple[str, Artefact]] = []
    try:
        workspace = Workspace(project)
        for file in files:
            artefacts += [(file, artefact) for artefact in workspace.compile(file, overrides, report)]
    except InstrcError as error:
        report.take(error)
    compiled = list(exports(artefacts))
    for export in compiled:
        if wanted.folder is not None:
            documents = documents_to_write(export, wanted.emit, report)
            output.files |= {wanted.folder / name: document for name, document in documents.items()}
        elif not wanted.targets:
            output.documents.append(document_to_print(export, wanted.emit, report))
    if workspace is not None and wanted.targets and compiled:
        _lower(output, compiled, wanted, report, workspace.registry)
    found = report.once()
    code = verdict(found, strict=wanted.strict)
    if code == FINE:
        if wanted.way_back is not None and workspace is not None:  # programs may have read these
            output.sources += tuple(str(each) for file in files for each in workspace.files(file)())
        try:
            output.deliver()
            report_written(output.files, shape)
            if shape is Format.TEXT and wanted.emit is None and not wanted.targets:
                _tell_direct_calls(compiled)
        except OSError as error:
            found, code = (*found, unwritable(error, wanted.folder or wanted.way_back)), PROBLEMS
    show(found, shape)
    return code


def _lower(
    output: Output, compiled: list[NamedArtefact], wanted: Delivery, report: Report, registry: Callable[[str], Registry]
) -> None:
    """Add the payloads: individually to the folder, or all of one request to standard output."""
    if wanted.folder is not None:
        for each in one_by_one(compiled, wanted, report, registry):
            output.files[wanted.folder / f"{each.file_name}.{each.target}.json"] = each.payload
            output.files[wanted.folder / f"{each.file_name}.{each.target}.map.json"] = each.map
        return
    from instrc.cli.options import refuse_use  # already loaded, as there are options

    back: Json
    if len(compiled) == 1:
        lowered = list(one_by_one(compiled, wanted, report, registry))
        if wanted.way_back is not None and len(lowered) > 1:
            refuse_use("--map is for one call of the model: choose --emit tool, or a folder (-o), which gets the map of each")
        output.documents, back = [each.payload for each in lowered], lowered[0].map if lowered else None
    elif wanted.recursion is not None:
        refuse_use("--recursion is for one tool, or for a folder (-o)")
    else:
        output.documents, back = _together(compiled, wanted, report, registry)
    if wanted.way_back is not None:
        output.files[wanted.way_back] = back


def _together(
    exports: Sequence[NamedArtefact], wanted: Delivery, report: Report, registry: Callable[[str], Registry]
) -> tuple[list[Json], Json]:
    """Return the tools of one request and one reverse map for its answers; names that become equal get numbers."""
    from instrc.providers.lowering.toolset import lower_all  # needed with --target only

    owned = [(tool, export) for export in exports for tool in _tools(export, wanted.emit, report)]
    owners = {tool.name: export for tool, export in reversed(owned)}
    for known in _existing_targets(wanted.targets[:1], report):
        with _placing_problems(report, exports[0], registry, owners) as found:
            result = lower_all([tool for tool, _ in owned], known, strict=wanted.strict, report=found)
            return result.payload, result.map
    return [], None


def _tell_direct_calls(compiled: list[NamedArtefact]) -> None:
    """Mark each direct call, as it looks like the start of a process."""
    for export in compiled:
        if export.artefact.kind == "call":
            activity = as_text(export.artefact.documents["call"]["activity"])
            write_error(f"{export.stem} is a direct call: nothing reads what {activity} gives\n")
