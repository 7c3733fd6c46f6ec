"""The interpreter by its version: a run goes on with the one it began with.

`plan` and `state` are plain JSON. `begin`, `apply` and `issue` change the state they are given, and read nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol, cast

from instrc.jsonvalue import AnyJson as Json
from instrc.runtime.interpreter.commands import Command, Complaint

CURRENT = "1"
"""The version that new runs begin with."""
_MODULES = {"1": "instrc.runtime.interpreter.v1.run"}


class Interpreter(Protocol):
    """What every version can do."""

    def begin(self, plan: Json, inputs: Json) -> Json: ...  # noqa: D102  -- the functions below say what each does
    def issue(self, plan: Json, state: Json) -> list[Command]: ...  # noqa: D102  -- as above
    def pending(self, plan: Json, state: Json) -> list[Command]: ...  # noqa: D102  -- as above
    def apply(self, plan: Json, state: Json, command: str, result: Json) -> list[str]: ...  # noqa: D102  -- as above
    def faults(self, plan: Json, state: Json, command: str, value: Json) -> list[Complaint] | None: ...  # noqa: D102  -- as above
    def record(self, plan: Json, state: Json) -> Json: ...  # noqa: D102  -- as above


def begin(plan: Json, inputs: Json) -> Json:
    """Return the state of a run that has not begun."""
    return _interpreter_of(plan).begin(plan, inputs)


def issue(plan: Json, state: Json) -> list[Command]:
    """Return the commands that have become runnable, in plan order, and mark them issued."""
    return _interpreter_of(plan).issue(plan, state)


def pending(plan: Json, state: Json) -> list[Command]:
    """Return the commands that were issued and are not answered, for an engine that takes a run over."""
    return _interpreter_of(plan).pending(plan, state)


def apply(plan: Json, state: Json, command: str, result: Json) -> list[str]:
    """Take in what came of a command; return the ids of commands that nobody waits for any more.

    A second delivery, or one for a command that is not open, changes nothing.
    """
    return _interpreter_of(plan).apply(plan, state, command, result)


def outcome(plan: Json, state: Json) -> Json:  # noqa: ARG001  -- the three functions take the same
    """Return how the run has ended, `None` while it goes on.

    `{"status": "done", "output", "value"}`, `{"status": "failed", "error"}` or `{"status": "stopped", "step"}`.
    """
    return state["outcome"]


def faults(plan: Json, state: Json, command: str, value: Json) -> list[Complaint] | None:
    """Return what is wrong with an answer that somebody gives to an open command; `None` if no such command takes one."""
    return _interpreter_of(plan).faults(plan, state, command, value)


def record(plan: Json, state: Json) -> Json:
    """Return what is recorded so far, in the shape of the process; that of a finished run satisfies its schema."""
    return _interpreter_of(plan).record(plan, state)


def load() -> None:
    """Load all versions now, for an engine in which nothing may take long later."""
    for version in _MODULES:
        _load_version(version)


def _interpreter_of(plan: Json) -> Interpreter:
    return _load_version(plan["interpreter"])


@cache
def _load_version(version: str) -> Interpreter:
    from importlib import import_module  # an old version is loaded only where an old run goes on

    return cast("Interpreter", import_module(_MODULES[version]))
