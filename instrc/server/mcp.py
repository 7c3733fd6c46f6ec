"""Compiled tools, processes and functions as a server of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import anyio
import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from instrc.server.service import AnyCall, Offers, RefusedError
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.streams import claimed_output, read_lines
from instrc.tools.given import ToolLike
from instrc.tools.python_values import PythonCall, as_instance, json_of
from instrc.version import __version__


def server_of(service: Offers, name: str = "instrc") -> Server[object]:
    """Return a server that lists the tools of a service and calls them; their arguments are checked by the service."""

    async def list_tools(_context: object, _params: object) -> mcp_types.ListToolsResult:
        tools = [mcp_types.Tool.model_validate(offer.described) for offer in service.offers.values()]
        return mcp_types.ListToolsResult(tools=tools)

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
        with _claimed_input() as file, claimed_output() as stream:
            incoming = None if file is None else _Incoming(file)
            outgoing = None if stream is None else anyio.wrap_file(stream)
            async with stdio_server(incoming, outgoing) as (reading, writing):
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


# Functions of Python as tools: annotated ones, or pairs of a schema and a function.


Served: TypeAlias = Callable[..., object] | tuple[ToolLike, Callable[[Any], object]]  # it takes the type that somebody chose
"""An annotated function, called with arguments of its names; or a schema, tool or model, and what is called with the value."""


def offers_of(*functions: Served) -> Offers:
    """Return the tools that functions are, by their names.

    A value is checked before its function is called; a model of pydantic, dataclass or `TypedDict` is called with an instance.
    """
    offers = Offers()
    for each in functions:
        if isinstance(each, tuple):
            schema, function = each
            offers.offer(None if isinstance(schema, type) else function.__name__, schema, _with_value(schema, function))
        else:
            offers.offer(None, each, _with_arguments(each))
    return offers


def serve(*functions: Served) -> None:
    """Serve functions to one client over standard input and output, until it goes.

    serve(look_up, (Reply, send))
    """
    asyncio.run(serve_stdio(offers_of(*functions)))


def _with_arguments(function: Callable[..., object]) -> AnyCall:
    called = PythonCall(function)

    async def call(value: dict[str, Json]) -> Json:
        return await _as_json(function(**called.by_name(value)))

    return call


def _with_value(schema: ToolLike, function: Callable[[object], object]) -> AnyCall:
    async def call(value: dict[str, Json]) -> Json:
        given: object = value
        if isinstance(schema, type):
            given = as_instance(value, value, (), schema)
        return await _as_json(function(given))

    return call


async def _as_json(result: object) -> Json:
    """Return what a function has returned, or will, as JSON; whoever sends it says where it is none."""
    return cast("Json", json_of(await result if inspect.isawaitable(result) else result))
