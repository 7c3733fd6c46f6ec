"""Many items through one program: so many at a time, results in the order of the items, memory that does not grow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def streamed(
    items: AsyncIterable[_Item], work: Callable[[int, _Item], Awaitable[_Result]], *, window: int
) -> AsyncIterator[_Result]:
    """Yield what each item becomes, in their order, as soon as it and all before it are done.

    At most `window` items are begun and not yet yielded.
    So whoever is slowest, an item, the model or the reader, holds the others back; only the wait for an item holds nobody.
    `work` must not raise.
    """
    room = asyncio.Semaphore(window)
    begun: asyncio.Queue[asyncio.Future[_Result] | None] = asyncio.Queue()
    running: set[asyncio.Future[_Result]] = set()

    async def begin_each() -> None:
        number = 0
        following = aiter(items)
        try:
            while await room.acquire():
                task = asyncio.ensure_future(work(number, await anext(following)))
                running.add(task)
                task.add_done_callback(running.discard)
                begun.put_nowait(task)
                number += 1
        except StopAsyncIteration:
            return
        finally:
            begun.put_nowait(None)

    beginning = asyncio.ensure_future(begin_each())
    try:
        while (task := await begun.get()) is not None:
            yield await task
            room.release()
        await beginning  # raises what reading the items has raised
    finally:
        beginning.cancel()
        for each in running:
            each.cancel()
