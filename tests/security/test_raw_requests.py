"""Bytes that no client of HTTP sends: each is refused, and what hides behind one is no request of its own."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa
from listening import at_port
from postgres_server import postgres
from serving import ANSWER, BOSS, client, go, service

from instrc.problems.errors import RequestError
from instrc.server.http import app_of  # the application itself
from instrc.server.inbox import Inbox  # its pages

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
            received = await asyncio.wait_for(reader.read(65_536), 60)
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    while part := await reader.read(65_536):
                        received += part
            writer.close()
            assert received.count(b"HTTP/1.1 ") == 1, received
            accepted = name in {"a bare line feed", "a socket"}  # which say one thing only
            assert received.startswith(b"HTTP/1.1 4") or accepted, received[:200]
            assert b"Traceback" not in received

    go(body())


def test_a_text_that_no_store_holds_is_a_mistake_of_its_request(tmp_path: Path) -> None:
    made = service(tmp_path, records=str(tmp_path / "s"))
    with pytest.raises(RequestError, match="a character or a size that the store cannot hold"):
        made.records.run("\ud800")
    with pytest.raises(sa.exc.OperationalError) as failed, made.records.engine.connect() as connection:
        connection.execute(sa.text("SELECT :key FROM nothing"), {"key": "a secret"})
    assert "a secret" not in str(failed.value)  # as logs have it


LISTS = {"/v1/runs": "cursor", "/v1/questions": "cursor", "/inbox": "after", "/inbox/runs": "after"}


@pytest.mark.long
def test_no_character_of_a_request_breaks_a_service_in_postgresql(tmp_path: Path) -> None:
    cursors = [urlsafe_b64encode(json.dumps(place).encode()).decode() for place in ([1.0, "\0"], [1.5, "\0", "y"])]
    asked = [f"{place}?{name}={each}" for place, name in LISTS.items() for each in (*cursors, "%00")]
    asked += [f"{place}/%00" for place in ("/v1/runs", "/v1/questions", "/inbox/runs", "/inbox/question")]
    asked += ["/v1/runs?metadata.%00=x", "/inbox?program=%00", "/inbox/runs?q=%00"]

    async def body(address: str) -> None:
        made = service(address, name="durable", records=address)
        async with client(made, BOSS, routes=Inbox(made).routes) as http:
            for each in asked:
                assert (await http.get(each)).status_code < 500, each
            run = (await http.post("/v1/runs", json={"program": "letter", "input": "x"}, headers={"Prefer": "wait=20"})).json()[
                "run"
            ]
            for verb, sent in (
                ("delegate", {"to": "\0"}),
                ("links", {"to": "a\0"}),
                ("answer", {"data": ANSWER, "comment": "\0"}),
            ):
                done = await http.post(f"/v1/questions/{run}:userContext1/{verb}", json=sent)
                assert 400 <= done.status_code < 500, (verb, done.text)

    with postgres() as server:
        go(body(server.fresh()), 120)
