"""Keep secrets of the environment out of everything that is written down."""

from __future__ import annotations

import os
import re

from instrc.jsonvalue import AnyJson as Json

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6
"""Characters: what is shorter occurs by chance."""
MASK = "***"
_told: set[str] = set()


def secret(name: str) -> str | None:
    """Return a variable of the environment, and remember its value as a secret whatever its name."""
    value = os.environ.get(name)
    if value and len(value) >= _SHORTEST:
        _told.add(value)
    return value


def told() -> int:
    """Return how many secrets were remembered: when it changes, `secrets` gives others."""
    return len(_told)


def secrets() -> list[str]:
    """Return what must not be written, longest first."""
    known = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= _SHORTEST}
    return sorted(known | _told, key=len, reverse=True)


def redacted(value: Json, hidden: list[str] | None = None) -> Json:
    """Return a value with secrets in its texts and keys masked: those that are known now, unless others are given."""
    hidden = secrets() if hidden is None else hidden
    return _redacted(value, hidden) if hidden else value


def _redacted(value: Json, hidden: list[str]) -> Json:
    if isinstance(value, str):
        for each in hidden:
            if each in value:
                value = value.replace(each, MASK)
        return value
    if isinstance(value, dict):
        return {_redacted(key, hidden): _redacted(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item, hidden) for item in value]
    return value
