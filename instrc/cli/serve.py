"""The command `serve`: the programs of a project as a service over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc import problems
from instrc.cli import options
from instrc.cli.output import Format
from instrc.cli.running import engine, run_to_end, show_warnings, store_place, tell_line
from instrc.cli.terminal import write_error
from instrc.problems.problem import CompileError


def serve_command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, or folders of them; by default this folder.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="The port to listen at.")] = 8000,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="The model that fills in the chunks of processes.")
    ] = None,
    engine_name: options.EngineName = None,
    rehearse: options.Rehearse = False,
    with_activities: options.WithActivities = False,
    store: options.Store = None,
    locked: options.LockedOption = False,
    root: options.Roots = None,
    shared: options.Shared = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Serve the programs of a project over HTTP.

    Programs are started, and people answer, over a REST API; /openapi.json describes it.
    """
    with options.exit_on_problems(shape):
        try:
            from instrc.server import hosting
            from instrc.server.run_service import Hub
        except ModuleNotFoundError as error:
            package = (error.name or "starlette").partition(".")[0]
            raise CompileError(
                [problems.settings.MissingExtra(feature="`instrc serve`", extra="serve", package=package)]
            ) from None
        programs = hosting.programs_in(paths or ["."], options.project_of(root, shared, locked=locked))
        show_warnings(programs, shape)
        launchers = hosting.launchers_of(programs, model, options.rehearse_mode(rehearse, with_activities))
        hub = Hub()
        kept = engine(store, engine_name, watch=hub.saw)
        service = hosting.service_at(launchers, kept, store_place(store), hub)
        write_error(f"serving {', '.join(launchers)} at http://{host}:{port}/v1, for people at http://{host}:{port}/inbox\n")
        run_to_end(hosting.serve(service, host, port, tell_line))
