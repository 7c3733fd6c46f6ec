"""Activities that need no code: HTTP services and tools of MCP servers, by tables of the settings."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from ssl import SSLContext
from typing import Final, Required, TypedDict, cast
from urllib.parse import quote, urlsplit
from weakref import WeakKeyDictionary

import httpx
import mcp_types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.shared.exceptions import MCPError

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.runtime.activities import Activity, ActivityError, Handler, Retry, current_call, is_temporary
from instrc.runtime.interpreter.documents import bare_name
from instrc.runtime.secrets import UnusableTableError, checked, refuse_table, secret, with_variables
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, at

# An HTTP service as an activity: where a call goes, what is sent, and what of the answer is the result.


HTTP_BYTES: Final = 10 * 1024 * 1024
"""Bytes of the answer of an HTTP service; more is an error with the code `too-large`."""
SHOWN_HTTP: Final = 300
"""Letters of an answer that an error of an HTTP service shows."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_WITHOUT_BODY = ("GET", "DELETE")
"""Statuses, beside those from 500 on, after which the same request may succeed."""
_PLACE = re.compile(r"\{([^{}]*)\}")


class _HttpTable(TypedDict, total=False):
    """A table of the settings, as `_KINDS` has it."""

    url: Required[str]
    method: str
    headers: JsonObject
    query: JsonObject
    body: Json
    result: str
    idempotency: str


_KINDS: dict[str, type | tuple[type, ...]] = {
    "url": str,
    "method": str,
    "headers": dict,
    "query": dict,
    "body": (dict, list, str),
    "result": str,
    "idempotency": str,
}


def http_handler(name: str, given: Mapping[str, object], folder: Path) -> Handler:  # noqa: ARG001  -- all makers are called alike
    """Return the handler of an HTTP activity.

    `url`, `headers`, `query` and `body` may hold `{member.member}`: a member of what the activity is given; `{}` is the whole.
    A text that is nothing but such a place is the value itself; in a longer one, and in the URL, it is its text.
    Without `body` what is given is sent as JSON; a `GET` or `DELETE` sends it as its query instead, without what the URL names.
    `result` is a JSON Pointer into the answer. Every call but a `GET` carries its key in the header `idempotency`.
    Redirects are not followed.
    """
    checked(given, _KINDS)
    table = cast("_HttpTable", given)
    method = table.get("method", "POST").upper()
    parts = urlsplit(_PLACE.sub("x", table["url"]))
    if method not in _METHODS:
        reason = f"`method` is one of {', '.join(_METHODS)}"
        raise UnusableTableError(reason)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        reason = "`url` begins with `http://` or `https://` and names a host"
        raise UnusableTableError(reason)
    if "{" in table["url"].split("/", 3)[2]:
        reason = "the host of `url` is fixed: only what follows it may hold places"
        raise UnusableTableError(reason)
    if table.get("result", "").removeprefix("/") == table.get("result") and table.get("result"):
        reason = "`result` is a JSON Pointer and begins with `/`"
        raise UnusableTableError(reason)

    async def call(value: Json) -> Json:
        request = _request(method, table, value)
        try:
            async with httpx.AsyncClient(timeout=None, follow_redirects=False, verify=_trusted()) as client:  # noqa: S113  -- the policy has a limit
                answer = await client.send(request, stream=True)
                body = await _body(answer)
        except httpx.HTTPError as error:
            message = f"{type(error).__name__}: {error}"
            raise ActivityError(message, code="unreachable") from error
        return _result(answer, body, table.get("result", ""))

    return call


@lru_cache(maxsize=1)
def _trusted() -> SSLContext:
    """Return whom HTTPS trusts; reading the certificates takes a tenth of a second, too long for each request."""
    return httpx.create_ssl_context()


