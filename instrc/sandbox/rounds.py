"""Carry rounds of code on from what is recorded of them.

A step is a function of the record: the earlier rounds, the code of this one, and its calls so far with what they gave.
Processes are kept between steps only to be fast; where none fits, the record is run again in a new one.
So a run that is killed goes on in another process, and no call that is recorded is made again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from threading import Lock

from instrc.jsonvalue import Json
from instrc.sandbox.child_process import require_smolagents
from instrc.sandbox.observation import Observation, Recorded, Round, RoundLimits, ToolCall, ToolResult, repeatable
from instrc.sandbox.sandbox import Sandbox

RoundStep = ToolCall | Observation


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
