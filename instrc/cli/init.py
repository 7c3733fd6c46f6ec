"""`instrc init`: a project that compiles at once."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from instrc.cli.beginning import write_new
from instrc.cli.options import ProblemFormat
from instrc.cli.show import FINE, Format
from instrc.cli.terminal import write_error
from instrc.regular import is_regular, read_whole
from instrc.scaffold.project import PROGRAM, SETTINGS, project, with_table


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; by default the current one.")] = Path(),
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Create a project: a program, its vibes, cases and settings.

    Nothing is overwritten.

    The table [tool.instrc] is added to an existing pyproject.toml.
    """
    files = {folder / path: text for path, text in project().items()}
    kept = [path for path in files if _may_stay(path)]
    replaced: list[Path] = []
    for path in kept:
        joined = _with_table(path) if path.name == SETTINGS else None
        if joined is None:
            del files[path]
        else:
            files[path] = joined
            replaced.append(path)
    way_out = "the project is there already: `instrc new instruction NAME` adds an instruction to it"
    code = write_new(files, shape, replacing=replaced, way_out=way_out)
    if code == FINE and shape is Format.TEXT:
        for path in kept:
            if path not in replaced:
                write_error(f"kept {path.as_posix()} as it is\n")
        write_error(f"next: {'' if folder == Path() else f'cd {_in_shell(folder)} && '}instrc compile {PROGRAM}\n")
    raise typer.Exit(code)


def _in_shell(folder: Path) -> str:
    """Return a path as a shell takes it."""
    path = folder.as_posix()
    path = f"./{path}" if path.startswith("-") else path  # else it would be an option
    if os.name == "nt":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)


def _may_stay(path: Path) -> bool:
    """Tell whether a file is there and may be another's: settings of tools, not our program and its vibes."""
    return (path.name == SETTINGS or path.name.startswith(".") or path.parent.name.startswith(".")) and is_regular(str(path))


def _with_table(path: Path) -> str | None:
    """Return the settings of the project with our table behind them; `None` to leave them as they are."""
    try:
        return with_table(read_whole(str(path)).decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
