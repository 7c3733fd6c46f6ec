"""Keep background loops going while a store or a server is unavailable, and log when that begins and ends."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from instrc.runtime.secrets import redacted

_log: Final = logging.getLogger(__name__)
_FAILING: Final[set[str]] = set()
"""Work whose latest attempt failed."""


@contextmanager
def tolerated(work: str) -> Iterator[None]:
    """Suppress the error of an attempt of some work that is repeated; log only the first failure in a row, and the recovery."""
    failure: Exception | None = None
    try:
        yield
    except Exception as error:  # noqa: BLE001  -- of whatever store, server or engine
        failure = error
    if (failure is not None) != (work in _FAILING):
        _FAILING.symmetric_difference_update({work})
        change = "works again" if failure is None else f"fails, and is retried: {type(failure).__name__}: {failure}"
        _log.warning("%s %s", work, redacted(change).partition("\n")[0])  # further lines hold statements of a database
