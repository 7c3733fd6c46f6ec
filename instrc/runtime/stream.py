"""A run whose answers are seen while models write them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import copy_context

from instrc.runtime.engine import Run
from instrc.runtime.models.partial import PARTS, AnswerPart


class RunStream:
    """The parts of the answers in a run, for `async for`; it begins with the loop, and is cancelled if that is left early."""

    def __init__(self, begin: Callable[[], Coroutine[object, object, Run]]) -> None:
        self._begin = begin
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The run, when the loop over its parts has ended; a `RuntimeError` before."""
        if self._run is None:
            message = "the run has not ended: loop over its parts first, with `async for`"
            raise RuntimeError(message)
        return self._run

    async def __aiter__(self) -> AsyncGenerator[AnswerPart]:
        """Run the program, and yield the parts as they come; raise what the run raises."""
        queue: asyncio.Queue[AnswerPart | None] = asyncio.Queue()
        loop, context = asyncio.get_running_loop(), copy_context()
        context.run(PARTS.set, lambda part: loop.call_soon_threadsafe(queue.put_nowait, part))
        task = loop.create_task(self._begin(), context=context)
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (part := await queue.get()) is not None:
                yield part
            self._run = await task
        finally:
            task.cancel()
