"""Limit the simultaneous calls of one server by this process."""

from __future__ import annotations

import asyncio
from typing import Final
from weakref import WeakKeyDictionary

CALLS: Final = 64
"""Maximum simultaneous calls of one server: each needs a connection, and a process has few of them."""
_calls: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


def calls_of(service: str, most: int | None = None) -> asyncio.Semaphore:
    """Return the limit of simultaneous calls of a server in the running event loop, since loops cannot share one."""
    return _calls.setdefault(asyncio.get_running_loop(), {}).setdefault(service, asyncio.Semaphore(most or CALLS))
