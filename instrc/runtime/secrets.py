"""Keep secrets of the environment out of everything that is written down."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TypeVar, cast

from instrc.jsonvalue import Json

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6
"""Characters: what is shorter occurs by chance."""
MASK = "***"
_T = TypeVar("_T")
_told: set[str] = set()


def secret(name: str) -> str | None:
    """Return a variable of the environment, and remember its value as a secret whatever its name."""
    value = os.environ.get(name)
    if value and len(value) >= _SHORTEST:
        _told.add(value)
    return value


def secrets() -> list[str]:
    """Return what must not be written, longest first: as the environment is now."""
    raw = getattr(os.environ, "_data", None)  # its own dictionary: comparing that takes 1 µs, decoding it 100
    if raw is None or raw != _known.environment or len(_told) != _known.told:
        found = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= _SHORTEST}
        _known.environment, _known.told = None if raw is None else dict(raw), len(_told)
        _known.secrets = sorted(found | _told, key=len, reverse=True)
    return _known.secrets


@dataclass(slots=True)
class _Known:
    """The secrets, and what they were read from: reading it anew takes long."""

    environment: dict[object, object] | None = None
    told: int = 0
    secrets: list[str] = field(default_factory=list)


_known = _Known()


def redacted(value: _T) -> _T:
    """Return JSON with the secrets that are known now masked in its texts and keys."""
    hidden = secrets()
    return cast("_T", _redacted(cast("Json", value), hidden)) if hidden else value


def _redacted(value: Json, hidden: list[str]) -> Json:
    if isinstance(value, str):
        return _masked(value, hidden)
    if isinstance(value, dict):
        return {_masked(key, hidden): _redacted(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item, hidden) for item in value]
    return value


def _masked(text: str, hidden: list[str]) -> str:
    for each in hidden:
        if each in text:
            text = text.replace(each, MASK)
    return text
