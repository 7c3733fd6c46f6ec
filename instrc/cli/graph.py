"""`instrc graph`: a process as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import typer

from instrc import problems
from instrc.cli import options
from instrc.cli.output import Format
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.report import Report
from instrc.text.source import Source

if TYPE_CHECKING:
    from instrc.compiler.ir import Artefact
    from instrc.process.picture import Picture


PictureFormat: TypeAlias = Literal["text", "mermaid", "svg", "html"]


def graph_command(
    file: options.ProgramFile,
    folders: options.LockedFolderGroup,
    kind: Annotated[
        PictureFormat | None,
        typer.Option("--format", help="The format of the picture; by default from the extension of -o, otherwise text."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")] = None,
    export: options.Export = None,
    whole: Annotated[bool, typer.Option("--whole", help="Fold no blocks of a large program.")] = False,
    sketch: options.Sketch = False,
    shape: options.ProblemsOption = Format.TEXT,
) -> None:
    """Draw a program: its steps in writing order, blocks as frames.

    The sign and the colour of a step are its executor's. Of a program of more than 60 steps the deepest blocks are folded.

    html is one page that needs no network: light and dark, with the schema of each step and the views of each chunk; folded
    blocks have their own pictures.
    """
    form = _by_ending(output) if kind is None else kind
    with options.reported(shape) as report:
        workspace = Workspace(folders.project)
        compiled = workspace.compile(file, OptionOverrides(sketch=sketch), report)
        if not report.failed:
            text = _render([_picture(artefact) for artefact in _chosen(compiled, export, file, report)], form, whole=whole)
            if text and form == "mermaid" and output is not None and output.suffix.lower() == ".md":
                text = f"```mermaid\n{text}```\n"  # Markdown renderers draw fenced charts
            options.deliver(report, text, output, workspace.files(file), shape)


_ENDINGS: Final[dict[str, PictureFormat]] = {
    "": "text",
    ".txt": "text",
    ".md": "mermaid",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".svg": "svg",
    ".htm": "html",
    ".html": "html",
}


def _by_ending(output: Path | None) -> PictureFormat:
    ending = "" if output is None else output.suffix.lower()
    if (kind := _ENDINGS.get(ending)) is None:
        options.refuse_use(
            f"there is no picture of the kind `{ending}`: the formats are text, mermaid, svg, html (or say one with --format)",
            "--output",
        )
    return kind


def _chosen(compiled: tuple[Artefact, ...], export: str | None, file: str, report: Report) -> tuple[Artefact, ...]:
    names = tuple(artefact.name for artefact in compiled)
    if export is None or export in names:
        return tuple(artefact for artefact in compiled if export in (None, artefact.name))
    report.add(problems.calls.NoSuchExport(at=Source(file, "").whole(), asked=export, present=names))
    return ()


def _picture(artefact: Artefact) -> Picture:
    from instrc.compiler.emit.emit import located_process
    from instrc.process.picture import picture_of

    process, places = located_process(artefact)
    return picture_of(process, artefact.name, places)


def _render(pictures: list[Picture], kind: PictureFormat, *, whole: bool) -> str:
    from instrc.process.picture import folded, folded_pictures

    if kind == "html":
        from instrc.process.picture_page import html  # only one format is requested

        return html(pictures if whole else [part for picture in pictures for part in folded_pictures(picture)])
    pictures = pictures if whole else [folded(picture) for picture in pictures]
    if kind == "svg":
        from instrc.process.svg import svg

        if len(pictures) > 1:
            options.refuse_use(
                f"one SVG shows one export; choose it: --export {pictures[0].name} (or --format html, which shows all)"
            )
        return "".join(map(svg, pictures))
    from instrc.process.charts import mermaid, text_picture

    return mermaid(*pictures) if kind == "mermaid" and pictures else "\n".join(map(text_picture, pictures))
