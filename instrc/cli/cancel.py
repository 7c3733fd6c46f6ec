"""`instrc cancel`: end a run."""

from __future__ import annotations

import typer

from instrc.cli.options import ProblemFormat
from instrc.cli.running import EngineName, RunId, Store, deliver, engine, exit_with, run_to_end
from instrc.cli.show import Format
from instrc.problems.problem import CompileError


def command(run: RunId, store: Store = None, engine_name: EngineName = None, shape: ProblemFormat = Format.TEXT) -> None:
    """End a run; steps that it has completed are not undone."""
    try:
        report = run_to_end(engine(store, engine_name, run=run).cancel(run))
    except CompileError as error:
        raise exit_with(error, shape) from None
    raise typer.Exit(deliver(report, store=store, engine_name=engine_name))
