"""`instrc schedule`: programs that begin by the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli import options, running
from instrc.cli.output import Format
from instrc.cli.running import engine
from instrc.cli.terminal import write, write_error, write_report
from instrc.text.jsontext import dumps

if TYPE_CHECKING:
    from instrc.engines.schedules import Schedule, Scheduling

schedule_group = typer.Typer(
    help="Begin programs by the clock: a worker of the store carries them.", no_args_is_help=True, rich_markup_mode=None
)
ScheduleName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the schedule.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a line of JSON for each schedule.")]


def _scheduling(store: options.Store, name: str | None) -> Scheduling:
    from instrc.engines.schedules import Scheduling

    found = engine(store, name)
    if not isinstance(found, Scheduling):
        options.refuse_use(
            "only the engine `durable` keeps schedules, in a store on a server: `--store postgresql://…`", "--engine"
        )
    return found


def _line(found: Schedule, *, as_json: bool) -> None:
    if as_json:
        clock = {"cron": found.clock.cron, "zone": found.clock.zone}
        said = {"name": found.name, "program": found.program, **clock, "due": found.due, "last": found.last}
        write(f"{dumps(said, indent=False)}\n")
        return
    due = "paused" if found.due is None else f"{datetime.fromtimestamp(found.due, tz=UTC):%Y-%m-%d %H:%M} UTC"
    last = f"  last run {found.last}" if found.last else ""
    write_report(f"{found.name}  {found.program}  {found.clock.cron}  {found.clock.zone}  {due}{last}\n")


@schedule_group.command()
def add(
    name: ScheduleName,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe, or a compiled document (.json).")],
    cron: Annotated[str, typer.Option("--cron", metavar="TIMES", help="When, as '0 6 * * 1-5': 6 o'clock on weekdays.")],
    zone: Annotated[str, typer.Option("--zone", metavar="ZONE", help="Whose time is meant, as Europe/Berlin.")] = "UTC",
    given: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="INPUT", help="The prompt, or an object of inputs; @FILE or - to read it."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="As in `run`.")] = None,
    export: Annotated[str | None, typer.Option("--export", metavar="NAME", help="Which of several programs in the file.")] = None,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    root: options.Roots = None,
    shared: options.Shared = None,
    as_json: AsJson = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Begin a program again and again.

    Its runs have the plan that it has now. One that would begin while the last one goes on is left out.
    """
    from instrc.engines.launch import Launcher
    from instrc.engines.prepare import prepare
    from instrc.engines.schedules import Clock

    with options.exit_on_problems(shape):
        prompt = None if given is None else running.given_value(given)
        clock = Clock(cron, zone)
        launcher = Launcher(prepare(file, export=export, project=options.project_of(root, shared)), model=model)
        work = _scheduling(store, engine_name).schedule(name, clock, launcher.launch(prompt))
        _line(running.run_to_end(work), as_json=as_json)


@schedule_group.command("list")
def list_(
    store: options.Store = None,
    engine_name: options.EngineName = None,
    as_json: AsJson = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """List the schedules of the store."""
    with options.exit_on_problems(shape):
        found = running.run_to_end(_scheduling(store, engine_name).schedules())
    for each in found:
        _line(each, as_json=as_json)
    if not found and not as_json:
        write_error("there are no schedules\n")


@schedule_group.command()
def pause(
    name: ScheduleName,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Begin no run until `instrc schedule resume`; those under way go on."""
    with options.exit_on_problems(shape):
        _line(running.run_to_end(_scheduling(store, engine_name).pause(name, paused=True)), as_json=False)


@schedule_group.command()
def resume(
    name: ScheduleName,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Begin runs again from now on."""
    with options.exit_on_problems(shape):
        _line(running.run_to_end(_scheduling(store, engine_name).pause(name, paused=False)), as_json=False)


@schedule_group.command()
def remove(
    name: ScheduleName,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Remove a schedule; its runs stay."""
    with options.exit_on_problems(shape):
        running.run_to_end(_scheduling(store, engine_name).unschedule(name))
        write_error(f"{name} is removed\n")


@schedule_group.command()
def trigger(
    name: ScheduleName,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Begin a run now, and print its id."""
    with options.exit_on_problems(shape):
        write(f"{running.run_to_end(_scheduling(store, engine_name).trigger(name))}\n")
