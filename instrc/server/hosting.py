"""Run a service in its own process: find its programs, carry out its runs, and shut down gracefully."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from signal import SIGTERM
from socket import IPPROTO_TCP, SOCK_STREAM, create_server, getaddrinfo, socket
from time import monotonic
from types import FrameType
from typing import Final
from urllib.parse import quote

import uvicorn
from msgspec import structs
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from instrc import problems
from instrc.engines.approvals import NameRules
from instrc.engines.launch import Launcher, RehearseMode
from instrc.engines.prepare import Prepared, prepare
from instrc.engines.retention import keep_swept
from instrc.engines.run_table import RunChange
from instrc.engines.stores import exposed
from instrc.problems.errors import InstrcError, unusable
from instrc.problems.suggest import nearest
from instrc.runtime.engine_protocol import Engine, Serving
from instrc.runtime.reconnect import wait_for_server
from instrc.schema.walk import nodes
from instrc.server.connections import BoundedProtocol
from instrc.server.door import Identify
from instrc.server.http import Beside, app_of
from instrc.server.identity import Identity, ProviderKeys
from instrc.server.inbox import Inbox
from instrc.server.logs import is_json
from instrc.server.operation_json import question_id
from instrc.server.operations import Endpoint
from instrc.server.operators import webhook_routes
from instrc.server.records import Records, secrets_given
from instrc.server.run_service import RunService
from instrc.server.streams import Hub
from instrc.server.webhooks import AddressRules, Webhooks
from instrc.text.jsonvalue import Json, listing
from instrc.vibes.project import Project
from instrc.vibes.service_settings import ServiceSettings
from instrc.vibes.settings import read_settings

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  -- addresses, not host names
STAND_BY: Final = 2.0
"""Seconds between two attempts to take over the runs of another process."""
_YIELDING: Final = 1.5
"""Seconds to wait for another process that owns a folder's runs: a command may be about to end."""
_PAUSE: Final = 0.3
BACKLOG: Final = 100
"""Maximum pending connections: asyncio accepts so many at once before any is refused, and each takes a descriptor."""
GRACE: Final = 10
"""Seconds for requests to end on shutdown."""


def programs_in(paths: Iterable[str], project: Project) -> list[Prepared]:
    """Return the programs of files and folders; a program with several exports is one program per export."""
    found: list[Prepared] = []
    for path in paths:
        folder = Path(path)
        files = sorted(each.as_posix() for each in folder.glob("*.aug")) if folder.is_dir() else [path]
        if not files:
            raise unusable("path", path, "there is no program (`*.aug`) in this folder")
        for file in files:
            found += _exports(file, project)
    return found


def _exports(file: str, project: Project) -> Iterator[Prepared]:
    try:
        yield prepare(file, project=project)
    except InstrcError as error:
        several = next((each for each in error.problems if isinstance(each, problems.calls.SeveralExports)), None)
        if several is None or not several.names:
            raise
        for name in several.names:
            yield prepare(file, export=name, project=project)


def launchers_of(programs: Iterable[Prepared], model: str | None, rehearse: RehearseMode) -> dict[str, Launcher]:
    """Return the launcher of each program by name; raise if two have the same name."""
    found: dict[str, Launcher] = {}
    for prepared in programs:
        if prepared.name in found:
            raise unusable("program", prepared.name, "two programs have it: give one another name")
        found[prepared.name] = Launcher(prepared, model=model, rehearse=rehearse)
    return found


def service_at(launchers: dict[str, Launcher], engine: Engine, place: str | None, hub: Hub) -> RunService:
    """Return the service of programs, with its records next to the runs."""
    settings = read_settings(Path())
    of_service = settings.service
    if of_service is not None and of_service.words is not None and settings.file is not None:
        of_service = structs.replace(of_service, words=str(settings.file.parent / of_service.words))
    return RunService(launchers, engine, Records(place), settings=of_service, hub=hub, secrets=secrets_given())


def identity_of(service: RunService) -> Identity:
    """Return the authenticator of a service."""
    settings = read_settings(Path())
    folder = settings.file.parent if settings.file is not None else Path()
    oidc = service.settings.oidc
    keys = None if oidc is None else ProviderKeys(oidc.jwks, folder)
    return Identity(service.records, service.settings, service.signer, keys)


