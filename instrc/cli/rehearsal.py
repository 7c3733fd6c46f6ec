"""`instrc run --every-branch`: rehearse a program until each branch was taken, a line for each run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from instrc.cli.outputs import write_files
from instrc.cli.show import FINE, PROBLEMS, refuse
from instrc.cli.terminal import write
from instrc.files import reason
from instrc.jsontext import dumps
from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.launching.preparing import Prepared


def rehearse_all(prepared: Prepared, given: Json, *, as_json: bool, output: Path | None) -> int:
    """Show a run for each branch, and the branches that none was found for; return the exit code."""
    from instrc.running import rehearsal

    found = rehearsal(prepared, given)
    text = "".join(f"{dumps(each, indent=False)}\n" for each in found.to_json()) if as_json else f"{found}\n"
    if output is None:
        write(text)
    else:
        try:
            write_files({output: text})
        except OSError as error:
            return refuse(str(output), reason(error))
    return FINE if found.sound else PROBLEMS


def refuse_beside(options: dict[str, object]) -> None:
    """Refuse options that say nothing where every branch is rehearsed."""
    for name, value in options.items():
        if value is not None and value is not False:  # 0 is said as well
            message = f"{name} says nothing beside --every-branch: all answers are made up, and no run is kept"
            raise typer.BadParameter(message)
