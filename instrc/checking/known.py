"""Remember which files were found sound: their digests are kept from one run of `instrc check` to the next.

The store is one file, replaced in one step: runs side by side never read half of it, and lose at most what
another has learned.  It keeps the most recent `KNOWN_FILES` digests.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from instrc.checking.contents import SIZE, store
from instrc.limits.programs import KNOWN_FILES
from instrc.regular import read_regular


class SoundDigests:
    """The digests of what is sound, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = self._read()
        self.digests: set[bytes] = {self._data[start : start + SIZE] for start in range(0, len(self._data), SIZE)}

    def add(self, digests: Iterable[bytes]) -> None:
        """Remember more; that it cannot be written is no reason to fail."""
        fresh = b"".join(digest for digest in digests if digest not in self.digests)
        data = (self._read() + fresh)[-KNOWN_FILES * SIZE :]  # what another run has added since stays
        store(self.path, data)

    def _read(self) -> bytes:
        try:
            data = read_regular(str(self.path), KNOWN_FILES * SIZE + 1)
        except (OSError, ValueError):
            return b""
        return data if len(data) % SIZE == 0 else b""  # damaged: nothing is known
