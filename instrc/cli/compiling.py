"""Compile files and print or write what comes out: what `instrc compile` does, whoever reads its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from instrc.cli.documents import Emit, NamedArtefact, Output, document_to_print, documents_to_write, exports
from instrc.cli.progress import with_progress
from instrc.cli.show import FINE, PROBLEMS, Format, report_written, show, verdict
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from instrc.ir.artefact import Artefact


def compile_files(
    files: list[str],
    overrides: OptionOverrides,
    *,
    emit: Emit | None = None,
    folder: Path | None = None,
    target: list[str] | None = None,
    way_back: Path | None = None,
    recursion: str | None = None,
    unwanted: frozenset[str] | None = None,
    locked: bool = False,
    strict: bool = False,
    root: list[str] | None = None,
    shared: list[str] | None = None,
    shape: Format = Format.TEXT,
) -> int:
    """Compile files, deliver what comes out, show the problems, and return the exit code."""
    report = Report()
    workspace = _workspace(root, shared, report, locked=locked)
    compiled, output = list(exports(_compile(workspace, files, overrides, report), unwanted)), Output(sources=tuple(files))
    for export in compiled:
        if folder is not None:
            output.files |= {folder / name: document for name, document in documents_to_write(export, emit, report).items()}
        elif not target:
            output.documents.append(document_to_print(export, emit, report))
    if target and compiled:
        _lower(output, compiled, target, emit, report, folder, way_back, recursion, workspace, strict=strict)
    found = report.once()
    code = verdict(found, strict=strict)
    if code == FINE:
        if way_back is not None:
            output.sources += _read(files, root, shared)
        try:
            output.deliver()
            report_written(output.files, shape)
        except OSError as error:
            from instrc.cli.outputs import unwritable  # loaded when there is something to write

            found, code = (*found, unwritable(error, folder or way_back)), PROBLEMS
    show(found, shape)
    return code


def _read(files: list[str], root: list[str] | None, shared: list[str] | None) -> tuple[str, ...]:
    """Return the files that programs may have read: vibes, other programs, settings."""
    workspace = Workspace(root or (), shared or ())
    return tuple(str(each) for file in files for each in workspace.files(file)())


def _lower(
    output: Output,
    compiled: list[NamedArtefact],
    targets: list[str],
    emit: Emit | None,
    report: Report,
    folder: Path | None,
    way_back: Path | None,
    recursion: str | None,
    workspace: Workspace | None,
    *,
    strict: bool,
) -> None:
    """Add the payloads: to the folder each by itself, to the standard output all those of one request."""
    from instrc.cli.targeting import handling_of, one_by_one, together  # targets are many facts

    handling = handling_of(recursion)
    registry = None if workspace is None else workspace.registry

    if folder is not None:
        for each in one_by_one(compiled, targets, emit, report, recursion=handling, strict=strict, registry=registry):
            output.files[folder / f"{each.file_name}.{each.target}.json"] = each.payload
            output.files[folder / f"{each.file_name}.{each.target}.map.json"] = each.map
        return
    back: Json
    if len(compiled) == 1:
        lowered = list(one_by_one(compiled, targets, emit, report, recursion=handling, strict=strict, registry=registry))
        if way_back is not None and len(lowered) > 1:
            from typer import BadParameter  # already loaded, as there are options

            message = "--map is for one call of the model: choose --emit tool, or a folder (-o), which gets the map of each"
            raise BadParameter(message)
        output.documents, back = [each.payload for each in lowered], lowered[0].map if lowered else None
    elif recursion is not None:
        from typer import BadParameter  # already loaded, as there are options

        message = "--recursion is for one tool, or for a folder (-o)"
        raise BadParameter(message)
    else:
        output.documents, back = together(compiled, targets[0], emit, report, strict=strict, registry=registry)
    if way_back is not None:
        output.files[way_back] = back


def _workspace(root: list[str] | None, shared: list[str] | None, report: Report, *, locked: bool) -> Workspace | None:
    try:
        return Workspace(root or (), shared or (), locked=locked)
    except CompileError as error:  # a root that is no folder
        report.take(error)
        return None


def _compile(
    workspace: Workspace | None, files: list[str], overrides: OptionOverrides, report: Report
) -> list[tuple[str, Artefact]]:
    compiled: list[tuple[str, Artefact]] = []
    if workspace is not None:
        try:
            for file in with_progress(files, "Compiling"):
                compiled += [(file, artefact) for artefact in workspace.compile(file, overrides, report)]
        except CompileError as error:
            report.take(error)
    return compiled
