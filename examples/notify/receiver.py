"""Receive webhooks of `instrc serve`: what Slack and mail share. A message is taken once, and only if it is signed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, urljoin
from urllib.request import Request, urlopen

from standardwebhooks import Webhook, WebhookVerificationError

SERVICE = os.environ.get("INSTRC_URL", "http://127.0.0.1:8000")
KEY = os.environ.get("INSTRC_KEY", "")
"""An API key with the role `operator`: it reads questions, and makes signed links to them."""


def call(method: str, path: str, body: Any = None) -> Any:
    """Call the service."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {KEY}"} if KEY else {})}
    with urlopen(Request(SERVICE + path, data, headers, method=method), timeout=10) as answer:  # noqa: S310  -- our own address
        return json.load(answer)


def question_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the question that a message tells of: the message itself holds ids, and no data."""
    place = data["question"].replace("/", "~")  # of a question in a process that serves an activity
    return dict(call("GET", f"/v1/questions/{quote(data['run'] + ':' + place, safe='')}"))


def signed_link(question: dict[str, Any], person: str) -> str:
    """Return the page on which one person may see and answer one question, once."""
    return urljoin(SERVICE, call("POST", f"/v1/questions/{quote(question['id'], safe='')}/links", {"to": person})["page"])


def serve(tell: Callable[[dict[str, Any]], None], port: int, secret: str) -> ThreadingHTTPServer:
    """Return a server that gives each signed message of an opened question to `tell`, once."""
    seen: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("content-length") or 0), 65536))
            try:
                message = Webhook(secret).verify(body, dict(self.headers))
            except WebhookVerificationError:
                self.send_response(401)
            else:
                name = str(self.headers["webhook-id"])
                if name not in seen and message["type"] in {"question.opened", "question.due"}:
                    tell(message)
                    seen.add(name)  # after it was told: if that fails, the service sends it again
                self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)
