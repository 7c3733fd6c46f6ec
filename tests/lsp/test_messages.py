"""How messages leave the server: as pygls would write them, only faster, by a method that is not part of its public interface."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from contextlib import suppress

import orjson
import pytest
from lsprotocol import types

pytest.importorskip("pygls")

from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from instrc.language.parser import parse  # what reads a text
from instrc.language.surface import Program  # what it returns
from instrc.lsp.server import Incoming, Server, make_server  # messages without a client
from instrc.problems.report import Report
from instrc.text.source import Source

SHOWN = types.ShowMessageParams(types.MessageType.Info, "Привет, \U0001f600")
HALF = types.ShowMessageParams(types.MessageType.Info, "\ud83d")


class _Written:
    """What a protocol has written."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        pass

    @property
    def message(self) -> object:
        """The one message that was written, if its header gives its length."""
        header, _, body = self.data.partition(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in header.split(b"\r\n")
        return orjson.loads(body)


def _written(params: types.ShowMessageParams) -> _Written:
    written, protocol = _Written(), Server().protocol
    protocol.set_writer(written)
    protocol.notify(types.WINDOW_SHOW_MESSAGE, params)
    return written


def test_what_is_overridden_is_there() -> None:
    """If this fails, pygls has changed: see what has taken the place of the method, or delete ours, which only saves time."""
    assert list(inspect.signature(LanguageServerProtocol._send_data).parameters) == ["self", "data"]
    assert list(inspect.signature(LanguageServerProtocol._serialize_message).parameters) == ["self", "data"]


def test_every_message_is_written_by_the_method_of_ours() -> None:
    assert "Привет".encode() in _written(SHOWN).data  # pygls would write `\\u041f`


def test_a_message_says_what_pygls_would_write(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = _written(SHOWN).message
    monkeypatch.setattr("instrc.lsp.server._Protocol._send_data", LanguageServerProtocol._send_data)
    assert _written(SHOWN).message == ours


def test_half_of_a_pair_is_left_to_pygls() -> None:
    assert b"\\ud83d" in _written(HALF).data


async def _answered(*messages: object) -> dict[object, object]:
    """Return the code of each error that a server answers, by the number of its request."""
    written, server = _Written(), Server()
    protocol = server.protocol
    protocol.set_writer(written)
    for message in messages:
        with suppress(JsonRpcException):
            protocol.handle_message(json.loads(json.dumps(message), object_hook=protocol.structure_message))
        await asyncio.sleep(0)
    bodies = [orjson.loads(each.partition(b"\r\n\r\n")[2]) for each in written.data.split(b"Content-Length: ")[1:]]
    return {each["id"]: each["error"]["code"] for each in bodies if "error" in each}


def test_a_request_that_comes_too_early_or_too_late_or_cannot_be_read_is_answered() -> None:
    def request(number: int, method: str, params: object) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    place = {"textDocument": {"uri": "file:///a.aug"}, "position": {"line": 0, "character": 0}}
    far = place | {"position": {"line": 2**40, "character": 0}}
    answered = _answered(
        request(1, "textDocument/hover", place),
        request(2, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}),
        request(3, "textDocument/hover", {"textDocument": 5}),
        request(4, "textDocument/hover", far),
        request(5, "textDocument/hover", place),
        request(6, "shutdown", None),
        request(7, "textDocument/hover", place),
    )
    assert asyncio.run(answered) == {1: -32002, 3: -32602, 4: -32602, 5: -32601, 7: -32600}  # 5: this server has no verbs


@pytest.mark.parametrize("uri", ["file://[a/b.aug", "", "untitled:1", "file:///%FF.aug"])
def test_what_is_no_uri_of_a_file_is_a_name(uri: str) -> None:
    assert Server().path(uri) or not uri


@pytest.mark.parametrize(
    "sent",
    [
        b'"}Content-Length: 2\r\n\r\n{}',
        b"Content-Length: 99999999999\r\n\r\n{}",
        b"Content-Length: 0\r\n\r\n",
        b"x" * 10_000 + b"\r\n",
        b"{}\n",
    ],
    ids=["shifted", "huge", "zero", "long", "body"],
)
def test_the_input_ends_where_no_header_is(sent: bytes) -> None:
    """A wrong length shifts all that follows: the server would wait for ever, and its editor with it."""
    read, write = os.pipe()
    os.write(write, b"Content-Type: a\r\n" + sent)
    os.close(write)

    async def lines() -> list[bytes]:
        incoming = Incoming(read)
        return [await incoming.readline(), await incoming.readline()]

    assert asyncio.run(lines()) == [b"Content-Type: a\r\n", b""]
    os.close(read)


def test_of_many_changes_the_last_text_alone_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def parsed(source: Source, report: Report) -> Program:
        read.append(source.text)
        return parse(source, report)

    async def body() -> None:
        server = make_server()
        server.protocol.set_writer(_Written())
        for number in range(50):
            server.changed("file:///a.aug", f"Draft(prompt); // {number}\n", number)
        [task] = server.waiting.values()
        await asyncio.wait([task])
        for later in server.waiting.values():
            later.cancel()

    monkeypatch.setattr("instrc.lsp.session.parse", parsed)
    asyncio.run(body())
    assert read == ["Draft(prompt); // 49\n"]
