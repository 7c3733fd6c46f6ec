"""The standard streams of a program that runs foreign code.

Input is read as its bytes arrive, in the event loop: a thread that waits for input could not be interrupted.
Claimed output is exclusive: output of other code never comes between its lines.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Thread, get_ident
from typing import IO

from instrc.text.visible import visible_lines

SPEAKER: ContextVar[str] = ContextVar("instrc_speaker", default="")
"""Name of the running code; it prefixes lines that are printed while the output is claimed."""
_MOST = 65536


class LineTooLongError(ValueError):
    """A line exceeds the maximum length."""


async def read_lines(
    stream: IO[str] | IO[bytes] | None = None, *, errors: str = "strict", longest: int = 64 * 1024 * 1024
) -> AsyncIterator[str]:
    """Yield each line of a stream (standard input by default) without its line end.

    Raise `UnicodeDecodeError` if a line is not UTF-8, unless `errors` (as in `bytes.decode`) allows it;
    and `LineTooLongError` once `longest` bytes have arrived without a line end.
    """
    given = sys.stdin if stream is None else stream
    if given is None:  # closed by the shell (`<&-`)
        return
    try:
        descriptor = given.fileno()
    except (OSError, ValueError):  # replaced by a program that embeds this package
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
            raise LineTooLongError(f"a line is longer than {longest:,} bytes")
        for other in others:
            yield b"".join(begun).decode(errors=errors)
            begun = [other]
    if rest := b"".join(begun):
        yield rest.decode(errors=errors)


async def read_chunks(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the bytes of a descriptor as they arrive, until its end."""
    while data := await _arriving_read(descriptor):
        yield data


async def _arriving_read(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except NotImplementedError:  # the event loop of Windows watches sockets only
        return await _read_beside(descriptor)
    except OSError:  # a regular file is always readable
        return os.read(descriptor, _MOST)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST)


async def _read_beside(descriptor: int) -> bytes:
    """Read in a daemon thread: the threads of an executor are joined at exit."""
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


_claimed: list[IO[str]] = []


@contextmanager
def claimed_output() -> Iterator[IO[str] | None]:
    """Reserve standard output for the caller: other output goes to standard error, after the name in `SPEAKER`.

    Child processes of other code cannot write to it either, except on Windows.
    Yield `None` if standard output is closed; nested claims yield the same stream.
    """
    usual = sys.stdout
    if _claimed or usual is None:
        yield _claimed[-1] if _claimed else None
        return
    private = _moved_output(usual)
    stream = usual if private is None else os.fdopen(private, "w", encoding="utf-8")
    _claimed.append(stream)
    sys.stdout = aside = _Aside()
    try:
        yield stream
    finally:
        _claimed.remove(stream)
        sys.stdout = usual
        aside.end()
        if private is not None:
            with suppress(OSError):  # the reader is gone or the disk is full: the writer got the error
                stream.flush()
            os.dup2(private, 1)
            with suppress(OSError):
                stream.close()


def _moved_output(usual: IO[str]) -> int | None:
    """Duplicate standard output and redirect its descriptor to standard error; return `None` if that is impossible."""
    private = None
    try:
        if usual.fileno() != 1:
            return None
        usual.flush()
        private = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError):  # replaced by a program that embeds this package, or closed
        if private is not None:
            os.close(private)
        return None
    return private


class _Aside(io.TextIOBase):
    """A text stream that forwards whole lines to standard error."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._begun: dict[tuple[str, int], str] = {}
        """Incomplete lines, by speaker and thread."""

    @property
    def buffer(self) -> IO[bytes]:
        """The underlying binary stream."""
        return sys.stderr.buffer

    def fileno(self) -> int:
        """Return the descriptor for child processes."""
        return sys.stderr.fileno()

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, text: str) -> int:
        """Write the complete lines, and keep the rest."""
        who = (SPEAKER.get(), get_ident())
        *lines, rest = (self._begun.pop(who, "") + text).split("\n")
        for line in lines:
            _say(who[0], line)
        if rest:
            self._begun[who] = rest
        return len(text)

    def end(self) -> None:
        """Write the incomplete lines."""
        for (name, _), line in self._begun.items():
            _say(name, line)
        self._begun.clear()


def _say(name: str, line: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # the standard error is closed
        sys.stderr.write(visible_lines(f"[{name}] {line}\n" if name else f"{line}\n"))
