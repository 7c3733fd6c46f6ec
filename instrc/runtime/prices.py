"""What models cost: the table of prices that a project has set."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

_MILLION = 1_000_000
Prices = Mapping[str, Mapping[str, float]]
"""By name or pattern of a model: `input` and `output`, in US dollars for a million tokens."""


def cost_of(prices: Prices, model: str | None, usage: Mapping[str, int]) -> float | None:
    """Return what an answer has cost, by the first price whose pattern fits its model; `None` if there is none."""
    for pattern, price in prices.items():
        if model is not None and fnmatchcase(model, pattern):
            return sum(price.get(kind, 0.0) * usage.get(f"{kind}_tokens", 0) for kind in ("input", "output")) / _MILLION
    return None
