"""Delete the data that a store keeps alongside a run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from instrc.problems.errors import NotFoundError
from instrc.runtime.run_report import OPEN, STATUSES, RunReport, require_ended
from instrc.runtime.traces import trace_file

if TYPE_CHECKING:
    from instrc.engines.run_table import RunTable  # imports SQLAlchemy, an extra


def forget_beside(run: str, folder: Path, place: str | os.PathLike[str]) -> None:
    """Delete the trace of a run in a folder, and the rows of a service at the place."""
    trace_file(folder, run).unlink(missing_ok=True)
    with _table(place) as table:
        if table is not None:
            table.forget_all([run])


async def require_deletable(shown: Awaitable[RunReport], run: str, place: str | os.PathLike[str] | None) -> None:
    """Raise for a run that has not ended, or is unknown.

    One whose deletion was interrupted, or that its server has deleted, is known by the rows that a service has of it.
    """
    try:
        require_ended(await shown)
    except NotFoundError:
        if place is None or not await asyncio.to_thread(_is_left, run, place):
            raise


def _is_left(run: str, place: str | os.PathLike[str]) -> bool:
    with _table(place) as table:
        row = None if table is None else table.run(run)
    return row is not None and row.status in STATUSES and row.status not in OPEN


@contextmanager
def _table(place: str | os.PathLike[str]) -> Iterator[RunTable | None]:
    try:
        from instrc.engines.dbos.store import close_engine, trouble  # imports SQLAlchemy, an extra
        from instrc.engines.run_table import RunTable
        from instrc.engines.service_tables import service_store

        store = service_store(place)
        is_there = store.exists()
    except ModuleNotFoundError:  # without SQLAlchemy there was no service
        is_there = False
    if not is_there:
        yield None
        return
    with trouble(store):
        engine = store.open()
        try:
            yield RunTable(engine)
        finally:
            close_engine(engine)
