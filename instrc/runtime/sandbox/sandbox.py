"""Run code of an agent round by round, in a process with limits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Self

from instrc.runtime.sandbox.child_process import (
    Observation,
    Recorded,
    Round,
    RoundLimits,
    SandboxProcess,
    ToolCall,
    ToolResult,
    observation,
    repeatable,
    require_smolagents,
)
from instrc.text.jsonvalue import Json, as_array, as_object, as_text

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


def _call_tool(tools: Mapping[str, Callable[..., Json]], call: ToolCall) -> ToolResult:
    if call.name not in tools:
        return ToolResult(error=f"there is no tool `{call.name}`")
    try:
        return ToolResult(value=tools[call.name](*call.arguments, **call.named))
    except Exception as error:  # noqa: BLE001  -- the tool is somebody's; the code is told
        return ToolResult(error=f"{type(error).__name__}: {error}")


def _call(told: dict[str, Json]) -> ToolCall:
    return ToolCall(as_text(told["call"]), tuple(as_array(told["arguments"])), as_object(told["named"]))


RoundStep = ToolCall | Observation


class _OpenSandbox:
    """A sandbox, and the round that is open in it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._code = ""
        self._calls: list[Recorded] = []
        self._call: ToolCall | None = None
        """The call whose result the code waits for."""
        self._steps: Generator[ToolCall, ToolResult, Observation] | None = None

    def fits(self, earlier: tuple[Round, ...], code: str, calls: Sequence[Recorded]) -> bool:
        """Tell whether a step goes on from here."""
        if self._sandbox.rounds != earlier:
            return False
        if self._steps is None:
            return True
        return code == self._code and len(calls) > len(self._calls) and list(calls[: len(self._calls)]) == self._calls

    def step(self, code: str, calls: Sequence[Recorded]) -> RoundStep:
        """Run the code up to the call after the recorded ones, or to its end."""
        try:
            if self._steps is None:
                self._code, self._calls, self._steps = code, [], self._sandbox.run(code)
                self._call = next(self._steps)
            for recorded in calls[len(self._calls) :]:
                if recorded.call != self._call:
                    return self._lose_rounds(
                        f"the code was interrupted, and now calls {self._call}, where it called {recorded.call}"
                    )
                self._calls.append(recorded)
                self._call = self._steps.send(recorded.result)
        except StopIteration as end:
            self._steps = None
            found: Observation = end.value
            if len(self._calls) < len(calls) and found.kind != "lost":
                return self._lose_rounds(f"the code was interrupted, and no longer calls {calls[len(self._calls)].call}")
            return found
        assert self._call is not None
        return self._call

    def close(self) -> None:
        """End the process."""
        self._steps = None
        self._sandbox.close()

    def _lose_rounds(self, reason: str) -> Observation:
        self._steps = None
        return self._sandbox.lost(reason)


class CodeRuns:
    """Runs code of several agents; `close` it."""

    def __init__(self, tools: Sequence[str] | Mapping[str, Json] = (), limits: RoundLimits | None = None, most: int = 8) -> None:
        """`most` processes are kept between steps."""
        require_smolagents()
        self._tools = tools
        self._limits = limits
        self._most = most
        self._sandboxes: OrderedDict[str, _OpenSandbox] = OrderedDict()
        self._lock = Lock()

    def step(self, run: str, earlier: Sequence[Round], code: str, calls: Sequence[Recorded] = ()) -> RoundStep:
        """Return the next call of a tool that the code makes, or what it gave in the end.

        `run` names whose code it is: steps of one run are quick one after the other.
        """
        known = repeatable(tuple(earlier))
        with self._lock:
            open_one = self._sandboxes.pop(run, None)
        if open_one is None or not open_one.fits(known, code, calls):
            if open_one is not None:
                open_one.close()
            open_one = _OpenSandbox(Sandbox(self._tools, self._limits, known))
        try:
            return open_one.step(code, calls)
        except BaseException:
            open_one.close()
            raise
        finally:
            self._keep(run, open_one)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            open_one, self._sandboxes = list(self._sandboxes.values()), OrderedDict()
        for each in open_one:
            each.close()

    def _keep(self, run: str, open_one: _OpenSandbox) -> None:
        with self._lock:
            replaced = self._sandboxes.pop(run, None)
            self._sandboxes[run] = open_one
            over = [self._sandboxes.popitem(last=False)[1] for _ in range(len(self._sandboxes) - self._most)]
        for each in [replaced, *over]:
            if each is not None:
                each.close()
