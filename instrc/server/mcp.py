"""Compiled tools, processes and functions as a server of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import anyio
import mcp_types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from instrc.problems.errors import InstrcError
from instrc.server.access import LOCAL, Caller
from instrc.server.offers import AnyCall, Offers, RefusedError, ServerTool
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, mapping
from instrc.text.streams import claimed_output, read_lines
from instrc.tools.given import ToolLike
from instrc.tools.python_values import PythonCall, as_instance, json_of
from instrc.version import __version__

Context: TypeAlias = ServerRequestContext[Any, Any]  # as the library has it
McpServer: TypeAlias = Server[Any]  # the same
Answered: TypeAlias = mcp_types.CallToolResult | mcp_types.InputRequiredResult
Begin: TypeAlias = Callable[[Context, ServerTool, mcp_types.CallToolRequestParams], Awaitable[Answered]]
"""Executes a call that starts a run."""


def server_of(service: Offers, begin: Begin | None = None) -> McpServer:
    """Return a server that lists the tools of a service and calls them; their arguments are checked by the service."""

    async def list_tools(context: Context, _params: object) -> mcp_types.ListToolsResult:
        known = service.known_to(caller_in(context)).values()
        tools = [mcp_types.Tool.model_validate(offer.described) for offer in known]
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: mcp_types.CallToolRequestParams) -> Answered:
        offer = service.offers.get(params.name)
        try:
            if begin is not None and offer is not None and offer.program is not None:
                return await begin(context, offer, params)
            return result_of_call(await service.call(params.name, params.arguments or {}, caller_in(context)))
        except (RefusedError, InstrcError) as error:
            said = "; ".join(each.message for each in error.problems) if isinstance(error, InstrcError) else str(error)
            return result_of_call(None, error=said)

    return Server("instrc", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def result_of_call(value: Json, *, error: str | None = None) -> mcp_types.CallToolResult:
    """Return the result of a call: its structure, and the same as text, or its error."""
    if error is not None:
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=error)], is_error=True)
    text = mcp_types.TextContent(type="text", text=value if isinstance(value, str) else dumps(value))
    return mcp_types.CallToolResult(content=[text], structured_content=value if isinstance(value, dict) else {"result": value})


def caller_in(context: Context) -> Caller:
    """Return the caller: the owner of the process, or else the one authenticated by the service."""
    if context.request is None:
        return LOCAL
    from instrc.server.door import caller_of  # only an HTTP service has one

    return caller_of(context.request)


async def is_still(context: Context) -> bool:
    """Return whether the caller of a request is authenticated as before, for what it does after it has waited."""
    return context.request is None or bool(await context.request.scope["instrc.still"]())


async def serve_stdio(server: McpServer) -> None:
    """Serve one client over standard input and output, until it disconnects."""
    with _claimed_input() as file, claimed_output() as stream:
        open_ = _OpenRequests()
        incoming = None if file is None else _Incoming(file, open_)
        outgoing = None if stream is None else _Outgoing(stream, open_)
        async with stdio_server(incoming, outgoing) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


@contextmanager
def _claimed_input() -> Iterator[IO[str] | None]:
    """Move standard input to another descriptor, so that a tool's subprocess cannot read the client's messages.

    Yield `None` if it is not descriptor 0, or also has a handle (Windows): the library then reads it directly.
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


LAST: Final = 1.0
"""Seconds for responses after the input has ended; clients wait two seconds before they kill a server."""


class _OpenRequests:
    """The unanswered requests of a client, which the library drops as soon as the input ends."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._answered = asyncio.Event()

    def sent(self, line: str, *, by_client: bool) -> None:
        """Record a message from the client or the server."""
        try:
            message = mapping(loads(line))
        except ValueError:
            return
        ident = dumps(message.get("id"), indent=False)
        if by_client and {"id", "method"} <= message.keys():
            self._ids.add(ident)
        elif not by_client and "method" not in message:
            self._ids.discard(ident)
            self._answered.set()

    async def end(self) -> None:
        """Wait briefly for all responses, as a request may wait for the disconnected client."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST):
                while self._ids:
                    self._answered.clear()
                    await self._answered.wait()


class _Incoming(anyio.AsyncFile[str]):
    """The lines from a client, read without a thread: the library's reader would block interruption."""

    def __init__(self, file: IO[str], requests: _OpenRequests) -> None:
        super().__init__(file)
        self._lines = read_lines(file, errors="replace")
        self._requests = requests

    async def readline(self) -> str:
        try:
            line = await anext(self._lines)
        except StopAsyncIteration:
            await self._requests.end()
            return ""
        self._requests.sent(line, by_client=True)
        return f"{line}\n"


class _Outgoing(anyio.AsyncFile[str]):
    """The lines to a client."""

    def __init__(self, file: IO[str], requests: _OpenRequests) -> None:
        super().__init__(file)
        self._requests = requests

    async def write(self, b: str) -> int:
        written = await super().write(b)
        self._requests.sent(b, by_client=False)
        return written


Served: TypeAlias = Callable[..., object] | tuple[ToolLike, Callable[[Any], object]]  # it takes a type chosen by the user
"""An annotated function, called with keyword arguments; or a schema, tool or model with a function of its value."""


def offers_of(*functions: Served) -> Offers:
    """Return functions as tools, by name.

    A value is validated before its function is called; a pydantic model, dataclass or `TypedDict` receives an instance.
    """
    offers = Offers()
    for each in functions:
        if isinstance(each, tuple):
            schema, function = each
            offers.offer(None if isinstance(schema, type) else function.__name__, schema, _with_value(schema, function))
        else:
            offers.offer(None, each, _with_arguments(each))
    return offers


def _with_value(schema: ToolLike, function: Callable[[object], object]) -> AnyCall:
    async def call(_caller: Caller, value: dict[str, Json]) -> Json:
        given: object = value
        if isinstance(schema, type):
            given = as_instance(value, value, (), schema)
        return await _as_json(function(given))

    return call


async def _as_json(result: object) -> Json:
    """Return the result of a function or coroutine as JSON; the sender reports one that is not JSON."""
    return cast("Json", json_of(await result if inspect.isawaitable(result) else result))


def _with_arguments(function: Callable[..., object]) -> AnyCall:
    called = PythonCall(function)

    async def call(_caller: Caller, value: dict[str, Json]) -> Json:
        return await _as_json(function(**called.by_name(value)))

    return call


def serve(*functions: Served) -> None:
    """Serve functions to one client over standard input and output, until it disconnects.

    serve(look_up, (Reply, send))
    """
    asyncio.run(serve_stdio(server_of(offers_of(*functions))))
