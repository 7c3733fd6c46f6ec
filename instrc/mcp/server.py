"""The service over the Model Context Protocol: standard input and output, or streamable HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import anyio
import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from instrc.arriving import read_lines
from instrc.jsontext import dumps
from instrc.jsonvalue import JsonObject, as_object
from instrc.mcp.offers import Offers, RefusedError
from instrc.version import __version__


def server_of(service: Offers, name: str = "instrc") -> Server[object]:
    """Return a server that lists the tools of a service and calls them; their arguments are checked by the service."""

    async def list_tools(_context: object, _params: object) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[_tool(as_object(offer.lowering.payload)) for offer in service.offers.values()])

    async def call_tool(_context: object, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        try:
            value = await service.call(params.name, params.arguments or {})
        except RefusedError as error:
            return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=str(error))], is_error=True)
        text = mcp_types.TextContent(type="text", text=dumps(value))
        return mcp_types.CallToolResult(
            content=[text], structured_content=value if isinstance(value, dict) else {"result": value}
        )

    return Server(name, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(service: Offers) -> None:
    """Serve one client over standard input and output, until it goes."""
    server = server_of(service)
    try:
        with _claimed_input() as file:
            incoming = None if file is None else _Incoming(file)
            async with stdio_server(incoming) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
    finally:
        await service.close()


async def serve_http(service: Offers, host: str, port: int) -> None:
    """Serve many clients over streamable HTTP at `/mcp`, until interrupted."""
    import uvicorn  # comes with the protocol's library

    app = server_of(service).streamable_http_app(host=host)
    try:
        await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning")).serve()
    finally:
        await service.close()


class _Incoming(anyio.AsyncFile[str]):
    """The lines of a client, read without a thread: the library's own reader lets no interruption end the server."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(file)
        self._lines = read_lines(file, errors="replace")

    async def readline(self) -> str:
        try:
            return f"{await anext(self._lines)}\n"
        except StopAsyncIteration:
            return ""


@contextmanager
def _claimed_input() -> Iterator[IO[str] | None]:
    """Give the standard input under another descriptor, so that what a tool starts reads nothing of what the client says.

    Nothing where it is no descriptor 0, or has a handle besides (Windows): the library then reads it in its own way.
    """
    try:
        private = os.dup(0) if sys.platform != "win32" and sys.stdin.fileno() == 0 else None
    except (AttributeError, OSError, ValueError):
        private = None
    if private is None:
        yield None
        return
    with os.fdopen(private, encoding="utf-8") as file:
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        try:
            yield file
        finally:
            os.dup2(private, 0)


def _tool(payload: JsonObject) -> mcp_types.Tool:
    return mcp_types.Tool.model_validate({key: value for key, value in payload.items() if key != "_meta"})
