"""A server of HTTP on this machine, for as long as a test needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Asked(NamedTuple):
    """A request, with the names of its headers in small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What the server says to it."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    location: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@contextmanager
def serving(answer: Callable[[Asked], Answer]) -> Iterator[str]:
    """Answer each request; give the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            said = answer(Asked(self.command, self.path, {key.lower(): value for key, value in self.headers.items()}, body))
            self.send_response(said.status)
            self.send_header("content-type", said.kind)
            self.send_header("content-length", str(len(said.body)))
            if said.location is not None:
                self.send_header("location", said.location)
            for name, value in said.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)

        do_GET = do_DELETE = do_PUT = do_POST  # noqa: N815  -- the names of the library

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # of five, a busy machine drops a connection, whose client waits a second or more

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
