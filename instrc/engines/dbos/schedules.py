"""Schedules of a store: a table next to the messages. A tick starts a run whose id contains its time, so it starts once."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Final, TypeAlias, cast

import sqlalchemy as sa

from instrc.engines.schedules import Clock, Overlap, Schedule, missing, taken
from instrc.problems.errors import InstrcError
from instrc.runtime.run_config import LaunchDocument
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import JsonObject, as_object

Put: TypeAlias = "Callable[[LaunchDocument], object]"
"""Writes a run into its project's queue and into the run table, unless another worker has."""
_TABLE: Final = sa.Table(
    "instrc_schedules",
    sa.MetaData(),
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("cron", sa.Text, nullable=False),
    sa.Column("zone", sa.Text, nullable=False),
    sa.Column("due", sa.Double, nullable=True),
    sa.Column("last", sa.Text, nullable=True),
    sa.Column("program", sa.Text, nullable=False),
    sa.Column("launch", sa.Text, nullable=False),
)


def schedules_of(engine: sa.Engine) -> list[Schedule]:
    """Return the schedules of a store, by name."""
    if not sa.inspect(engine).has_table(_TABLE.name):
        return []
    with engine.connect() as connection:
        return [_schedule(row) for row in connection.execute(sa.select(_TABLE).order_by(_TABLE.c.name))]


def _schedule(row: sa.Row[tuple[object, ...]]) -> Schedule:
    columns = row._mapping  # noqa: SLF001  -- its public name
    notes = as_object(loads(columns["launch"]))
    trouble, overlap = cast("str | None", notes.get("trouble")), cast("Overlap", notes.get("overlap", "skip"))
    clock = Clock(columns["cron"], columns["zone"])
    return Schedule(columns["name"], clock, columns["program"], columns["due"], columns["last"], trouble, overlap)


def add(engine: sa.Engine, name: str, clock: Clock, launch: LaunchDocument, overlap: Overlap) -> Schedule:
    """Add a schedule; raise if the name exists."""
    _TABLE.create(engine, checkfirst=True)
    row = {"name": name, "cron": clock.cron, "zone": clock.zone, "due": clock.after(time()), "program": launch["name"]}
    try:
        with engine.begin() as connection:
            connection.execute(sa.insert(_TABLE).values(**row, launch=dumps({**launch, "overlap": overlap}, indent=False)))
    except sa.exc.IntegrityError:
        raise taken(name) from None
    return one(engine, name)


def one(engine: sa.Engine, name: str) -> Schedule:
    """Return a schedule; raise `NotFoundError` if there is none."""
    found = next((each for each in schedules_of(engine) if each.name == name), None)
    if found is None:
        raise missing(name)
    return found


def pause(engine: sa.Engine, name: str, *, paused: bool) -> Schedule:
    """Pause a schedule, or resume it from now on; missed ticks are not made up for."""
    schedule = one(engine, name)
    due = None if paused else schedule.clock.after(time())
    with engine.begin() as connection:
        connection.execute(sa.update(_TABLE).where(_TABLE.c.name == name).values(due=due))
    return one(engine, name)


def remove(engine: sa.Engine, name: str) -> None:
    """Remove a schedule."""
    one(engine, name)
    with engine.begin() as connection:
        connection.execute(sa.delete(_TABLE).where(_TABLE.c.name == name))


def trigger(engine: sa.Engine, put: Put, name: str) -> str:
    """Start a run now; return its id."""
    return _begin(engine, put, one(engine, name), time())


def _begin(engine: sa.Engine, put: Put, schedule: Schedule, moment: float) -> str:
    run = schedule.run_at(moment)
    launch = _launch_of(engine, schedule.name)
    put(cast("LaunchDocument", {**{key: value for key, value in launch.items() if key != "overlap"}, "run": run}))
    _note(engine, schedule.name, last=run, launch=launch)
    return run


def _launch_of(engine: sa.Engine, name: str) -> JsonObject:
    """Return the launch of a schedule, with its `overlap`, without the error of its latest tick."""
    with engine.connect() as connection:
        launch = as_object(loads(connection.execute(sa.select(_TABLE.c.launch).where(_TABLE.c.name == name)).scalar_one()))
    return {key: value for key, value in launch.items() if key != "trouble"}


def _note(engine: sa.Engine, name: str, *, launch: JsonObject, **columns: str | None) -> None:
    with engine.begin() as connection:
        noted = sa.update(_TABLE).where(_TABLE.c.name == name)
        connection.execute(noted.values(**columns, launch=dumps(launch, indent=False)))


def begin_due(engine: sa.Engine, put: Put, goes_on: Callable[[str], bool], now: float) -> None:
    """Start the runs that are due. If the last run is still active, `overlap` decides; missed ticks become one.

    A schedule that cannot begin its run misses the tick, and one whose times cannot be read is paused; both say why.
    """
    for schedule in schedules_of(engine):
        if schedule.due is None or schedule.due > now:
            continue
        is_active = schedule.overlap != "both" and schedule.last is not None and goes_on(schedule.last)
        if is_active and schedule.overlap == "queue":
            continue  # it stays due, which makes it the waiting one
        due = None
        try:
            due = schedule.clock.after(now)
            if not is_active:
                _begin(engine, put, schedule, schedule.due)
        except InstrcError as error:
            _note(engine, schedule.name, launch={**_launch_of(engine, schedule.name), "trouble": str(error)})
        with engine.begin() as connection:  # of several workers only the first advances it
            moved = sa.update(_TABLE).where(_TABLE.c.name == schedule.name, _TABLE.c.due == schedule.due)
            connection.execute(moved.values(due=due))
