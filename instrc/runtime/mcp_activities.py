"""A tool of an MCP server as an activity.

One session per server and event loop is kept open while there are calls, and closed after a period without any.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Required, TextIO, TypeAlias, TypedDict, cast
from weakref import WeakKeyDictionary

import mcp_types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from instrc.runtime.activities import INVALID_OUTPUT, ActivityError, Handler
from instrc.runtime.interpreter.documents import bare_name
from instrc.runtime.secrets import UnusableTableError, checked, secret
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json

IDLE = 10.0
"""Seconds without a call after which a session is closed."""
_KINDS: dict[str, type | tuple[type, ...]] = {"mcp": str, "tool": str, "environment": list}


def mcp_handler(name: str, given: Mapping[str, object], folder: Path) -> Handler:
    """Return the handler of a tool: `mcp` is a command or URL, `tool` its name there, by default the activity's.

    `environment` names the environment variables passed to the command, which receives no others.
    """
    checked(given, _KINDS)
    table = cast("_McpTable", given)
    server = _server(table, folder)
    wanted = table.get("tool")

    async def call(value: Json) -> Json:
        if not isinstance(value, dict):
            message = "a tool is given an object: name its arguments"
            raise ActivityError(message, code="invalid-input", retry=False)
        return await _session(server).call(wanted, name, value)

    return call


class _McpTable(TypedDict, total=False):
    """A table of the settings, with the keys of `_KINDS`."""

    mcp: Required[str]
    tool: str
    environment: list[Json]


class _Server:
    """The location of a server, shared by equal tables."""

    def __init__(self, address: str | StdioServerParameters) -> None:
        self.address = address
        self.sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()


_servers: dict[str, _Server] = {}


def _server(table: _McpTable, folder: Path) -> _Server:
    words = table["mcp"].strip()
    if words.startswith(("http://", "https://")):
        return _servers.setdefault(words, _Server(words))
    try:
        command, *rest = shlex.split(words) or [""]
    except ValueError as error:
        raise UnusableTableError(f"`mcp` is a command or a URL: {error}".lower()) from None
    if not command:
        raise UnusableTableError("`mcp` is empty: it must be a command or a URL")
    names = table.get("environment", [])
    environment = get_default_environment() | {str(item): secret(str(item)) or "" for item in names}
    result = StdioServerParameters(command=command, args=rest, env=environment, cwd=str(folder))
    return _servers.setdefault(repr(result), _Server(result))


_Call: TypeAlias = tuple[str | None, str, dict[str, Json], asyncio.Future[Json]]
"""Name of the tool, name of the activity, arguments, and the future for the result."""


class _Session:
    """A session, owned by a dedicated task: the task that opened it must also close it."""

    def __init__(self, server: _Server) -> None:
        self.server = server
        self.calls: asyncio.Queue[_Call | None] = asyncio.Queue()
        """`None` ends the session."""
        self.task = asyncio.ensure_future(self._run())

    async def call(self, tool: str | None, activity: str, given: dict[str, Json]) -> Json:
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self.calls.put_nowait((tool, activity, given, answer))
        either: set[asyncio.Future[Json] | asyncio.Task[None]] = {answer, self.task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            message = "the MCP server ended before it answered"
            raise ActivityError(message, code="unreachable")
        return answer.result()

    def end(self) -> None:
        """Make the next call open a new session, as the connection of this one is lost."""
        loop = asyncio.get_running_loop()
        if self.server.sessions.get(loop) is self:
            del self.server.sessions[loop]
        self.calls.put_nowait(None)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        under_way: set[asyncio.Task[None]] = set()
        try:
            address = self.server.address
            logging.getLogger(stdio_client.__module__).addFilter(_without_traceback)
            transport = address if isinstance(address, str) else stdio_client(address, _error_stream())
            async with Client(transport) as client:
                names = {bare_name(tool.name): tool.name for tool in await _tools(client)}
                while True:
                    try:
                        wanted = await asyncio.wait_for(self.calls.get(), IDLE)
                    except TimeoutError:
                        if under_way or not self.calls.empty():
                            continue
                        self.server.sessions.pop(loop, None)  # from here on a call opens another session
                        break
                    if wanted is None:
                        break
                    task = asyncio.ensure_future(_answer(self, client, names, *wanted))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  -- the library may raise anything if a server is missing
            self.server.sessions.pop(loop, None)
            self._fail(f"the MCP server cannot be reached: {_first(error)}")
        finally:
            for task in under_way:
                task.cancel()

    def _fail(self, message: str) -> None:
        while not self.calls.empty():
            if (call := self.calls.get_nowait()) is not None:
                _give(call[-1], ActivityError(message, code="unreachable"))


def _without_traceback(record: logging.LogRecord) -> bool:
    """Make the library log a line that is not a message, such as a banner, without a traceback."""
    record.exc_info = None
    return True


def _error_stream() -> TextIO:
    """Return the stream for a server's errors: standard error in a notebook or test may not be a file."""
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):
            if stream is not None and stream.fileno() >= 0:
                return stream
    return cast("TextIO", subprocess.DEVNULL)


