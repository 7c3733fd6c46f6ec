"""`instrc new`: the first text of an instruction, a mixin or a process."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from instrc.arguments import excerpt
from instrc.cli.beginning import write_new
from instrc.cli.options import ProblemFormat
from instrc.cli.show import Format, show, verdict
from instrc.naming import file_name
from instrc.problems.files import FileExists
from instrc.problems.problem import CompileError, Problem
from instrc.problems.suggest import comparison_key
from instrc.scaffold.one_file import new
from instrc.source import Source
from instrc.vibes.project import read_settings
from instrc.vibes.roots import ENDING

_WAY_OUT = "programs would find both by this name: choose another one, or remove the file"


class NewKind(StrEnum):
    """What is begun."""

    INSTRUCTION = "instruction"
    MIXIN = "mixin"
    PROCESS = "process"


def command(
    kind: Annotated[NewKind, typer.Argument(metavar="KIND", help="instruction, mixin or process.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="For example FindSlot, Send_Activity or mail/FindSlot.")],
    root: Annotated[
        Path | None, typer.Option("--root", metavar="DIR", help="The folder of vibes; by default the first of the project.")
    ] = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Create an instruction, a mixin or a process.

    Instructions and mixins are vibes, processes are programs; nothing is overwritten.
    """
    try:
        roots = read_settings(Path()).roots if root is None else (root,)
    except CompileError as error:
        show(error.problems, shape)
        raise typer.Exit(verdict(error.problems)) from None
    files = new(kind.value, name, roots[0].as_posix() if roots else "schemas")
    if files is None:
        message = f"{excerpt(name)} cannot be a name: each of its parts needs letters or digits"
        raise typer.BadParameter(message)
    for part in (*name.replace("\\", "/").split("/")[:-1], *(Path(path).name for path in files)):
        if file_name(part) != part:
            plain = "x" * len(part.encode("utf-8", "surrogatepass"))  # as long, and nothing else that a file system minds
            reason = f"no file can be called `{part}` on Windows" if file_name(plain) == plain else "it is too long for a file"
            message = f"{excerpt(name)} cannot be a name: {reason}"
            raise typer.BadParameter(message)
    if alike := [problem for path in files for problem in _found_by_the_same_name(Path(path))]:
        show(alike, shape)
        raise typer.Exit(verdict(alike))
    raise typer.Exit(write_new({Path(path): text for path, text in files.items()}, shape))


def _found_by_the_same_name(path: Path) -> list[Problem]:
    """Return a problem for each vibe beside a new one that programs would find by the same name: `Find` beside `find`."""
    if not path.name.endswith(ENDING) or path.exists():
        return []
    name = comparison_key(path.name.removesuffix(ENDING))
    return [
        FileExists(at=Source(other.as_posix(), "").whole(), path=other.as_posix(), way_out=_WAY_OUT)
        for other in sorted(path.parent.glob(f"*{ENDING}"))
        if comparison_key(other.name.removesuffix(ENDING).partition("@")[0]) == name
    ]
