"""The commands about schemas and answers: `flatten`, `split`, `lift`, `types`, `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from msgspec.structs import replace

from instrc.cli import options
from instrc.cli.inputs import read_json, read_schema
from instrc.cli.output import FINE, Format, formatted_files, report_written, show, try_to_write, verdict
from instrc.cli.terminal import write
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.errors import InstrcError
from instrc.problems.importing import VibeExists
from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key
from instrc.text.files import read_regular
from instrc.text.jsontext import dumps, loads
from instrc.text.source import Source
from instrc.tools.importers import KINDS
from instrc.vibes.find_files import read_text, shown_path

if TYPE_CHECKING:
    from instrc.tools.importers import Imported

SEEN_BYTES: Final = 1 << 20
"""Maximum bytes of a file examined to detect its kind of source."""


def flatten_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A JSON Schema, or - for the standard input.")],
    folders: options.FolderGroup,
    strict: options.Strict = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Merge allOf and references of a JSON Schema into one schema.

    It accepts the same instances.
    """
    with options.reported(shape, strict=strict) as report:
        registry = Workspace(folders.project).registry(file)
        given = read_schema(file, registry, report)
        if given is not None:
            from instrc.schema.flattening.flatten import flatten  # the schema algebra takes long to import

            flat = flatten(given.value, registry.documents, base=given.base, report=report, locate=given.locate)
            if verdict(report.problems, strict=strict) == FINE:
                write(f"{dumps(flat)}\n")


def split_command(
    schema: Annotated[str, typer.Argument(metavar="SCHEMA", help="The schema that the answer follows: a tool or a vibe. Or -.")],
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="A model's answer as JSON, or - for the standard input.")],
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Divide an answer into output, thoughts (_) and metrics ($).

    The last two are written by path.
    """
    options.one_stdin(schema, answer)
    with options.reported(shape) as report:
        registry = Workspace().registry(schema)
        given, filled = read_schema(schema, registry, report), read_json(answer, report)
        if given is not None and filled is not None:
            from instrc.schema.flattening.flatten import flatten  # once the files have been read
            from instrc.schema.strip import split

            flat = flatten(given.value, registry.documents, base=given.base, report=report, locate=given.locate)
            write(f"{dumps(split(filled.value, flat))}\n")


def lift_command(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="What the provider returned, or - for the standard input.")],
    way_back: Annotated[
        str, typer.Option("--map", metavar="MAP", help="The reverse map of the payload that the model received.")
    ],
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Convert the answer of a model back, in any envelope.

    The exit code is 1 if it cannot be used.

    ANSWER is a response, its message, one call, bare arguments, or the pieces of a stream
    (JSON, JSON Lines, server-sent events).
    Calls that open models wrote into their text are read for targets whose servers do not parse them.

    `status` in the output is ok, invalid, ambiguous, refused, cut, empty, malformed or failed; `repairs` lists what was repaired
    (`instrc explain invalid-answer`).
    """
    options.one_stdin(answer, way_back)
    with options.reported(shape) as report:
        known, source = read_json(way_back, report), read_text(answer, report)
        if known is not None and source is not None:
            from instrc.providers.lifting.lift import lift  # imports the validator

            try:
                lifted = lift(source.text, known.value)
            except InstrcError as error:
                at = known.source.whole()  # all errors concern the map, so name that file
                report.problems.extend(replace(problem, at=at) if problem.at is None else problem for problem in error.problems)
                return
            calls = [
                {**call.to_json(), "output": call.output, "thoughts": call.thoughts, "metrics": call.metrics}
                for call in lifted.calls
            ]
            write(f"{dumps({**lifted.to_json(), 'calls': calls})}\n")
            report.problems.extend(lifted.problems_at(source.whole()))


