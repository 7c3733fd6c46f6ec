"""The service over HTTP: REST, live events, problems as `application/problem+json`, and the middleware before them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias

from msgspec import structs
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ExceptionHandler, Receive, Scope, Send

from instrc import problems
from instrc.problems import catalogue
from instrc.problems.errors import InstrcError, RateLimitError, RequestError
from instrc.runtime.activities import complaints
from instrc.server import door
from instrc.server.access import Caller, RateLimiter
from instrc.server.bounds import SMALL_BODY
from instrc.server.identity import Identity
from instrc.server.metrics import RequestMeter, store_metrics
from instrc.server.openapi import EVENTS, document_of
from instrc.server.operation_json import question_id, refuse
from instrc.server.operations import ENDPOINTS, Endpoint, RequestData, ResponseData, tags_of
from instrc.server.operators import OPERATOR_ENDPOINTS
from instrc.server.run_service import RunService
from instrc.server.streams import NumberedEvent
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import JsonObject, mapping

PING: Final = 15.0
"""Seconds between two keep-alive messages in an event stream."""
Answering: TypeAlias = Callable[[Request], Awaitable[Response]]


class Streams:
    """Counts the open streams of each caller."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.open: Counter[str] = Counter()
        self.closing: asyncio.Event = asyncio.Event()

    def is_full(self, name: str) -> bool:
        """Return whether a caller may open no further stream."""
        return self.open[name] >= self.limit

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Count an open stream; raise over the limit."""
        if self.is_full(name):
            raise RateLimitError([problems.serving.TooMuch(what="open event streams", limit=self.limit, retry_after=30)])
        self.open[name] += 1
        try:
            yield
        finally:
            self.open -= Counter([name])  # without those that have none


def event_endpoints(streams: Streams) -> list[Endpoint]:
    """Return the routes that stream the events of one run, and of all runs."""

    async def stream(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
        given, run = asked.headers.get("last-event-id"), asked.path.get("run")
        after = int(given[:15]) if given else None
        if run is not None and after is not None and await service.event_streams.has_told(caller, run, after):
            return ResponseData(None, 204)  # tells an `EventSource` to stop

        async def begin() -> AsyncIterator[str]:
            start = after or 0
            if run is None and after is None:
                start = (await asyncio.to_thread(service.records.feed_bounds))[1]
            source = service.event_streams.events(caller, run, start)
            first = None if run is None else asyncio.ensure_future(anext(source))
            if first is not None:
                await first  # problems are reported before the stream starts
            return _as_text(source, first, streams.closing)

        return ResponseData(None, stream=begin)

    text: JsonObject = {"type": "string", "description": "Server-sent events: `id` is a number, `data` is JSON."}
    made = partial(
        Endpoint,
        "GET",
        call=stream,
        answer=text,
        headers={"Last-Event-ID": {"type": "string", "pattern": "^[0-9]*$"}},
        is_stream=True,
        errors=(404, 410),
    )
    return [
        made("/v1/events", "streamEvents", "What happens to all runs, from now on or after an event."),
        made("/v1/runs/{run}/events", "streamRun", "What happens to a run, until it ends."),
    ]


async def _as_text(
    source: AsyncGenerator[NumberedEvent], upcoming: asyncio.Task[NumberedEvent] | None, end: asyncio.Event
) -> AsyncIterator[str]:
    """Write events as a stream, the `upcoming` one first, with occasional comments as keep-alives."""
    closing = asyncio.ensure_future(end.wait())
    try:
        while not closing.done():
            upcoming = upcoming or asyncio.ensure_future(anext(source))
            done, _ = await asyncio.wait({upcoming, closing}, timeout=PING, return_when=asyncio.FIRST_COMPLETED)
            if upcoming in done:
                try:
                    event = upcoming.result()
                except (StopAsyncIteration, *door.AWAY):  # the client connects again, once the database is back
                    return
                except InstrcError as error:
                    yield f"event: problem\ndata: {dumps(door.problem_json(error), indent=False)}\n\n"
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
        await source.aclose()


class EventResponse(StreamingResponse):
    """A stream of events, counted against the caller's limit; a refusal is sent before it begins."""

    def __init__(self, request: Request, caller: Caller, begin: Callable[[], Awaitable[AsyncIterator[str]]]) -> None:
        super().__init__((), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}, media_type=EVENTS)
        self.entered: AbstractContextManager[None] = request.app.state.streams.entered(caller.name)
        self.begin = begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        with self.entered:
            self.body_iterator = await self.begin()
            await super().__call__(scope, receive, send)


