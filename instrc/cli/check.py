"""`instrc check`: the problems of programs and vibes."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.reviewing import review_files
from instrc.cli.show import Format


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Programs (.aug), vibes (.vibe.json), folders, or - for a program; by default the current folder.",
        ),
    ] = None,
    shape: ProblemFormat = Format.TEXT,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    strict: Strict = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="First apply the fixes that are safe; `--format json` shows them all.")
    ] = False,
    dependents: Annotated[
        bool,
        typer.Option("--dependents", help="Also check the programs and vibes that use these, or that use files deleted in git."),
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Check everything again, without results of earlier runs.")
    ] = False,
) -> None:
    """Report problems in programs and vibes.

    The exit code is 1 if there are errors.
    """
    paths = paths or ([] if dependents else ["."])  # a hook gives no file if one was only deleted
    one_stdin(*paths)
    code = review_files(
        paths,
        shape=shape,
        locked=locked,
        root=root,
        shared=shared,
        strict=strict,
        fix=fix,
        dependents=dependents,
        cached=not no_cache,
    )
    raise typer.Exit(code)
