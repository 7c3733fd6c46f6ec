"""How messages leave the server: as pygls would write them, only faster, by a method that is not part of its public interface."""

from __future__ import annotations

import inspect

import orjson
import pytest
from lsprotocol import types

pytest.importorskip("pygls")

from pygls.protocol import LanguageServerProtocol

from instrc.lsp.server import Server

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
