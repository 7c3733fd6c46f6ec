"""The example `notify`: signed messages of a service become messages of Slack and mails, each once."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from http_server import Answer, Asked, serving
from standardwebhooks import Webhook

HERE = Path(__file__).parents[2] / "examples" / "notify"
SECRET = "whsec_" + "a" * 44
QUESTION = {
    "id": "r1:q", "program": "mail", "steps": ["approve\nnow"], "show": {"text": "<!channel> <https://evil.example|x> & ё"},
    "candidates": ["ann", "bob@example.com", "group:leads", "*"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(HERE))
    yield
    for name in ("receiver", "slack", "mail"):
        sys.modules.pop(name, None)


def the_service(asked: Asked) -> Answer:
    """Stand in for `instrc serve`."""
    assert asked.headers["authorization"] == "Bearer ik_key"
    if asked.path == "/v1/questions/r1%3Aq/links":
        return Answer(json.dumps({"page": f"/inbox/link/for-{json.loads(asked.body)['to']}"}).encode(), 201)
    assert (asked.method, asked.path) == ("GET", "/v1/questions/r1%3Aq")
    return Answer(json.dumps(QUESTION).encode())


def send(address: str, kind: str = "question.opened", name: str = "msg_1", secret: str = SECRET) -> int:
    data = {"run": "r1", "program": "mail", "question": "q", "link": "https://desk.example/inbox/question/r1%3Aq"}
    body = json.dumps({"type": kind, "timestamp": "2026-11-26T12:00:00Z", "data": data})
    at = datetime.now(UTC)
    headers = {
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, at, body),
    }
    try:
        with urlopen(Request(address, body.encode(), headers), timeout=60) as answer:  # noqa: S310  -- our own address
            return int(answer.status)
    except HTTPError as error:
        return error.code


def received(monkeypatch: pytest.MonkeyPatch, module: str, service: str) -> Any:
    """Start the receiver of a module; return it."""
    receiver = import_module("receiver")
    monkeypatch.setattr(receiver, "SERVICE", service)
    monkeypatch.setattr(receiver, "KEY", "ik_key")
    server = receiver.serve(import_module(module).tell, 0, SECRET)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def test_a_channel_is_told_once_of_what_is_signed_and_nothing_is_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    def slack(asked: Asked) -> Answer:
        told.append(json.loads(asked.body))
        return Answer(b"ok")

    with serving(the_service) as service, serving(slack) as channel:
        monkeypatch.setenv("SLACK_WEBHOOK", channel)
        server = received(monkeypatch, "slack", service)
        address = f"http://127.0.0.1:{server.server_port}/"
        assert [send(address), send(address), send(address, secret="whsec_" + "b" * 44)] == [204, 204, 401]
        assert send(address, "run.done", "msg_2") == 204
        assert send(address, "question.due", "msg_3") == 204
        server.shutdown()
        server.server_close()
    assert len(told) == 2
    assert told[1]["text"].startswith("Due soon: ")
    blocks = told[0]["blocks"]
    assert {each["text"]["type"] for each in blocks if "text" in each} == {"plain_text"}
    assert blocks[-1]["elements"][0]["url"] == "https://desk.example/inbox/question/r1%3Aq"


class Mailbox(StreamRequestHandler):
    """Stands in for a server of mail."""

    mails: list[str]

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.mails.append(b"".join(lines).decode())
            if word == b"QUIT":
                return
            self.wfile.write(b"250 yes\r\n")


def test_each_person_is_mailed_a_link_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    Mailbox.mails = []
    with serving(the_service) as service, ThreadingTCPServer(("127.0.0.1", 0), Mailbox) as post:
        threading.Thread(target=post.serve_forever, args=(0.01,), daemon=True).start()
        for name, value in {
            "SMTP": f"127.0.0.1:{post.server_address[1]}",
            "MAIL_FROM": "desk@example.com",
            "MAIL_DOMAIN": "x.org",
        }.items():
            monkeypatch.setenv(name, value)
        server = received(monkeypatch, "mail", service)
        assert send(f"http://127.0.0.1:{server.server_port}/") == 204
        server.shutdown()
        server.server_close()
        post.shutdown()
        assert len(Mailbox.mails) == 2
        for mail, to, link in zip(Mailbox.mails, ("ann@x.org", "bob@example.com"), ("ann", "bob@example.com"), strict=True):
            assert f"To: {to}" in mail
            assert "Subject: mail asks for approve now" in mail
            assert "text/plain" in mail
            assert f"{service}/inbox/link/for-{link}" in mail.replace("=\r\n", "")


@pytest.mark.parametrize("file", ["receiver.py", "slack.py", "mail.py"])
def test_each_file_is_a_page(file: str) -> None:
    assert len((HERE / file).read_text(encoding="utf-8").splitlines()) < 100
