"""Ctrl-C ends at once whatever waits for its input, and a silent input holds up nothing that runs; workers wait for servers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from temporal_server import free_port

from instrc.cli import main
from instrc.text.streams import LineTooLongError, read_chunks, read_lines

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="another kind of signals")

PROGRAM = '@{ title: "A", type: "object", properties: { a: { type: "string" } } }'
ON = ["--engine", "memory", "--model", "sample"]
HELLO = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": '
    b'{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}'
)
WAITING = {
    "items": (["run", "x.aug", "--items", "-", "-q", *ON], b'"one"\n'),
    "items of a handed over stream": (["run", "x.aug", "--items", "/dev/stdin", "-q", *ON], b'"one"\n'),
    "mcp": (["mcp", "x.aug", *ON], HELLO + b"\n"),
    "lsp": (["lsp"], b"Content-Length: %d\r\n\r\n" % len(HELLO) + HELLO),
}

_INTERRUPTIBLE = "import os, signal, sys; signal.signal(2, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
"""Where tests are started in the background, `SIGINT` is ignored, and what they start would ignore it too."""


@pytest.mark.parametrize("kind", WAITING)
def test_what_waits_for_its_input_ends_at_the_first_interruption(kind: str, tmp_path: Path) -> None:
    (tmp_path / "x.aug").write_text(PROGRAM, encoding="utf-8")
    words, said = WAITING[kind]
    with started(words, tmp_path) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(said)
        running.stdin.flush()
        assert running.stdout.readline()  # it has answered though the input is still open, and waits for more of it
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr is not None
        assert b"Traceback" not in running.stderr.read()


@contextmanager
def started(words: list[str], folder: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", _INTERRUPTIBLE, sys.executable, "-m", "instrc", *words]
    pipe = subprocess.PIPE
    environment = {**os.environ, **settings}
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.mark.parametrize("beside", ["", "in a thread, as on Windows"])
def test_lines_are_whole_however_their_bytes_arrive(beside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lines() -> list[str]:
        if beside:
            monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", refuse)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)

        async def write() -> None:
            for piece in (b"on", b"e\n", b"\n\xc3", b"\xa9\nlast"):
                os.write(writing, piece)
                await asyncio.sleep(0.01)
            os.close(writing)

        writer = asyncio.create_task(write())
        with os.fdopen(reading, "rb") as file:
            found = [line async for line in read_lines(file)]
        await writer
        return found

    assert asyncio.run(lines()) == ["one", "", "é", "last"]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    async def lines() -> list[str]:
        with (tmp_path / "lines").open("rb") as file:
            return [line async for line in read_lines(file, longest=100_000)]

    (tmp_path / "lines").write_bytes(b"one\n" + b"x" * 99_000 + b"\n" + b"y" * 99_000)
    assert [len(line) for line in asyncio.run(lines())] == [3, 99_000, 99_000]
    (tmp_path / "lines").write_bytes(b"one\n" + b"x" * 300_000)
    with pytest.raises(LineTooLongError, match="longer than 100,000 bytes"):
        asyncio.run(lines())


def test_a_thread_that_still_reads_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def first(descriptor: int) -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", refuse)
        await asyncio.wait_for(anext(read_chunks(descriptor)), 0.01)

    reading, writing = os.pipe()
    with pytest.raises(TimeoutError):
        asyncio.run(first(reading))
    os.close(writing)


def refuse(*_: object) -> None:
    raise NotImplementedError


def test_a_worker_tries_again_until_a_server_answers_or_it_is_told_to_stop(tmp_path: Path) -> None:
    pytest.importorskip("temporalio")
    address = f"127.0.0.1:{free_port()}"
    with started(["worker", "--engine", "temporal"], tmp_path, TEMPORAL_ADDRESS=address) as worker:
        assert worker.stderr is not None
        tries = [worker.stderr.readline().decode() for _ in range(2)]
        assert all(f"`temporal at {address}` cannot be used" in each for each in tries)
        assert [each.rpartition("; ")[2] for each in tries] == ["trying again in 1 s\n", "trying again in 2 s\n"]
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
        assert worker.stderr.read() == b""


def test_a_worker_retries_held_runs_after_any_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Carrier:
        def __init__(self) -> None:
            self.asked, self.again = 0, asyncio.Event()

        async def reach(self) -> None: ...

        async def claim(self) -> None: ...

        async def serve(self, _stop: asyncio.Event) -> int:
            await asyncio.wait_for(self.again.wait(), 30)
            return 0

        async def run_ids(self, _chosen: object) -> list[str]:
            self.asked += 1
            if self.asked == 1:
                raise OSError("disk I/O error")
            self.again.set()
            return []

    monkeypatch.chdir(tmp_path)
    carrier = Carrier()
    monkeypatch.setattr("instrc.cli.run.engine", lambda *_, **__: carrier)
    assert main(["worker", "-q", "--retry-held", "PT1S", "--alive", "alive"]) == 0
    assert Path("alive").exists()
    assert carrier.asked == 2
    assert "retrying held runs fails, and is retried: OSError: disk I/O error" in caplog.messages


def test_a_file_that_a_worker_cannot_touch_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["worker", "--engine", "durable", "--alive", "none/alive"]) == 1
    assert "`none/alive` cannot be written" in capsys.readouterr().err
