"""Many items through one program: so many at a time, results in the order of the items, memory that does not grow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def streamed(
    items: Iterable[_Item], work: Callable[[int, _Item], Awaitable[_Result]], *, window: int
) -> AsyncIterator[_Result]:
    """Yield what each item becomes, in their order, as soon as it and all before it are done.

    At most `window` items are begun and not yet yielded.
    So whoever is slowest, an item, the model or the reader, holds the others back.
    `work` must not raise.
    """
    numbered = enumerate(items)
    running: dict[int, asyncio.Task[_Result]] = {}
    following = 0
    try:
        while True:
            for number, item in _next(numbered, window - len(running)):
                running[number] = asyncio.ensure_future(work(number, item))
            if not running:
                return
            yield await running.pop(following)
            following += 1
    finally:
        for task in running.values():
            task.cancel()


def _next(numbered: Iterator[tuple[int, _Item]], most: int) -> Iterator[tuple[int, _Item]]:
    for _ in range(most):
        following = next(numbered, None)
        if following is None:
            return
        yield following
