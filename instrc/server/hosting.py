"""A service in a process of its own: its programs found, its runs carried on, and its end in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvicorn
from starlette.routing import BaseRoute

from instrc import problems
from instrc.engines.launch import Launcher, RehearseMode
from instrc.engines.prepare import Prepared, prepare
from instrc.problems.problem import CompileError
from instrc.runtime.engine import Engine, Serving, UnreachableError, wait_for_server
from instrc.server.http import Beside, app_of
from instrc.server.inbox import Inbox
from instrc.server.records import Records
from instrc.server.run_service import Hub, RunService
from instrc.vibes.project import Project
from instrc.vibes.settings import read_settings

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
STAND_BY: Final = 2.0
"""Seconds between two attempts to carry the runs that another process carries."""
GRACE: Final = 10
"""Seconds for requests to end when the service does."""


def programs_in(paths: Iterable[str], project: Project) -> list[Prepared]:
    """Return the programs at some places: files, and those of folders, each export by its name."""
    found: list[Prepared] = []
    for path in paths:
        folder = Path(path)
        files = sorted(each.as_posix() for each in folder.glob("*.aug")) if folder.is_dir() else [path]
        if not files:
            reason = "there is no program (`*.aug`) in this folder"
            raise CompileError([problems.runs.UnusableSetting(what="path", word=path, reason=reason)])
        for file in files:
            found += _exports(file, project)
    return found


def _exports(file: str, project: Project) -> Iterator[Prepared]:
    try:
        yield prepare(file, project=project)
    except CompileError as error:
        several = next((each for each in error.problems if isinstance(each, problems.calls.SeveralExports)), None)
        if several is None or not several.names:
            raise
        for name in several.names:
            yield prepare(file, export=name, project=project)


def launchers_of(programs: Iterable[Prepared], model: str | None, rehearse: RehearseMode) -> dict[str, Launcher]:
    """Return what begins runs of each program, by its name; two of one name are a problem."""
    found: dict[str, Launcher] = {}
    for prepared in programs:
        if prepared.name in found:
            reason = "two programs have it: give one another name"
            raise CompileError([problems.runs.UnusableSetting(what="program", word=prepared.name, reason=reason)])
        found[prepared.name] = Launcher(prepared, model=model, rehearse=rehearse)
    return found


def service_at(launchers: dict[str, Launcher], engine: Engine, place: str | None, hub: Hub) -> RunService:
    """Return the service of some programs, with its records beside the runs."""
    return RunService(launchers, engine, Records(place), settings=read_settings(Path()).service, hub=hub)


async def serve(
    service: RunService,
    host: str,
    port: int,
    tell: Callable[[str], object],
    *,
    routes: Sequence[BaseRoute] = (),
    beside: Sequence[Beside] = (),
) -> None:
    """Serve until SIGTERM or Ctrl-C; runs are carried on meanwhile, unless another process does so."""
    if host not in LOOPBACK:
        reason = "without identity the service listens at this machine only (`127.0.0.1`)"
        raise CompileError([problems.runs.UnusableSetting(what="address", word=host, reason=reason)])
    tell("nobody is asked who they are: whoever reaches this address may do everything")
    server = uvicorn.Server(
        uvicorn.Config(
            app_of(service, routes=[*routes, *Inbox(service).routes], beside=beside),
            host=host,
            port=port,
            log_level="warning",
            timeout_graceful_shutdown=GRACE,
        )
    )
    stop = asyncio.Event()
    carrying = asyncio.create_task(_carry(service.engine, stop, tell))
    try:
        await server.serve()
    finally:
        stop.set()
        with suppress(asyncio.CancelledError):
            await carrying
        service.records.close()


async def beside_runs(service: RunService, work: Awaitable[None]) -> None:
    """Do something while a service takes in what happens to its runs."""
    await service.begin()
    try:
        await work
    finally:
        await service.close()
        service.records.close()


async def _carry(engine: Engine, stop: asyncio.Event, tell: Callable[[str], object]) -> None:
    """Go on with interrupted runs and those that others begin, as a worker does; stand by while another process does so."""
    if not isinstance(engine, Serving):
        return
    while not stop.is_set():
        try:
            await wait_for_server(engine, tell, stop=stop)
            if not stop.is_set() and await engine.claim():
                await engine.serve(stop)
        except UnreachableError:
            continue
        except CompileError as error:
            if not any(isinstance(each, problems.runs.StoreInUse) for each in error.problems):
                tell(error.problems[0].message)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), STAND_BY)
