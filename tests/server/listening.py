"""A service that listens at a port of this machine, for clients that stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette

from instrc.server.access import Caller  # the service, in the process of the test
from instrc.server.http import app_of  # the service, in the process of the test
from instrc.server.run_service import RunService  # the service, in the process of the test


def knowing(people: dict[str, Caller]) -> Callable[[Any], Any]:
    """Return what knows people by their names, sent as a bearer token."""

    async def identify(headers: Any) -> Caller | None:
        return people.get(headers.get("authorization", "").removeprefix("Bearer "))

    return identify


@asynccontextmanager
async def at_port(app: Starlette, **more: Any) -> AsyncIterator[str]:
    """Serve an application; give its address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=2, **more)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110  -- the library has no event for it
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def listening(made: RunService, *people: Caller, routes: Any, beside: Any = ()) -> AsyncIterator[str]:
    """Serve a service to people who are known by their names; to everybody if there are none."""
    identify = knowing({each.name: each for each in people}) if people else None
    async with at_port(app_of(made, identify=identify, routes=routes, beside=beside)) as address:
        try:
            yield address
        finally:
            close = getattr(made.engine, "close", None)
            if close is not None:
                await asyncio.to_thread(close)
            made.records.close()