def _request(method: str, table: _HttpTable, given: Json) -> httpx.Request:
    url = _PLACE.sub(lambda found: quote(_text(found[1], given), safe=""), table["url"])
    headers = {key: _header(fill_template(value, given)) for key, value in table.get("headers", {}).items()}
    query = {key: fill_template(value, given) for key, value in table.get("query", {}).items()}
    content = None
    if "body" in table:
        content = dumps(fill_template(table["body"], given))
    elif method not in _WITHOUT_BODY:
        content = dumps(given)
    elif "query" not in table and isinstance(given, dict):
        named = {found.partition(".")[0] for found in _PLACE.findall(table["url"])}
        query = {key: value for key, value in given.items() if key not in named}
    if content is not None:
        headers.setdefault("Content-Type", "application/json")
    if method != "GET":
        headers.setdefault(table.get("idempotency", "Idempotency-Key"), quote(current_call().key, safe="/@[]!#"))
    flat: list[tuple[str, str | int | float | bool | None]] = [
        (key, _plain(item))
        for key, value in query.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
    return httpx.Request(
        method, url, params=flat or None, headers=headers, content=content.encode() if content is not None else None
    )


def fill_template(template: Json, given: Json) -> Json:
    """Return a template with the members of what is given in its places."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        return _member(whole[1], given) if whole else _PLACE.sub(lambda found: _text(found[1], given), template)
    if isinstance(template, Mapping):
        return {key: fill_template(item, given) for key, item in template.items()}
    return [fill_template(item, given) for item in template] if isinstance(template, list) else template


def _member(path: str, given: Json) -> Json:
    value = given
    for name in path.split(".") if path else ():
        if not isinstance(value, dict) or name not in value:
            message = f"the call needs `{path}`, which it is not given"
            raise ActivityError(message, code="invalid-input", retry=False)
        value = value[name]
    return value


def _text(path: str, given: Json) -> str:
    return _plain(_member(path, given))


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)


def _header(value: Json) -> str:
    text = _plain(value)
    if any(character in text for character in "\r\n\0"):
        message = "a header is one line of text"
        raise ActivityError(message, code="invalid-input", retry=False)
    return text


async def _body(answer: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in answer.aiter_bytes():
        size += len(part)
        if size > HTTP_BYTES:
            message = f"the answer is longer than {HTTP_BYTES} bytes"
            raise ActivityError(message, code="too-large", retry=False)
        parts.append(part)
    return b"".join(parts)


def _result(answer: httpx.Response, body: bytes, pointer: str) -> Json:
    status = answer.status_code
    if not answer.is_success:
        shown = body[: SHOWN_HTTP * 4].decode("utf-8", "replace")[:SHOWN_HTTP]
        message = f"HTTP {status}: {shown}"
        raise ActivityError(message, code=str(status), retry=is_temporary(status))
    if not body:
        return None
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.startswith("text/"):
        return body.decode(answer.encoding or "utf-8", "replace")
    try:
        value = loads(body)
    except ValueError as error:
        message = f"the answer is not JSON: {error}"
        raise ActivityError(message, code="no-json", retry=False) from error
    try:
        return at(value, pointer)
    except (LookupError, ValueError, TypeError) as error:
        message = f"the answer has no `{pointer}`"
        raise ActivityError(message, code="no-result", retry=False) from error


# A tool of an MCP server as an activity.
#
# One session a server and event loop is kept while calls come, and is closed after a while without any.


IDLE = 10.0
"""Seconds without a call after which a session is closed."""


class _McpTable(TypedDict, total=False):
    """A table of the settings, as `_KINDS` has it."""

    mcp: Required[str]
    tool: str
    environment: list[Json]


_MCP_ACTIVITIES_KINDS: dict[str, type | tuple[type, ...]] = {"mcp": str, "tool": str, "environment": list}


def mcp_handler(name: str, given: Mapping[str, object], folder: Path) -> Handler:
    """Return the handler of a tool: `mcp` is a command or a URL, `tool` its name there, else it is found by the activity's.

    `environment` names the variables of the environment that the command is given; others it does not see.
    """
    checked(given, _MCP_ACTIVITIES_KINDS)
    table = cast("_McpTable", given)
    server = _server(table, folder)
    wanted = table.get("tool")

    async def call(value: Json) -> Json:
        if not isinstance(value, dict):
            message = "a tool is given an object: name its arguments"
            raise ActivityError(message, code="invalid-input", retry=False)
        return await _session(server).call(wanted, name, value)

    return call


class _Server:
    """Where a server is; equal tables share it."""

    def __init__(self, address: str | StdioServerParameters) -> None:
        self.address = address
        self.sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()


_servers: dict[str, _Server] = {}


def _server(table: _McpTable, folder: Path) -> _Server:
    words = table["mcp"].strip()
    if words.startswith(("http://", "https://")):
        return _servers.setdefault(words, _Server(words))
    try:
        command, *rest = shlex.split(words)
    except ValueError as error:
        reason = f"`mcp` is a command or a URL: {error or 'it is empty'}".lower()
        raise UnusableTableError(reason) from None
    names = table.get("environment", [])
    environment = get_default_environment() | {str(each): secret(str(each)) or "" for each in names}
    made = StdioServerParameters(command=command, args=rest, env=environment, cwd=str(folder))
    return _servers.setdefault(repr(made), _Server(made))


class _Session:
    """A session, held by a task of its own: it has to be closed by the task that has opened it."""

    def __init__(self, server: _Server) -> None:
        self.server = server
        self.calls: asyncio.Queue[tuple[str | None, str, dict[str, Json], asyncio.Future[Json]]] = asyncio.Queue()
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

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        under_way: set[asyncio.Task[None]] = set()
        try:
            async with Client(self.server.address) as client:
                names = {bare_name(tool.name): tool.name for tool in await _tools(client)}
                while True:
                    try:
                        wanted = await asyncio.wait_for(self.calls.get(), IDLE)
                    except TimeoutError:
                        if under_way or not self.calls.empty():
                            continue
                        self.server.sessions.pop(loop, None)  # from here on a call opens another session
                        break
                    task = asyncio.ensure_future(_answer(client, names, *wanted))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  -- whatever the library raises when a server is not there
            self.server.sessions.pop(loop, None)
            self._fail(f"the MCP server cannot be reached: {_first(error)}")
        finally:
            for task in under_way:
                task.cancel()

    def _fail(self, message: str) -> None:
        while not self.calls.empty():
            *_, answer = self.calls.get_nowait()
            if not answer.done():
                answer.set_exception(ActivityError(message, code="unreachable"))


def _session(server: _Server) -> _Session:
    loop = asyncio.get_running_loop()
    found = server.sessions.get(loop)
    if found is None or found.task.done():
        found = server.sessions[loop] = _Session(server)
    return found


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
        _give(answer, ActivityError(str(error), code=str(error.error.code), retry=False))
    except Exception as error:  # noqa: BLE001  -- the caller is told, whatever it is
        _give(answer, ActivityError(f"{type(error).__name__}: {error}", code="unreachable"))
    else:
        if not answer.done():
            answer.set_result(value)


def _tool_name(activity: str, names: Mapping[str, str]) -> str:
    name = names.get(bare_name(activity)) or names.get(bare_name(activity.removesuffix("_Activity")))
    if name is None:
        known = ", ".join(f"`{each}`" for each in names.values()) or "none"
        message = (
            f"the MCP server has no tool for `{activity}`; it has {known}: name one as `tool` in the settings of the activity"
        )
        raise ActivityError(message, code="unknown-tool", retry=False)
    return name


def _give(answer: asyncio.Future[Json], error: ActivityError) -> None:
    if not answer.done():
        answer.set_exception(error)


def _value(result: mcp_types.CallToolResult) -> Json:
    """Return what a tool gave: its structured content; else its text, as JSON if it is an object or a list."""
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


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


# Activities that need no code: tables under `[tool.instrc.activities]`.
#
# `url` makes one of an HTTP service, `mcp` one of a tool of an MCP server; `schema` and `retry` go with either.
# A text in a table may hold `${NAME}`: a variable of the environment, whose value is a secret from then on.


_POLICY = tuple(each.name for each in fields(Retry))


def served(name: str, table: Mapping[str, object], folder: Path) -> Activity:
    """Return the activity that a table of the settings describes; files and commands are looked up from the folder."""
    try:
        make = _maker(table)
        filled = {key: with_variables(value) for key, value in table.items() if key not in {"retry", "input"}}
        handler = make(name, filled, folder)
        schema = table.get("input", True)
        if not isinstance(schema, dict | bool):
            refuse_table("`input` is a JSON Schema")
        return Activity(name, handler, retry=_policy(table.get("retry", {})), input=schema)
    except UnusableTableError as error:
        raise CompileError([problems.runs.UnusableSetting(what="activity", word=name, reason=str(error))]) from None
    except ImportError:
        feature = f"the activity `{name}`"
        extra, package = ("http", "httpx") if "url" in table else ("mcp", "mcp")
        raise CompileError([problems.settings.MissingExtra(feature=feature, extra=extra, package=package)]) from None


def _maker(table: Mapping[str, object]) -> Callable[[str, Mapping[str, object], Path], Handler]:
    kinds = [kind for kind in ("url", "mcp") if kind in table]
    if len(kinds) != 1:
        known = ", ".join(f"`{key}`" for key in table) or "nothing"
        refuse_table(f"its table has {known}; it needs one of `url` and `mcp`")
    if kinds == ["url"]:
        return http_handler

    return mcp_handler


def _policy(table: object) -> Retry:
    if not isinstance(table, Mapping) or not set(table) <= set(_POLICY):
        refuse_table(f"`retry` is a table of {', '.join(f'`{name}`' for name in _POLICY)}")
    given = dict(table)
    codes = given.pop("codes", None)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value:  # noqa: PLR0124  -- NaN
            refuse_table(f"`retry.{name}` is a number that is not negative")
    if not isinstance(given.get("attempts", 1), int):
        refuse_table("`retry.attempts` is a whole number")
    if codes is not None and not (isinstance(codes, list) and all(isinstance(code, str) for code in codes)):
        refuse_table("`retry.codes` is a list of texts")
    return Retry(**given, codes=frozenset(codes) if codes is not None else None)
