"""A tool of an MCP server as an activity.

One session per server and event loop is kept open while there are calls, and closed after a period without any.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, Final, NoReturn, TextIO, cast
from weakref import WeakKeyDictionary

import httpx2
import mcp
import mcp_types
from mcp.client import Client
from mcp.client._transport import TransportStreams
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from msgspec import field
from pydantic import ValidationError

from instrc.problems.suggest import comparison_key
from instrc.runtime.activities import INVALID_OUTPUT, ActivityError, Handler, ServedTable
from instrc.runtime.secrets import UnusableTableError, redacted, secret
from instrc.schema.validation import validate
from instrc.text.jsontext import value_in
from instrc.text.jsonvalue import Json, mapping
from instrc.text.visible import visible

IDLE = 10.0
"""Seconds without a call after which a session is closed."""
PARTS: Final = 5_000
"""Maximum blocks of a result, or tools of a page, with the parts of the lists in them."""
_PAGES: Final = 100
"""Maximum pages read of a server's list of tools."""
REQUESTS: Final = 500
"""Maximum requests of a server that are answered in a session: over HTTP each answer is a request of its own."""
_LOGS: Final = ("mcp.client.stdio", "client", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher")
"""Logs of the library that repeat what a server sends."""
PAUSE: Final = 1.0
"""Seconds between two lines of the same kind in them, and before a stream of a server is opened: it may end at once."""


class McpTable(ServedTable, frozen=True):
    """The settings of a tool."""

    mcp: str
    tool: str | None = None
    environment: list[str] = field(default_factory=list)


def handler_of(name: str, table: McpTable, folder: Path) -> Handler:
    """Return the handler of a tool: `mcp` is a command or URL, `tool` its name there, by default the activity's.

    `environment` names the environment variables passed to the command, which receives no others.
    """
    address = _address(table, folder)

    async def call(value: Json) -> Json:
        if not isinstance(value, dict):
            raise ActivityError("a tool is given an object: name its arguments", code="invalid-input", retry=False)
        return await _session(address).call(table.tool, name, value)

    return call


def _address(table: McpTable, folder: Path) -> str | StdioServerParameters:
    words = table.mcp.strip()
    if words.startswith(("http://", "https://")):
        return words
    try:
        command, *rest = shlex.split(words) or [""]
    except ValueError as error:
        raise UnusableTableError(f"`mcp` is a command or a URL: {error}".lower()) from None
    if not command:
        raise UnusableTableError("`mcp` is empty: it must be a command or a URL")
    environment = get_default_environment() | {item: secret(item) or "" for item in table.environment}
    return StdioServerParameters(command=command, args=rest, env=environment, cwd=str(folder))


class _Session:
    """A session, owned by a dedicated task: the task that opened it must also close it."""

    def __init__(self, address: str | StdioServerParameters) -> None:
        self.address = address
        self.opened: asyncio.Future[tuple[Client, dict[str, Json]]] = asyncio.get_running_loop().create_future()
        """The client, and the schemas of the results of its tools by name."""
        self.calls: set[asyncio.Task[Json]] = set()
        self.used = asyncio.Event()
        self.ended = False
        """Whether the next call needs another session."""
        self.task = asyncio.ensure_future(self._run())

    async def call(self, tool: str | None, activity: str, given: dict[str, Json]) -> Json:
        call = asyncio.ensure_future(self._answer(tool, activity, given))
        self.calls.add(call)
        call.add_done_callback(self.calls.discard)
        self.used.set()
        either: set[asyncio.Task[Json] | asyncio.Task[str | None]] = {call, self.task}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:  # a timeout ends the call, so that the session can end too
            is_cancelled = call.cancel()
        if is_cancelled:
            raise ActivityError(self.task.result() or "the MCP server ended before it answered", code="unreachable")
        return call.result()

    async def _run(self) -> str | None:
        """Keep the session open while it is used; return why it cannot be opened."""
        for name in _LOGS:
            logging.getLogger(name).addFilter(_is_logged)
        try:
            transport = _over_http(self.address) if isinstance(self.address, str) else stdio_client(self.address, _error_stream())
            opening = Client(transport)
            opening._connect = partial(_connected, opening._connect)  # noqa: SLF001  -- the first messages are bounded, too
            async with opening as client:
                client.session.validate_tool_result = _unvalidated  # type: ignore[assignment, method-assign]  # of one object
                self.opened.set_result((client, {tool.name: tool.output_schema for tool in await _tools(client)}))
                while not self.ended:
                    self.used.clear()
                    try:
                        await asyncio.wait_for(self.used.wait(), IDLE)
                    except TimeoutError:
                        self.ended = not self.calls
        except Exception as error:  # noqa: BLE001  -- the library may raise anything if a server is missing
            return f"the MCP server cannot be reached: {_first(error)}"
        return None

    async def _answer(self, tool: str | None, activity: str, given: dict[str, Json]) -> Json:
        client, schemas = await asyncio.shield(self.opened)
        name = tool or _tool_name(activity, {comparison_key(each): each for each in schemas})
        try:
            result = await client.call_tool(name, given)
        except MCPError as error:
            if error.error.code != mcp_types.CONNECTION_CLOSED:
                raise ActivityError(str(error), code=str(error.error.code), retry=False) from None
            message = f"the MCP server is gone: {str(error).lower()}"
        except (RuntimeError, ValidationError) as error:  # an answer that violates the protocol
            _misfit(str(error).partition("\n")[0])
        except Exception as error:  # noqa: BLE001  -- all errors are passed to the caller
            message = f"{type(error).__name__}: {error}"
        else:
            value, schema = await asyncio.to_thread(_value, result), schemas.get(name)
            held = redacted(cast("Json", result.structured_content))
            for wrong in () if schema is None else await asyncio.to_thread(validate, held, schema, formats=False, most=1):
                _misfit(wrong.message)
            return value
        self.ended = True
        self.used.set()
        raise ActivityError(message, code="unreachable")


@asynccontextmanager
async def _over_http(url: str) -> AsyncIterator[TransportStreams]:
    async with create_mcp_http_client() as client:
        client.event_hooks = {"request": [_paused]}
        async with streamable_http_client(url, http_client=client) as streams:
            yield streams


async def _paused(request: httpx2.Request) -> None:
    """Wait before a stream is opened: a server that ends it at once would be asked again and again."""
    await asyncio.sleep(PAUSE if request.method == "GET" else 0)


async def _connected(connect: Callable[..., Awaitable[Any]], *given: object) -> Any:  # noqa: ANN401  -- of the library
    dispatcher = await connect(*given)
    dispatcher._dispatch = partial(_bounded, dispatcher._dispatch, count(1))  # noqa: SLF001  -- it reads each part of a message in the loop
    return dispatcher


async def _bounded(
    dispatch: Callable[..., Awaitable[None]], requests: Iterator[int], item: SessionMessage | Exception, *given: object
) -> None:
    """Pass on a message of the server, but not too many requests; of one with too many parts, only an error to its call."""
    message = getattr(item, "message", None)
    if isinstance(message, mcp_types.JSONRPCRequest) and next(requests) > REQUESTS:
        return
    if _parts(getattr(message, "result", None) or getattr(message, "params", None)) <= PARTS:
        await dispatch(item, *given)
    elif isinstance(message, mcp_types.JSONRPCResponse):
        error = mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message=f"its answer has more than {PARTS:,} parts")
        await dispatch(SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)), *given)


