"""`instrc show`: how a run stands."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.options import ProblemFormat
from instrc.cli.running import EngineName, RunId, Store, engine, exit_with, report_as_json, run_to_end
from instrc.cli.show import Format
from instrc.cli.terminal import write
from instrc.jsontext import dumps
from instrc.problems.problem import CompileError


def command(
    run: RunId,
    store: Store = None,
    engine_name: EngineName = None,
    record: Annotated[
        bool, typer.Option("--record", help="Also show everything that is recorded, in the shape of the process.")
    ] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Show the state of a run: its outcome, or what it waits for."""
    try:
        report = run_to_end(engine(store, engine_name, run=run).show(run))
    except CompileError as error:
        raise exit_with(error, shape) from None
    write(f"{dumps(report_as_json(report, record=record))}\n")