def protocols_of(service: RunService, tools: Iterable[Prepared], address: str) -> tuple[list[BaseRoute | Endpoint], list[Beside]]:
    """Return the routes and background tasks of webhooks, and of protocols whose libraries are installed."""
    address = service.settings.url or address

    def page(run: str, question: str) -> str:
        return f"{address}/inbox/question/{quote(question_id(run, question), safe='')}"

    def link(change: RunChange) -> str:
        asked = change.body.get("question")
        return f"{address}/inbox/runs/{change.run}" if asked is None else page(change.run, str(asked))

    hooks = Webhooks(service.records, AddressRules.of(service.settings.networks), link)
    routes: list[BaseRoute | Endpoint] = [*webhook_routes(hooks)]
    beside: list[Beside] = [hooks.beside, partial(_sweeping, service)]
    with suppress(ModuleNotFoundError):
        from instrc.server.mcp_runs import RunOffers, mcp_mount  # an extra

        route, running = mcp_mount(RunOffers(tools, service), page)
        routes.append(route)
        beside.append(running)
    with suppress(ModuleNotFoundError):
        from instrc.server.a2a import a2a_routes  # an extra

        routes += a2a_routes(service, hooks)
    with suppress(ModuleNotFoundError):
        from instrc.server.agui import agui_routes  # an extra

        routes += agui_routes(service)
    return routes, beside


@asynccontextmanager
async def _sweeping(service: RunService) -> AsyncIterator[None]:
    """Delete expired data while a service runs."""
    kept = structs.asdict(service.settings.retention)
    task = asyncio.create_task(keep_swept(service.engine, lambda: service.records, kept))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def idle_settings(service: RunService) -> list[str]:
    """Return a warning for each entry about roles or people that matches no program or step."""
    programs = service.launchers
    steps = {name: launcher.prepared.names for name, launcher in programs.items()}
    bare = set[str]().union(*steps.values())
    whole = {f"{program}.{step}" for program, its in steps.items() for step in its} | {f"{name}.*" for name in programs}
    found = []
    for table, entries, known in (
        ("serve.roles", service.settings.roles, {*programs, "*"}),
        ("people", service.settings.people, {*whole, *bare, "*"}),
    ):
        for name in (name for name in entries if name not in known):
            near = nearest(name, sorted(known))
            more = f"; did you mean `{near[0]}`?" if near else ""
            found.append(f"`{name}` in `[tool.instrc.{table}]` names nothing that is served, and has no effect{more}")
    return found


def require_clear_names(settings: ServiceSettings, names: NameRules, launchers: Mapping[str, Launcher]) -> None:
    """Raise for names in settings and programs that are ambiguous, or of another identity provider than that of the settings."""
    said = [(f"[tool.instrc.serve.groups] {group}", word) for group, listed in settings.groups.items() for word in listed]
    roles = [who for held in settings.roles.values() for who in held.values()]
    said += [("[tool.instrc.serve.roles]", word) for who in roles for word in who]
    said += [("[tool.instrc.people]", word) for each in settings.people.values() for word in each.candidates]
    for name, launcher in launchers.items():
        said += [(f"`{name}`", word) for word in _approvers_in(launcher.prepared.document)]
    for place, word in said:
        meant = names.read(word)
        if len(meant) > 1:
            reason = f"in {place} it is a key or a subject of the identity provider: write `key:{word}` or `oidc:ISSUER#{word}`"
            raise unusable("name", word, reason)
        if names.issuer is not None and meant[0].startswith("oidc:") and not meant[0].startswith(f"oidc:{names.issuer}#"):
            raise unusable("name", word, f"in {place} it is of another identity provider than `{names.issuer}`")


def _approvers_in(document: Json) -> Iterator[str]:
    """Yield the names in the lists of `x-approvers` and `x-not` of a program."""
    lists = [listing(node.get(key)) for node in nodes(document) for key in ("x-approvers", "x-not")]
    return (word for listed in lists for word in listed if isinstance(word, str) and word != "starter")


def listener_at(host: str, port: int) -> socket:
    """Return a listening socket, at a free port for port 0; raise `SettingsError` on failure."""
    try:
        family = getaddrinfo(host, port, type=SOCK_STREAM)[0][0]
        listener = create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]  # Python would repeat the address
        raise unusable("address", f"{host}:{port}", reason) from None
    # asyncio sets TCP_NODELAY only on sockets that name their protocol: without it a kept connection waits 40 ms an answer
    return socket(family, SOCK_STREAM, IPPROTO_TCP, fileno=listener.detach())


