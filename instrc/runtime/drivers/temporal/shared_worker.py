"""One worker in a process for all who need it at the same time: the library refuses two of one task queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

Opening = Callable[[bool], AbstractAsyncContextManager[object]]
"""Begins to serve; `True` with the activities, `False` only the workflows, so that a run can be asked about."""


class SharedWorker:
    """A worker that lives as long as anybody uses it; for one event loop."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self._users = 0
        self._carries = False
        self._change = asyncio.Condition()
        self._open = AsyncExitStack()

    @asynccontextmanager
    async def used(self, *, carry: bool) -> AsyncIterator[None]:
        """Serve meanwhile; who is to `carry` runs waits for those who only ask."""
        async with self._change:
            await self._change.wait_for(lambda: not self._users or self._carries or not carry)
            if not self._users:
                await self._open.enter_async_context(self.opening(carry))
                self._carries = carry
            self._users += 1
        try:
            yield
        finally:
            async with self._change:
                self._users -= 1
                if not self._users:
                    await self._open.aclose()
                self._change.notify_all()
