"""Durations in ISO 8601: `PT30S`, `P2D`, `P1W`."""

from __future__ import annotations

import re

_WEEKS, _DAYS, _HOURS, _NUMBER = (rf"([0-9]{{1,{digits}}}(?:\.[0-9]{{1,6}})?)" for digits in (5, 6, 7, 9))
"""Numbers of each unit: a time that is later by all of them has a year of four digits."""
_DURATION = rf"P(?=[0-9T])(?:{_WEEKS}W|(?:{_DAYS}D)?(?:T(?=[0-9])(?:{_HOURS}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)"
"""ISO 8601 durations, without years and months: they have no fixed length."""
_SECONDS = (7 * 86400, 86400, 3600, 60, 1)
"""Seconds in a week, a day, an hour, a minute and a second."""
_IN_WORDS = r"(?i)([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([a-z]+)"  # compiled on first use
_UNITS = {
    "P{}W": ("w", "wk", "week", "weeks"),
    "P{}D": ("d", "day", "days"),
    "PT{}H": ("h", "hr", "hrs", "hour", "hours"),
    "PT{}M": ("m", "min", "mins", "minute", "minutes"),
    "PT{}S": ("s", "sec", "secs", "second", "seconds"),
}
"""Names of each unit, by its ISO 8601 format."""


def seconds(text: str) -> float:
    """Return the length of a duration in seconds; raise `ValueError` for any other text."""
    match = re.fullmatch(_DURATION, text)
    if match is None:
        raise ValueError(f"`{text[:100]}` is not an ISO 8601 duration of fixed length")
    return sum(float(number) * unit for number, unit in zip(match.groups(), _SECONDS, strict=True) if number)


def is_duration(text: str) -> bool:
    """Return whether a text is an ISO 8601 duration of a fixed length."""
    return re.fullmatch(_DURATION, text) is not None


def is_no_time(text: str) -> bool:
    """Return whether a duration is zero."""
    return re.search("[1-9]", text) is None


def from_words(text: str) -> str | None:
    """Convert `5m` or `2 days` to ISO 8601; return `None` for any other text."""
    match = re.fullmatch(_IN_WORDS, text)
    if match is None:
        return None
    number, unit = match.groups()
    forms = (form.format(number) for form, names in _UNITS.items() if unit.lower() in names)
    return next((text for text in forms if is_duration(text)), None)
