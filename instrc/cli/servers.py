"""The commands that serve others: `lsp` and `mcp`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from instrc.cli import options
from instrc.cli.output import PROBLEMS, show
from instrc.cli.run_common import engine, imports_of, run_to_end, show_warnings, tell_line
from instrc.cli.terminal import OutputFailedError
from instrc.vibes.find_files import STDIN, unreadable


def lsp_command() -> None:
    """Serve an editor by the Language Server Protocol.

    It reads the standard input and writes the standard output.
    """
    with imports_of("lsp", "lsp"):
        from instrc.lsp.server import make_server  # an extra
    make_server().serve()


def mcp_command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Programs (.aug), vibes, or compiled documents (.json).")],
    at: options.EngineGroup,
    folders: options.LockedFolderGroup,
    rehearsal: options.RehearsalGroup,
    http: Annotated[
        int | None, typer.Option("--http", metavar="PORT", min=0, max=65535, help="Serve streamable HTTP on this port instead.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="With --http, the address to listen on.")] = "127.0.0.1",
    model: options.Model = None,
) -> None:
    """Serve tools and processes to an MCP client.

    By default it uses the standard input and output.
    """
    from instrc.engines.prepare import prepare

    if http is None and sys.stdin is None:  # `None` where a shell has closed it (`<&-`)
        show([unreadable(STDIN, "it is closed")], at.shape)
        raise typer.Exit(PROBLEMS)
    if http is None and sys.stdout is None:
        raise OutputFailedError
    with imports_of("mcp", "mcp"):
        from instrc.server import hosting, mcp_runs
        from instrc.server.mcp import serve_stdio
        from instrc.server.streams import Hub
    programs = [prepare(file, project=folders.project) for file in files]
    show_warnings(programs, at.shape)
    filled, run = mcp_runs.split_programs(programs)
    hub = Hub()
    kept = engine(at, watch=hub.saw, parts=hub.heard)
    launchers = hosting.launchers_of(run, model, rehearsal.mode)
    service = hosting.service_at(launchers, kept, at.place, hub)
    offers = mcp_runs.RunOffers(filled, service)
    if http is None:
        run_to_end(hosting.beside_runs(service, serve_stdio(mcp_runs.RunTasks(offers, mcp_runs.no_link).server())))
    else:
        route, beside = mcp_runs.mcp_mount(offers, mcp_runs.no_link)
        listener = hosting.listener_at(host, http)
        greeting = f"serving {', '.join(offers.offers)} at http://{host}:{listener.getsockname()[1]}/mcp"
        run_to_end(hosting.serve(service, host, listener, tell_line, greeting=greeting, routes=[route], beside=[beside]))
