"""The middleware in front of all HTTP endpoints: hosts, foreign sites, body sizes, rates, and authentication."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from time import perf_counter
from typing import Final
from weakref import WeakValueDictionary

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from instrc import problems
from instrc.problems.errors import (
    AccessError,
    AuthenticationError,
    InstrcError,
    LimitError,
    RequestError,
    UnavailableError,
    codes_of,
)
from instrc.problems.problem import Problem
from instrc.server import bounds
from instrc.server.access import LOCAL, Caller, RateLimiter, peer_of
from instrc.server.logs import note_request
from instrc.server.metrics import RequestMeter
from instrc.server.streams import LEAVE
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, pointer
from instrc.vibes.service_settings import ServiceSettings

Identify = Callable[[Headers], Awaitable["Caller | None"]]
"""Returns the caller authenticated by the request headers, or `None`."""
AWAY: Final = (OperationalError, PoolTimeoutError)
"""Errors of a database that is temporarily unavailable, or has no free connection."""
_WRONG_KEYS: Final = 30
"""Maximum wrong keys and tokens from one address per minute."""
_ASKED_AGAIN: Final = 5.0
"""Seconds after which a waiting or streaming caller is authenticated again."""
_LINKED: Final = re.compile("(?:/inbox/link|/v1/links)/[^/]+")
"""Beginning of an address by which the bearer of a link is known."""
CONTENT_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Door:
    """Refuses foreign hosts, other sites and large bodies; authenticates callers; sends the headers that protect pages."""

    def __init__(
        self, app: ASGIApp, *, hosts: frozenset[str], settings: ServiceSettings, identify: Identify | None, meter: RequestMeter
    ) -> None:
        self.app = app
        self.hosts = hosts
        self.body = settings.body
        self.identify = identify
        self.failures: RateLimiter = RateLimiter(_WRONG_KEYS)
        self.turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, or refuse it."""
        if scope["type"] != "http":  # startup and shutdown; there are no web sockets
            await self.app(scope, receive, send)
            return
        headers, protected = Headers(scope=scope), self._protected(scope, send)
        with suppress(ClientDisconnect):  # the client no longer waits for an answer
            try:
                self._require_admissible(scope, headers)
                scope["instrc.caller"] = LOCAL if self.identify is None else await self._caller(scope, headers, self.identify)
                scope["instrc.still"] = partial(self._is_still, scope["instrc.caller"], headers)
                receiving = await self._bounded(scope, self._limited(scope, headers, receive))
            except (InstrcError, *AWAY) as error:
                response = problem_response(error)
                if "transfer-encoding" in headers:  # a proxy may have read another end of the body
                    response.headers["connection"] = "close"
                await response(scope, receive, protected)
                return
            await self._in_turn(scope, receiving, protected)

    async def _caller(self, scope: Scope, headers: Headers, identify: Identify) -> Caller | None:
        """Return the caller of a request, or `None` after noting why its key or token is wrong; raise if that is too often."""
        try:
            return await identify(headers)
        except InstrcError as error:
            scope["instrc.unknown"] = getattr(error.problems[0], "reason", "")
            self.failures.enter(peer_of((scope.get("client") or ("",))[0]), "wrong keys in a minute")
            return None

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request once not too many others of its caller or link are being answered.

        One that only waits does not count, nor does an open event stream.
        """
        caller, linked = scope["instrc.caller"], _LINKED.match(scope["path"])
        name = caller.name if caller is not None else linked and linked[0]
        if name is None:
            await self._answer(scope, receive, send)
            return
        turn = self.turns.setdefault(name, asyncio.Semaphore(bounds.AT_ONCE))
        has_waited = turn.locked()
        await turn.acquire()
        with ExitStack() as stack:
            stack.callback(turn.release)
            LEAVE.set(stack.close)

            async def sending(message: Message) -> None:
                if Headers(raw=message.get("headers", [])).get("content-type", "").startswith("text/event-stream"):
                    stack.close()
                await send(message)

            if has_waited and not await scope["instrc.still"]():
                await _end(scope, receive, send)
            else:
                await self._answer(scope, receive, sending)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request while its caller stays authenticated: a stream ends with its caller's key, session or token."""
        answering = asyncio.ensure_future(self.app(scope, receive, send))
        try:
            while not (await asyncio.wait({answering}, timeout=_ASKED_AGAIN))[0]:
                if not await scope["instrc.still"]():
                    answering.cancel()
                    await asyncio.wait({answering})
                    await _end(scope, receive, send)
                    return
            await answering
        finally:
            answering.cancel()

    async def _is_still(self, caller: Caller | None, headers: Headers) -> bool:
        """Return whether the headers of a request authenticate its caller as before."""
        try:
            return self.identify is None or caller is None or await self.identify(headers) == caller
        except AWAY:
            return True
        except InstrcError:
            return False

    def _require_admissible(self, scope: Scope, headers: Headers) -> None:
        """Raise for a request that is refused by its head."""
        host = re.sub(r":\d+$", "", headers.get("host", ""))
        reason = None
        if host.lower() not in self.hosts:
            reason = "this service is not reached under that host, unless `hosts` in `[tool.instrc.serve]` names it"
        elif "transfer-encoding" in headers and "content-length" in headers:
            reason = "the length of the body is given twice"
        elif "\0" in scope["path"] or b"%00" in scope["query_string"]:
            reason = "an address has no character 0"
        elif bounds.names_codec(headers.get("content-type", "")):
            reason = "a form is in UTF-8"
        if reason is not None:
            raise RequestError([problems.serving.InvalidRequest(reason=reason)])
        if len(scope["headers"]) > bounds.HEADERS:
            raise LimitError([problems.serving.TooMuch(what="headers of a request", limit=bounds.HEADERS)])
        if scope["method"] not in {"GET", "HEAD", "OPTIONS"}:
            site = headers.get("sec-fetch-site")
            origin = headers.get("origin")
            same = origin is None or origin.partition("://")[2] == headers.get("host")
            if (site is not None and site not in {"same-origin", "none"}) or not same:
                reason = "a browser says whose page it is"
                raise AccessError([problems.serving.NotAllowed(who="another site", action="send this", reason=reason)])
        length = headers.get("content-length", "0")
        if length.isdigit() and scope["path"].startswith("/inbox/"):
            return  # it is read as far as allowed; if a page sent it, a page reports the error
        if not length.isdigit() or len(length) > 15 or int(length) > self.body:
            raise _too_large(self.body)

    async def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Return a receiver of the body, which is checked here for every protocol alike: only pages take no JSON.

        That of an unknown caller is read when their link has been found to be valid, if at all.
        """
        if scope["method"] in {"GET", "HEAD", "OPTIONS"} or scope["path"].startswith("/inbox/"):
            return receive
        body = None if scope["instrc.caller"] is None else await _checked(receive, scope["path"])
        is_read = False

        async def whole() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            checked = await _checked(receive, scope["path"]) if body is None else body
            return {"type": "http.request", "body": checked, "more_body": False}

        return whole

    def _limited(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Return a receiver of a body with a size limit and a deadline; of a form with files, large files are cut."""
        known = scope["instrc.caller"] is not None or scope["path"].startswith(("/inbox/link/", "/v1/links/"))
        limit = self.body if known else min(self.body, bounds.SMALL_BODY)
        cutter = bounds.cutter_of(scope["path"], headers.get("content-type", ""), limit)
        read, passed, ended, late = 0, 0, False, asyncio.get_running_loop().time() + bounds.BODY_SECONDS

        async def limited() -> Message:
            nonlocal read, passed, ended
            if ended:
                return await receive()
            try:
                async with asyncio.timeout_at(late):
                    message = await receive()
            except TimeoutError:
                late_body = problems.serving.TooMuch(what="seconds for a body", limit=int(bounds.BODY_SECONDS))
                raise LimitError([late_body]) from None
            read += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if cutter is not None:
                message["body"] = cutter.passed(message.get("body", b""))
                scope["instrc.cut"] = read > limit
            passed += len(message.get("body", b""))
            if passed > (1 if cutter is None else 2) * limit or read > bounds.FORM * limit:
                raise _too_large(limit)
            return message

        return limited

    def _protected(self, scope: Scope, send: Send) -> Send:
        """Return a sender of the response that adds common headers and measures it."""
        began = perf_counter()

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["instrc.status"] = message["status"]
                route, seconds = scope.get("route"), perf_counter() - began
                operation = getattr(route, "name", None) or "other"
                self.meter.note(operation, message["status"], seconds)
                note_request(operation, scope["method"], getattr(route, "path", ""), message["status"], seconds)
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in HEADERS if name not in present),
                ]
            body, sent = message.get("body", b""), 0
            while len(body) - sent > bounds.PIECE:  # the next one once the client has read
                await send({**message, "body": body[sent : sent + bounds.PIECE], "more_body": True})
                sent += bounds.PIECE
                await asyncio.sleep(0)  # lets the loop close a connection that the client has left
            await send({**message, "body": body[sent:]} if sent else message)

        return protected


