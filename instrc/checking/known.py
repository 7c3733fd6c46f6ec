"""Remember which files were found sound: their digests are kept from one run of `instrc check` to the next.

The store is one file, replaced in one step: runs side by side never read half of it, and lose at most what
another has learned.  It keeps the most recent `KNOWN_FILES` digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from instrc.checking.contents import SIZE, store
from instrc.limits.programs import KNOWN_FILES
from instrc.regular import read_regular


class SoundDigests:
    """The digests of what is sound, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: set[bytes] = set(_divided(self._read()))

    def add(self, digests: Iterable[bytes]) -> None:
        """Remember more; that it cannot be written is no reason to fail."""
        data = self._read()  # what another run has added since stays, and is not added again
        known = set(_divided(data))
        fresh = b"".join(digest for digest in digests if digest not in known)
        store(self.path, (data + fresh)[-KNOWN_FILES * SIZE :])

    def _read(self) -> bytes:
        try:
            data = read_regular(str(self.path), KNOWN_FILES * SIZE + 1)
        except (OSError, ValueError):
            return b""
        return data if len(data) % SIZE == 0 else b""  # damaged: nothing is known


def _divided(data: bytes) -> Iterator[bytes]:
    """Yield the digests of which some bytes are made up."""
    return (data[start : start + SIZE] for start in range(0, len(data), SIZE))