async def serve(
    service: RunService,
    host: str,
    listener: socket,
    tell: Callable[[str], object],
    *,
    greeting: str,
    routes: Sequence[BaseRoute | Endpoint] = (),
    beside: Sequence[Beside] = (),
    identify: Identify | None = None,
    stands_by: bool = False,
) -> None:
    """Serve until SIGTERM or Ctrl-C, carrying out runs meanwhile, on a server together with other workers.

    If another process owns the runs of a folder, stand by, or raise `UnavailableError` after a few seconds.
    """
    identity = identity_of(service)
    if not identity.is_on and host not in LOOPBACK:
        reason = "authentication is off: make a key first (`--new-key NAME`), or set `[tool.instrc.serve.oidc]`"
        raise unusable("address", host, reason)
    if identify is None and not identity.is_on:
        tell("authentication is off: anyone on this machine may do everything; all, also behind a proxy, share one limit")
    require_clear_names(service.settings, service.visibility.names, service.launchers)
    service.records.name_subjects(None if service.settings.oidc is None else service.settings.oidc.issuer)
    url = service.records.engine.url
    for line in exposed(Path(url.database or "").parent if url.drivername == "sqlite" else None, signs=identity.is_on):
        tell(line)
    for line in idle_settings(service) if service.launchers else ():
        tell(line)
    known = identity if identity.is_on and identify is None else None
    app = app_of(
        service,
        identify=identify or known or identity.once_on,
        identity=known,
        hosts=() if host in _EVERYWHERE else (host,),
        routes=[*routes, *Inbox(service, identity=known).routes],
        beside=beside,
    )
    server = GracefulServer(_config_of(app, [*service.settings.proxies]), app.state.streams.closing)
    try:
        async with carrying(service.engine, tell, stands_by=stands_by):
            tell(greeting)
            await server.serve(sockets=[listener])
    finally:
        service.records.close()


@asynccontextmanager
async def carrying(engine: Engine, tell: Callable[[str], object], *, stands_by: bool = False) -> AsyncIterator[None]:
    """Carry out runs during the context, on a server together with other workers.

    If another process owns the runs of a folder, stand by, or raise `UnavailableError` after a few seconds.
    """
    stop, claimed = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(_carry(engine, stop, claimed, tell, None if stands_by else monotonic() + _YIELDING))
    try:
        await asyncio.wait({task, asyncio.ensure_future(claimed.wait())}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield
    finally:
        stop.set()
        await asyncio.wait({task})


def _config_of(app: Starlette, proxies: list[str]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        log_config=None if is_json() else uvicorn.config.LOGGING_CONFIG,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        proxy_headers=bool(proxies),  # otherwise the header would let a client choose any address
        forwarded_allow_ips=proxies,
        http=BoundedProtocol,
        backlog=BACKLOG,
        ws="none",  # a connection that becomes a web socket would never be counted as closed
    )


async def _carry(
    engine: Engine, stop: asyncio.Event, claimed: asyncio.Event, tell: Callable[[str], object], deadline: float | None
) -> None:
    """Continue interrupted runs and those started by others, like a worker.

    While another process does so, stand by: until a `deadline`, if there is one and nothing was claimed.
    """
    if not isinstance(engine, Serving):
        return
    while not stop.is_set():
        try:
            await wait_for_server(engine, tell, stop=stop)
            if not stop.is_set():
                await engine.claim()
                claimed.set()
                await engine.serve(stop)
        except InstrcError as error:
            is_held = any(isinstance(each, problems.runs.StoreInUse) for each in error.problems)
            if is_held and deadline is not None and not claimed.is_set():
                if monotonic() > deadline:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            if not is_held:
                tell(error.problems[0].message)
        claimed.set()  # another process carries the runs
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), STAND_BY)


async def beside_runs(service: RunService, work: Awaitable[None]) -> None:
    """Await work while a service follows its runs."""
    await service.begin()
    try:
        await work
    finally:
        await service.close()
        service.records.close()


class GracefulServer(uvicorn.Server):
    """A server that closes its event streams when stopped, instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; SIGTERM is not passed on, which would end the process before its runs are left."""
        if sig == SIGTERM:
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)
        self._closing.set()
