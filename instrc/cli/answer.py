"""`instrc answer`: answer what a run asks, and carry it on."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.live import Watcher
from instrc.cli.options import ProblemFormat
from instrc.cli.running import (
    EngineName,
    ResultOption,
    RunId,
    Store,
    deliver,
    engine,
    exit_with,
    files_of,
    given_value,
    refuse_output,
    run_to_end,
)
from instrc.cli.show import Format
from instrc.problems.problem import CompileError


def command(
    run: RunId,
    step: Annotated[str, typer.Argument(metavar="STEP", help="The question: its id, a step, or the name of a step.")],
    data: Annotated[str, typer.Option("--data", "-d", metavar="JSON", help="The answer; @FILE or - to read it.")],
    output: ResultOption = None,
    store: Store = None,
    engine_name: EngineName = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Answer a question of a run.

    Who answers is a person, or a system that answers later.
    """
    refuse_output(output, files_of(data))
    try:
        with Watcher(quiet=quiet) as sink:
            report = run_to_end(engine(store, engine_name, run=run, watch=sink).answer(run, step, given_value(data, data=True)))
    except CompileError as error:
        raise exit_with(error, shape) from None
    raise typer.Exit(deliver(report, quiet=quiet, output=output, store=store, engine_name=engine_name))
