"""Spans of time in ISO 8601: `PT30S`, `P2D`, `P1W`."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)"
_DURATION = rf"P(?=[0-9T])(?:{_NUMBER}W|(?:{_NUMBER}D)?(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)"
"""Years and months have no fixed length, so they are none."""
_SECONDS = (7 * 86400, 86400, 3600, 60, 1)
"""Of a week, a day, an hour, …"""
_IN_WORDS = r"(?i)([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([a-z]+)"  # compiled when it is needed
_UNITS = {
    "P{}W": ("w", "wk", "week", "weeks"),
    "P{}D": ("d", "day", "days"),
    "PT{}H": ("h", "hr", "hrs", "hour", "hours"),
    "PT{}M": ("m", "min", "mins", "minute", "minutes"),
    "PT{}S": ("s", "sec", "secs", "second", "seconds"),
}
"""What a unit is called, by how ISO 8601 writes so many of it."""


@lru_cache(maxsize=256)
def is_span(text: str) -> bool:
    """Tell whether a text is a span of time of a fixed length."""
    return re.fullmatch(_DURATION, text) is not None


def seconds(text: str) -> float:
    """Return how many seconds a span is; `ValueError` if it is not one."""
    match = re.fullmatch(_DURATION, text)
    if match is None:
        message = f"`{text[:100]}` is not a span of time of a fixed length as ISO 8601 writes it"
        raise ValueError(message)
    return sum(float(number) * unit for number, unit in zip(match.groups(), _SECONDS, strict=True) if number)


def is_duration(text: str) -> bool:
    """Tell whether a text is a span of time that an engine can wait for."""
    return re.fullmatch(_DURATION, text) is not None


def is_no_time(text: str) -> bool:
    """Tell whether a duration is zero."""
    return re.search("[1-9]", text) is None


def from_words(text: str) -> str | None:
    """Return in ISO 8601 what is written as `5m` or `2 days`; `None` if it is no number with a unit of time."""
    match = re.fullmatch(_IN_WORDS, text)
    if match is None:
        return None
    number, unit = match.groups()
    return next((form.format(number) for form, names in _UNITS.items() if unit.lower() in names), None)
