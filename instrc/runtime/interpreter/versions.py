"""The interpreter by version: a run keeps the version it began with.

`plan` and `state` are plain JSON. `begin`, `apply` and `issue` change the given state, and read nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from instrc.runtime.interpreter.documents import (
    Command,
    Complaint,
    FireCommand,
    Outcome,
    PinnedPlan,
    Result,
    SpendingLimits,
    State,
)
from instrc.runtime.interpreter.v1 import apply as applying
from instrc.runtime.interpreter.v1 import issue as issuing
from instrc.runtime.interpreter.v1.progress import is_rescued
from instrc.runtime.interpreter.v1.refusals import unread_decisions
from instrc.runtime.interpreter.v1.runnable import RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, Machine
from instrc.text.jsonvalue import Json, JsonObject

CURRENT: Final = "1"
"""Version used by new runs."""
KEPT_PROGRAMS: Final = 64
"""Maximum programs that the interpreter caches."""
_programs: OrderedDict[str, RunnablePlan] = OrderedDict()
"""Prepared programs, by the digest of their plan."""


def begin(plan: PinnedPlan, inputs: JsonObject) -> State:
    """Return the state of a run that has not started."""
    state: State = {
        "inputs": inputs,
        "scopes": {},
        "ready": [],
        "queue": [],
        "open": {},
        "spent": {"requests": 0, "tokens": 0},
        "vain": [],
        "outcome": None,
    }
    if _machine(plan, state).open_scope(ROOT, 0, None, {}):
        state["outcome"] = {"status": "done", "output": {}, "value": None}

    return state


def _machine(plan: PinnedPlan, state: State) -> Machine:
    return Machine(program_of(plan), state, [])


def issue(plan: PinnedPlan, state: State) -> list[Command]:
    """Return the commands that have become ready, in plan order, and mark them issued."""
    return issuing.issue(_machine(plan, state))


def advance(plan: PinnedPlan, state: State) -> list[FireCommand]:
    """Do the same as `issue`, and return only the commands without a result: the values of others cost time."""
    return [each for each in issuing.advance(_machine(plan, state)) if not isinstance(each, str)]


def pending(plan: PinnedPlan, state: State, among: Collection[str] | None = None) -> list[Command]:
    """Return the issued, unanswered commands, or those `among` some, for an engine that takes over a run."""
    return issuing.pending(_machine(plan, state), state["open"] if among is None else among)


def apply(plan: PinnedPlan, state: State, command: str, result: Result) -> list[str]:
    """Apply the result of a command; return the ids of commands that are no longer needed.

    A second result, or one for a command that is not open, changes nothing.
    """
    machine = _machine(plan, state)
    applying.apply(machine, command, result)
    return machine.withdrawn


def outcome(plan: PinnedPlan, state: State) -> Outcome | None:  # noqa: ARG001  -- the three functions take the same
    """Return the outcome of the run, `None` while it continues.

    `{"status": "done", "output", "value"}`, `{"status": "failed", "error"}` or `{"status": "stopped", "step"}`.
    """
    return state["outcome"]


def faults(plan: PinnedPlan, state: State, command: str, value: Json) -> list[Complaint] | None:
    """Return the errors of an answer to an open command, or `None` if no such command takes one."""
    return applying.faults(_machine(plan, state), command, value)


def is_fatal(plan: PinnedPlan, state: State, command: str) -> bool:
    """Return whether the run would fail if an open command failed, or `False` if a `try` or a plan handles it."""
    entry = state["open"].get(command)
    return entry is not None and entry["as"] == "run" and not is_rescued(_machine(plan, state), entry["scope"])


def stalled(plan: PinnedPlan, state: State) -> tuple[list[str], str] | None:
    """Return the steps that wait until a limit is raised, and the reason, or `None` if there are none.

    There are none unless `state["stalled"]` is a list from the beginning; otherwise the run fails at a limit.
    """
    if not state.get("stalled"):
        return None
    machine = _machine(plan, state)
    held_ones = [held for held in state["stalled"] if held["scope"] in state["scopes"]]
    steps = [step.key for held in held_ones for step in machine.unit(held["scope"], held["unit"]).steps]
    reached = issuing.reached_limit(machine)
    return None if reached is None else (steps, reached[1])


def raise_limits(plan: PinnedPlan, state: State, limits: SpendingLimits | None) -> list[str]:
    """Resume calling models up to new limits, or fail what waits for them.  Return the withdrawn commands."""
    machine = _machine(plan, state)
    issuing.raise_limits(machine, limits)
    return machine.withdrawn


def record(plan: PinnedPlan, state: State) -> JsonObject:
    """Return the record so far, in the shape of the process; that of a finished run satisfies its schema."""
    machine = _machine(plan, state)
    result = machine.scope(ROOT)["record"]
    return {context: result[context] for context in machine.region(ROOT).contexts if context in result}


def program_of(plan: PinnedPlan) -> RunnablePlan:
    """Return a plan prepared for interpretation by its version, from a cache."""
    digest = plan["digest"]
    program = _programs.get(digest)
    if program is None:
        program = {CURRENT: RunnablePlan}[plan["interpreter"]](plan)
        for number, key in unread_decisions(program):
            for index in program.regions[number].keys[key]:
                program.regions[number].units[index].unread |= {key}
        _programs[digest] = program
        while len(_programs) > KEPT_PROGRAMS:
            _programs.popitem(last=False)
    return program