def types_command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Programs (.aug), vibes (.vibe.json), or - for a program.")],
    folders: options.LockedFolderGroup,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the module to this file.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Add classes of partial answers, PartialNAME.")] = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Write typed Python classes for tools, steps and results.

    They are pydantic models for `lift(...).as_model(CLASS)`; needs the extra `types`.
    """
    options.one_stdin(*files)
    if output is not None and output.suffix not in {"", ".py", ".pyi"}:
        options.refuse_use(f"the classes are a module of Python, whose name ends with .py: {output.stem}.py", "'--output'")
    with options.reported(shape) as report:
        workspace = Workspace(folders.project)
        compiled = [artefact for file in files for artefact in workspace.compile(file, OptionOverrides(hints=False), report)]
        if not report.failed:
            from instrc.api.programs import module_of  # once the files have compiled

            text = module_of(compiled, ", ".join(map(shown_path, files)), partial=partial)
            sources = lambda: [*files, *(each for file in files for each in workspace.files(file)())]  # noqa: E731  -- a callback
            options.deliver(report, text, output, sources, shape)


def import_command(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What the source is: {', '.join(KINDS)}.")],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="A JSON file, or -; for pydantic and smolagents also module:Name or file.py:Name, which is executed.",
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.vibe.json files into a folder of vibes.")
    ] = None,
    results: Annotated[
        Literal["leave", "output", "activity"],
        typer.Option("--results", help="Import tool results: not at all, as property `output`, as vibe NAME_Activity."),
    ] = "leave",
    force: Annotated[bool, typer.Option("--force", help="Overwrite vibes whose contents differ.")] = False,
    strict: options.Strict = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Convert tools of other formats to vibes.

    Parts that a vibe cannot express are reported with their place.

    openapi reads OpenAPI 3 and Swagger 2.0, in JSON or YAML, and the files of its folder that a document refers to.
    """
    if source is None:
        raise typer.BadParameter(_without_source(kind))
    from instrc.compiler.importing import import_tools  # not needed for the help of commands

    imported = import_tools(kind, source, results=results)
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
    """Return the argument that is missing if there is only one: usually the source."""
    if kind in KINDS:
        return f"the source is missing: `instrc import {kind} FILE`"
    from instrc.tools.foreign_documents import foreign  # only needed for this mistake

    try:
        document = loads(read_regular(kind, SEEN_BYTES))
    except (OSError, ValueError):
        document = None
    found = foreign(document[0] if isinstance(document, list) and document else document, kind)
    known = found.importer if found is not None and found.importer is not None else None
    return f"the kind of the source is missing: `instrc import {known or 'KIND'} {kind}`" + (
        "" if known else f", where KIND is one of {', '.join(KINDS)}"
    )


def _in_the_way(folder: Path, files: dict[Path, str], *, force: bool) -> list[Problem]:
    """Return the problems of vibes in the folder with the same names and other content, or other spellings of these names."""
    ending = ".vibe.json"
    try:
        there = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError:  # it will be created, or the write error explains more
        return []
    by_name = {comparison_key(path.name.removesuffix(ending)): path for path in there}
    found: list[Problem] = []
    for path, text in files.items():
        known = by_name.get(comparison_key(path.name.removesuffix(ending)))
        if known is None or (known == path and (force or _says(path, text))):
            continue
        found.append(VibeExists(at=Source(str(known), "").whole(), path=str(known), same_file=known == path))
    return found


def _says(path: Path, text: str) -> bool:
    try:
        return read_regular(str(path), len(data := text.encode()) + 1) == data
    except (OSError, ValueError):
        return False


def _deliver(imported: Imported, source: str, folder: Path | None, files: dict[Path, str]) -> list[Problem]:
    """Write all files or none, or print: a single document alone, several as an object by file name."""
    if folder is None:
        documents = {vibe.path: vibe.document for vibe in imported.vibes}
        write(f"{dumps(imported.vibes[0].document if len(documents) == 1 else documents)}\n")
        return []
    return try_to_write(files, [source])