async def _tools(client: Client) -> list[mcp_types.Tool]:
    tools: list[mcp_types.Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        if page.next_cursor is None or page.next_cursor == cursor:
            return tools
        cursor = page.next_cursor


async def _answer(
    session: _Session,
    client: Client,
    names: Mapping[str, str],
    tool: str | None,
    activity: str,
    given: dict[str, Json],
    answer: asyncio.Future[Json],
) -> None:
    try:
        value = _value(await client.call_tool(tool or _tool_name(activity, names), given))
    except ActivityError as error:
        _give(answer, error)
    except MCPError as error:
        if error.error.code == mcp_types.CONNECTION_CLOSED:
            _give(answer, ActivityError(f"the MCP server is gone: {str(error).lower()}", code="unreachable"))
            session.end()
        else:
            _give(answer, ActivityError(str(error), code=str(error.error.code), retry=False))
    except (RuntimeError, ValidationError) as error:  # the library's message for an answer that violates the tool's own schema
        said = str(error).partition("\n")[0]
        _give(answer, ActivityError(f"the answer of the tool does not fit: {said}", code=INVALID_OUTPUT, retry=False))
    except Exception as error:  # noqa: BLE001  -- all errors are passed to the caller
        _give(answer, ActivityError(f"{type(error).__name__}: {error}", code="unreachable"))
        session.end()
    else:
        if not answer.done():
            answer.set_result(value)


def _value(result: mcp_types.CallToolResult) -> Json:
    """Return the value of a tool's result: its structured content, or else its text, parsed if it is a JSON object or list."""
    texts = [block.text for block in result.content if isinstance(block, mcp_types.TextContent)]
    text = "\n".join(texts)
    if result.is_error:
        raise ActivityError(text or "the tool reports an error", code="tool", retry=False)
    if result.structured_content is not None:
        structured: Json = result.structured_content
        return structured
    if len(texts) < len(result.content):
        return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    try:
        value = loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _tool_name(activity: str, names: Mapping[str, str]) -> str:
    name = names.get(bare_name(activity)) or names.get(bare_name(activity.removesuffix("_Activity")))
    if name is None:
        known = ", ".join(f"`{item}`" for item in names.values()) or "none"
        message = (
            f"the MCP server has no tool for `{activity}`; it has {known}: name one as `tool` in the settings of the activity"
        )
        raise ActivityError(message, code="unknown-tool", retry=False)
    return name


def _give(answer: asyncio.Future[Json], error: ActivityError) -> None:
    if not answer.done():
        answer.set_exception(error)


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _session(server: _Server) -> _Session:
    loop = asyncio.get_running_loop()
    result = server.sessions.get(loop)
    if result is None or result.task.done():
        result = server.sessions[loop] = _Session(server)
    return result
