"""The part that both services share: JSON over HTTP with `/health`, and failures on demand for rehearsals."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], dict[str, Any]]
FAILURES = ("none", "health", "status", "request", "answer")
"""What fails: nothing; `/health` itself; what it says; the request; what the request says."""
_MOST = 1_000_000


class Service(ThreadingHTTPServer):
    """One service: what it does stands under one path."""

    daemon_threads = True

    def __init__(self, path: str, answer: Answer, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.path = path
        self.answer = answer
        self.fail = "none"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        if self.path != "/health":
            self._send(404, {"error": "not found"})
        elif self.server.fail == "health":
            self._send(500, {"error": "health is out of order"})
        else:
            self._send(200, {"status": "broken" if self.server.fail == "status" else "ok"})

    def do_POST(self) -> None:
        given = self._given()
        if given is None:
            self._send(400, {"error": "a JSON object is expected"})
        elif self.path == "/fail" and given.get("mode") in FAILURES:
            self.server.fail = str(given["mode"])
            self._send(200, {"mode": self.server.fail})
        elif self.path != self.server.path:
            self._send(404, {"error": "not found"})
        elif self.server.fail == "request":
            self._send(500, {"error": "the service is out of order"})
        elif self.server.fail == "answer":
            self._send(200, {"error": "the service cannot answer"})
        else:
            self._send(200, self.server.answer(given))

    def _given(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > _MOST:
            return None
        try:
            given = json.loads(self.rfile.read(int(length)))
        except ValueError:
            return None
        return given if isinstance(given, dict) else None

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing: standard output is for the person."""


def main(path: str, answer: Answer, port: int) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--fail", choices=FAILURES, default="none")
    given = parser.parse_args()
    with Service(path, answer, given.port) as service:
        service.fail = given.fail
        print(f"{service.url}{path}", flush=True)
        try:
            service.serve_forever()
        except KeyboardInterrupt:
            return
