"""Bytes that no client of HTTP sends: each is refused, and what hides behind one is no request of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from listening import at_port
from serving import go, service

from instrc.server.http import app_of  # the application itself

HOST = b"Host: localhost\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\n" + HOST + b"\r\n"
JSON = b"Content-Type: application/json\r\n"
REQUESTS = {
    "a length and chunks": b"POST /v1/runs HTTP/1.1\r\n"
    + HOST
    + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + HIDDEN,
    "chunks and a length": b"POST /v1/runs HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n"
    + HIDDEN,
    "two lengths": b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: 6\r\nContent-Length: 60\r\n\r\n{}    " + HIDDEN,
    "chunks of another kind": b"POST /v1/runs HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"
    + HIDDEN,
    "a length that is no number": b"POST /v1/runs HTTP/1.1\r\n" + HOST + b"Content-Length: +6\r\n\r\n{}    " + HIDDEN,
    "a bare line feed": b"GET /v1/runs HTTP/1.1\nHost: localhost\nX: a\r\n\r\n",
    "two hosts": b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n",
    "a host behind another": b"GET /v1/runs HTTP/1.1\r\nHost: localhost:80@other\r\n\r\n",
    "no host": b"GET /v1/runs HTTP/1.0\r\n\r\n",
    "bytes in a path": b"GET /v1/runs/%ff%fe%00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes in a key": b"POST /v1/runs HTTP/1.1\r\n" + HOST + JSON + b"Idempotency-Key: \xff\xe9\r\nContent-Length: 2\r\n\r\n{}",
    "a socket": b"GET /v1/events HTTP/1.1\r\n" + HOST + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_can_be_read_in_two_ways_is_one_refusal(name: str, tmp_path: Path) -> None:
    async def body() -> None:
        async with at_port(app_of(service(tmp_path))) as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            writer.write(REQUESTS[name])
            received = b""
            try:
                async with asyncio.timeout(1.5):
                    while part := await reader.read(65_536):
                        received += part
            except TimeoutError:
                pass
            writer.close()
            assert received.count(b"HTTP/1.1 ") == 1, received
            accepted = name in {"a bare line feed", "a socket"}  # which say one thing only
            assert received.startswith(b"HTTP/1.1 4") or accepted, received[:200]
            assert b"Traceback" not in received

    go(body())
