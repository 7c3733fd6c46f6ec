"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from instrc.cli.output import Format
from instrc.vibes.find_files import STDIN

if TYPE_CHECKING:
    from instrc.vibes.project import Project

Roots: TypeAlias = Annotated[
    list[str] | None, typer.Option("--root", metavar="DIR", help="A folder of vibes; before those of the project. Repeatable.")
]
Shared: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--shared", metavar="DIR", help="A shared folder of vibes, after those of the project. Repeatable."),
]
ProblemFormat: TypeAlias = Annotated[Format, typer.Option("--format", help="How problems are written.")]
LockedOption: TypeAlias = Annotated[bool, typer.Option("--locked", help="Use only the vibes in aug.lock; see `instrc lock`.")]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]


def project_of(root: list[str] | None, shared: list[str] | None, *, locked: bool = False) -> Project:
    """Return what the options `--root`, `--shared` and `--locked` say of a project."""
    from instrc.vibes.project import Project  # many commands read no vibes

    return Project(tuple(root or ()), tuple(shared or ()), locked)


def one_stdin(*paths: str) -> None:
    """Refuse a command line that would read the standard input twice."""
    if paths.count(STDIN) > 1:
        message = "the standard input (-) can be read once only"
        raise typer.BadParameter(message)
