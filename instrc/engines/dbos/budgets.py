"""Money budgets shared by workers on several machines: model costs are counted in the database of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from time import time

import sqlalchemy as sa

from instrc.engines.dbos.store import reason_of, write_in_order
from instrc.engines.service_tables import RAISED, SPENT
from instrc.runtime.models.budget import MoneyBudget, read_budget, refuse_beyond
from instrc.runtime.models.model import ModelError


class SharedBudget:
    """The cost limit of a run's requests, counted in a database with all runs of its project."""

    def __init__(self, budget: MoneyBudget, project: str, engine: Callable[[], sa.Engine]) -> None:
        self._budget = budget
        self._project = project
        self._engine = engine

    def reserve(self, run: str, estimate: float) -> int:
        """Count a request in advance, and return its entry number; raise `ModelError` if the budget is used up."""
        run, day = run.partition("/")[0], f"{datetime.now(UTC):%Y-%m-%d}"
        of_scope = {"run": SPENT.c.run == run, "program": SPENT.c.program == self._budget.program, "day": SPENT.c.day == day}
        try:
            with self._engine().begin() as connection:
                write_in_order(connection, SPENT)  # a concurrent reader sees this request
                raised = connection.execute(sa.select(RAISED.c.scope, RAISED.c.cost).where(RAISED.c.run == run)).all()
                limits = dict(sorted(map(read_budget, self._budget.limits), reverse=True)) | {
                    row.scope: row.cost for row in raised
                }
                for scope, limit in limits.items():
                    spent = sa.select(sa.func.coalesce(sa.func.sum(SPENT.c.cost), 0.0))
                    spent = spent.where(SPENT.c.project == self._project, *(of_scope[part] for part in scope.split("/")))
                    refuse_beyond(scope, limit, connection.execute(spent).scalar_one(), estimate)
                row = {
                    "at": time(),
                    "day": day,
                    "run": run,
                    "program": self._budget.program,
                    "cost": estimate,
                    "project": self._project,
                }
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
