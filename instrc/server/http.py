"""The service over HTTP: REST, events as they happen, problems as `application/problem+json`, and the door before all of it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Final, TypeAlias

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from instrc import problems
from instrc.problems import catalogue
from instrc.problems.problem import CompileError, Problem
from instrc.runtime.activities import complaints
from instrc.runtime.engine import UnreachableError
from instrc.server.access import LOCAL, Caller
from instrc.server.openapi import document_of
from instrc.server.operations import OPERATIONS, Endpoint, RequestData, refuse
from instrc.server.run_service import DeletedError, NumberedEvent, RunService
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
PING: Final = 15.0
"""Seconds between two signs of life in a stream of events."""
CONTENT_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
_STATUS: Final[dict[str, int]] = {
    "not-authenticated": 401,
    "not-allowed": 403,
    "no-such-program": 404,
    "no-such-run": 404,
    "no-such-question": 404,
    "question-not-free": 409,
    "key-reused": 409,
    "run-exists": 409,
    "run-goes-on": 409,
    "nothing-to-retry": 409,
    "cannot-fork": 409,
    "no-journal": 409,
    "needs-its-program": 409,
    "state-changed": 412,
    "invalid-request": 400,
    "unusable-store": 503,
    "store-in-use": 503,
}
"""Statuses of problems; of all others it is 422."""


def status_of_problem(problem: Problem) -> int:
    """Return the status of HTTP for a problem."""
    match problem:
        case problems.serving.QuestionNotFree(state="shown anew"):
            return 412
        case problems.serving.QuestionNotFree(state="overdue"):
            return 410
        case problems.serving.TooMuch():
            return 413 if problem.retry_after is None else 429
        case problems.runs.NoSuchQuestion(closed="overdue"):
            return 410
        case problems.runs.NoSuchQuestion() if problem.closed != "not asked":
            return 409
    return _STATUS.get(problem.name, 422)


def problem_json(found: Sequence[Problem], status: int | None = None) -> tuple[JsonObject, int]:
    """Return problems as one document of RFC 9457, and its status."""
    first = found[0]
    status = status or status_of_problem(first)
    made: JsonObject = {
        "type": f"/problems/{first.name}",
        "title": first.name.replace("-", " "),
        "status": status,
        "detail": str(first),
        "name": first.name,
    }
    if first.hint:
        made["hint"] = first.hint
    made["errors"] = [{"pointer": _pointer(each), "message": _reason(each)} for each in found]
    return made, status


def _pointer(problem: Problem) -> str:
    pointer = getattr(problem, "pointer", "")
    return f"/input/{problem.word}" if isinstance(problem, problems.runs.InvalidInput) else str(pointer)


def _reason(problem: Problem) -> str:
    return problem.reason if isinstance(problem, problems.runs.RejectedAnswer) else str(problem)


def problem_response(error: CompileError, status: int | None = None) -> Response:
    """Return problems as a response."""
    if isinstance(error, DeletedError):
        status = 410
    made, status = problem_json(error.problems, 503 if isinstance(error, UnreachableError) else status)
    headers: dict[str, str] = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    retry = getattr(error.problems[0], "retry_after", None)
    if retry is not None or status == 503:
        headers["Retry-After"] = str(retry or 5)
    return Response(dumps(made), status, headers, PROBLEM)


def json_response(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON as a response: exact numbers, keys in their order."""
    if status == 204:
        return Response(None, 204, headers)
    return Response(dumps(body), status, headers, JSON)


def caller_of(request: Request) -> Caller:
    """Return who asks, as the door has found out; `NotAuthenticated` if it does not know."""
    caller = request.scope.get("instrc.caller")
    if not isinstance(caller, Caller):
        reason = request.scope.get("instrc.unknown") or "nothing was sent that says so"
        raise CompileError([problems.serving.NotAuthenticated(reason=reason)])
    return caller


# Routes, made of the table of operations.


