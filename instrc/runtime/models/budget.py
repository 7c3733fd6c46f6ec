"""Budgets in money: limits of the cost of models, counted before a request by estimate and after it by usage."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from time import time
from typing import Final, Protocol

from msgspec import Struct

from instrc.problems.errors import unusable
from instrc.runtime.models.database import MODELS_FILE, require_file, transaction
from instrc.runtime.models.model import ModelError

_MILLION: Final = 1_000_000
Prices = Mapping[str, Mapping[str, float]]
"""Prices by name or pattern of a model: `input`, `output` and those of a cache, in US dollars per million tokens."""
_OF_INPUT: Final = ("cache_read", "cache_write")
"""Parts of the input that cost the same as the rest unless they have a price of their own."""
PRICED: Final = ("input", "output", *_OF_INPUT)


def price_of(prices: Prices, model: str) -> Mapping[str, float] | None:
    """Return the first price whose pattern matches the name of a model, such as `gpt-5`, or `None` if none does."""
    return next((price for pattern, price in prices.items() if fnmatchcase(model, pattern)), None)


def cost_of(prices: Prices, model: str | None, usage: Mapping[str, int]) -> float | None:
    """Return what an answer has cost, or `None` if its model has no price."""
    price = None if model is None else price_of(prices, model)
    if price is None:
        return None
    counts = {kind: usage.get(f"{kind}_tokens", 0) for kind in PRICED}
    counts["input"] = max(counts["input"] - counts["cache_read"] - counts["cache_write"], 0)
    return (
        sum(price.get(kind, price.get("input", 0.0) if kind in _OF_INPUT else 0.0) * counts[kind] for kind in PRICED) / _MILLION
    )


BYTES: Final = 3
"""Conservative number of bytes per token sent."""


def estimate_of(prices: Prices, words: str, sent: int, most: int) -> float:
    """Return the largest cost of a request: so many bytes are sent, and the answer has at most so many tokens.

    Of several models, divided by commas, it is the most expensive one; a model without a price costs nothing.
    """
    usage = {"input_tokens": sent // BYTES, "output_tokens": most}
    return max(cost_of(prices, item.strip().partition(":")[2], usage) or 0.0 for item in words.split(","))


_FORM: Final = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*USD((?:/run|/program)?)((?:/day)?)\s*")


def read_budget(text: str) -> tuple[str, float]:
    """Return the scope of a budget (`run`, `program`, `day` or `program/day`) and its US dollars.

        assert read_budget("5 USD/day") == ("day", 5.0)

    A budget without a scope is for one run.  Raise `SettingsError` for an invalid one.
    """
    result = _FORM.fullmatch(text)
    if result is None or result[2] + result[3] == "/run/day":
        raise unusable("budget", text, "write it as `2 USD` (for a run), `5 USD/day`, `20 USD/program` or `5 USD/program/day`")
    return (result[2] + result[3]).removeprefix("/") or "run", float(result[1])


_SPENT: Final = "spent (at REAL, day TEXT, run TEXT, program TEXT, cost REAL)"
_RAISED: Final = "raised (run TEXT, scope TEXT, cost REAL, PRIMARY KEY (run, scope))"
_SCOPES: Final = {
    "run": "run = :run",
    "program": "program = :program",
    "day": "day = :day",
    "program/day": "program = :program AND day = :day",
}


class CountedBudget(Protocol):
    """Limits what the models of a run may cost."""

    def reserve(self, run: str, estimate: float) -> int:
        """Count a request before it is made, and return its entry number; raise `ModelError` if the budget has no room."""

    def settle(self, entry: int, cost: float) -> None:
        """Replace the estimate of a request by its cost."""

    def raise_for(self, run: str, said: Iterable[str]) -> None:
        """Raise the limits of a run; raise `SettingsError` for an invalid budget."""


def refuse_beyond(scope: str, limit: float, spent: float, estimate: float) -> None:
    """Raise `ModelError` for a request that may cost more than is left."""
    if spent + estimate > limit:
        message = f"the budget for the {scope} is {limit:g} USD: {spent:.4g} is spent, and this request may cost {estimate:.4g}"
        raise ModelError(message, code="budget")


class MoneyBudget(Struct, frozen=True):
    """The cost limit of a run's requests; all runs of a project write their costs into one file."""

    limits: Sequence[str]
    """Limits as written: `2 USD`, `5 USD/day`. Days are in UTC."""
    file: str
    program: str

    def reserve(self, run: str, estimate: float) -> int:
        """Count a request before it is made, and return its entry number; raise `ModelError` if the budget has no room."""
        about = {"run": run.partition("/")[0], "program": self.program, "day": f"{datetime.now(UTC):%Y-%m-%d}"}
        try:
            with transaction(self.file, _SPENT, _RAISED) as database:
                raised = dict(database.execute("SELECT scope, cost FROM raised WHERE run = :run", about).fetchall())
                for scope, limit in (dict(sorted(map(read_budget, self.limits), reverse=True)) | raised).items():
                    query = f"SELECT coalesce(sum(cost), 0) FROM spent WHERE {_SCOPES[scope]}"  # noqa: S608  -- constants
                    [(spent,)] = database.execute(query, about)
                    refuse_beyond(scope, limit, spent, estimate)
                row = (time(), about["day"], about["run"], about["program"], estimate)
                result = database.execute("INSERT INTO spent VALUES (?, ?, ?, ?, ?)", row).lastrowid
                return int(result or 0)
        except sqlite3.Error as error:
            message = f"what models cost cannot be written to `{self.file}`: {error}"
            raise ModelError(message, code="unavailable", retry=True) from error

    def settle(self, entry: int, cost: float) -> None:
        """Replace the estimate of a request by its cost; the estimate remains if the cost cannot be written."""
        with suppress(sqlite3.Error), transaction(self.file, _SPENT) as database:
            database.execute("UPDATE spent SET cost = ? WHERE rowid = ?", (cost, entry))

    def raise_for(self, run: str, said: Iterable[str]) -> None:
        """Raise the limits of a run; raise `SettingsError` for an invalid budget."""
        for scope, limit in map(read_budget, said):
            with transaction(self.file, _RAISED) as database:
                database.execute("INSERT OR REPLACE INTO raised VALUES (?, ?, ?)", (run, scope, limit))


def require_prices(models: Iterable[str], prices: Prices) -> None:
    """Refuse models without a price where there is a budget: their cost cannot be counted."""
    for words in sorted(set(models)):
        name = words.partition(":")[2]
        if not name or words.startswith("scripted:") or price_of(prices, name) is not None:
            continue
        reason = (
            f'there is a budget, and its price is not known: `"{name}" = {{ input = …, output = … }}` in `[tool.instrc.prices]`,'
            " in US dollars for a million tokens"
        )
        raise unusable("model", words, reason)


def file_of(folder: Path) -> str:
    """Return the file in which the runs of a project write their costs."""
    require_file(file := folder.absolute() / MODELS_FILE, _SPENT, "budget")
    return file.as_posix()
