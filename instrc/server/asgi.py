"""The service of a project for an ASGI server: `uvicorn --factory instrc.server.asgi:application --workers 4`."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from instrc.engines.hosts import engine_of
from instrc.engines.projects import serve_project
from instrc.engines.stores import USUAL_FOLDER
from instrc.problems.errors import unusable
from instrc.runtime.engine_protocol import EngineOptions, WorkerOptions
from instrc.server import hosting
from instrc.server.http import app_of
from instrc.server.inbox import Inbox
from instrc.server.streams import Hub
from instrc.vibes.project import DEFAULT_PROJECT
from instrc.vibes.settings import read_settings


def application() -> Starlette:
    """Return the service of the project in the current folder: REST, webhooks, protocols, and pages for people.

    Authentication by keys or an identity provider is required: the address at which it is reached is unknown.
    The server bounds the connections: uvicorn with `--http instrc.server.connections:BoundedProtocol --ws none --backlog 100`.
    uvicorn's access log is off, as the address of a link is a secret.
    Without `--timeout-graceful-shutdown 10`, it waits for open event streams before it stops.
    With a database, workers carry out the runs; those of a folder belong to one process, and a second one does not start.
    """
    logging.getLogger("uvicorn.access").disabled = True  # it writes addresses with the words of links; `instrc.requests` does not
    serve_project(Path())
    run = read_settings(Path()).run
    place = str(run.get("store", USUAL_FOLDER))
    launchers = hosting.launchers_of(hosting.programs_in(["."], DEFAULT_PROJECT), None, rehearse=False)
    hub = Hub()
    options: EngineOptions = {"watch": hub.saw, "parts": hub.heard, "traces": run.get("traces"), "worker": WorkerOptions(slots=0)}
    engine = engine_of(run.get("engine", "durable"), Path(place), **options)
    service = hosting.service_at(launchers, engine, place, hub)
    identity = hosting.identity_of(service)
    if not identity.is_on:
        reason = "authentication is off: make a key first (`instrc serve --new-key NAME`), or set `[tool.instrc.serve.oidc]`"
        raise unusable("application", "asgi", reason)
    hosting.require_clear_names(service.settings, service.visibility.names, service.launchers)
    service.records.name_subjects(None if service.settings.oidc is None else service.settings.oidc.issuer)
    routes, beside = hosting.protocols_of(service, [], "")
    carried = partial(hosting.carrying, engine, logging.getLogger("uvicorn.error").info)
    routes += Inbox(service, identity=identity).routes
    return app_of(service, identity=identity, routes=routes, beside=[carried, *beside])
