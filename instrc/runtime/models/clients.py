"""Clients of provider libraries: one per provider and event loop, shared by all runs and closed before the loop ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from inspect import iscoroutinefunction
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

Client: TypeAlias = Any  # each library has its own, and is installed only where it is used
"""A client from a provider's library."""
_Done = TypeVar("_Done")


def client_of_loop(provider: str, access: object, connect: Callable[[], Client]) -> Client:
    """Return the client of a provider in the running event loop; connect if there is none with these credentials yet.

    Its connections belong to the loop and cannot be used in another one.
    """
    loop = asyncio.get_running_loop()
    for other in [other for other in _clients if other.is_closed()]:
        _clients.pop(other, None)  # closed by its owner without its asynchronous generators
    clients = _clients.setdefault(loop, {})
    client = next((client for known, client in reversed(clients.get(provider, ())) if known == access), None)
    if client is None:
        client = connect()
        clients.setdefault(provider, []).append((access, client))
        _close_with(loop)
    return client


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, list[tuple[object, Client]]]] = WeakKeyDictionary()
"""Clients by provider, each with its credentials: a notebook may change the key."""
_ends: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = WeakKeyDictionary()
"""Closes clients in foreign event loops: `asyncio.run` closes open asynchronous generators such as this one at its end."""


def _close_with(loop: asyncio.AbstractEventLoop) -> None:
    """Close the clients of the running event loop before it ends."""
    if loop not in _ends:
        _ends[loop] = _end_of_loop()
        with suppress(StopIteration):
            _ends[loop].__anext__().__await__().__next__()  # suspended at its `yield`


async def _end_of_loop() -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await close_clients()


async def close_clients() -> None:
    """Close all clients of the running event loop; a later request connects again."""
    for clients in _clients.pop(asyncio.get_running_loop(), {}).values():
        for _, client in clients:
            with suppress(Exception):  # raised by a library after the answers arrived
                await _close(client)


async def _close(client: Client) -> None:
    """Close the connections of a client by the method of its library."""
    web = getattr(getattr(client, "sdk_configuration", None), "async_client", None)  # of Mistral's
    for holder, name in ((client, "aclose"), (client, "close"), (getattr(client, "aio", None), "aclose"), (web, "aclose")):
        close = getattr(holder, name, None)
        if iscoroutinefunction(close):
            await close()
            return


async def closing_all(work: Awaitable[_Done]) -> _Done:
    """Return the result of a coroutine, and close the clients of this event loop."""
    try:
        return await work
    finally:
        await close_clients()
