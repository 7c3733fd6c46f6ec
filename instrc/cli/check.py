"""`instrc check`: the problems of programs and vibes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from instrc import problems
from instrc.cli.options import ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.progress import watched
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import tell
from instrc.files import reason
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.source import Source
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
    fix: Annotated[
        bool, typer.Option("--fix", help="First apply the fixes that are safe; `--format json` shows them all.")
    ] = False,
) -> None:
    """Tell what is wrong with programs and vibes; the exit code is 1 if anything is."""
    one_stdin(*paths)
    found = Report()
    files = find(paths, found)

    def check() -> tuple[Problem, ...]:
        report = Report()
        report.problems += found.problems
        try:
            workspace = Workspace(root or (), shared or ())
            for path in watched(files, "Checking"):
                workspace.check(path, report)
        except CompileError as error:
            report.take(error)
        return report.once()

    if fix:
        _fix(files, check, found)
    left = check()
    show(left, shape, product=True)
    raise typer.Exit(verdict(left, strict=strict))


def _fix(files: list[str], check: Callable[[], tuple[Problem, ...]], report: Report) -> None:
    from instrc.cli.fixing import fix_files  # only if asked for

    try:
        for path, count in fix_files(files, check).items():
            tell(f"fixed {path}: {count} {'mistake' if count == 1 else 'mistakes'}\n")
    except OSError as error:
        where = str(error.filename or "a file")
        report.add(problems.rim.UnwritableOutput(at=Source(where, "").whole(), path=where, reason=reason(error)))
