"""Clients of libraries hold connections of one event loop: they are closed before it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

_Done = TypeVar("_Done")
_closers: WeakKeyDictionary[asyncio.AbstractEventLoop, list[Callable[[], Awaitable[object]]]] = WeakKeyDictionary()
_ends: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = WeakKeyDictionary()
"""In a loop of somebody else: `asyncio.run` closes the asynchronous generators that are open at its end, and this is one."""


def close_at_end(close: Callable[[], Awaitable[object]]) -> None:
    """Register what is to be closed before the running event loop ends."""
    loop = asyncio.get_running_loop()
    _closers.setdefault(loop, []).append(close)
    if loop not in _ends:
        _ends[loop] = _end_of_loop()
        with suppress(StopIteration):
            _ends[loop].__anext__().__await__().__next__()  # it stands at its `yield`


async def _end_of_loop() -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await _close_all()


async def _close_all() -> None:
    for close in _closers.pop(asyncio.get_running_loop(), []):
        with suppress(Exception):  # of a library; the answers are there
            await close()


async def closing_all(work: Awaitable[_Done]) -> _Done:
    """Return the result of a coroutine, and close what was opened in this event loop."""
    try:
        return await work
    finally:
        await _close_all()
