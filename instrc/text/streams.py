"""Read a stream as its bytes arrive, in the event loop: a thread that waits for input could not be interrupted."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from threading import Thread
from typing import IO

_MOST = 65536


class LineTooLongError(ValueError):
    """A line that does not end."""


async def read_lines(
    stream: IO[str] | IO[bytes] | None = None, *, errors: str = "strict", longest: int = 64 * 1024 * 1024
) -> AsyncIterator[str]:
    """Yield each line of a stream, of the standard input unless given, without its end.

    A `UnicodeDecodeError` if one is not UTF-8, unless `errors` says otherwise (as of `bytes.decode`);
    a `LineTooLongError` once more than `longest` bytes have come without an end.
    """
    given = sys.stdin if stream is None else stream
    if given is None:  # so it is where a shell has closed it (`<&-`)
        return
    try:
        descriptor = given.fileno()
    except (OSError, ValueError):  # replaced by a program that runs us in its own process
        for line in given:
            yield (line if isinstance(line, str) else line.decode(errors=errors)).removesuffix("\n")
        return
    begun: list[bytes] = []
    length = 0
    async for data in read_chunks(descriptor):
        first, *others = data.split(b"\n")
        begun.append(first)
        length = len(others[-1]) if others else length + len(first)
        if length > longest:
            message = f"a line is longer than {longest:,} bytes"
            raise LineTooLongError(message)
        for each in others:
            yield b"".join(begun).decode(errors=errors)
            begun = [each]
    if rest := b"".join(begun):
        yield rest.decode(errors=errors)


async def read_chunks(descriptor: int) -> AsyncIterator[bytes]:
    """Yield what can be read, as soon as there is something, to the end."""
    while data := await _arriving_read(descriptor):
        yield data


async def _arriving_read(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except NotImplementedError:  # the event loop of Windows watches sockets only
        return await _read_beside(descriptor)
    except OSError:  # a regular file, which never lets anybody wait
        return os.read(descriptor, _MOST)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST)


async def _read_beside(descriptor: int) -> bytes:
    """Read in a thread of its own that nobody waits for at the end; those of an executor are waited for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes) -> None:
        if not done.done():
            done.set_result(data)

    def read() -> None:
        try:
            data = os.read(descriptor, _MOST)
        except OSError:
            data = b""
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, data)

    Thread(target=read, daemon=True).start()
    return await done
