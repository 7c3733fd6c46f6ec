"""`instrc types`: typed classes of Python for what a model fills in, its steps and its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared, one_stdin
from instrc.cli.show import FINE, Format, deliver_text, report_written, show, verdict
from instrc.files import shown_path
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import OptionOverrides, Workspace


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Programs (.aug), vibes (.vibe.json), or - for a program.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the module there.")] = None,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Write typed Python classes for tools, steps and results.

    They are pydantic models for `lift(...).as_model(CLASS)`; needs the extra `types`.
    """
    one_stdin(*files)
    if output is not None and output.suffix not in {"", ".py", ".pyi"}:
        message = f"the classes are a module of Python, whose name ends with .py: {output.stem}.py"
        raise typer.BadParameter(message, param_hint="'--output'")
    report = Report()
    text = ""
    try:
        workspace = Workspace(root or (), shared or (), locked=locked)
        compiled = [artefact for file in files for artefact in workspace.compile(file, OptionOverrides(hints=False), report)]
        if not report.failed:
            from instrc.classes.programs import module_of  # after the files are known to compile

            text = module_of(compiled, ", ".join(map(shown_path, files)))
    except CompileError as error:
        report.take(error)
    found = report.once()
    if verdict(found) == FINE:
        found = (
            *found,
            *deliver_text(text, output, lambda: [*files, *(each for file in files for each in workspace.files(file)())]),
        )
        if output is not None and verdict(found) == FINE:
            report_written([output], shape)
    show(found, shape)
    raise typer.Exit(verdict(found))
