"""What the editor sends, read without a thread: one that waits for its next message could not be interrupted."""

from __future__ import annotations

from instrc.arriving import read_chunks


class Incoming:
    """The bytes of a descriptor as `pygls` asks for them: a line of a header, or a body of a known length."""

    def __init__(self, descriptor: int) -> None:
        self._chunks = read_chunks(descriptor)
        self._kept = bytearray()

    async def readline(self) -> bytes:
        """Return the next line with its end; what is left if there is none."""
        seen = 0
        while (end := self._kept.find(b"\n", seen)) < 0:
            seen = len(self._kept)
            if not await self._more():
                return self._taken(seen)
        return self._taken(end + 1)

    async def readexactly(self, n: int) -> bytes:
        """Return so many bytes; fewer at the end."""
        while len(self._kept) < n and await self._more():
            pass
        return self._taken(n)

    async def _more(self) -> bool:
        try:
            self._kept += await anext(self._chunks)
        except StopAsyncIteration:
            return False
        return True

    def _taken(self, count: int) -> bytes:
        taken = bytes(self._kept[:count])
        del self._kept[:count]
        return taken
