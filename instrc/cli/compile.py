"""`instrc compile`: the artefacts of programs and vibes, on the standard output or in a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc import problems
from instrc.cli.documents import Emit, Export, Output, exports, kinds_to_strip, printed, written
from instrc.cli.options import Locked, ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.progress import watched
from instrc.cli.show import FINE, PROBLEMS, Format, say_written, show, verdict
from instrc.files import reason
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Source
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from instrc.ir.artefact import Artefact


class Naming(StrEnum):
    """How the keys of steps are made."""

    STEP = "step"
    CAMEL = "camel"


class Recursion(StrEnum):
    """What becomes of a schema that holds itself, whatever is usual for the target."""

    KEEP = "keep"
    UNROLL = "unroll"
    REFUSE = "refuse"


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Programs (.aug), vibes (.vibe.json), or - for a program on the standard input."),
    ],
    emit: Annotated[Emit | None, typer.Option("--emit", help="The document to print; by default the one that fits.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.KIND.json files into a folder instead.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="NAME", help="Fit the tool to a provider; see `instrc targets`.")
    ] = None,
    way_back: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="With --target, write the way back, for `instrc lift`.")
    ] = None,
    recursion: Annotated[
        Recursion | None, typer.Option("--recursion", help="With --target, what to do about recursive schemas.")
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10_000, metavar="N", help="Multiply every step for N items.")] = 1,
    naming: Annotated[Naming | None, typer.Option("--naming", help="How the keys of steps are made.")] = None,
    no_hints: Annotated[bool, typer.Option("--no-hints", help="Do not say in descriptions what a step reads.")] = False,
    sketch: Annotated[bool, typer.Option("--sketch", help="Let unknown instructions be open placeholders.")] = False,
    strip: Annotated[
        list[str] | None, typer.Option("--strip", metavar="SET", help="Leave out `thoughts`, `metrics`, `engine` or `all`.")
    ] = None,
    locked: Locked = False,
    strict: Strict = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Compile programs into tools, processes and direct calls."""
    one_stdin(*files)
    _refuse_contradictions(emit, target, way_back, folder)
    unwanted = None if strip is None else kinds_to_strip(strip)
    report = Report()
    wishes = OptionOverrides(naming=None if naming is None else naming.value, hints=not no_hints, batch=batch, sketch=sketch)
    workspace = _workspace(root, shared, report, locked=locked)
    compiled, output = list(exports(_compile(workspace, files, wishes, report), unwanted)), Output(sources=tuple(files))
    for export in compiled:
        if folder is not None:
            output.files |= {folder / name: document for name, document in written(export, emit, report).items()}
        elif not target:
            output.documents.append(printed(export, emit, report))
    if target and compiled:
        _lower(output, compiled, target, emit, report, folder, way_back, recursion, workspace, strict=strict)
    found = report.once()
    code = verdict(found, strict=strict)
    if code == FINE:
        if way_back is not None:
            output.sources += _read(files, root, shared)
        try:
            output.deliver()
            say_written(output.files, shape)
        except OSError as error:
            found, code = (*found, _unwritable(error, folder or way_back)), PROBLEMS
    show(found, shape)
    raise typer.Exit(code)


def _read(files: list[str], root: list[str] | None, shared: list[str] | None) -> tuple[str, ...]:
    """Return the files that programs may have read: vibes, other programs, settings."""
    workspace = Workspace(root or (), shared or ())
    return tuple(str(each) for file in files for each in workspace.files(file)())


def _unwritable(error: OSError, given: Path | None) -> problems.rim.UnwritableOutput:
    from instrc.cli.outputs import place_of  # loaded when there is something to write

    where = place_of(error, given)
    return problems.rim.UnwritableOutput(at=Source(where, "").whole(), path=where, reason=reason(error))


def _lower(
    output: Output,
    compiled: list[Export],
    targets: list[str],
    emit: Emit | None,
    report: Report,
    folder: Path | None,
    way_back: Path | None,
    recursion: Recursion | None,
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
        fitted = list(one_by_one(compiled, targets, emit, report, recursion=handling, strict=strict, registry=registry))
        if way_back is not None and len(fitted) > 1:
            message = "--map is for one call of the model: choose --emit tool, or a folder (-o), which gets the map of each"
            raise typer.BadParameter(message)
        output.documents, back = [each.payload for each in fitted], fitted[0].map if fitted else None
    elif recursion is not None:
        message = "--recursion is for one tool, or for a folder (-o)"
        raise typer.BadParameter(message)
    else:
        output.documents, back = together(compiled, targets[0], emit, report, strict=strict)
    if way_back is not None:
        output.files[way_back] = back


def _refuse_contradictions(emit: Emit | None, target: list[str] | None, way_back: Path | None, folder: Path | None) -> None:
    """Refuse what cannot be meant together."""
    if target and emit not in {None, Emit.TOOL, Emit.FLAT} and folder is None:
        wrong = f"--emit {emit} is not for models: with --target it is tool or flat"
    elif target and len(target) > 1 and folder is None:
        wrong = "several --target need a folder (-o)"
    elif way_back is not None and (not target or folder is not None):
        wrong = "--map belongs to --target on the standard output; a folder (-o) gets the map as a file"
    else:
        return
    raise typer.BadParameter(wrong)


def _workspace(root: list[str] | None, shared: list[str] | None, report: Report, *, locked: bool) -> Workspace | None:
    try:
        return Workspace(root or (), shared or (), locked=locked)
    except CompileError as error:  # a root that is no folder
        report.take(error)
        return None


def _compile(
    workspace: Workspace | None, files: list[str], wishes: OptionOverrides, report: Report
) -> list[tuple[str, Artefact]]:
    compiled: list[tuple[str, Artefact]] = []
    if workspace is not None:
        try:
            for file in watched(files, "Compiling"):
                compiled += [(file, artefact) for artefact in workspace.compile(file, wishes, report)]
        except CompileError as error:
            report.take(error)
    return compiled
