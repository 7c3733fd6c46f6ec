"""`instrc run`: run a program, until it ends or waits for somebody."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.live import Watcher
from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared
from instrc.cli.running import (
    EngineName,
    ResultOption,
    Store,
    deliver,
    engine,
    exit_with,
    files_of,
    given_value,
    refuse_output,
    run_to_end,
    show_warnings,
    warn_of_made_up_answers,
)
from instrc.cli.show import FINE, PROBLEMS, Format
from instrc.cli.terminal import write_error
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError

if TYPE_CHECKING:
    from instrc.launching.launcher import Launcher
    from instrc.launching.preparing import Prepared
    from instrc.runtime.engine import Launch
    from instrc.runtime.interpreter.commands import UserCommand

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="The model that fills in the chunks: sample, scripted:FILE, or PROVIDER:NAME, as openai:gpt-5.",
    ),
]

EveryBranch = Annotated[
    bool, typer.Option("--every-branch", help="Rehearse the program until each branch was taken; print a line for each run.")
]
Items = Annotated[
    str | None,
    typer.Option("--items", metavar="FILE", help="Run once for each line of JSON (- reads them), print a line for each."),
]
Batch = Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Chunks of one kind that share a call of the model.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, metavar="N", help="With --items, calls at the same time; 4 unless given.")
]


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe, a compiled document (.json), or -.")],
    given: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="INPUT", help="The prompt, or an object of inputs; @FILE or - to read it."),
    ] = None,
    model: ModelOption = None,
    engine_name: EngineName = None,
    export: Annotated[str | None, typer.Option("--export", metavar="NAME", help="Which of several programs in the file.")] = None,
    rehearse: Annotated[bool, typer.Option("--rehearse", help="Generate the results of activities from their schemas.")] = False,
    every_branch: EveryBranch = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask questions to people in this terminal.")] = False,
    run_id: Annotated[str | None, typer.Option("--id", metavar="RUN", help="The id of the run; generated unless given.")] = None,
    requests: Annotated[int | None, typer.Option("--requests", min=0, help="How often models may be asked.")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=0, help="How many tokens models may use.")] = None,
    items: Items = None,
    batch: Batch = 1,
    concurrency: Concurrency = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    output: ResultOption = None,
    store: Store = None,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Run a program: a tool, a direct call, or a process."""
    from instrc.cli.items import stream
    from instrc.cli.rehearsal import refuse_with_every_branch, rehearse_all
    from instrc.launching.launcher import new_id
    from instrc.launching.preparing import prepare

    try:
        prompt = None if given is None else given_value(given)
        prepared = prepare(file, export=export, roots=root or (), shared=shared or (), locked=locked)
        refuse_output(output, [*prepared.sources(), *files_of(given), *([] if items is None else [items])])
        show_warnings([prepared], shape, quiet=quiet)
        if every_branch:
            kept = {"--engine": engine_name, "--items": items, "--id": run_id, "--store": store, "--ask": ask, "--model": model}
            refuse_with_every_branch(
                {**kept, "--requests": requests, "--tokens": tokens, "--batch": batch > 1, "--concurrency": concurrency}
            )
            raise typer.Exit(rehearse_all(prepared, prompt, as_json=as_json, output=output))
        _refuse_idle(items, {"--input": given, "--ask": ask, "--json": as_json}, concurrency)
        warn_of_made_up_answers(model, prepared.settings, rehearse=rehearse)
        launcher = _launcher(prepared, model, batch=batch, requests=requests, tokens=tokens, rehearse=rehearse)
        if items is not None:
            open_ = engine(store, engine_name, keep="open")
            launch = partial(_launch_item, launcher, run_id or new_id(prepared.name))
            failed = run_to_end(stream(items, launch, open_, window=batch * (concurrency or 4), output=output))
            raise typer.Exit(PROBLEMS if failed else FINE)
        begun = launcher.launch(prompt, run_id)
        with (watcher := Watcher(as_json=as_json, quiet=quiet)) as sink:
            report = run_to_end(engine(store, engine_name, people=_asked(watcher) if ask else None, watch=sink).start(begun))
    except CompileError as error:
        raise exit_with(error, shape) from None
    raise typer.Exit(deliver(report, as_json=as_json, quiet=quiet, output=output, store=store, engine_name=engine_name))


def _refuse_idle(items: str | None, options: dict[str, object], concurrency: int | None) -> None:
    """Refuse options that say nothing beside `--items`, or without it."""
    for name, value in options.items():
        if items is not None and value is not None and value is not False:
            message = (
                f"{name} says nothing beside --items: each line is the input of a run of its own, and one line is printed for it"
            )
            raise typer.BadParameter(message)
    if items is None and concurrency is not None:
        message = "--concurrency belongs to --items"
        raise typer.BadParameter(message)


def _launcher(
    prepared: Prepared, model: str | None, *, batch: int, requests: int | None, tokens: int | None, rehearse: bool
) -> Launcher:
    """Return what begins runs of a program, with its models and activities."""
    from instrc.launching.equipping import how_of
    from instrc.launching.handlers import all_activities
    from instrc.launching.launcher import Launcher
    from instrc.runtime.activities import Activities

    how = how_of(prepared, model=model, rehearse=rehearse, batch=batch)
    known = all_activities(prepared, Activities(), rehearse=rehearse)
    return Launcher(prepared, activities=known, requests=requests, tokens=tokens, how=how, rehearse=rehearse)


def _launch_item(launcher: Launcher, name: str, number: int, given: Json) -> Launch:
    """Return one of several runs, whose id is that of all with its number."""
    return launcher.launch(given, f"{name}.{number}")


class _asked:  # noqa: N801  -- reads as what it does: questions asked here
    """Asks a person in this terminal; an empty line leaves the question open."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def __call__(self, command: UserCommand) -> Json:
        """Show what is asked, and read the answer as JSON."""
        with self.watcher.paused():
            write_error(f"\n{command['id']} ({', '.join(command['steps'])})\n{dumps(command['show'])}\n")
            write_error(f"The answer follows this schema:\n{dumps(command['schema'])}\n> ")
            try:
                line = input()
            except EOFError:
                return None
        if not line.strip():
            return None
        try:
            return loads(line)
        except ValueError:
            return line
