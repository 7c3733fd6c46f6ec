"""`instrc run --every-branch`: rehearse a program until each branch was taken, a line for each run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from instrc.cli.show import FINE, PROBLEMS, Format, deliver_text, show
from instrc.jsontext import dumps
from instrc.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.launching.preparing import Prepared


def rehearse_all(prepared: Prepared, given: Json, *, as_json: bool, output: Path | None) -> int:
    """Show a run for each branch, and the branches that none was found for; return the exit code."""
    from instrc.running import rehearsal

    found = rehearsal(prepared, given)
    text = "".join(f"{dumps(each, indent=False)}\n" for each in found.to_json()) if as_json else f"{found}\n"
    unwritten = deliver_text(text, output)
    show(unwritten, Format.TEXT)
    return FINE if found.sound and not unwritten else PROBLEMS


def refuse_with_every_branch(options: dict[str, object]) -> None:
    """Refuse options that say nothing where every branch is rehearsed."""
    for name, value in options.items():
        if value is not None and value is not False:  # 0 is said as well
            message = f"{name} says nothing beside --every-branch: all answers are made up, and no run is kept"
            raise typer.BadParameter(message)