def _too_large(limit: int) -> LimitError:
    return LimitError([problems.serving.TooMuch(what="bytes of a request", limit=limit)])


async def _checked(receive: Receive, path: str) -> bytes:
    """Return a body; raise `RequestError` if it exceeds a limit."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"".join(parts)
    small = len(body) <= bounds.SMALL_BODY
    excess = bounds.excess_in(body, path) if small else await asyncio.to_thread(bounds.excess_in, body, path)
    if excess is not None:
        raise RequestError([problems.serving.InvalidRequest(reason=excess)])
    return body


def peer_in(request: Request) -> str:
    """Return the origin of a request in the form used for limits."""
    return peer_of(request.client.host) if request.client else ""


async def _end(scope: Scope, receive: Receive, send: Send) -> None:
    """End a response whose caller is no longer authenticated."""
    if "instrc.status" in scope:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    error = AuthenticationError([problems.serving.NotAuthenticated(reason="the key or the session has ended")])
    await problem_response(error)(scope, receive, send)


JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


def problem_json(error: InstrcError) -> JsonObject:
    """Return an error as a problem document (RFC 9457)."""
    first = error.problems[0]
    body: JsonObject = {
        "type": f"/problems/{first.name}",
        "title": first.name.replace("-", " "),
        "status": codes_of(type(error)).http,
        "detail": str(first),
        "name": first.name,
    }
    if first.hint:
        body["hint"] = first.hint
    body["errors"] = [{"pointer": _pointer(each), "message": _reason(each)} for each in error.problems]
    return body


def _pointer(problem: Problem) -> str:
    if isinstance(problem, problems.runs.InvalidInput):
        return f"/input{pointer([problem.word]) if problem.pointer is None else problem.pointer}"
    return str(getattr(problem, "pointer", ""))


def _reason(problem: Problem) -> str:
    return problem.reason if isinstance(problem, problems.runs.RejectedAnswer) else str(problem)


def problem_response(error: Exception) -> Response:
    """Return an error as a response; those of a database say that it does not answer."""
    if not isinstance(error, InstrcError):
        error = UnavailableError([problems.runs.UnusableStore(store="instrc_…", reason="it does not answer")])
    status = codes_of(type(error)).http
    headers: dict[str, str] = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    retry = getattr(error.problems[0], "retry_after", None)
    if retry is not None or status == 503:
        headers["Retry-After"] = str(retry or 5)
    return Response(dumps(problem_json(error)), status, headers, PROBLEM)


def json_response(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON as a response, with exact numbers and key order."""
    if status == 204:
        return Response(None, 204, headers)
    return Response(dumps(body), status, headers, JSON)


def caller_of(request: Request) -> Caller:
    """Return the authenticated caller; raise `NotAuthenticated` if there is none."""
    caller = request.scope.get("instrc.caller")
    if not isinstance(caller, Caller):
        reason = request.scope.get("instrc.unknown") or "nothing was sent that says so"
        raise AuthenticationError([problems.serving.NotAuthenticated(reason=reason)])
    return caller
