"""Lines of the standard input as they are typed, without a thread: one that waits for a line could not be interrupted."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import IO

_MOST = 65536


async def typed_lines(stream: IO[str] | None = None) -> AsyncIterator[str]:
    """Yield each line of a stream, of the standard input unless given; a `UnicodeDecodeError` if one is not UTF-8."""
    given = sys.stdin if stream is None else stream
    if given is None:  # so it is where a shell has closed it (`<&-`)
        return
    try:
        descriptor = given.fileno()
    except (OSError, ValueError):  # replaced by a program that runs us in its own process
        for line in given:
            yield line
        return
    rest = b""
    while data := await _read(descriptor):
        *lines, rest = (rest + data).split(b"\n")
        for each in lines:
            yield each.decode()
    if rest:
        yield rest.decode()


async def _read(descriptor: int) -> bytes:
    """Return what can be read, as soon as there is something; nothing at the end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except (NotImplementedError, OSError):  # Windows; a regular file, which never lets anybody wait
        return await asyncio.to_thread(os.read, descriptor, _MOST)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST)
