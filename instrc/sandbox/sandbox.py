"""The process that runs the code of one agent, from outside.

Its variables live from round to round.  A process that had to be ended is started again, and what it knew is made again
by running the earlier code with the recorded results of its tools.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from types import TracebackType
from typing import Any, Self

from instrc.jsonvalue import Json
from instrc.problems.installed import MissingExtra
from instrc.problems.problem import CompileError
from instrc.sandbox.observation import Limits, Observation, ToolCall, ToolResult, observation

_GRACE = 2.0
"""Seconds after the limit in which the process may end a round itself and keep its variables."""
_START = 60.0
_LONGEST = 64 * 1024 * 1024
"""Bytes of one message."""


class Sandbox:
    """Runs code; `close` it, or use it in a `with`."""

    def __init__(self, tools: Sequence[str] = (), limits: Limits | None = None) -> None:
        """`tools` are the names of functions that the code may call: whoever runs it carries them out."""
        if find_spec("smolagents") is None:
            raise CompileError([MissingExtra(feature="code of agents", extra="smolagents", package="smolagents")])
        self.limits = limits or Limits()
        self._tools = tuple(tools)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="instrc-sandbox-")
        self._history: list[tuple[str, list[ToolResult]]] = []
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its folder."""
        self._end()
        with suppress(OSError):
            self._folder.cleanup()

    def run(self, code: str) -> Generator[ToolCall, ToolResult, Observation]:
        """Run one round of code: yields the calls of tools, is sent their results, and returns the observation."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        recorded: list[ToolResult] = []
        found = yield from self._round(code, recorded)
        if found.kind in {None, "error"}:  # how far a round came that a limit has ended nobody can tell
            self._history.append((code, recorded))
        return found

    def run_with(self, code: str, tools: Mapping[str, Callable[..., Json]]) -> Observation:
        """Run one round of code with functions of Python as its tools."""
        steps = self.run(code)
        try:
            call = next(steps)
            while True:
                call = steps.send(_called(tools, call))
        except StopIteration as end:
            found: Observation = end.value
            return found

    def _round(self, code: str, recorded: list[ToolResult]) -> Generator[ToolCall, ToolResult, Observation]:
        until = monotonic() + self.limits.seconds + _GRACE
        self._send({"code": code})
        while True:
            told = self._receive(until)
            if told is None:
                return self._ended(monotonic() >= until)
            if "call" not in told:
                return observation(told)
            before = monotonic()
            result = yield ToolCall(told["call"], tuple(told["arguments"]), told["named"])
            recorded.append(result)
            until += monotonic() - before  # waiting for a tool is not the code's time
            self._send({"value": result.value, "error": result.error})

    def _ended(self, late: bool) -> Observation:  # noqa: FBT001  -- of this file
        """Return the observation for a process that does not answer or is gone."""
        self._end()
        if late:
            return Observation(logs="", kind="time", message=f"the code ran longer than {self.limits.seconds:g} seconds")
        return Observation(logs="", kind="ended", message="the process that runs the code has ended")

    def _start(self) -> None:
        self._pending = b""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "instrc.sandbox.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env={"PATH": "/usr/bin:/bin", "HOME": self._folder.name, "LC_ALL": "C.UTF-8"},  # no secrets of ours
            start_new_session=True,
        )
        limits = {name: getattr(self.limits, name) for name in ("seconds", "memory", "operations", "output", "imports")}
        self._send({"limits": limits, "tools": self._tools})
        ready = self._receive(monotonic() + _START)
        if ready is None or "ready" not in ready:
            self._end()
            raise RuntimeError((ready or {}).get("refused", "the process for code cannot be started"))
        for code, results in self._history:
            self._again(code, results)

    def _again(self, code: str, results: list[ToolResult]) -> None:
        """Run an earlier round once more with the results that its tools gave."""
        steps = self._round(code, [])
        with suppress(StopIteration):
            next(steps)
            for result in results:
                steps.send(result)
        steps.close()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert stream is not None
                    stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # that it is gone is seen when it is read
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _receive(self, until: float) -> dict[str, Any] | None:
        """Return the next message; `None` if the process is gone, or says nothing in time."""
        assert self._process is not None
        assert self._process.stdout is not None
        with DefaultSelector() as selector:
            selector.register(self._process.stdout, EVENT_READ)
            while b"\n" not in self._pending:
                if len(self._pending) > _LONGEST or not selector.select(max(until - monotonic(), 0)):
                    return None
                read = self._process.stdout.read1(65536)  # type: ignore[attr-defined]  # a buffered pipe has it
                if not read:
                    return None
                self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            told: dict[str, Any] = json.loads(line)
        except ValueError:
            return None
        return told


def _called(tools: Mapping[str, Callable[..., Json]], call: ToolCall) -> ToolResult:
    if call.name not in tools:
        return ToolResult(error=f"there is no tool {call.name!r}")
    try:
        return ToolResult(value=tools[call.name](*call.arguments, **call.named))
    except Exception as error:  # noqa: BLE001  -- the tool is somebody's; the code is told
        return ToolResult(error=f"{type(error).__name__}: {error}")
