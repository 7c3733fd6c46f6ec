"""The process that runs code, from outside: JSON messages, a line each, over two pipes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from selectors import EVENT_READ, DefaultSelector
from time import monotonic

from instrc.jsonvalue import Json
from instrc.limits.runs import SANDBOX_MESSAGE_BYTES
from instrc.problems.problem import CompileError
from instrc.problems.settings import MissingExtra, SandboxNotStarted
from instrc.sandbox.observation import RoundLimits

_START = 60.0


def require_smolagents() -> None:
    """Raise a `CompileError` if smolagents is not installed."""
    if find_spec("smolagents") is None:
        raise CompileError([MissingExtra(feature="code of agents", extra="smolagents", package="smolagents")])


class SandboxProcess:
    """One process, with a folder of its own; `close` it."""

    def __init__(self, tools: Mapping[str, Json], limits: RoundLimits) -> None:
        """Start it; a `CompileError` says why that is not possible."""
        self._folder = tempfile.TemporaryDirectory(prefix="instrc-sandbox-", ignore_cleanup_errors=True)
        self._pending = b""
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-m", "instrc.sandbox.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env={  # no secrets of ours; sets in the same order each time, so that code can be run again
                "PATH": "/usr/bin:/bin",
                "HOME": self._folder.name,
                "LC_ALL": "C.UTF-8",
                "PYTHONHASHSEED": "0",
            },
            start_new_session=True,
        )
        self.send({"limits": limits.to_json(), "tools": dict(tools)})
        ready = self.receive(monotonic() + _START)
        if ready is None or "ready" not in ready:
            self.close()
            reason = (ready or {}).get("refused", "it does not answer")
            raise CompileError([SandboxNotStarted(reason=str(reason))])

    @property
    def is_alive(self) -> bool:
        """Whether it can be sent something."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and remove its folder."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()
        self._folder.cleanup()

    def send(self, message: dict[str, Json]) -> None:
        """Send a message; that the process is gone is seen when it is read."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def receive(self, until: float) -> dict[str, Json] | None:
        """Return the next message; `None` if the process is gone, or says nothing in time."""
        assert self._process.stdout is not None
        with DefaultSelector() as selector:
            selector.register(self._process.stdout, EVENT_READ)
            while b"\n" not in self._pending:
                if len(self._pending) > SANDBOX_MESSAGE_BYTES or not selector.select(max(until - monotonic(), 0)):
                    return None
                read = self._process.stdout.read1(65536)  # type: ignore[attr-defined]  # a buffered pipe has it
                if not read:
                    return None
                self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            told: dict[str, Json] = json.loads(line)
        except ValueError:
            return None
        return told
