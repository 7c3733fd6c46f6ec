"""Whatever a server of models does on the wire: a right answer, or one clear error that says whether to try again."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import pytest
from applications import run_in_app
from standins import FILLED, KEY, LIBRARIES, SCHEMA, SHAPES, VARIABLES

import instrc
from instrc import ModelError, Request
from instrc.runtime.models import adapters  # what reads the objects of a library
from instrc.runtime.models.catalogue import model_of  # makes one adapter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

Fault = Callable[[socket.socket, Callable[[], bytes]], None]
RIGHT, AGAIN, NEVER, WRONG = "right", "again", "never", "complaint"
"""A right answer; an error that is worth another try, or not; an answer that the model is asked for again."""
SHORT: Final = 0.3
"""Seconds for a request that gets no answer."""
STALL: Final = 30.0
"""Seconds that a stalled answer takes: many times what a client that gives up in time needs, however busy the machine is."""


def head(status: int | str = 200, *lines: str, kind: str = "application/json") -> bytes:
    """Return how an answer begins; it says that the line is closed, or a client may use the line again just before that."""
    said = (f"HTTP/1.1 {status} x", "connection: close", f"content-type: {kind}", *lines, "")
    return "".join(f"{line}\r\n" for line in said).encode()


def whole(body: bytes, status: int = 200, *lines: str, kind: str = "application/json") -> bytes:
    return head(status, f"content-length: {len(body)}", *lines, kind=kind) + body


def says(*parts: bytes | float | Callable[[bytes], bytes]) -> Fault:
    """Return what sends parts: bytes, what is made of the good body, and pauses in seconds; and closes the connection."""

    def fault(line: socket.socket, good: Callable[[], bytes]) -> None:
        for part in parts:
            if isinstance(part, float):
                sleep(part)
            else:
                line.sendall(part if isinstance(part, bytes) else part(good()))

    return fault


def reset(*parts: bytes | Callable[[bytes], bytes]) -> Fault:
    """Return what sends parts and breaks the connection off."""

    def fault(line: socket.socket, good: Callable[[], bytes]) -> None:
        says(*parts)(line, good)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return fault


def error(
    status: int, *lines: str, body: bytes = b'{"error": {"message": "no", "type": "t"}}', kind: str = "application/json"
) -> Fault:
    return says(whole(body, status, *lines, kind=kind))


def body(text: bytes, *lines: str, kind: str = "application/json") -> Fault:
    return says(whole(text, 200, *lines, kind=kind))


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def half(good: bytes) -> bytes:
    return good[: len(good) // 2]


def event(good: bytes) -> bytes:
    return b"data: " + good + b"\n\n"


def slowly(data: bytes) -> list[bytes | float]:
    return [part for _ in range(int(STALL / 0.05)) for part in (data, 0.05)]


CHUNKED = head(200, "transfer-encoding: chunked")
HTML = b"<html><body>502 Bad Gateway</body></html>"
FAULTS: dict[str, tuple[Fault, set[str]]] = {
    **{f"status {status}": (error(status), {NEVER}) for status in (400, 401, 402, 403, 404, 405, 413, 415, 422)},
    **{f"status {status}": (error(status), {AGAIN}) for status in (408, 429, 500, 502, 503, 504, 529)},
    "retry after seconds": (error(429, "retry-after: 2"), {AGAIN}),
    "retry after a date": (error(503, "retry-after: Fri, 31 Dec 2100 23:59:59 GMT"), {AGAIN}),
    "retry after nonsense": (error(429, "retry-after: soon"), {AGAIN}),
    "an error as HTML": (error(502, body=HTML, kind="text/html"), {AGAIN}),
    "an error without a body": (error(500, body=b""), {AGAIN}),
    "an error in another encoding": (error(500, body=b"\xff\xfe\x00"), {AGAIN}),
    "an error that is a list": (error(400, body=b"[1]"), {NEVER}),
    "a redirect to itself": (error(307, "location: /v1/again", body=b""), {AGAIN, NEVER}),
    "a redirect to nowhere": (error(302, "location: http://127.0.0.1:9/", body=b""), {AGAIN, NEVER}),
    "a redirect without a place": (error(301, body=b""), {AGAIN, NEVER}),
    "no content": (says(head(204)), {AGAIN}),
    "continue first": (says(b"HTTP/1.1 100 Continue\r\n\r\n", whole), {RIGHT}),
    "hints first": (says(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole), {RIGHT}),
    "a short pause": (says(0.05, whole), {RIGHT}),
    "an old version": (says(lambda good: b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n" + good), {RIGHT}),
    "whole chunks": (says(CHUNKED, lambda good: chunk(good[:9]) + chunk(good[9:]), b"0\r\n\r\n"), {RIGHT}),
    "gzip": (says(lambda good: whole(gzip.compress(good), 200, "content-encoding: gzip")), {RIGHT}),
    "much white space": (says(lambda good: whole(b" " * 3_000_000 + good)), {RIGHT, AGAIN}),
    "text": (says(lambda good: whole(good, kind="text/plain")), {RIGHT, AGAIN}),
    "no type": (
        says(lambda good: f"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {len(good)}\r\n\r\n".encode() + good),
        {RIGHT, AGAIN},
    ),
    "a mark of order": (says(lambda good: whole(b"\xef\xbb\xbf" + good)), {RIGHT, AGAIN}),
    "UTF-16": (says(lambda good: whole(good.decode().encode("utf-16"))), {RIGHT, AGAIN}),
    "another charset": (says(lambda good: whole(good, kind="application/json; charset=nonsense")), {RIGHT, AGAIN}),
    "HTML with 200": (body(HTML, kind="text/html"), {AGAIN, WRONG}),
    "HTML as JSON": (body(HTML), {AGAIN}),
    "an empty body": (body(b""), {AGAIN}),
    "null": (body(b"null"), {AGAIN, WRONG}),
    "a list": (body(b"[]"), {AGAIN, WRONG}),
    "an empty object": (body(b"{}"), {AGAIN, WRONG}),
    "a number": (body(b"7"), {AGAIN, WRONG}),
    "cut JSON": (says(lambda good: whole(half(good))), {AGAIN}),
    "two answers": (says(lambda good: whole(good + good)), {AGAIN}),
    "not UTF-8": (body(b'{"choices": "\xff\xfe"}'), {AGAIN, WRONG}),
    "gzip that is none": (body(b"garbage", "content-encoding: gzip"), {AGAIN}),
    "cut gzip": (says(lambda good: whole(half(gzip.compress(good)), 200, "content-encoding: gzip")), {AGAIN}),
    "deflate that is none": (body(b"garbage", "content-encoding: deflate"), {AGAIN}),
    "an error inside 200": (body(b'{"error": {"message": "overloaded_error", "type": "overloaded_error"}}'), {AGAIN}),
    "words of an error inside 200": (body(b'{"error": "it went wrong"}'), {NEVER, AGAIN, WRONG}),
    "events": (says(lambda good: whole(event(good) + b"data: [DONE]\n\n", kind="text/event-stream")), {AGAIN, WRONG}),
    "events twice": (says(lambda good: whole(event(good) * 2, kind="text/event-stream")), {AGAIN, WRONG}),
    "cut events": (says(lambda good: whole(half(event(good)), kind="text/event-stream")), {AGAIN, WRONG}),
    "closed at once": (says(), {AGAIN}),
    "closed in the first line": (says(b"HTTP/1.1 2"), {AGAIN}),
    "closed in the head": (says(b"HTTP/1.1 200 OK\r\ncontent-ty"), {AGAIN}),
    "closed after the head": (says(head(200, "content-length: 99")), {AGAIN}),
    "closed in the body": (says(lambda good: head(200, f"content-length: {len(good)}") + half(good)), {AGAIN}),
    "closed in a chunk": (says(CHUNKED, lambda good: chunk(good)[:20]), {AGAIN}),
    "closed between chunks": (says(CHUNKED, lambda good: chunk(half(good))), {AGAIN}),
    "a chunk without a size": (says(CHUNKED, b"zz\r\nabc\r\n"), {AGAIN}),
    "reset at once": (reset(), {AGAIN}),
    "reset in the head": (reset(b"HTTP/1.1 200 OK\r\ncontent-ty"), {AGAIN}),
    "reset in the body": (reset(lambda good: head(200, f"content-length: {len(good)}") + half(good)), {AGAIN}),
    "too few bytes": (says(lambda good: head(200, f"content-length: {len(good) // 2}", "connection: close") + good), {AGAIN}),
    "two lengths": (says(lambda good: head(200, "content-length: 5", "content-length: 9") + good), {AGAIN}),
    "no HTTP": (says(b"SSH-2.0-OpenSSH_9.6\r\n"), {AGAIN}),
    "a long head": (says(head(200, f"x: {'y' * 300_000}"), b"{}"), {AGAIN, WRONG}),
}
STALLED: dict[str, Fault] = {
    "nothing": says(STALL),
    "nothing after the head": says(head(200, "content-length: 99"), STALL),
    "byte by byte": says(head(200, "content-length: 900"), *slowly(b"{")),
    "white space without an end": says(CHUNKED, *slowly(chunk(b" "))),
    "comments of a stream without an end": says(
        head(200, "transfer-encoding: chunked", kind="text/event-stream"), *slowly(chunk(b": keep-alive\n\n"))
    ),
}


SOME = ["status 503", "status 401", "cut JSON", "reset in the body", "HTML with 200", "gzip that is none", "closed at once"]
"""Faults of each kind."""


class Proxy:
    """A server whose next answer is a fault, and whose others are good: always the same, or those of a real server."""

    def __init__(self, good: bytes = b"", real: str = "") -> None:
        self.good = good
        self.real = real
        self.fault: Fault | None = None
        self.once = False
        self.line = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.line.getsockname()[1]}"

    def serve(self) -> None:
        while True:
            try:
                line, _ = self.line.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            data = b""
            while b"\r\n\r\n" not in data:
                data += line.recv(65536) or b"\r\n\r\n"
            start, _, rest = data.partition(b"\r\n\r\n")
            lengths = [int(each.split(b":")[1]) for each in start.lower().split(b"\r\n") if each.startswith(b"content-length")]
            while lengths and len(rest) < lengths[0]:
                rest += line.recv(65536)
            fault = self.fault or says(whole)
            if self.once:
                self.fault = None
            fault(line, partial(self._asked, start, rest) if self.real else lambda: self.good)

    def _asked(self, start: bytes, body: bytes) -> bytes:
        """Return the body of what the real server answers."""
        path = start.split(b" ", 2)[1].decode()
        asked = HTTPConnection(self.real, timeout=120)
        with closing(asked):
            asked.request("POST", path, body, {"content-type": "application/json"})
            return asked.getresponse().read()


@contextmanager
def proxy(kind: str, monkeypatch: pytest.MonkeyPatch, real: str = "") -> Iterator[Proxy]:
    pytest.importorskip(LIBRARIES.get(kind, kind))
    made = Proxy(json.dumps(SHAPES[kind](FILLED, "step1_read")).encode(), real)
    threading.Thread(target=made.serve, daemon=True).start()
    monkeypatch.setenv(VARIABLES[kind][0], KEY)
    monkeypatch.setenv(VARIABLES[kind][1], f"{made.url}/v1" if real else made.url)
    try:
        yield made
    finally:
        with suppress(OSError):
            made.line.shutdown(socket.SHUT_RDWR)  # closing alone does not wake who accepts: the next caller would be answered
        made.line.close()


async def outcome(model: Any, seconds: float) -> str:
    """Return what comes of a request; whatever is no error of ours is raised."""
    request = Request("run/llmContext1", "step1_read", "Read.", SCHEMA, settings={"timeout": seconds})
    try:
        reply = await model.answer(request)
    except ModelError as error:
        said = str(error)
        assert said.strip(), "it says nothing"
        assert len(said) < 1000, "it says too much"
        assert KEY not in said, "it tells the key"
        return AGAIN if error.retry else NEVER
    return WRONG if reply.complaints else RIGHT if reply.answer == FILLED else f"another answer: {reply.answer}"


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama", "llamacpp"])
def test_each_fault_is_a_right_answer_or_one_clear_error(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(FAULTS) + len(STALLED) >= 60
    came: dict[str, str] = {}

    async def work(server: Proxy) -> None:
        model = model_of(f"{kind}:m-1", Path())
        assert await outcome(model, 30.0) == RIGHT
        for name, (fault, allowed) in FAULTS.items():
            server.fault = fault
            try:
                found = await asyncio.wait_for(outcome(model, 30.0), 60)
            except Exception as error:  # noqa: BLE001  -- told below with all others
                found = f"{type(error).__name__}: {error}"
            if found not in allowed:
                came[name] = found
        for name, fault in STALLED.items():
            server.fault, began = fault, monotonic()
            if (found := await outcome(model, SHORT)) != AGAIN or monotonic() - began > STALL / 2:
                came[name] = found

    with proxy(kind, monkeypatch) as server:
        asyncio.run(work(server))
    assert came == {}


@pytest.mark.parametrize("kind", ["gemini", "mistral", "ollama"])
def test_no_library_makes_objects_of_a_whole_answer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a megabyte with 300,000 parts, that takes seconds in which nothing else goes on."""

    def fails(*_: Any, **__: Any) -> Any:
        raise AssertionError("the library has read the answer")

    async def work(server: Proxy) -> None:
        model = model_of(f"{kind}:m-1", Path())
        for media in ("application/json", "text/plain", "text/event-stream"):
            server.fault = says(partial(whole, kind=media))
            assert await outcome(model, 30.0) == RIGHT, media

    monkeypatch.setattr(adapters, "_as_json", fails)
    with proxy(kind, monkeypatch) as server:
        asyncio.run(work(server))


