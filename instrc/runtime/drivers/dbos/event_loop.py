"""An event loop in a thread of its own, which ends in order: nothing is left that would find it closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import TypeVar

_T = TypeVar("_T")
_PATIENCE = 1.0
"""Seconds for tasks to end that are cancelled, each time."""
_TIMES = 5


class LoopEndedError(Exception):
    """The loop has ended, before or while it did something."""


class EventLoopThread:
    """An event loop in a thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self, work: Coroutine[object, object, _T]) -> _T:
        """Do something in this loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def away(self, work: Coroutine[object, object, _T]) -> _T:
        """Do something in this loop, from another loop; that this loop ends meanwhile does not cancel who waits."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise LoopEndedError from None
        waiter = asyncio.current_task()
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if waiter is None or waiter.cancelling():
                raise
            raise LoopEndedError from None

    def end(self) -> None:
        """Cancel what is still carried out, and end."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_PATIENCE * (_TIMES + 1))

    def _serve(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            for _ in range(_TIMES):
                if not (left := asyncio.all_tasks(loop)):
                    break
                for task in left:
                    task.cancel()
                loop.run_until_complete(asyncio.wait(left, timeout=_PATIENCE))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
