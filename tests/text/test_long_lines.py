"""Lines of a stream are read as their bytes arrive, up to a length."""

from __future__ import annotations

import asyncio
import os
from threading import Thread

import pytest

from instrc.text.streams import LineTooLongError, read_lines


def lines_of(data: bytes, longest: int) -> list[str]:
    """Return the lines that arrive by a pipe."""
    out, into = os.pipe()

    def write() -> None:
        with os.fdopen(into, "wb") as pipe:
            pipe.write(data)

    async def read() -> list[str]:
        return [line async for line in read_lines(stream, longest=longest)]

    writer = Thread(target=write)
    with os.fdopen(out, "rb") as stream:
        writer.start()
        try:
            return asyncio.run(read())
        finally:
            while os.read(out, 65536):  # the rest, so that the writer ends
                pass
            writer.join()


def test_lines_of_any_number_are_read_where_none_is_too_long() -> None:
    assert lines_of(b"a\n\nb\n" * 50_000, longest=3) == ["a", "", "b"] * 50_000
    assert lines_of("ä\nlast".encode(), longest=4) == ["ä", "last"]


@pytest.mark.parametrize("data", [b"abcd", b"a\nabcd", b"abcd" * 100_000])
def test_a_line_without_end_is_refused_as_soon_as_it_is_too_long(data: bytes) -> None:
    with pytest.raises(LineTooLongError, match="a line is longer than 3 bytes"):
        lines_of(data, longest=3)
