"""The digests of files; a file whose size and times are as they were is not read again.

A file is taken as it was if its place on the disk, its size and both times of change are the same (`stat`).
One that had changed less than `SETTLED` before it was read is not remembered: it may change again within one tick of the clock.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from time import time_ns
from typing import NamedTuple

import msgspec

from instrc.files import make_unversioned
from instrc.limits.programs import REMEMBERED_FILES
from instrc.regular import MOST_BYTES, read_regular

SIZE = 20
"""Bytes of a digest."""
SETTLED = 3_000_000_000
"""Nanoseconds."""
_LOOKS_ELSEWHERE = (b"aug:", b"\\u")
"""What a vibe that refers to others has in it, escaped or not."""


class FileContent(NamedTuple):
    """What is known of a file, and the state of it on the disk for which it holds."""

    state: tuple[int, int, int, int, int]
    digest: bytes
    looks_elsewhere: bool
    """Whether it may refer to other files."""


_decoder = msgspec.msgpack.Decoder(dict[str, FileContent])


class Contents:
    """The files that have been looked at, by their resolved path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._remembered = _read(path)
        self._seen: dict[str, FileContent] = {}
        self._fresh = False

    def of(self, real: str) -> FileContent:
        """Return what a regular file holds; an `OSError` for any other."""
        if real not in self._seen:
            self._seen[real] = self._look(real)
        return self._seen[real]

    def _look(self, real: str) -> FileContent:
        found = os.stat(real)  # noqa: PTH116  -- strings: this runs for each file
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = self._remembered.get(real)
        if known is not None and known.state == state and S_ISREG(found.st_mode):
            return known
        read_at = time_ns()
        data = read_regular(real, MOST_BYTES)
        content = FileContent(state, joint_digest(data), any(mark in data for mark in _LOOKS_ELSEWHERE))
        if max(state[3:]) + SETTLED < read_at and is_unicode(real):
            self._remembered[real] = content
            self._fresh = True
        return content

    def keep(self) -> None:
        """Write down what was learned; that it cannot be written is no reason to fail."""
        if not self._fresh:
            return
        rows = list(self._remembered.items())[-REMEMBERED_FILES:]
        store(self.path, msgspec.msgpack.encode(dict(rows)))


def is_unicode(text: str) -> bool:
    """Tell whether a path is text: the bytes of others cannot be written down."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _read(path: Path) -> dict[str, FileContent]:
    try:
        return _decoder.decode(read_regular(str(path), MOST_BYTES))
    except (OSError, ValueError):  # damaged, or there is none: nothing is known
        return {}


def store(path: Path, data: bytes) -> None:
    """Replace a file of the cache in one step, if that can be done at all."""
    temporary = path.with_name(f".{path.name}-{os.urandom(6).hex()}.tmp")
    with suppress(OSError):
        make_unversioned(path.parent.parent)
        path.parent.mkdir(exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def joint_digest(*parts: bytes) -> bytes:
    """Return one digest of several byte strings; where one ends and the next begins counts."""
    whole = blake2b(digest_size=SIZE)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()
