"""Run the code of an agent round by round, as a function of the recorded results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from threading import Lock
from time import monotonic
from typing import Final

from msgspec import Struct

from instrc.runtime.sandbox.execution import Execution, require_monty, worker_session
from instrc.runtime.sandbox.processes import ProcessEndedError, call_in_process
from instrc.runtime.sandbox.rounds import AnsweredCall, Observation, Round, RoundLimits, RoundStep, ToolCall, repeatable
from instrc.runtime.sandbox.values import Printed
from instrc.text.jsonvalue import Json

STATE_BYTES: Final = 4 * 1024 * 1024
"""Maximum bytes of a state kept between two steps; the code of a larger one runs again."""
_STATES: Final = 256
"""Maximum states kept: agents beyond it displace each other's, and run their code again."""
_KEPT_BYTES: Final = 32 * STATE_BYTES
"""Maximum bytes of all states kept."""


class CodeRuns:
    """Runs the code of several agents, step by step."""

    def __init__(self, tools: Sequence[str] | Mapping[str, Json] = (), limits: RoundLimits | None = None) -> None:
        """`tools` are the names of functions that the code may call; the caller executes them.

        If each has a schema of its arguments, calls are checked and have all their arguments by name.
        Raise `SettingsError` if pydantic-monty is not installed.
        """
        require_monty()
        self._tools: dict[str, Json] = dict(tools) if isinstance(tools, Mapping) else dict.fromkeys(tools)
        for name in self._tools:
            if not name.isidentifier() or iskeyword(name) or name == "final_answer":
                raise TypeError(f"`tools` takes names of functions, not {name!r}")
        self._limits = limits or RoundLimits()
        self._states: OrderedDict[str, _KeptState] = OrderedDict()
        self._spent: dict[str, float] = {}
        """Seconds that the steps of the current round of each run took which began without a state."""
        self._lock = Lock()

    def step(self, run: str, earlier: Sequence[Round], code: str, calls: Sequence[AnsweredCall] = ()) -> RoundStep:
        """Return the next tool call of the code, or its final result.

        The result depends on the record alone: `earlier` rounds and `calls` run again with the recorded results of their tools.
        `run` identifies the agent: consecutive steps of one run are fast, as the state between them is cached here.
        """
        known, current = repeatable(tuple(earlier)), Round(code, tuple(calls))
        with self._lock:
            state = self._states.pop(run, None)
        state = state if state is not None and state.precedes(known, current) else None
        spent = self._spent.pop(run, 0.0) if calls else 0.0
        if state is None and spent > (most := 2 * self._limits.seconds):
            told = f"each call of a tool ran the code again, longer than {most:g} seconds in all: let variables be small"
            return Observation(logs="", kind="time", message=told)
        try:
            step, kept, seconds = call_in_process(_stepped, self._tools, self._limits, known, current, state)
        except ProcessEndedError as error:
            if not error.is_late:
                return Observation(logs="", kind="ended", message=str(error))
            return Observation(logs="", kind="time", message=f"the code ran longer than {self._limits.seconds:g} seconds")
        if isinstance(step, ToolCall):
            self._spent[run] = spent + (seconds if state is None else 0.0)
        if kept is not None:
            with self._lock:
                self._states[run] = kept
                while len(self._states) > _STATES or sum(len(each.dump) for each in self._states.values()) > _KEPT_BYTES:
                    self._states.popitem(last=False)
        return step


class _KeptState(Struct, frozen=True):
    """The state of a run's code, created by this process; nothing else is ever loaded."""

    rounds: tuple[Round, ...]
    current: Round
    step: RoundStep
    dump: bytes
    printed: Printed

    def precedes(self, rounds: tuple[Round, ...], current: Round) -> bool:
        """Return whether a step continues from here."""
        if self.rounds != rounds:
            return False
        if not isinstance(self.step, ToolCall):
            return True
        known = self.current.calls
        return current.code == self.current.code and len(current.calls) > len(known) and current.calls[: len(known)] == known


def _stepped(
    tools: dict[str, Json], limits: RoundLimits, rounds: tuple[Round, ...], current: Round, state: _KeptState | None
) -> tuple[RoundStep, _KeptState | None, float]:
    """Return the result of a step, the state after it if it can be kept, and the seconds that it took."""
    began = monotonic()
    with worker_session(limits) as session:
        execution = Execution(session, tools, limits)
        step = _replayed(execution, rounds, current, state)
        if not isinstance(step, ToolCall):
            rounds, current = (*rounds, current._replace(kind=step.kind)), Round("")
        if not execution.is_usable or (isinstance(step, Observation) and step.kind == "lost"):
            return step, None, 0.0
        kept = _KeptState(rounds, current, step, *execution.dump())
    return step, kept if len(kept.dump) <= STATE_BYTES else None, monotonic() - began


def _replayed(execution: Execution, rounds: tuple[Round, ...], current: Round, state: _KeptState | None) -> RoundStep:
    """Run code until the call after the recorded ones, or to its end."""
    calls = current.calls
    if state is None:
        for number, item in enumerate(rounds, 1):
            fault = _repeat(execution, item)
            if fault is not None:
                return _lost(f"round {number} of the earlier code cannot be run again: {fault}")
        step = execution.start(current.code)
    else:
        is_waiting = isinstance(state.step, ToolCall)
        execution.load(state.dump, state.printed, is_waiting=is_waiting)
        step, calls = (state.step, calls[len(state.current.calls) :]) if is_waiting else (execution.start(current.code), calls)
    for recorded in calls:
        if step != recorded.call:
            return _lost(f"the code was interrupted, and {_now(step)}, where it called {recorded.call}")
        step = execution.resume(recorded.result)
    return step


def _repeat(execution: Execution, earlier: Round) -> str | None:
    """Repeat an earlier round with the recorded results of its tools; return where it deviates."""
    step = execution.start(earlier.code)
    for recorded in earlier.calls:
        if step != recorded.call:
            return f"it {_now(step)}, where it called {recorded.call}"
        step = execution.resume(recorded.result)
    if isinstance(step, ToolCall) or step.kind != earlier.kind:
        return f"it {_now(step)}, where it {'ended' if earlier.kind is None else f'ended with: {earlier.kind}'}"
    return None


def _now(step: RoundStep) -> str:
    return f"now calls {step}" if isinstance(step, ToolCall) else f"now ends ({step.message or 'without a fault'})"


def _lost(reason: str) -> Observation:
    return Observation(logs="", kind="lost", message=f"{reason}; all variables are lost, and this code was not run")
