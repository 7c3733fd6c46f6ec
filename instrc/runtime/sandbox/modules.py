"""Modules that agents' code imports and the interpreter lacks: `string`, and `statistics` with a limit."""

from __future__ import annotations

import statistics
import string
from collections.abc import Callable
from typing import Final

SERIES_NUMBERS: Final = 100_000
"""Maximum length of a series passed to a function of `statistics`."""
_NUMBER_BITS: Final = 64
"""Maximum bits of an integer in a series: sums of long ones take long."""
_SERIES = (
    *("fmean", "geometric_mean", "harmonic_mean", "mean", "median", "median_high", "median_low", "mode", "multimode"),
    *("pstdev", "pvariance", "quantiles", "stdev", "variance", "correlation", "covariance"),
)
_INSTEAD = {
    "queue": "use `collections.deque`",
    "stat": "there are no files",
    "threading": "nothing runs at the same time",
    **dict.fromkeys(("socket", "requests", "urllib", "http"), "there is no network: call a tool"),
    **dict.fromkeys(("numpy", "pandas"), "use lists, `math` and `statistics`"),
}


def missing_module(name: str) -> str:
    """Return the message for an import of a module that does not exist."""
    instead = _INSTEAD.get(name.partition(".")[0], "use what Python has built in, `math`, `statistics`, `collections`, or a tool")
    return f"No module named '{name[:100]}' in this sandbox: {instead}"


def _bounded(function: Callable[..., object]) -> Callable[..., object]:
    def call(*given: object) -> object:
        if not all(isinstance(series, list | tuple | set | frozenset) and len(series) <= SERIES_NUMBERS for series in given):
            raise TypeError(f"{function.__name__}() takes lists of at most {SERIES_NUMBERS:,} numbers here")
        for number in (number for series in given if isinstance(series, list | tuple | set | frozenset) for number in series):
            if not isinstance(number, float) and not (isinstance(number, int) and number.bit_length() <= _NUMBER_BITS):
                raise TypeError(f"{function.__name__}() takes numbers of at most {_NUMBER_BITS} bits here")
        return function(*given)

    return call


MODULES: Final[dict[str, dict[str, object]]] = {
    "statistics": {name: getattr(statistics, name) for name in _SERIES},
    "string": {name: value for name, value in vars(string).items() if isinstance(value, str) and name[0] != "_"},
}
"""Members of each module."""
HOST_FUNCTIONS: Final = {f"statistics.{name}": _bounded(getattr(statistics, name)) for name in _SERIES}
