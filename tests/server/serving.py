"""A service in the process of a test: programs in few words, an engine, callers, and a client of HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace
from written_processes import DECISION, TEXT, chunk, process, step

from instrc.engines.hosts import engine_of
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.runtime.engine_protocol import Engine
from instrc.server.access import Caller  # the room behind its commands
from instrc.server.http import app_of  # the room behind its commands
from instrc.server.records import Records  # the room behind its commands
from instrc.server.run_service import RunService  # the room behind its commands
from instrc.server.streams import Hub  # the room behind its commands
from instrc.vibes.service_settings import (
    Role,
    ServiceSettings,  # the room behind its commands
)
from instrc.vibes.settings import Settings

LETTER = process(
    llmContext1=chunk(step1_draft=step(TEXT, "prompt")), userContext1=chunk(step2_approve=step(DECISION, "step1_draft"))
)
"""A model drafts, a person approves."""
ANSWER = {"decision": "Approve"}


def asking(**rule: Any) -> dict[str, Any]:
    """Return a process of one question, with the rule of who approves."""
    return process(userContext1=chunk(step1_approve=step({**DECISION, **rule}, "prompt")))


def launcher(name: str, document: Any) -> Launcher:
    return Launcher(Prepared(name, document, Path(), Settings()), rehearse=True)


def person(name: str, *roles: Role, program: str = "*", groups: tuple[str, ...] = ()) -> Caller:
    return Caller(name, frozenset(groups), {program: frozenset(roles)}, "key")


ANN = person("ann", "starter", "answerer")
BOB = person("bob", "starter", "answerer")
CAT = person("cat", "answerer")
BOSS = person("boss", "admin")


def service(
    place: Path | str,
    *,
    name: str = "memory",
    settings: ServiceSettings | None = None,
    records: str | None = None,
    secrets: Sequence[str] = (),
    **programs: Any,
) -> RunService:
    """Return a service of processes by name, whose steps are invented."""
    hub = Hub()
    engine: Engine = engine_of(name, place, watch=hub.saw, parts=hub.heard)  # type: ignore[arg-type]  # the address of a database, too
    launchers = {key: launcher(key, document) for key, document in (programs or {"letter": LETTER}).items()}
    return RunService(launchers, engine, Records(records), settings=settings, hub=hub, secrets=secrets)


@asynccontextmanager
async def opened(made: RunService) -> AsyncIterator[RunService]:
    """Begin the work of a service, and end it."""
    await made.begin()
    try:
        yield made
    finally:
        await made.close()
        close = getattr(made.engine, "close", None)
        if close is not None:
            await asyncio.to_thread(close)
        made.records.close()


@asynccontextmanager
async def client(made: RunService, caller: Caller | None = None, **more: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client of the service over HTTP, as a caller; as the local user if none is given."""

    async def identify(_headers: object) -> Caller | None:
        return caller

    known = {} if caller is None else {"identify": identify}
    app = app_of(made, **{**known, **more})
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=60) as http,
    ):
        yield http


async def settled(made: RunService, run: str, status: str) -> Any:
    """Wait until a run has a status, and return how it stands."""
    for _ in range(1000):
        info = await made.run(BOSS, run)
        if info.report.status == status:
            return info
        await asyncio.sleep(0.01)
    raise AssertionError(info.report)


def go(work: Awaitable[Any], seconds: float = 240) -> Any:
    async def body() -> Any:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run(body())


def on(made: RunService, test: Callable[[RunService], Awaitable[Any]]) -> Any:
    """Do something with a service, and end it."""

    async def body() -> Any:
        async with opened(made):
            return await test(made)

    return go(body())


def in_group(caller: Caller, *groups: str) -> Caller:
    return replace(caller, groups=frozenset(groups))
