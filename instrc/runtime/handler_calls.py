"""One call of the handler of an activity: in the loop or in a thread, with its timeout and its heartbeat."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import cast

from instrc.jsonvalue import Json
from instrc.plain_values import TOO_MANY_VALUES, WRITTEN_VALUES, writes_over
from instrc.python.values import json_of
from instrc.runtime.activities import Activity, ActivityCall, ActivityError, Handler, HandlerResult, calling


def time_limit(span: float | None) -> AbstractAsyncContextManager[object]:
    """Return what ends what is inside after so many seconds."""
    return nullcontext() if span is None else asyncio.timeout(span)


async def attempt_call(activity: Activity, given: Json, call: ActivityCall) -> HandlerResult:
    """Call a handler once: a coroutine in the loop, a function in a thread; with its timeout and its heartbeat.

    What it returns as a typed instance (a model, a dataclass, a date) is JSON then.
    """
    handler = activity.handler
    assert handler is not None
    value: HandlerResult | Awaitable[HandlerResult]
    async with time_limit(activity.retry.timeout):
        with calling(call):
            if activity.retry.heartbeat is not None:
                value = await _beating(handler, given, call, activity.retry.heartbeat)
            elif asyncio.iscoroutinefunction(handler):
                value = await handler(given)
            else:
                value = await asyncio.to_thread(handler, given)
            if isinstance(value, Awaitable):  # a function that returns a coroutine
                value = await value
    if writes_over(value, WRITTEN_VALUES):
        raise ActivityError(TOO_MANY_VALUES, retry=False)
    return cast("HandlerResult", json_of(value))


async def _beating(handler: Handler, given: Json, call: ActivityCall, span: float) -> HandlerResult | Awaitable[HandlerResult]:
    """Call a handler that has to show that it is alive."""
    alive = asyncio.Event()
    call.beat = _beater(alive)
    if asyncio.iscoroutinefunction(handler):
        work: asyncio.Future[HandlerResult | Awaitable[HandlerResult]] = asyncio.ensure_future(handler(given))
    else:
        work = asyncio.ensure_future(asyncio.to_thread(handler, given))
    try:
        await _watch_heartbeat(work, alive, span)
        return await work
    finally:
        work.cancel()


def _beater(alive: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def beat() -> None:
        loop.call_soon_threadsafe(alive.set)

    return beat


async def _watch_heartbeat(
    work: asyncio.Future[HandlerResult | Awaitable[HandlerResult]], alive: asyncio.Event, span: float
) -> None:
    """Wait as long as a handler shows that it is alive."""
    while not work.done():
        beat: asyncio.Future[bool] = asyncio.ensure_future(alive.wait())
        either: set[asyncio.Future[HandlerResult | Awaitable[HandlerResult]] | asyncio.Future[bool]] = {work, beat}
        done, _ = await asyncio.wait(either, timeout=span, return_when=asyncio.FIRST_COMPLETED)
        beat.cancel()
        alive.clear()
        if not done:
            raise TimeoutError
