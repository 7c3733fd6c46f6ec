"""Clients of libraries hold connections of one event loop: whoever ends the loop closes them first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

_Done = TypeVar("_Done")

_closers: WeakKeyDictionary[asyncio.AbstractEventLoop, list[Callable[[], Awaitable[object]]]] = WeakKeyDictionary()


def close_at_end(close: Callable[[], Awaitable[object]]) -> None:
    """Note what is to be closed before the running event loop ends."""
    _closers.setdefault(asyncio.get_running_loop(), []).append(close)


async def closing_all(work: Awaitable[_Done]) -> _Done:
    """Return what a coroutine gives, and close what was opened in this event loop."""
    try:
        return await work
    finally:
        for close in _closers.pop(asyncio.get_running_loop(), []):
            with suppress(Exception):  # of a library; the answers are there
                await close()