def _endpoint(service: RunService, operation: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        caller = caller_of(request)
        asked = await _read(request, operation)
        answered = await operation.call(service, caller, asked)
        tag = answered.headers.get("ETag")
        if tag is not None and operation.method == "GET" and request.headers.get("if-none-match") in {tag, "*"}:
            return Response(None, 304, {"ETag": tag})
        return json_response(answered.body, answered.status, answered.headers)

    return endpoint


async def _read(request: Request, operation: Endpoint) -> RequestData:
    """Return what a request holds; an `InvalidRequest` if that is not what the document says."""
    query: dict[str, str] = {}
    for key, value in request.query_params.multi_items():
        known = key in operation.query or (key.startswith("metadata.") and operation.name == "listRuns")
        if not known:
            refuse(f"there is no parameter `{key[:80]}`")
        if key in query:
            refuse(f"`{key}` is given twice")
        if "\0" in value:
            refuse(f"`{key}` has a character that no name has")
        query[key] = value
    for key, schema in operation.query.items():
        if key in query and ("enum" in schema or "const" in schema) and complaints(query[key], schema):
            refuse(f"`{key}` cannot be `{query[key][:80]}`")
    for value in request.path_params.values():
        if "\0" in value:
            refuse("an id has a character that none has")
    return RequestData(request.path_params, query, await _body(request, operation), request.headers)


async def _body(request: Request, operation: Endpoint) -> JsonObject:
    raw = await request.body()
    if operation.body is None:
        return {}
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind != JSON and raw:
        refuse(f"the body is `{JSON}`")
    if not raw and not operation.body.get("required"):
        return {}
    try:
        body = loads(raw)
    except ValueError as error:
        refuse(f"the body is not JSON: {error}")
    wrong = complaints(body, operation.body)
    if wrong:
        raise CompileError(problems.serving.InvalidRequest(reason=each["message"], pointer=each["pointer"]) for each in wrong)
    assert isinstance(body, dict)
    return body


def _events_endpoint(service: RunService, streams: Streams) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        caller, run = caller_of(request), request.path_params.get("run")
        given = request.headers.get("last-event-id", "0") or "0"
        if not given.isascii() or not given.isdigit():
            refuse("`Last-Event-ID` is a number")
        if run is not None:
            await service.run(caller, run)  # a problem is told before the stream begins
        streams.enter(caller.name)
        source = service.events(caller, run, int(given[:15]))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_as_text(source, streams, caller.name), 200, headers, "text/event-stream")

    return endpoint


