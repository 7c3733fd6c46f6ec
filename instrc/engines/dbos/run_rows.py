"""Rows that the engine writes itself: of new, cancelled and older runs in the run table, and of what models cost."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import time

import sqlalchemy as sa
from dbos import WorkflowStatus

from instrc.engines.approvals import OpeningOf, OwnOpening
from instrc.engines.dbos import store
from instrc.engines.dbos.store import reason_of, write_in_order
from instrc.engines.dbos.store_client import StoreClient, launch_of
from instrc.engines.equip import opening_for
from instrc.engines.run_table import FILLED, JournalMark, RunChange, RunTable, StandingWriter
from instrc.engines.service_tables import AUDIT, RAISED, SPENT, service_store
from instrc.engines.stores import RunStore
from instrc.runtime.journal import JournalEntry
from instrc.runtime.models.budget import MoneyBudget, read_budget, refuse_beyond
from instrc.runtime.models.model import ModelError
from instrc.runtime.run_config import LaunchDocument, RunConfig
from instrc.runtime.run_report import RunReport

ALL = "all"
"""Key for a store whose runs are all in the table."""
AT_ONCE = 200
"""Number of runs read at once."""
_TOLD = 1000
"""Number of runs read into the table between two log messages."""
_log = logging.getLogger(__name__)


class RunRows:
    """Writes the rows of runs that no process carries here, and makes the writers of those that one does."""

    def __init__(self, place: Path | str, location: RunStore) -> None:
        self.place = place
        self.location = location
        self._table: RunTable | None = None
        self._opening: OwnOpening | None = None
        self._gate = threading.RLock()

    def use(self, table: RunTable, opening: OwnOpening) -> None:
        """Record runs in the table of a service, whose `opening` returns who may answer."""
        self._table, self._opening = table, opening

    def table(self) -> RunTable:
        """Return the run table: in the database of the runs, or in a file next to them."""
        with self._gate:
            if self._table is None:
                with store.trouble(self.location):
                    self._table = RunTable(service_store(self.place).open())
            return self._table

    def add(self, connection: sa.Connection, begun: LaunchDocument, audited: Sequence[Mapping[str, object]]) -> list[RunChange]:
        """Add a run that has just been put into the queue, with rows of the audit log; return the changes for `publish`."""
        config = RunConfig.from_json(begun["how"])
        started = RunReport(begun["run"], begun["name"], "running", None, began=time(), config=config)
        if audited:
            connection.execute(sa.insert(AUDIT), audited)
        mark = JournalMark(-1, digest=begun["plan"]["digest"])
        return self.table().note_in(connection, started, partial(self.opening_of(begun), begun["name"]), mark)

    def writer_of(self, launch: LaunchDocument, entries: Sequence[JournalEntry]) -> StandingWriter:
        """Return the writer of a run's row, which continues after these entries of its journal."""
        return StandingWriter(self.table(), launch, self.opening_of(launch), entries)

    def opening_of(self, launch: LaunchDocument) -> OpeningOf:
        """Return the function that returns who may answer: the service's for runs of its project, else by their settings."""
        return partial(opening_for, RunConfig.from_json(launch["how"]), self._opening, self.table().has_keys)

    async def note(self, report: RunReport, launch: LaunchDocument, mark: JournalMark | None = None) -> None:
        """Write the state of a run that no process carries out here."""
        opening = partial(self.opening_of(launch), report.name)
        with store.trouble(self.location):
            await asyncio.to_thread(lambda: self.table().note(report, opening, mark))

    async def fill(self, asker: StoreClient, report_of: Callable[[WorkflowStatus], Awaitable[RunReport]]) -> bool:
        """Write the runs of an earlier release into the table, from where that was interrupted; `False` if there are none."""
        if not await asker.is_there():
            return False
        table = await asyncio.to_thread(self.table)
        place = await asyncio.to_thread(table.cursor, FILLED)
        while place != ALL:
            begun = int(place or 0)
            rows = await asker.ask(lambda c, n=begun: c.list_workflows(name=store.WORKFLOW, limit=AT_ONCE, offset=n))  # type: ignore[misc]  # a default is not inferred
            roots = [row.workflow_id for row in rows if "/" not in row.workflow_id]
            lacking = await asyncio.to_thread(table.lacking, roots)
            for row in rows:
                if row.workflow_id in lacking:
                    report = await report_of(row)
                    await self.note(report, launch_of(row), JournalMark(0, digest=launch_of(row)["plan"]["digest"], is_old=True))
            place = str(begun + len(rows)) if len(rows) == AT_ONCE else ALL
            await asyncio.to_thread(table.move_cursor, FILLED, place)
            if len(rows) == AT_ONCE and not (begun + len(rows)) % _TOLD:
                _log.warning("runs of an earlier release that were read into the table of runs: %d", begun + len(rows))
        return True

    def close(self) -> None:
        """Close the table, unless a service owns it."""
        if self._table is not None and self._opening is None:
            store.close_engine(self._table.engine)
            self._table = None


class SharedBudget:
    """The cost limit of a run's requests, counted in a database with all runs of its project."""

    def __init__(self, budget: MoneyBudget, project: str, engine: Callable[[], sa.Engine]) -> None:
        self._budget = budget
        self._project = project
        self._engine = engine

    def reserve(self, run: str, estimate: float) -> int:
        """Count a request in advance, and return its entry number; raise `ModelError` if the budget is used up."""
        run, day, program = run.partition("/")[0], f"{datetime.now(UTC):%Y-%m-%d}", self._budget.program
        of_scope = {"run": SPENT.c.run == run, "program": SPENT.c.program == program, "day": SPENT.c.day == day}
        try:
            with self._engine().begin() as connection:
                write_in_order(connection, SPENT)  # a concurrent reader sees this request
                raised = connection.execute(sa.select(RAISED.c.scope, RAISED.c.cost).where(RAISED.c.run == run)).all()
                limits = dict(sorted(map(read_budget, self._budget.limits), reverse=True))
                limits |= {row.scope: row.cost for row in raised}
                for scope, limit in limits.items():
                    spent = sa.select(sa.func.coalesce(sa.func.sum(SPENT.c.cost), 0.0))
                    spent = spent.where(SPENT.c.project == self._project, *(of_scope[part] for part in scope.split("/")))
                    refuse_beyond(scope, limit, connection.execute(spent).scalar_one(), estimate)
                row = {"at": time(), "day": day, "run": run, "program": program, "cost": estimate, "project": self._project}
                return int(connection.execute(sa.insert(SPENT).values(row).returning(SPENT.c.number)).scalar_one())
        except sa.exc.SQLAlchemyError as error:
            message = f"what models cost cannot be written to the database: {reason_of(error)}"
            raise ModelError(message, code="unavailable", retry=True) from error

    def settle(self, entry: int, cost: float) -> None:
        """Replace the estimate of a request by its cost; the estimate stays if writing fails."""
        with suppress(sa.exc.SQLAlchemyError), self._engine().begin() as connection:
            connection.execute(sa.update(SPENT).where(SPENT.c.number == entry).values(cost=cost))

    def raise_for(self, run: str, said: Iterable[str]) -> None:
        """Raise the limits of a run; raise `SettingsError` for an invalid budget."""
        with self._engine().begin() as connection:
            for scope, limit in map(read_budget, said):
                connection.execute(sa.delete(RAISED).where(RAISED.c.run == run, RAISED.c.scope == scope))
                connection.execute(sa.insert(RAISED).values(run=run, scope=scope, cost=limit))
