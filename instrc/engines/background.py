"""Keep background loops going while a store or a server is unavailable, and log when that begins and ends."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Final

from instrc.runtime.secrets import redacted

_log: Final = logging.getLogger(__name__)


class Tolerated:
    """Suppresses the errors of some work that a loop repeats; logs only the first failure in a row, and the recovery."""

    def __init__(self, work: str) -> None:
        self.work = work
        self._fails = False

    def __enter__(self) -> None:
        """Begin an attempt."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        """Note how the attempt ended; a cancellation is no failure, and goes on."""
        if error is not None and not isinstance(error, Exception):
            return False
        if (error is not None) != self._fails:
            self._fails = not self._fails
            change = f"fails, and is retried: {type(error).__name__}: {error}" if self._fails else "works again"
            _log.warning("%s %s", self.work, redacted(change).partition("\n")[0])  # further lines hold statements of a database
        return True
