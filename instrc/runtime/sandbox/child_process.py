"""The process that runs code, from outside, and what a round of code gives back."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from instrc.problems.errors import SettingsError
from instrc.problems.settings import MissingExtra, SandboxNotStarted
from instrc.text.jsonvalue import Json, as_integer, as_number, as_text, as_texts

SANDBOX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one message of a sandbox."""
ObservationKind: TypeAlias = Literal["error", "operations", "time", "memory", "ended", "lost"]
"""What ended a round: an error of the code, a limit, the end of the process, or earlier code that cannot be run again."""
_REPEATABLE = frozenset({None, "error", "operations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLimits:
    """What the code of one round may use."""

    seconds: float = 30.0
    memory: int = 1024 * 1024 * 1024
    """Bytes of the whole process."""
    operations: int = 10_000_000
    """Steps of the interpreter."""
    output: int = 50_000
    """Characters of what it prints that are kept."""
    imports: tuple[str, ...] = ()
    """Modules it may import beside the harmless ones that smolagents allows."""

    def to_json(self) -> dict[str, Json]:
        """Return the limits as plain JSON."""
        names = ("seconds", "memory", "operations", "output")
        return {**{name: getattr(self, name) for name in names}, "imports": list(self.imports)}


class ToolCall(NamedTuple):
    """A tool that the code calls, and waits for."""

    name: str
    arguments: tuple[Json, ...]
    named: dict[str, Json]

    def __str__(self) -> str:
        """Return the call as Python writes it."""
        given = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.name}({', '.join(given)})"


class ToolResult(NamedTuple):
    """What a tool gave: a value, or why it failed."""

    value: Json = None
    error: str | None = None


class Recorded(NamedTuple):
    """A call of a tool with what it gave."""

    call: ToolCall
    result: ToolResult


class Round(NamedTuple):
    """Code that has run, with the calls that it made."""

    code: str
    calls: tuple[Recorded, ...] = ()
    kind: ObservationKind | None = None


def repeatable(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return the rounds that make what the code knows now.

    A round that time, memory or the end of the process has ended left nothing: how far it came nobody can tell.
    What was before a round that was `lost` is lost.
    """
    last = max((number for number, each in enumerate(rounds) if each.kind == "lost"), default=-1)
    return tuple(each for each in rounds[last + 1 :] if each.kind in _REPEATABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the model is shown of its code."""

    logs: str
    """What it printed."""
    value: Json = None
    """Its last value, as JSON as far as it is that."""
    text: str = "None"
    """Its last value, as Python writes it."""
    final: bool = False
    """Whether `final_answer` was called; the value is the answer."""
    kind: ObservationKind | None = None
    """What ended it; `None` if nothing did."""
    message: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the observation as plain JSON."""
        return {name: getattr(self, name) for name in ("logs", "value", "text", "final", "kind", "message")}


def limits_of(given: dict[str, Json]) -> RoundLimits:
    """Read limits as they are written for the process."""
    return RoundLimits(
        seconds=as_number(given["seconds"]),
        memory=as_integer(given["memory"]),
        operations=as_integer(given["operations"]),
        output=as_integer(given["output"]),
        imports=tuple(as_texts(given["imports"])),
    )


def observation(told: dict[str, Json]) -> Observation:
    """Read an observation as the process writes it; a `TypeError` or `KeyError` if it has written something else."""
    message = told["message"]
    return Observation(
        logs=as_text(told["logs"]),
        value=told["value"],
        text=as_text(told["text"]),
        final=told["final"] is True,
        kind=next((kind for kind in get_args(ObservationKind) if kind == told["kind"]), None),
        message=None if message is None else as_text(message),
    )


_START = 60.0


def require_smolagents() -> None:
    """Raise a `SettingsError` if smolagents is not installed."""
    if find_spec("smolagents") is None:
        raise SettingsError([MissingExtra(feature="code of agents", extra="smolagents", package="smolagents")])


class SandboxProcess:
    """One process, with a folder of its own; `close` it."""

    def __init__(self, tools: Mapping[str, Json], limits: RoundLimits) -> None:
        """Start it; a `SettingsError` says why that is not possible."""
        self._folder = tempfile.TemporaryDirectory(prefix="instrc-sandbox-", ignore_cleanup_errors=True)
        self._pending = b""
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-m", "instrc.runtime.sandbox.child"],
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
            raise SettingsError([SandboxNotStarted(reason=str(reason))])

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
