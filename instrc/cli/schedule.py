"""`instrc schedule`: run programs on a schedule."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec import structs

from instrc.cli import options, run_common
from instrc.cli.run_common import engine
from instrc.cli.terminal import write, write_error, write_report
from instrc.text.jsontext import dumps

if TYPE_CHECKING:
    from instrc.engines.schedules import Schedule, Scheduling

schedule_group = typer.Typer(help="Run programs on a schedule, on a worker.", no_args_is_help=True, rich_markup_mode=None)

ScheduleName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the schedule.")]


def _scheduling(at: options.EngineGroup) -> Scheduling:
    from instrc.engines.schedules import Scheduling

    found = engine(structs.replace(at, engine_name=at.engine_name or "durable"))
    if not isinstance(found, Scheduling):
        options.refuse_use("schedules need a server: `--store postgresql://…`, or `--engine temporal`", "--engine")
    return found


def _line(found: Schedule, *, as_json: bool) -> None:
    if as_json:
        document = {"name": found.name, "program": found.program, **structs.asdict(found.clock)}
        document |= {"overlap": found.overlap, "due": found.due, "last": found.last}
        document |= {} if found.trouble is None else {"trouble": found.trouble}
        write(f"{dumps(document, indent=False)}\n")
        return
    due = "paused" if found.due is None else f"{datetime.fromtimestamp(found.due, tz=UTC):%Y-%m-%d %H:%M} UTC"
    last = f"  last run {found.last}" if found.last else ""
    last += "" if found.trouble is None else f"\n  the last tick began no run: {found.trouble}"
    write_report(f"{found.name}  {found.program}  {found.clock.cron}  {found.clock.zone}  overlap {found.overlap}  {due}{last}\n")


@schedule_group.command()
@options.expanded
def add(
    name: ScheduleName,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe, or a compiled document (.json).")],
    cron: Annotated[
        str, typer.Option("--cron", metavar="TIMES", help="Cron expression, for example '0 6 * * 1-5': 6:00 on weekdays.")
    ],
    at: options.EngineGroup,
    folders: options.FolderGroup,
    zone: Annotated[str, typer.Option("--zone", metavar="ZONE", help="Time zone, for example Europe/Berlin.")] = "UTC",
    given: options.Inputs = None,
    model: options.Model = None,
    export: options.Export = None,
    overlap: Annotated[
        Literal["skip", "queue", "both"],
        typer.Option("--overlap", help="If the last run is still active: skip a tick, queue one, or run both."),
    ] = "skip",
    as_json: options.AsJson = False,
) -> None:
    """Run a program on a schedule, with the plan that it has now."""
    from instrc.engines.launch import Launcher
    from instrc.engines.prepare import prepare
    from instrc.engines.schedules import Clock

    kept = _scheduling(at)
    prepared = prepare(file, export=export, project=folders.project)
    launch = Launcher(prepared, model=model).launch(run_common.given_inputs(given, prepared, file))
    made = kept.schedule(name, Clock(cron, zone), launch, overlap)
    _line(run_common.run_to_end(run_common.audited(kept, made, "add schedule", None, name)), as_json=as_json)


@schedule_group.command("list")
@options.expanded
def list_(
    at: options.EngineGroup,
    as_json: options.AsJson = False,
) -> None:
    """List the schedules of the store."""
    found = run_common.run_to_end(_scheduling(at).schedules())
    for each in found:
        _line(each, as_json=as_json)
    if not found and not as_json:
        write_error("there are no schedules\n")


def _about(action: str, said: str, work: Callable[[Scheduling, str], Coroutine[object, object, Schedule | str | None]]) -> None:
    """Add a command about one schedule, which shows the schedule, or the run that it has started."""

    @schedule_group.command(action, help=said)
    @options.expanded
    def command(name: ScheduleName, at: options.EngineGroup) -> None:
        kept = _scheduling(at)
        done = run_common.run_to_end(run_common.audited(kept, work(kept, name), f"{action} schedule", None, name))
        if done is None:
            write_error(f"{name} is removed\n")
        elif isinstance(done, str):
            write(f"{done}\n")
        else:
            _line(done, as_json=False)


_about("pause", "Start no runs until it is resumed; current runs go on.", lambda kept, name: kept.pause(name, paused=True))
_about("resume", "Start runs again.", lambda kept, name: kept.pause(name, paused=False))
_about("remove", "Remove a schedule; its runs stay.", lambda kept, name: kept.unschedule(name))
_about("trigger", "Start a run now, and print its id.", lambda kept, name: kept.trigger(name))
