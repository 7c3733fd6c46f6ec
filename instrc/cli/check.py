"""`instrc check`: the problems of programs and vibes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from instrc import problems
from instrc.checking.many import check_files
from instrc.cli.options import Locked, ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.progress import watched
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import tell
from instrc.files import reason
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.source import Source
from instrc.workspace import find


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Programs (.aug), vibes (.vibe.json), folders with both, or - for a program."),
    ] = None,
    shape: ProblemFormat = Format.TEXT,
    locked: Locked = False,
    root: Roots = None,
    shared: Shared = None,
    strict: Strict = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="First apply the fixes that are safe; `--format json` shows them all.")
    ] = False,
    dependents: Annotated[
        bool, typer.Option("--dependents", help="Check also the programs and vibes that use these, or what git sees deleted.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Check everything, whatever is known from earlier runs.")] = False,
) -> None:
    """Tell what is wrong with programs and vibes; the exit code is 1 if anything is."""
    paths = paths or []
    one_stdin(*paths)
    found = Report()
    files = find(paths, found)
    if dependents:
        from instrc.cli.dependents import with_dependents  # few ask for it

        files = with_dependents(files)
    elif not paths:
        message = "Missing argument 'PATH'."
        raise typer.BadParameter(message)

    def check() -> tuple[Problem, ...]:
        report = Report()
        report.problems += found.problems
        try:
            report.problems += check_files(
                files,
                root or (),
                shared or (),
                locked=locked,
                cached=not no_cache and not fix,
                watch=lambda paths: watched(paths, "Checking"),
            )
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
