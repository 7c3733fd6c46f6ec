"""Wait for the server of an engine, and repeat what a lost connection interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Final, TypeAlias, TypeVar
from weakref import WeakSet

from instrc import problems
from instrc.problems.errors import InstrcError, UnreachableError
from instrc.runtime.engine_protocol import Engine, Serving
from instrc.runtime.run_report import RunReport
from instrc.text.jsonvalue import Json

_T = TypeVar("_T")


async def retry_after_reconnect(engine: Engine, work: Callable[[bool], Awaitable[_T]], limit: float, notify: Notify) -> _T:
    """Call `work(retrying)` with an engine, and again after each loss and return of its server.

    Raise `UnreachableError` at once if the server has never responded to this program: its address may be wrong.
    """
    again = False
    if isinstance(engine, Serving) and engine not in _reached:
        await engine.reach()
        _reached.add(engine)
    while True:
        try:
            return await work(again)
        except UnreachableError as error:
            if not isinstance(engine, Serving) or not limit:
                raise
            notify(f"{error.problems[0].message}; its runs stay unchanged, and continue when it responds")
            await wait_for_server(engine, notify, limit=limit)
            again = True


async def wait_for_server(
    engine: Serving, notify: Notify, *, limit: float | None = None, stop: asyncio.Event | None = None
) -> None:
    """Return once the engine's server responds, or shortly after `stop`; raise `UnreachableError` after `limit` seconds."""
    stop = stop or asyncio.Event()
    pause, began = FIRST_PAUSE, monotonic()
    while not stop.is_set():
        try:
            return await engine.reach()
        except UnreachableError as error:
            if limit is not None and monotonic() + pause > began + limit:
                raise
            if not stop.is_set():
                notify(f"{error.problems[0].message}; trying again in {pause:g} s")
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(pause * 2, LAST_PAUSE)
    return None


async def answer_or_resume(engine: Engine, run: str, step: str, data: Json, *, again: bool) -> RunReport:
    """Answer a question of a run; on a retry (`again`), a closed question was answered before the connection was lost."""
    try:
        return await engine.answer(run, step, data)
    except InstrcError as error:
        if not again or not any(isinstance(item, problems.runs.NoSuchQuestion) for item in error.problems):
            raise
    return await engine.resume(run)


RECONNECT_SECONDS: Final = 300
"""Default time for which a run waits for a lost server, in seconds."""


FIRST_PAUSE: Final = 1.0


LAST_PAUSE: Final = 30.0
"""Initial and maximum seconds between two attempts to reach a server."""


_reached: WeakSet[Serving] = WeakSet()
"""Engines whose servers have responded to this program."""


Notify: TypeAlias = Callable[[str], object]
"""Receives a line of text for the user."""
