"""Write to the two streams of a process: always UTF-8, flushed, and without an error at exit if a reader has gone.

Only visible characters are shown to users, as foreign texts could control a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from instrc.text.visible import visible_lines


class ReaderGoneError(Exception):
    """The reader of standard output has closed it, as `head` does: not an error, but a reason to stop."""


class OutputFailedError(Exception):
    """Standard output cannot be written: it is closed, or its disk is full. `reason` says which."""

    def __init__(self, reason: str = "it is closed") -> None:
        super().__init__(reason)
        self.reason = reason


_results: list[IO[str] | None] = []


@contextmanager
def claimed_results() -> Iterator[None]:
    """Reserve standard output for the results: output of activities goes to standard error, with their names.

    Log records without a handler go there too, with secrets masked: libraries log what providers send, and addresses.
    """
    import logging  # most commands run no foreign code

    from instrc.text.streams import claimed_output

    usual, last = logging.lastResort, logging.Handler(logging.WARNING)
    last.emit = lambda record: write_foreign(f"{last.format(record)}\n")  # type: ignore[method-assign]  # its only method
    with claimed_output() as stream:
        _results.append(stream)
        logging.lastResort = last
        try:
            yield
        finally:
            logging.lastResort = usual
            _results.pop()


def results() -> IO[str] | None:
    """Return standard output."""
    return _results[-1] if _results else sys.stdout


def write(text: str) -> None:
    """Write results to standard output: exactly, unless a terminal shows them."""
    _write(visible_lines(text) if is_terminal(results()) else text)


def _write(text: str) -> None:
    stream = results()
    if stream is None:  # `None` where a shell has closed it (`>&-`)
        raise OutputFailedError
    try:
        _send(stream, text)
    except BrokenPipeError:
        _leave_in_silence(stream)
        raise ReaderGoneError from None
    except (OSError, ValueError) as error:  # a full disk; a closed file
        _leave_in_silence(stream)
        raise OutputFailedError(getattr(error, "strerror", None) or str(error)) from error


def _send(stream: IO[str], text: str) -> None:
    binary = getattr(stream, "buffer", None)
    if binary is None:  # replaced by a program that embeds this package
        stream.write(text)
    else:
        stream.flush()
        binary.write(text.encode("utf-8", "replace"))
    stream.flush()


def _leave_in_silence(stream: IO[str]) -> None:
    """Redirect a broken stream to the null device, as Python would report an error when flushing it at exit."""
    try:
        descriptor = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError):
        return
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def write_report(text: str) -> None:
    """Write a text for the user to standard output."""
    _write(visible_lines(text))


def write_error(text: str, *, exact: bool = False) -> None:
    """Write a text for the user to standard error; errors are ignored.

    `exact` text is for a machine, or was made printable before it was coloured.
    """
    if sys.stderr is None:
        return
    try:
        _send(sys.stderr, text if exact else visible_lines(text))
    except (OSError, ValueError):
        _leave_in_silence(sys.stderr)


def write_foreign(text: str) -> None:
    """Write a text of a library or of other code to standard error, without secrets."""
    from instrc.runtime.secrets import redacted

    write_error(redacted(text))


def coloured(stream: IO[str] | None) -> bool:
    """Return whether to use colours: on a terminal, unless `NO_COLOR` or `FORCE_COLOR` decides otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: IO[str] | None) -> bool:
    """Return whether the stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
