"""What models cost is counted in the database of the runs, by all workers together."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from postgres_server import Database

from instrc.engines.dbos.durable_engine import DurableEngine  # two of them, as two workers have
from instrc.engines.equip import equip  # what it is made with
from instrc.runtime.models.budget import CountedBudget, MoneyBudget
from instrc.runtime.models.model import ModelError


@contextmanager
def worker(place: str, limits: list[str], project: str = "shop") -> Iterator[CountedBudget]:
    engine = DurableEngine(place, equip)
    try:
        yield engine.counted(MoneyBudget(limits, "no file of this machine", "mail"), project)
    finally:
        engine.close()


def test_two_workers_never_spend_more_than_there_is(postgres_server: Database) -> None:
    place = str(postgres_server.fresh())
    with worker(place, ["1 USD/day"]) as one, worker(place, ["1 USD/day"]) as two:

        def spend(number: int) -> str:
            try:
                (one, two)[number % 2].reserve(f"r{number}", 0.15)
            except ModelError as error:
                return f"{error.code}: {error}"
            return ""

        with ThreadPoolExecutor(8) as threads:
            refused = [said for said in threads.map(spend, range(30)) if said]
    assert len(refused) == 24
    with worker(place, ["1 USD/day"], "another project") as other:
        other.reserve("r", 0.9)
    assert all(said.startswith("budget: the budget for the day is 1 USD") for said in refused)


def test_an_estimate_becomes_a_cost_and_a_limit_of_a_run_is_raised(postgres_server: Database) -> None:
    with worker(str(postgres_server.fresh()), ["1 USD", "5 USD/program/day"]) as budget:
        entry = budget.reserve("r", 0.9)
        with pytest.raises(ModelError):
            budget.reserve("r/below", 0.2)
        budget.settle(entry, 0.1)
        budget.reserve("r/below", 0.2)
        budget.raise_for("r", ["4 USD"])
        budget.reserve("r", 3.0)
        budget.reserve("other", 1.0)
        with pytest.raises(ModelError, match="program/day"):
            budget.reserve("third", 1.0)


def test_a_folder_counts_in_its_file(tmp_path: Path) -> None:
    with worker(str(tmp_path), ["1 USD"]) as budget:
        assert isinstance(budget, MoneyBudget)
