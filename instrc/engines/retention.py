"""Delete data older than a service's retention settings: a worker or service does so hourly, in small batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import Final, TypeAlias

import sqlalchemy as sa

from instrc.engines.background import Tolerated
from instrc.engines.projects import project_here
from instrc.engines.run_table import RunTable, move_cursor, runs_query
from instrc.engines.service_tables import AUDIT, CURSORS, DELIVERIES, FEED, HOOKS, MESSAGES, NONCES, REQUESTS, RUNS
from instrc.problems.errors import ConflictError, NotFoundError
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.run_report import OPEN, RunFilter
from instrc.text.jsontext import digest_of

Kept: TypeAlias = Mapping[str, float | None]
"""Retention periods in seconds by setting; `None`: for ever."""
_EVERY: Final = 3600.0
"""Seconds between two sweeps of a store, whichever process makes them."""
_TURN: Final = "swept"
"""Cursor of the latest sweep, with the digest of a project's name: projects of one store keep their runs for different times."""
_BATCH: Final = 100
"""Number of runs deleted together; five times as many for other rows."""
_PAUSE: Final = 0.05
"""Seconds between two batches, so that waiting writers can proceed."""


async def keep_swept(engine: Engine, table: Callable[[], RunTable], kept: Kept) -> None:
    """Sweep a store hourly for the project of the current folder, unless another process does.

    `table` is called each time, as the store may be closed meanwhile.
    """
    project, deleting = project_here(), Tolerated("deleting old data")
    while True:
        with deleting:
            if await asyncio.to_thread(lambda: _take_turn(table(), project or "")):
                await sweep(engine, table(), kept, project)
        await asyncio.sleep(_EVERY / 10)


async def sweep(engine: Engine, table: RunTable, kept: Kept, project: str | None = None) -> int:
    """Delete expired data: runs of a project (`None`: of those without a name), and other rows; return the number of rows."""
    now, swept = time(), 0
    if kept["runs"] is not None:
        old = RunFilter(ended=now - kept["runs"], project=project or "")
        listed = await asyncio.to_thread(table.runs, runs_query(old), None)  # a server may have deleted their histories
        runs = [*dict.fromkeys([*await engine.run_ids(old), *(row.run for row in listed)])]
        for first in range(0, len(runs), _BATCH):
            swept += await _delete_runs(engine, runs[first : first + _BATCH])
            await asyncio.sleep(_PAUSE)
    goes_on = sa.select(RUNS.c.run).where(RUNS.c.status.in_(OPEN))  # its next messages are numbered after these
    sends = sa.union(goes_on, sa.select(MESSAGES.c.run).where(MESSAGES.c.run.is_not(None)))  # or has a message to deliver
    for source, column, condition, span in (
        (FEED, FEED.c.number, FEED.c.number < sa.select(sa.func.max(FEED.c.number)).scalar_subquery(), kept["feed"]),
        (AUDIT, AUDIT.c.number, AUDIT.c.number < sa.select(sa.func.max(AUDIT.c.number)).scalar_subquery(), kept["audit"]),
        (REQUESTS, REQUESTS.c.key, sa.true(), kept["idempotency_keys"]),
        (NONCES, NONCES.c.nonce, sa.true(), kept["links"]),
        (MESSAGES, MESSAGES.c.id, MESSAGES.c.run.not_in(goes_on), kept["messages"]),
        (HOOKS, HOOKS.c.id, sa.and_(HOOKS.c.run.is_not(None), HOOKS.c.run.not_in(sends)), kept["messages"]),
    ):
        moment = source.c.made if source is HOOKS else source.c.at
        batch = _BATCH
        while span is not None and batch:
            expired = sa.select(column).where(moment < now - span, condition).order_by(moment).limit(_BATCH * 5)
            batch = await asyncio.to_thread(_delete, table, source, column, expired)
            swept += batch
            await asyncio.sleep(_PAUSE if batch else 0)
    return swept


async def _delete_runs(engine: Engine, runs: Sequence[str]) -> int:
    """Delete runs together, or else each that can be: the row of one may be out of date; return how many are gone."""
    try:
        await engine.delete_all(runs)
    except (ConflictError, NotFoundError) as error:
        is_gone = isinstance(error, NotFoundError)
        return sum([await _delete_runs(engine, [run]) for run in runs]) if len(runs) > 1 else int(is_gone)
    return len(runs)


def _delete(table: RunTable, source: sa.Table, column: sa.Column[object], old: sa.Select[object]) -> int:
    with table.writing() as connection:
        keys = list(connection.execute(old).scalars())
        if source is MESSAGES:
            connection.execute(sa.delete(DELIVERIES).where(DELIVERIES.c.message.in_(keys)))
        return connection.execute(sa.delete(source).where(column.in_(keys))).rowcount if keys else 0


def _take_turn(table: RunTable, project: str) -> bool:
    """Return whether it is this process's turn to sweep, as no other of its project has for an hour."""
    now, turn = time(), f"{_TURN}/{digest_of(project)[:16]}"
    with table.writing() as connection:
        last = connection.execute(sa.select(CURSORS.c.value).where(CURSORS.c.name == turn).with_for_update()).scalar()
        if is_due := last is None or float(last) < now - _EVERY:
            move_cursor(connection, turn, str(now))
        return is_due
