"""The schedules of a store: a table beside the mail. A tick begins a run under an id of its moment, so it begins once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import time
from typing import Final, cast

import sqlalchemy as sa
from dbos import DBOSClient

from instrc.engines.dbos import store
from instrc.engines.schedules import Clock, Schedule, missing, renewed, taken
from instrc.problems.errors import InstrcError
from instrc.runtime.run_launch import LaunchDocument
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import as_object

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
    if not _there(engine):
        return []
    with engine.connect() as connection:
        return [_schedule(row) for row in connection.execute(sa.select(_TABLE).order_by(_TABLE.c.name))]


def _there(engine: sa.Engine) -> bool:
    return sa.inspect(engine).has_table(_TABLE.name)


def _schedule(row: sa.Row[tuple[object, ...]]) -> Schedule:
    found = row._mapping  # noqa: SLF001  -- its public name
    clock, trouble = Clock(found["cron"], found["zone"]), as_object(loads(found["launch"])).get("trouble")
    return Schedule(found["name"], clock, found["program"], found["due"], found["last"], cast("str | None", trouble))


def add(engine: sa.Engine, name: str, clock: Clock, launch: LaunchDocument) -> Schedule:
    """Add a schedule; one of the same name is a problem."""
    _TABLE.create(engine, checkfirst=True)
    row = {"name": name, "cron": clock.cron, "zone": clock.zone, "due": clock.after(time()), "program": launch["name"]}
    try:
        with engine.begin() as connection:
            connection.execute(sa.insert(_TABLE).values(**row, launch=dumps(launch, indent=False)))
    except sa.exc.IntegrityError:
        raise taken(name) from None
    return one(engine, name)


def one(engine: sa.Engine, name: str) -> Schedule:
    """Return a schedule; that there is none is a problem."""
    found = next((each for each in schedules_of(engine) if each.name == name), None)
    if found is None:
        raise missing(name)
    return found


def pause(engine: sa.Engine, name: str, *, paused: bool) -> Schedule:
    """Begin no run of a schedule, or begin them again from now on: those that it has missed are not made up for."""
    due = None if paused else one(engine, name).clock.after(time())
    one(engine, name)
    with engine.begin() as connection:
        connection.execute(sa.update(_TABLE).where(_TABLE.c.name == name).values(due=due))
    return one(engine, name)


def remove(engine: sa.Engine, name: str) -> None:
    """Remove a schedule."""
    one(engine, name)
    with engine.begin() as connection:
        connection.execute(sa.delete(_TABLE).where(_TABLE.c.name == name))


def trigger(engine: sa.Engine, client: DBOSClient, name: str) -> str:
    """Begin a run now; return its id."""
    return _begin(engine, client, one(engine, name), time())


def _begin(engine: sa.Engine, client: DBOSClient, schedule: Schedule, moment: float) -> str:
    run = schedule.run_at(moment)
    with engine.connect() as connection:
        text = connection.execute(sa.select(_TABLE.c.launch).where(_TABLE.c.name == schedule.name)).scalar_one()
    launch = as_object(loads(text))
    launch.pop("trouble", None)
    noted = sa.update(_TABLE).where(_TABLE.c.name == schedule.name)
    try:
        anew = renewed(launch["how"], run)
    except InstrcError as error:
        with engine.begin() as connection:
            connection.execute(noted.values(launch=dumps({**launch, "trouble": str(error)}, indent=False)))
        raise
    begun = {**cast("LaunchDocument", launch), "run": run} if anew is None else store.launch_json(anew)
    store.enqueue(client, begun)
    with engine.begin() as connection:
        connection.execute(noted.values(last=run, launch=dumps(launch, indent=False)))
    return run


def begin_due(engine: sa.Engine, client: DBOSClient, goes_on: Callable[[str], bool], now: float) -> None:
    """Begin what is due. A schedule whose last run goes on misses the tick; ticks that nobody saw become one.

    One whose program cannot be compiled any more misses it too, and says why.
    """
    for each in schedules_of(engine):
        if each.due is None or each.due > now:
            continue
        if each.last is None or not goes_on(each.last):
            with suppress(InstrcError):  # noted with the schedule
                _begin(engine, client, each, each.due)
        with engine.begin() as connection:  # of several workers only the first moves it on
            moved = sa.update(_TABLE).where(_TABLE.c.name == each.name, _TABLE.c.due == each.due)
            connection.execute(moved.values(due=each.clock.after(now)))
