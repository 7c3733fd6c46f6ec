"""`instrc resume`: continue a run that nobody carries out."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.live import Watcher
from instrc.cli.options import ProblemFormat
from instrc.cli.running import EngineName, RunId, Store, deliver, engine, exit_with, run_to_end
from instrc.cli.show import Format
from instrc.problems.problem import CompileError


def command(
    run: RunId,
    store: Store = None,
    engine_name: EngineName = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Continue a run that was interrupted, or whose timers have ended."""
    try:
        with Watcher(quiet=quiet) as sink:
            report = run_to_end(engine(store, engine_name, run=run, watch=sink).resume(run))
    except CompileError as error:
        raise exit_with(error, shape) from None
    raise typer.Exit(deliver(report, store=store, engine_name=engine_name))