def session_endpoints(identity: Identity) -> list[Endpoint]:
    """Return the routes that start and end a page session."""

    async def begin(_service: RunService, caller: Caller, _asked: RequestData) -> ResponseData:
        if caller.by not in {"key", "token"}:
            refuse("a session begins with a key or a token in `Authorization`")
        return ResponseData(None, 204, {"Set-Cookie": await asyncio.to_thread(identity.session, caller)})

    async def end(_service: RunService, _caller: Caller, asked: RequestData) -> ResponseData:
        ended = await asyncio.to_thread(identity.end_session, asked.headers.get("cookie", ""))
        return ResponseData(None, 204, {"Set-Cookie": ended})

    return [
        Endpoint("POST", "/v1/session", "beginSession", "Give a cookie for a key or a token.", begin, None, status=204),
        Endpoint("DELETE", "/v1/session", "endSession", "Take the cookie back.", end, None, status=204),
    ]


Beside: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]
"""Opens the background tasks of a service."""


def app_of(
    service: RunService,
    *,
    identify: door.Identify | None = None,
    identity: Identity | None = None,
    hosts: Sequence[str] = (),
    routes: Sequence[BaseRoute | Endpoint] = (),
    beside: Sequence[Beside] = (),
) -> Starlette:
    """Return the service as an ASGI application; `routes` belong to pages and other protocols, behind the same middleware.

    `beside` are contexts that stay open while it serves.

    Without `identify` or `identity`, everybody is the local user, so it may only listen on this machine.
    """
    rate, meter = RateLimiter(service.settings.rate), RequestMeter()
    streams = Streams(service.settings.streams)
    operations = [
        *ENDPOINTS,
        *OPERATOR_ENDPOINTS,
        *event_endpoints(streams),
        *([] if identity is None else session_endpoints(identity)),
    ]
    operations += [each for each in routes if isinstance(each, Endpoint)]

    async def openapi(request: Request) -> Response:
        return door.json_response(document_of(await service.programs(door.caller_of(request)), operations))

    made = [
        *(Route(each.path, _endpoint(service, each, rate), methods=[each.method], name=each.name) for each in operations),
        Route("/openapi.json", openapi),
        Route("/healthz", _health),
        Route("/readyz", _readiness(service, streams)),
        Route("/metrics", _metrics(service, streams, meter)),
        Route("/problems/{name}", _page_of_problem),
        *(each for each in routes if not isinstance(each, Endpoint)),
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

    told: dict[object, ExceptionHandler] = dict.fromkeys((InstrcError, *door.AWAY), _told)
    told |= {HTTPException: _broken, 500: _broken}
    app = Starlette(routes=made, exception_handlers=told, lifespan=lifespan)
    allowed = door.LOCAL_HOSTS | {*hosts, *service.settings.hosts}
    app.add_middleware(door.Door, hosts=frozenset(allowed), settings=service.settings, identify=identify or identity, meter=meter)
    app.state.streams = streams
    return app


def _endpoint(service: RunService, operation: Endpoint, rate: RateLimiter) -> Answering:
    async def endpoint(request: Request) -> Response:
        path = request.path_params
        if operation.by_link:
            caller = await used_link(service, rate, request, path["word"])
            assert caller.only is not None
            path = {"question": question_id(*caller.only)}
        else:
            caller = door.caller_of(request)
        asked = await _read(request, operation, path)
        open_: Streams = request.app.state.streams
        if open_.is_full(caller.name):
            asked = structs.replace(asked, headers={**asked.headers, "prefer": ""})  # answered at once
        with open_.entered(caller.name) if "Prefer" in operation.headers and asked.wait > 0 else nullcontext():
            answered = await operation.call(service, caller, asked)
        if answered.stream is not None:
            return EventResponse(request, caller, answered.stream)
        tag = answered.headers.get("ETag")
        known = tags_of(request.headers.get("if-none-match"))
        if tag is not None and operation.method == "GET" and {tag.strip('"'), "*"} & known:
            return Response(None, 304, {"ETag": tag})
        return await asyncio.to_thread(door.json_response, answered.body, answered.status, answered.headers)

    return endpoint


async def used_link(service: RunService, rate: RateLimiter, request: Request, word: str) -> Caller:
    """Return the bearer of a link; uses are limited by link, invalid links by address, so that neighbours are not locked out.

    A request that asks for it again is one use.
    """
    times, request.scope["instrc.link"] = int("instrc.link" not in request.scope), word
    try:
        caller = await service.linked(word)
    except InstrcError:
        rate.enter(f"link {door.peer_in(request)}", "uses of links in a minute", times)
        raise
    rate.enter(f"link {caller.nonce}", "uses of links in a minute", times)
    return caller


async def _read(request: Request, operation: Endpoint, path: Mapping[str, str]) -> RequestData:
    """Read a request; raise `InvalidRequest` if it does not conform to the API document."""
    query: dict[str, str] = {}
    for key, value in request.query_params.multi_items():
        known = key in operation.query or (key.startswith("metadata.") and operation.name == "listRuns")
        if not known:
            refuse(f"there is no parameter `{key[:80]}`")
        if key in query:
            refuse(f"`{key}` is given twice")
        query[key] = value
    for key, schema in operation.query.items():
        if key in query and ("enum" in schema or "const" in schema) and complaints(query[key], schema):
            refuse(f"`{key}` cannot be `{query[key][:80]}`")
    for name, schema in operation.headers.items():
        if name in request.headers and complaints(request.headers[name], schema):
            refuse(f"`{name}` cannot be `{request.headers[name][:80]}`")
    return RequestData(path, query, await _body(request, operation), request.headers)


async def _body(request: Request, operation: Endpoint) -> JsonObject:
    raw = await request.body()
    if operation.body is None:
        return {}
    kind = request.headers.get("content-type", door.JSON).partition(";")[0].strip().lower()
    if kind != door.JSON and raw:
        refuse(f"the body is `{door.JSON}`")
    if not raw and not operation.body.get("required"):
        return {}
    return _parsed(raw, operation.body) if len(raw) <= SMALL_BODY else await asyncio.to_thread(_parsed, raw, operation.body)


def _parsed(raw: bytes, schema: JsonObject) -> JsonObject:
    try:
        body = loads(raw)
    except ValueError as error:
        refuse(f"the body is not JSON: {error}")
    known = mapping(schema.get("properties"))
    extra = [name for name in mapping(body) if name not in known]
    if extra and schema.get("additionalProperties") is False:
        refuse(f"the body has no member `{extra[0][:80]}`: it has {', '.join(f'`{name}`' for name in known)}")
    wrong = complaints(body, schema)
    if wrong:
        raise RequestError(problems.serving.InvalidRequest(reason=each["message"], pointer=each["pointer"]) for each in wrong)
    assert isinstance(body, dict)
    return body


async def _health(_request: Request) -> Response:
    return door.json_response({"status": "ok"})


def _readiness(service: RunService, streams: Streams) -> Answering:
    async def ready(_request: Request) -> Response:
        try:
            await asyncio.to_thread(service.records.feed_bounds)
        except SQLAlchemyError:
            return door.json_response({"status": "the store does not answer"}, 503)
        stopping = streams.closing.is_set()
        return door.json_response({"status": "stopping" if stopping else "ok"}, 503 if stopping else 200)

    return ready


def _metrics(service: RunService, streams: Streams, meter: RequestMeter) -> Answering:
    async def metrics(request: Request) -> Response:
        door.caller_of(request).require("viewer", "", "see metrics")
        own = "# TYPE instrc_event_streams gauge", f"instrc_event_streams {streams.open.total()}", ""
        lines = [*meter.lines(), *await store_metrics(service), *own]
        return PlainTextResponse("\n".join(lines), media_type="text/plain; version=0.0.4")

    return metrics


def _page_of_problem(request: Request) -> Response:
    kind = catalogue.classes().get(request.path_params["name"])
    return PlainTextResponse("there is no such problem" if kind is None else catalogue.page(kind), 404 if kind is None else 200)


async def _told(_request: Request, error: Exception) -> Response:
    return door.problem_response(error)


async def _broken(request: Request, error: Exception) -> Response:
    """Return the response for an unknown address or method; internal errors are only logged."""
    known = error if isinstance(error, HTTPException) else HTTPException(500, "internal error")
    headers = {name.decode(): value.decode() for name, value in door.HEADERS} | dict(known.headers or {})  # access may be revoked
    if known.status_code == HTTPStatus.METHOD_NOT_ALLOWED:  # the methods of one address are routes of their own
        alike = [
            each for each in request.app.routes if isinstance(each, Route) and each.matches(request.scope)[0] is not Match.NONE
        ]
        headers["Allow"] = ", ".join(sorted({method for each in alike for method in each.methods or ()}))
    title = known.detail.lower()
    made: JsonObject = {"type": "about:blank", "title": title, "status": known.status_code, "name": title.replace(" ", "-")}
    return Response(dumps({**made, "detail": "the service could not do this"}), known.status_code, headers, door.PROBLEM)
