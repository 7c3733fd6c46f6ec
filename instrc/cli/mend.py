"""The commands that repair or delete runs: `retry`, `fork`, `delete`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli import options, run_common, run_display
from instrc.cli.run_common import engine
from instrc.cli.terminal import write_error

if TYPE_CHECKING:
    from instrc.runtime.engine_protocol import Engine
    from instrc.runtime.retry import ForkOptions, RetryOptions
    from instrc.runtime.run_report import RunReport

OtherModel = Annotated[str | None, typer.Option("--model", metavar="MODEL", help="Use this model for all chunks not done yet.")]


def retry_command(
    run: options.RunId,
    at: options.EngineGroup,
    step: Annotated[
        str | None, typer.Option("--from", metavar="STEP", help="Restart from this step, with all that depend on it.")
    ] = None,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Use new idempotency keys, so that services do not replay first answers.")
    ] = False,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, metavar="N", help="Maximum number of requests to models.")
    ] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=1, metavar="N", help="Maximum number of model tokens.")] = None,
    budget: options.Budget = None,
    model: OtherModel = None,
    output: options.ResultOption = None,
    quiet: options.Quiet = False,
) -> None:
    """Continue a run that has failed or is held.

    Failed steps run again; the results of finished ones are kept.
    `instrc runs --do retry` continues all runs that its filters select.
    """
    from instrc.runtime.retry import RetryOptions

    with run_display.Watcher(quiet=quiet) as sink:
        asked = RetryOptions(step, new_key, requests, tokens, tuple((budget or "").split(",")) if budget else (), _words(model))
        report = run_common.run_to_end(_retried(engine(at, run=run, watch=sink), run, asked))
    raise typer.Exit(run_common.deliver(report, at, quiet=quiet, output=output))


def _words(model: str | None) -> str | None:
    """Return a model spec with its file names resolved from the working folder."""
    from instrc.runtime.models.catalogue import words_from

    return None if model is None else words_from(model, Path())


async def _retried(kept: Engine, run: str, options: RetryOptions) -> RunReport:
    from instrc.engines.hosts import check_retry

    await check_retry(kept, run, options)
    return await run_common.audited(kept, kept.retry(run, options), "retry", run)


def fork_command(
    run: options.RunId,
    at: options.EngineGroup,
    step: Annotated[
        str | None, typer.Option("--at", metavar="STEP", help="Repeat this step and all that depend on it; STEP,STEP: several.")
    ] = None,
    edits: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="STEP=JSON", help="Replace the result of a step. Repeatable."),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option("--program", metavar="FILE", help="Another version of the program, if it fits the steps already done."),
    ] = None,
    export: options.Export = None,
    model: OtherModel = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--setting", metavar="NAME=VALUE", help="Request settings of models from now on: temperature=0.9, seed=2."),
    ] = None,
    run_id: Annotated[str | None, typer.Option("--id", metavar="RUN", help="The id of the new run.")] = None,
    output: options.ResultOption = None,
    quiet: options.Quiet = False,
) -> None:
    """Begin another run with the results of a run.

    The original run stays unchanged. Repeated steps have new keys, so services perform them again.
    """
    from instrc.runtime.retry import ForkOptions

    with run_display.Watcher(quiet=quiet) as sink:
        given = options.settings_of(settings)
        results = options.pairs_of(edits, "--set takes STEP=JSON")
        options.one_stdin(*(data.removeprefix("@") for data in results.values()))
        values = {key: run_common.given_value(data, data=True) for key, data in results.items()}
        asked = ForkOptions(step, values, run_id, model=_words(model), settings=given)
        report = run_common.run_to_end(_forked(engine(at, run=run, watch=sink), run, asked, program, export))
    raise typer.Exit(run_common.deliver(report, at, quiet=quiet, output=output))


async def _forked(kept: Engine, run: str, asked: ForkOptions, program: str | None, export: str | None) -> RunReport:
    from instrc.engines.launch import forked, version_of
    from instrc.engines.prepare import prepare

    version = None if program is None else lambda before: version_of(before, prepare(program, export=export))
    launch = await forked(kept, run, asked, version)
    work = run_common.audited(kept, kept.start(launch), "fork", launch.run, sent=dict(asked.edits) or None)
    for step, value in asked.edits.items():
        work = run_common.audited(kept, work, "set", launch.run, step, value)
    return await work


def delete_command(
    run: options.RunId,
    at: options.EngineGroup,
    quiet: options.Quiet = False,
) -> None:
    """Delete a run that has ended.

    Its trace, and the runs below it, are deleted too.
    `instrc runs --do delete` deletes all runs that its filters select.
    """
    kept = engine(at, run=run)
    run_common.run_to_end(run_common.audited(kept, kept.delete(run), "delete", run))
    if not quiet:
        write_error(f"{run} is deleted\n")