class Streams:
    """Counts the open streams of each caller."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.open: Counter[str] = Counter()
        self.closing: asyncio.Event = asyncio.Event()

    def enter(self, name: str) -> None:
        """Take one more."""
        if self.open[name] >= self.limit:
            raise CompileError([problems.serving.TooMuch(what="open event streams", limit=self.limit, retry_after=30)])
        self.open[name] += 1

    def leave(self, name: str) -> None:
        """Take one less."""
        self.open[name] -= 1
        if self.open[name] <= 0:
            del self.open[name]


async def _as_text(source: AsyncIterator[NumberedEvent], streams: Streams, name: str) -> AsyncIterator[str]:
    """Write events as a stream; a comment now and then shows that it lives."""
    upcoming: asyncio.Task[NumberedEvent] | None = None
    closing = asyncio.ensure_future(streams.closing.wait())
    try:
        while not closing.done():
            upcoming = upcoming or asyncio.ensure_future(_following(source))
            done, _ = await asyncio.wait({upcoming, closing}, timeout=PING, return_when=asyncio.FIRST_COMPLETED)
            if upcoming in done:
                try:
                    event = upcoming.result()
                except StopAsyncIteration:
                    return
                except CompileError as error:
                    made, _ = problem_json(error.problems)
                    yield f"event: problem\ndata: {dumps(made, indent=False)}\n\n"
                    return
                upcoming = None
                yield f"id: {event.number}\nevent: {event.kind}\ndata: {dumps(event.body, indent=False)}\n\n"
            elif not done:
                yield ": \n\n"
    finally:
        closing.cancel()
        if upcoming is not None:
            upcoming.cancel()
            with suppress(BaseException):
                await upcoming
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()
        streams.leave(name)


async def _following(source: AsyncIterator[NumberedEvent]) -> NumberedEvent:
    return await anext(source)


async def _health(_request: Request) -> Response:
    return json_response({"status": "ok"})


def _page_of_problem(request: Request) -> Response:
    kind = catalogue.classes().get(request.path_params["name"])
    return PlainTextResponse("there is no such problem" if kind is None else catalogue.page(kind), 404 if kind is None else 200)


# The door: what every request passes, whatever it is for.


Identify = Callable[[Headers], Awaitable["Caller | None"]]
"""Finds out who asks, by the headers of a request; `None` if nothing says so."""


class Door:
    """Refuses foreign hosts, other sites and large bodies; finds out who asks; sends the headers that protect pages."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], body: int, identify: Identify | None) -> None:
        self.app = app
        self.hosts = hosts
        self.body = body
        self.identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None or scope["type"] != "http":
            if scope["type"] == "http" and refusal is not None:
                await refusal(scope, receive, send)
            elif refusal is not None:
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, receive, send)
            return
        scope["instrc.caller"] = LOCAL
        if self.identify is not None:
            try:
                scope["instrc.caller"] = await self.identify(headers)
            except CompileError as error:
                scope["instrc.caller"], scope["instrc.unknown"] = None, getattr(error.problems[0], "reason", "")
        await self.app(scope, self._limited(receive), self._protected(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = re.sub(r":\d+$", "", headers.get("host", ""))
        if host.lower() not in self.hosts:
            return problem_response(
                CompileError([problems.serving.InvalidRequest(reason="this service is not reached under that host")])
            )
        if scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD", "OPTIONS"}:
            site = headers.get("sec-fetch-site")
            origin = headers.get("origin")
            same = origin is None or origin.partition("://")[2] == headers.get("host")
            if (site is not None and site not in {"same-origin", "none"}) or not same:
                found = problems.serving.NotAllowed(
                    who="another site", action="send this", reason="a browser says whose page it is"
                )
                return problem_response(CompileError([found]))
        length = headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 15 or int(length) > self.body:
            return problem_response(self._too_large())
        return None

    def _too_large(self) -> CompileError:
        return CompileError([problems.serving.TooMuch(what="bytes of a request", limit=self.body)])

    def _limited(self, receive: Receive) -> Receive:
        """Return what reads a body, not more of it than is allowed, and not for ever."""
        read = 0
        ended = False

        async def limited() -> Message:
            nonlocal read, ended
            if ended:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), _BODY_SECONDS)
            except TimeoutError:
                return {"type": "http.disconnect"}
            read += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if read > self.body:
                raise self._too_large()
            return message

        return limited

    @staticmethod
    def _protected(send: Send) -> Send:
        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in _HEADERS if name not in present),
                ]
            await send(message)

        return protected


_BODY_SECONDS: Final = 30.0
"""Seconds to wait for the next part of a body."""
_HEADERS: Final = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


async def _told(_request: Request, error: Exception) -> Response:
    assert isinstance(error, CompileError)
    return problem_response(error)


Beside: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]
"""Opens what runs beside a service."""


def app_of(
    service: RunService,
    *,
    identify: Identify | None = None,
    hosts: Sequence[str] = (),
    routes: Sequence[BaseRoute] = (),
    beside: Sequence[Beside] = (),
) -> Starlette:
    """Return the service as an application of ASGI; `routes` are those of pages and other protocols, behind the same door.

    `beside` are contexts that are open as long as it serves.

    Without `identify` everybody is the local user: then it may listen at this machine only.
    """
    streams = Streams(service.settings.streams)
    document = document_of()

    async def openapi(_request: Request) -> Response:
        return json_response(document)

    made = [
        *(Route(each.path, _endpoint(service, each), methods=[each.method], name=each.name) for each in OPERATIONS),
        Route("/v1/events", _events_endpoint(service, streams), methods=["GET"]),
        Route("/v1/runs/{run}/events", _events_endpoint(service, streams), methods=["GET"]),
        Route("/openapi.json", openapi),
        Route("/healthz", _health),
        Route("/problems/{name}", _page_of_problem),
        *routes,
    ]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await service.begin()
        try:
            async with AsyncExitStack() as stack:
                for each in beside:
                    await stack.enter_async_context(each())
                yield
                streams.closing.set()
        finally:
            streams.closing.set()
            await service.close()

    app = Starlette(routes=made, exception_handlers={CompileError: _told}, lifespan=lifespan)
    allowed = _LOCAL_HOSTS | {*hosts, *service.settings.hosts}
    app.add_middleware(Door, hosts=frozenset(allowed), body=service.settings.body, identify=identify)
    app.state.streams = streams
    return app
