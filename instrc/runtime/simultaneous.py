"""Limit the simultaneous calls of one server by this process, and call functions in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

_T = TypeVar("_T")
CALLS: Final = 64
"""Maximum simultaneous calls of one server: each needs a connection, and a process has few of them."""
_calls: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


def calls_of(service: str, most: int | None = None) -> asyncio.Semaphore:
    """Return the limit of simultaneous calls of a server in the running event loop, since loops cannot share one."""
    return _calls.setdefault(asyncio.get_running_loop(), {}).setdefault(service, asyncio.Semaphore(most or CALLS))


_threads: Final = ThreadPoolExecutor(200, "instrc-foreign")


async def in_thread(call: Callable[..., _T], *given: object) -> _T:
    """Call foreign code in a thread for such calls: a loop has few of its own, and a service reads its database in them."""
    return await asyncio.get_running_loop().run_in_executor(_threads, copy_context().run, call, *given)
