"""Run code of an agent round by round, in a process with limits.

Its variables live from round to round.
A process that had to be ended is started again, and what it knew is made again
by running the earlier code with the recorded results of its tools.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import Self

from instrc.jsonvalue import Json, as_array, as_object, as_text
from instrc.sandbox.child_process import SandboxProcess, require_smolagents
from instrc.sandbox.observation import (
    Observation,
    Recorded,
    Round,
    RoundLimits,
    ToolCall,
    ToolResult,
    observation,
    repeatable,
)

_GRACE = 2.0
"""Seconds after the limit in which the process may end a round itself and tell what it printed."""


class Sandbox:
    """Runs code; `close` it, or use it in a `with`."""

    def __init__(
        self, tools: Sequence[str] | Mapping[str, Json] = (), limits: RoundLimits | None = None, earlier: Sequence[Round] = ()
    ) -> None:
        """`tools` are the names of functions that the code may call: whoever runs it carries them out.

        With a schema of its arguments for each, calls are checked and have all their arguments by name.
        `earlier` are rounds that were run before, in another sandbox: their variables are there.
        A `CompileError` says that smolagents or a module of `limits.imports` is not installed; the latter when code is run.
        """
        require_smolagents()
        self.limits: RoundLimits = limits or RoundLimits()
        self.rounds: tuple[Round, ...] = repeatable(tuple(earlier))
        """The rounds that made what the code knows."""
        self._tools = tools if isinstance(tools, Mapping) else dict.fromkeys(tools)
        self._process: SandboxProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process; code that is run afterwards starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def run(self, code: str) -> Generator[ToolCall, ToolResult, Observation]:
        """Run one round of code: yields the calls of tools, is sent their results, and returns the observation."""
        process = self._process
        if process is None or not process.is_alive:
            self.close()
            process = self._process = SandboxProcess(self._tools, self.limits)
            for number, each in enumerate(self.rounds, 1):
                fault = self._again(process, each)
                if fault is not None:
                    return self.lost(f"round {number} of the earlier code cannot be run again: {fault}")
        recorded: list[Recorded] = []
        found = yield from self._round(process, code, recorded)
        self.rounds = repeatable((*self.rounds, Round(code, tuple(recorded), found.kind)))
        if found.kind in {"time", "memory", "ended"}:
            self.close()  # what it knows is what the rounds before it made
        return found

    def run_with(self, code: str, tools: Mapping[str, Callable[..., Json]]) -> Observation:
        """Run one round of code with functions of Python as its tools."""
        steps = self.run(code)
        try:
            call = next(steps)
            while True:
                call = steps.send(_call_tool(tools, call))
        except StopIteration as end:
            found: Observation = end.value
            return found

    def lost(self, reason: str) -> Observation:
        """Forget all rounds, and return what the model is shown of that."""
        self.close()
        self.rounds = ()
        return Observation(logs="", kind="lost", message=f"{reason}; all variables are lost, and this code was not run")

    def _round(
        self, process: SandboxProcess, code: str, recorded: list[Recorded]
    ) -> Generator[ToolCall, ToolResult, Observation]:
        until = monotonic() + self.limits.seconds + _GRACE
        process.send({"code": code})
        while True:
            told = process.receive(until)
            if told is None:
                return self._end_observation(late=monotonic() >= until)
            try:
                call = _call(told) if "call" in told else observation(told)
            except (KeyError, TypeError):  # the code has written into the pipe
                return self._end_observation(late=False)
            if isinstance(call, Observation):
                return call
            before = monotonic()
            result = yield call
            recorded.append(Recorded(call, result))
            until += monotonic() - before  # waiting for a tool is not the code's time
            process.send({"value": result.value, "error": result.error})

    def _end_observation(self, *, late: bool) -> Observation:
        """Return the observation for a process that does not answer, is gone, or talks nonsense."""
        if late:
            return Observation(logs="", kind="time", message=f"the code ran longer than {self.limits.seconds:g} seconds")
        return Observation(logs="", kind="ended", message="the process that runs the code has ended")

    def _again(self, process: SandboxProcess, earlier: Round) -> str | None:
        """Run an earlier round once more with the results that its tools gave; tell where it does something else."""
        made: list[Recorded] = []
        steps = self._round(process, earlier.code, made)
        try:
            call = next(steps)
            for recorded in earlier.calls:
                if call != recorded.call:
                    return f"it calls {call}, where it called {recorded.call}"
                call = steps.send(recorded.result)
        except StopIteration as end:
            found: Observation = end.value
            if found.kind != earlier.kind:
                return found.message or f"it was ended before: {earlier.kind}"
            return None if len(made) == len(earlier.calls) else f"it no longer calls {earlier.calls[len(made)].call}"
        return f"it calls {call}, which it did not call"


def _call(told: dict[str, Json]) -> ToolCall:
    return ToolCall(as_text(told["call"]), tuple(as_array(told["arguments"])), as_object(told["named"]))


def _call_tool(tools: Mapping[str, Callable[..., Json]], call: ToolCall) -> ToolResult:
    if call.name not in tools:
        return ToolResult(error=f"there is no tool `{call.name}`")
    try:
        return ToolResult(value=tools[call.name](*call.arguments, **call.named))
    except Exception as error:  # noqa: BLE001  -- the tool is somebody's; the code is told
        return ToolResult(error=f"{type(error).__name__}: {error}")
