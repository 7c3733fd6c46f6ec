"""The public functions of this version of the interpreter: they take and return plain JSON."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from instrc.runtime.activities import complaints
from instrc.runtime.interpreter.documents import Command, Complaint, PinnedPlan, Result, SpendingLimits, State
from instrc.runtime.interpreter.v1 import apply as applying
from instrc.runtime.interpreter.v1 import issue as issuing
from instrc.runtime.interpreter.v1.progress import is_rescued, record_of
from instrc.runtime.interpreter.v1.refusals import unread_decisions
from instrc.runtime.interpreter.v1.runnable import RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, Machine
from instrc.text.jsonvalue import Json, JsonObject

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
    machine = _machine(plan, state)
    if machine.open_scope(ROOT, 0, None, {}):
        state["outcome"] = {"status": "done", "output": {}, "value": None}
    if "entry" in machine.program.options:
        _enter(machine)
    return state


def _machine(plan: PinnedPlan, state: State) -> Machine:
    return Machine(program_of(plan), state, [])


def _enter(machine: Machine) -> None:
    """Answer the first chunk with prefilled values; an invalid value is requested from the model."""
    entry = machine.program.options["entry"]
    for command in issuing.issue(machine):
        if command["id"] == "llmContext1" and command["kind"] == "model" and not complaints(entry, command["schema"]):
            applying.apply(machine, command["id"], {"ok": entry})
        else:
            machine.state["queue"].append(command if command["kind"] == "fire" else command["id"])


def issue(plan: PinnedPlan, state: State) -> list[Command]:
    """Return the commands that have become ready, and mark them issued."""
    machine = _machine(plan, state)
    commands = issuing.issue(machine)
    if machine.cancelled:
        state["withdrawn"] = machine.withdrawn
    return commands


def pending(plan: PinnedPlan, state: State) -> list[Command]:
    """Return the issued, unanswered commands."""
    return issuing.pending(_machine(plan, state))


def apply(plan: PinnedPlan, state: State, command: str, result: Result) -> list[str]:
    """Apply the result of a command; return the commands that are no longer needed."""
    machine = _machine(plan, state)
    applying.apply(machine, command, result)
    return machine.withdrawn


def faults(plan: PinnedPlan, state: State, command: str, value: Json) -> list[Complaint] | None:
    """Return the errors of an answer to an open command, or `None` if no such command takes one."""
    return applying.faults(_machine(plan, state), command, value)


def is_fatal(plan: PinnedPlan, state: State, command: str) -> bool:
    """Return whether the run would fail if an open command failed; false if a `try` or a plan handles it."""
    entry = state["open"].get(command)
    return entry is not None and entry["as"] == "run" and not is_rescued(_machine(plan, state), entry["scope"])


def stalled(plan: PinnedPlan, state: State) -> tuple[list[str], str] | None:
    """Return the steps that wait until a limit is raised, and the reason, or `None` if there are none."""
    machine = _machine(plan, state)
    steps = [
        step.key
        for held in state.get("stalled", ())
        if held["scope"] in state["scopes"]
        for step in machine.unit(held["scope"], held["unit"]).steps
    ]
    reached = issuing.reached_limit(machine) if state.get("stalled") else None
    return None if reached is None else (steps, reached[1])


def raise_limits(plan: PinnedPlan, state: State, limits: SpendingLimits | None) -> list[str]:
    """Resume calling models up to new limits, or fail what waits for them; return the withdrawn commands."""
    machine = _machine(plan, state)
    issuing.raise_limits(machine, limits)
    return machine.withdrawn


def record(plan: PinnedPlan, state: State) -> JsonObject:
    """Return the record so far, in the shape of the process."""
    return record_of(_machine(plan, state))


def program_of(plan: PinnedPlan) -> RunnablePlan:
    """Return a plan prepared for interpretation, from a cache."""
    digest = plan["digest"]
    program = _programs.get(digest)
    if program is None:
        program = RunnablePlan(plan)
        for number, key in unread_decisions(program):
            for index in program.regions[number].keys[key]:
                program.regions[number].units[index].unread |= {key}
        _programs[digest] = program
        while len(_programs) > KEPT_PROGRAMS:
            _programs.popitem(last=False)
    return program
