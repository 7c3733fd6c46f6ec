"""Spans of time in ISO 8601: `PT30S`, `P2D`, `P1W`."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)"
_DURATION = rf"P(?=[0-9T])(?:{_NUMBER}W|(?:{_NUMBER}D)?(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)"
"""Years and months have no fixed length, so they are none."""
_SECONDS = (7 * 86400, 86400, 3600, 60, 1)
"""Of a week, a day, an hour, …"""


@lru_cache(maxsize=256)
def seconds(text: str) -> float:
    """Return how many seconds a span is; `ValueError` if it is none."""
    match = re.fullmatch(_DURATION, text)
    if match is None:
        message = f"`{text[:100]}` is no span of time of a fixed length as ISO 8601 writes it"
        raise ValueError(message)
    return sum(float(number) * unit for number, unit in zip(match.groups(), _SECONDS, strict=True) if number)


def is_duration(text: str) -> bool:
    """Tell whether a text is a span of time that an engine can wait for."""
    return re.fullmatch(_DURATION, text) is not None


def is_no_time(text: str) -> bool:
    """Tell whether a duration is zero."""
    return re.search("[1-9]", text) is None
