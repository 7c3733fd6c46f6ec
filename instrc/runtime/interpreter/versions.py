"""The interpreter by version: a run keeps the version it began with.

`plan` and `state` are plain JSON. `begin`, `apply` and `issue` change the given state, and read nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol, cast

from instrc.runtime.interpreter.documents import Command, Complaint, Outcome, PinnedPlan, Result, SpendingLimits, State
from instrc.text.jsonvalue import Json, JsonObject

CURRENT = "1"
"""Version used by new runs."""
_MODULES = {"1": "instrc.runtime.interpreter.v1.interface"}


class Interpreter(Protocol):
    """The interface of every version."""

    def begin(self, plan: PinnedPlan, inputs: JsonObject) -> State: ...  # noqa: D102  -- the functions below document each
    def issue(self, plan: PinnedPlan, state: State) -> list[Command]: ...  # noqa: D102  -- as above
    def pending(self, plan: PinnedPlan, state: State) -> list[Command]: ...  # noqa: D102  -- as above
    def apply(self, plan: PinnedPlan, state: State, command: str, result: Result) -> list[str]: ...  # noqa: D102  -- as above
    def faults(self, plan: PinnedPlan, state: State, command: str, value: Json) -> list[Complaint] | None: ...  # noqa: D102  -- as above
    def is_fatal(self, plan: PinnedPlan, state: State, command: str) -> bool: ...  # noqa: D102  -- as above
    def stalled(self, plan: PinnedPlan, state: State) -> tuple[list[str], str] | None: ...  # noqa: D102  -- as above
    def raise_limits(self, plan: PinnedPlan, state: State, limits: SpendingLimits | None) -> list[str]: ...  # noqa: D102  -- as above
    def record(self, plan: PinnedPlan, state: State) -> JsonObject: ...  # noqa: D102  -- as above


def begin(plan: PinnedPlan, inputs: JsonObject) -> State:
    """Return the state of a run that has not started."""
    return _interpreter_of(plan).begin(plan, inputs)


def _interpreter_of(plan: PinnedPlan) -> Interpreter:
    return _load_version(plan["interpreter"])


@cache
def _load_version(version: str) -> Interpreter:
    from importlib import import_module  # an old version is loaded only to continue an old run

    return cast("Interpreter", import_module(_MODULES[version]))


def issue(plan: PinnedPlan, state: State) -> list[Command]:
    """Return the commands that have become ready, in plan order, and mark them issued."""
    return _interpreter_of(plan).issue(plan, state)


def pending(plan: PinnedPlan, state: State) -> list[Command]:
    """Return the issued, unanswered commands, for an engine that takes over a run."""
    return _interpreter_of(plan).pending(plan, state)


def apply(plan: PinnedPlan, state: State, command: str, result: Result) -> list[str]:
    """Apply the result of a command; return the ids of commands that are no longer needed.

    A second result, or one for a command that is not open, changes nothing.
    """
    return _interpreter_of(plan).apply(plan, state, command, result)


def outcome(plan: PinnedPlan, state: State) -> Outcome | None:  # noqa: ARG001  -- the three functions take the same
    """Return the outcome of the run, `None` while it continues.

    `{"status": "done", "output", "value"}`, `{"status": "failed", "error"}` or `{"status": "stopped", "step"}`.
    """
    return state["outcome"]


def faults(plan: PinnedPlan, state: State, command: str, value: Json) -> list[Complaint] | None:
    """Return the errors of an answer to an open command, or `None` if no such command takes one."""
    return _interpreter_of(plan).faults(plan, state, command, value)


def is_fatal(plan: PinnedPlan, state: State, command: str) -> bool:
    """Return whether the run would fail if an open command failed, or `False` if a `try` or a plan handles it."""
    return _interpreter_of(plan).is_fatal(plan, state, command)


def stalled(plan: PinnedPlan, state: State) -> tuple[list[str], str] | None:
    """Return the steps that wait until a limit is raised, and the reason, or `None` if there are none.

    There are none unless `state["stalled"]` is a list from the beginning; otherwise the run fails at a limit.
    """
    return _interpreter_of(plan).stalled(plan, state) if state.get("stalled") else None


def raise_limits(plan: PinnedPlan, state: State, limits: SpendingLimits | None) -> list[str]:
    """Resume calling models up to new limits, or fail what waits for them.  Return the withdrawn commands."""
    return _interpreter_of(plan).raise_limits(plan, state, limits)


def record(plan: PinnedPlan, state: State) -> JsonObject:
    """Return the record so far, in the shape of the process; that of a finished run satisfies its schema."""
    return _interpreter_of(plan).record(plan, state)


def load_all() -> None:
    """Load all versions now, for an engine that must not be delayed later."""
    for version in _MODULES:
        _load_version(version)
