"""Spans of time in ISO 8601: `PT30S`, `P2D`, `P1W`."""

from __future__ import annotations

import re
from functools import lru_cache

_DURATION = (  # compiled when it is needed
    r"P(?=[\dT])(?:(\d+(?:[.,]\d+)?)Y)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?"
    r"(?:T(?=\d)(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?"
)
_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_FIXED = rf"P(?=[\dT])(?:{_NUMBER}W|(?:{_NUMBER}D)?(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)"
"""What a program may write."""
_SECONDS = (365 * 86400, 30 * 86400, 7 * 86400, 86400, 3600, 60, 1)
"""Of a year, a month, a week, …: without a date to count from, a year has 365 days and a month 30."""


@lru_cache(maxsize=256)
def seconds(text: str) -> float:
    """Return how many seconds a span is; `ValueError` if it is none."""
    match = re.fullmatch(_DURATION, text) if len(text) < 100 else None
    if match is None:
        message = f"`{text[:100]}` is no span of time as ISO 8601 writes it"
        raise ValueError(message)
    return sum(float(number.replace(",", ".")) * unit for number, unit in zip(match.groups(), _SECONDS, strict=True) if number)


def is_duration(text: str) -> bool:
    """Tell whether a text is a span of time that an engine can wait for."""
    try:
        seconds(text)
    except ValueError:
        return False
    return True


def is_fixed_duration(text: str) -> bool:
    """Tell whether a text is a duration; months and years are of no fixed length, so they are none."""
    return re.fullmatch(_FIXED, text) is not None


def is_no_time(text: str) -> bool:
    """Tell whether a duration is zero."""
    return re.search("[1-9]", text) is None
