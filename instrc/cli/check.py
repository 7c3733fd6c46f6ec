"""`instrc check`: the problems of programs and vibes."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.options import ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.progress import watched
from instrc.cli.show import Format, show, verdict
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import Workspace, find


def command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Programs (.aug), vibes (.vibe.json), folders with both, or - for a program."),
    ],
    shape: ProblemFormat = Format.TEXT,
    root: Roots = None,
    shared: Shared = None,
    strict: Strict = False,
) -> None:
    """Tell what is wrong with programs and vibes; the exit code is 1 if anything is."""
    one_stdin(*paths)
    report = Report()
    try:
        workspace = Workspace(root or (), shared or ())
        for path in watched(find(paths, report), "Checking"):
            workspace.check(path, report)
    except CompileError as error:
        report.take(error)
    problems = report.once()
    show(problems, shape, product=True)
    raise typer.Exit(verdict(problems, strict=strict))