_TAKEN_WHOLE: Final = frozenset({"structuredContent", "inputSchema", "outputSchema", "_meta"})


def _parts(value: object) -> int:
    """Return the number of parts of all lists, and of all requests for input, that the library reads: it takes the rest whole."""
    if isinstance(value, dict):
        read = [each for name, each in value.items() if name not in _TAKEN_WHOLE]
        return len(mapping(value.get("inputRequests"))) + sum(map(_parts, read))
    return len(value) + sum(map(_parts, value)) if isinstance(value, list) else 0


async def _unvalidated(_name: str, _result: mcp_types.CallToolResult) -> None:
    """Replace the validation of the library: a server's schema is hostile, so that only our own validator applies it."""


def _misfit(reason: str) -> NoReturn:
    raise ActivityError(f"the answer of the tool does not fit: {reason}", code=INVALID_OUTPUT, retry=False) from None


_logged: dict[tuple[str, int], float] = {}
"""When each place of the library has last logged."""


def _is_logged(record: logging.LogRecord) -> bool:
    """Let each place of the library log one short line at a time, without a traceback, secrets, or what controls a terminal."""
    place, now = (record.pathname, record.lineno), monotonic()
    is_theirs = record.pathname.startswith(mcp.__path__[0])  # others may have a log named `client`, too
    is_due = now - _logged.get(place, -PAUSE) >= PAUSE
    if is_theirs and is_due:
        _logged[place] = now
        record.msg, record.args, record.exc_info = visible(redacted(record.getMessage()))[:500], (), None
    return is_due or not is_theirs


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
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools, cursor = [*tools, *page.tools], page.next_cursor
        if cursor is None:
            break
    return tools


def _value(result: mcp_types.CallToolResult) -> Json:
    """Return the value of a tool's result: its structured content, or else its text, parsed if it is a JSON object or list."""
    texts = [block.text for block in result.content if isinstance(block, mcp_types.TextContent)]
    text = "\n".join(texts)
    if result.is_error:
        raise ActivityError(text or "the tool reports an error", code="tool", retry=False)
    if result.structured_content is not None:
        return cast("Json", result.structured_content)
    if len(texts) < len(result.content):
        return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    value = value_in(text)
    return value if isinstance(value, dict | list) else text


def _tool_name(activity: str, names: Mapping[str, str]) -> str:
    name = names.get(comparison_key(activity)) or names.get(comparison_key(activity.removesuffix("_Activity")))
    if name is None:
        known = ", ".join(f"`{item}`" for item in names.values()) or "none"
        there = f"it has {known}: name one as `tool` in the settings of the activity"
        raise ActivityError(f"the MCP server has no tool for `{activity}`; {there}", code="unknown-tool", retry=False)
    return name


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Session]] = WeakKeyDictionary()
"""Sessions by the address of their server, which equal tables share."""


def _session(address: str | StdioServerParameters) -> _Session:
    sessions = _sessions.setdefault(asyncio.get_running_loop(), {})
    result = sessions.get(repr(address))
    if result is None or result.ended or result.task.done():
        result = sessions[repr(address)] = _Session(address)
    return result