@pytest.mark.parametrize(
    ("engine", "names"),
    [("memory", SOME), ("durable", SOME), pytest.param("memory", [*FAULTS], marks=pytest.mark.long)],
    ids=["memory", "durable", "all"],
)
def test_a_run_that_meets_a_fault_goes_on_when_it_is_over(
    engine: Any, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = '@{ title: "Read", type: "object", properties: { asks: { type: "string" }, days: { type: "integer" } } }'
    with proxy("llamacpp", monkeypatch) as server:
        server.once = True
        for name in names:
            server.fault = FAULTS[name][0]
            options: dict[str, Any] = {"engine": engine, "store": tmp_path} if engine == "durable" else {}
            run = run_in_app(program, "x", model="llamacpp:m", settings={"attempts": 1}, **options)
            assert run.status in (
                {"done", "held", "failed"} if name == "status 401" or engine == "memory" else {"done", "held"}
            ), name
            assert (run if run.status == "done" else run.retry()).value == FILLED, name
    instrc.close_stores()


REAL: Final = "INSTRC_REAL_SERVER"
"""The variable with the host and port of llama.cpp's server; `.ci/models faults` sets it."""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(REAL not in os.environ, reason="needs a real server: `.ci/models faults` brings it up")
@pytest.mark.parametrize("way", ["memory", "durable", "streamed"])
def test_each_fault_before_a_real_server_ends_in_an_answer_a_held_run_or_one_problem(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mood = '@{ title: "Mood", type: "object", properties: { mood: { enum: ["good", "bad"] } }, required: ["mood"] }'
    options: dict[str, Any] = {"model": "llamacpp:m", "settings": {"attempts": 1, "temperature": 0, "timeout": 60}}
    options |= {"engine": "durable", "store": tmp_path} if way == "durable" else {"parts": str} if way == "streamed" else {}
    ended, wrong = Counter[str](), {}
    with proxy("llamacpp", monkeypatch, os.environ[REAL]) as server:
        server.once = True
        usual = run_in_app(mood, "What a lovely day!", **options)
        assert usual.status == "done"
        for name, (fault, _) in FAULTS.items():
            server.fault = fault
            run = run_in_app(mood, "What a lovely day!", **options)
            ended[run.status] += 1
            if run.status == "done":
                good = run.value == usual.value
            else:
                problems = [event for event in run.trace if event["event"] == "failed"]
                good = run.status in {"held", "failed"} and len(problems) == 1 and 0 < len(str(problems[0]["error"])) < 1000
                good = good and run.retry().value == usual.value
            if not good:
                wrong[name] = run.status
    instrc.close_stores()
    with capsys.disabled():
        sys.stdout.write(f"\n{way}: {len(FAULTS)} faults, {dict(ended)}\n")
    assert wrong == {}
