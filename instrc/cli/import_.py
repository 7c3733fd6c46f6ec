"""`instrc import`: tools written down elsewhere become vibes of a registry."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.beginning import formatted_files
from instrc.cli.options import ProblemFormat, Strict
from instrc.cli.show import FINE, Format, report_written, show, verdict
from instrc.cli.terminal import write
from instrc.importers.catalogue import KINDS
from instrc.jsontext import dumps, loads
from instrc.limits.incoming import SEEN_BYTES
from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key
from instrc.regular import read_regular
from instrc.source import Source

if TYPE_CHECKING:
    from instrc.importers.read_tools import Imported


class Results(StrEnum):
    """What becomes of what tools give back."""

    LEAVE = "leave"
    OUTPUT = "output"
    ACTIVITY = "activity"


def command(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What the source is: {', '.join(KINDS)}.")],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="A JSON file, or -; for pydantic and smolagents also module:Name or file.py:Name, which is run.",
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.vibe.json files into a folder of vibes.")
    ] = None,
    results: Annotated[
        Results, typer.Option("--results", help="The results of tools: left out, a property `output`, or a vibe NAME_Activity.")
    ] = Results.LEAVE,
    force: Annotated[bool, typer.Option("--force", help="Replace vibes that have other contents.")] = False,
    strict: Strict = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Convert tools of other formats to vibes.

    Parts that a vibe cannot express are reported with their place.

    openapi reads OpenAPI 3 and Swagger 2.0, in JSON or YAML, and the files of its folder that a document refers to.
    """
    if source is None:
        raise typer.BadParameter(_without_source(kind))
    from instrc.importing.import_tools import import_tools  # the help of all commands does without it

    imported = import_tools(kind, source, results=results.value)
    problems = list(imported.problems)
    files = (
        {} if folder is None else formatted_files({folder / vibe.path: f"{dumps(vibe.document)}\n" for vibe in imported.vibes})
    )
    if folder is not None:
        problems += _in_the_way(folder, files, force=force)
    code = verdict(problems, strict=strict)
    if code == FINE:
        unwritten = _deliver(imported, source, folder, files)
        if not unwritten:
            report_written(files, shape)
        problems += unwritten
        code = verdict(unwritten)
    show(problems, shape)
    raise typer.Exit(code)


def _without_source(kind: str) -> str:
    """Say what is missing where one argument is given: mostly it is the source, and its kind is missing."""
    if kind in KINDS:
        return f"the source is missing: `instrc import {kind} FILE`"
    from instrc.lint.other_documents import foreign  # for this mistake only

    try:
        document = loads(read_regular(kind, SEEN_BYTES))
    except (OSError, ValueError):
        document = None
    found = foreign(document[0] if isinstance(document, list) and document else document, kind)
    known = found.importer if found is not None and found.importer is not None else None
    return f"the kind of the source is missing: `instrc import {known or 'KIND'} {kind}`" + (
        "" if known else f", where KIND is one of {', '.join(KINDS)}"
    )


def _deliver(imported: Imported, source: str, folder: Path | None, files: dict[Path, str]) -> list[Problem]:
    """Write all files or none, or print: one document as it is, several as an object by name of file."""
    if folder is None:
        documents = {vibe.path: vibe.document for vibe in imported.vibes}
        write(f"{dumps(imported.vibes[0].document if len(documents) == 1 else documents)}\n")
        return []
    from instrc.cli.outputs import try_to_write  # not needed to print

    return try_to_write(files, [source])


def _in_the_way(folder: Path, files: dict[Path, str], *, force: bool) -> list[Problem]:
    """Return the problems of vibes in the folder that have the same names and say something else, or spell them otherwise."""
    ending = ".vibe.json"
    try:
        there = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError:  # it will be made, or writing into it says more
        return []
    by_name = {comparison_key(path.name.removesuffix(ending)): path for path in there}
    found: list[Problem] = []
    for path, text in files.items():
        known = by_name.get(comparison_key(path.name.removesuffix(ending)))
        if known is None or (known == path and (force or _says(path, text))):
            continue
        from instrc.problems.importing import VibeExists  # as above

        found.append(VibeExists(at=Source(str(known), "").whole(), path=str(known), same_file=known == path))
    return found


def _says(path: Path, text: str) -> bool:
    try:
        return read_regular(str(path), len(data := text.encode()) + 1) == data
    except (OSError, ValueError):
        return False
