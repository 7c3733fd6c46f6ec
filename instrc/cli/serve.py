"""The commands `serve` and `studio`: serve programs over HTTP, and edit them in a browser."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from instrc import problems
from instrc.cli import options
from instrc.cli.run_common import engine, imports_of, run_to_end, show_warnings, tell_line
from instrc.cli.terminal import write, write_error
from instrc.problems.errors import InstrcError, SettingsError
from instrc.problems.suggest import nearest
from instrc.text.durations import seconds

if TYPE_CHECKING:
    from instrc.runtime.engine_protocol import Engine
    from instrc.server.streams import Hub
    from instrc.vibes.project import Project


Carry = Annotated[
    int | None,
    typer.Option("--carry", metavar="N", min=1, help="Carry up to N runs at a time, in a database and next to its workers."),
]


def serve_command(
    at: options.EngineGroup,
    folders: options.LockedFolderGroup,
    rehearsal: options.RehearsalGroup,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, or folders of them; by default this folder.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="The port to listen on.")] = 8000,
    model: options.Model = None,
    carry: Carry = None,
    new_key: Annotated[
        str | None, typer.Option("--new-key", metavar="NAME", help="Create an API key, print it, and exit.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help="With --new-key: ROLE, or PROGRAM:ROLE. Repeatable.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option("--group", metavar="NAME", help="With --new-key: a group of the key. Repeatable.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="SPAN", help="With --new-key: how long it is valid, for example P90D.")
    ] = None,
    revoke: Annotated[
        str | None, typer.Option("--revoke-keys", metavar="NAME", help="Revoke all API keys of NAME, and exit.")
    ] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log requests and messages as JSON Lines.")] = False,
) -> None:
    """Serve the programs of a project over HTTP.

    Clients start programs, and people answer, over a REST API; /openapi.json describes it.
    """
    with imports_of("serve"):
        from instrc.server import hosting
        from instrc.server.streams import Hub
    for option, said in (("--role", role), ("--group", group), ("--expires", expires)):
        if said and new_key is None:
            options.refuse_use("it says what a new key is for: give `--new-key NAME` with it", option)
    if new_key is not None:
        _require_clear_names(paths or ["."], folders.project)
    if new_key is not None or revoke is not None:
        _keep_keys(at.place, new_key, revoke, role or [], group or [], expires)
        return
    listener = hosting.listener_at(host, port)
    show_warnings(programs := hosting.programs_in(paths or ["."], folders.project), at.shape)
    launchers = hosting.launchers_of(programs, model, rehearsal.mode)
    tell = _teller(log_json=log_json)
    kept = _engine_of_service(at, hub := Hub(), carry, tell)
    service = hosting.service_at(launchers, kept, at.place, hub)
    url = f"http://{host}:{listener.getsockname()[1]}"
    greeting = f"serving {', '.join(launchers)} at {url}/v1, for people at {url}/inbox"
    routes, beside = hosting.protocols_of(service, [], url)
    run_to_end(hosting.serve(service, host, listener, tell, greeting=greeting, routes=routes, beside=beside))


def _teller(*, log_json: bool) -> Callable[[str], object]:
    """Return a function that writes a message for the user: to standard error, or into the log."""
    if not log_json:
        return tell_line
    from instrc.server.logs import log_as_json, tell_in_log

    log_as_json()
    return tell_in_log


def _engine_of_service(at: options.EngineGroup, hub: Hub, carry: int | None, tell: Callable[[str], object]) -> Engine:
    """Return the engine of a service, once its server answers; in a database workers carry its runs, or `carry` of them here."""
    from instrc.engines.places import scheme_of
    from instrc.runtime.engine_protocol import Serving, WorkerListing, WorkerOptions
    from instrc.runtime.reconnect import wait_for_server

    kept = engine(at, watch=hub.saw, parts=hub.heard, worker=WorkerOptions(slots=carry or 0))
    if carry is not None and not isinstance(kept, WorkerListing):
        options.refuse_use("only the engine `durable` carries runs by number", "--carry")
    if isinstance(kept, Serving):
        run_to_end(wait_for_server(kept, tell))
    if carry is None and isinstance(kept, WorkerListing) and scheme_of(at.place):
        tell("workers carry the runs: start `instrc worker`, or carry some here with `--carry N`")
    return kept


def _require_clear_names(paths: list[str], project: Project) -> None:
    """Raise for names in settings and programs that a key makes ambiguous beside an identity provider."""
    from instrc.engines.approvals import NameRules
    from instrc.server import hosting
    from instrc.vibes.settings import read_settings

    settings, launchers = read_settings(Path()).service, {}
    if settings is not None and settings.oidc is not None:
        with suppress(InstrcError):  # of programs, which the start of the service reports
            launchers = hosting.launchers_of(hosting.programs_in(paths, project), None, rehearse=False)
        hosting.require_clear_names(settings, NameRules(settings.oidc.issuer, has_keys=True), launchers)


_LONGEST_NAME = 200


def _keep_keys(
    place: str, name: str | None, revoke: str | None, roles: list[str], groups: list[str], expires: str | None
) -> None:
    """Create an API key and print it, which happens only once; or revoke keys."""
    from instrc.server.identity import Identity, Signer
    from instrc.server.records import Records
    from instrc.vibes.service_settings import ROLES, ServiceSettings

    for each in roles:
        program, colon, role = each.rpartition(":")
        if role not in ROLES or (colon and not program):
            options.refuse_use(f"`{each[:80]}` is not a role: roles are {', '.join(f'`{known}`' for known in ROLES)}", "--role")
    options.refuse_no_span("--expires", expires)
    for said in (name, revoke):
        if said is not None and (not said.strip() or len(said) > _LONGEST_NAME):
            options.refuse_use(f"a name has 1 to {_LONGEST_NAME} letters", "--new-key" if said is name else "--revoke-keys")
    with closing(Records(place)) as records:
        if revoke is not None:
            known, taken = records.key_names(), records.revoke(revoke)
            if not taken:
                reason, near = "no API key has this name", nearest(revoke, known)
                raise SettingsError([problems.runs.UnusableSetting(what="name", word=revoke, reason=reason, nearest=near)])
            records.audit("local", "command", "revoke keys", None, question=revoke)
            write_error(f"keys of {revoke} that are taken back: {taken}\n")
        if name is not None:
            until = None if expires is None else time() + seconds(expires)
            is_first = not records.requires_keys()
            write(f"{Identity(records, ServiceSettings(), Signer([])).new_key(name, roles, groups, until)}\n")
            records.audit("local", "command", "new key", None, question=name, sent=[*roles])
            if is_first:
                write_error("authentication is on from the next start of the service\n")
            if not roles:
                write_error("it has the roles that the settings give to this name\n")


def studio_command(
    at: options.EngineGroup,
    folder: Annotated[Path, typer.Argument(metavar="PATH", help="The folder of the project; by default this folder.")] = Path(),
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="The port to listen on.")] = 8100,
    model: options.Model = None,
) -> None:
    """Edit the programs of a project in a page on this machine.

    Beside the text are the views of the commands: problems, schemas, previews, graphs, and runs as they proceed.
    It listens at this machine only, and changes the files of the project, nothing else.
    """
    from instrc.engines.places import scheme_of

    with imports_of("studio"):
        from instrc.server import hosting
        from instrc.server.streams import Hub
        from instrc.server.studio import Studio
    if not folder.is_dir():
        raise SettingsError([problems.runs.UnusableSetting(what="path", word=str(folder), reason="it is not a folder")])
    listener = hosting.listener_at("127.0.0.1", port)
    if at.store is not None and not scheme_of(at.store):  # a place where the user stands
        at = structs.replace(at, store=at.store.absolute())
    os.chdir(folder)
    hub = Hub()
    service = hosting.service_at({}, engine(at, watch=hub.saw, parts=hub.heard), at.place, hub)
    studio = Studio(Path(), service, model)
    greeting = f"open http://127.0.0.1:{port}/studio/open/{studio.token} in a browser; Ctrl-C ends"
    work = hosting.serve(
        service,
        "127.0.0.1",
        listener,
        tell_line,
        greeting=greeting,
        routes=studio.routes,
        identify=studio.identify,
        stands_by=True,
    )
    try:
        run_to_end(work)
    finally:
        studio.close()
