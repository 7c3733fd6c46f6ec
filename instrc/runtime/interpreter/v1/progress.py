"""Continue after a unit is done or has failed, or a person has refused; the record of a run."""

from __future__ import annotations

from instrc.runtime.interpreter.documents import Done, Failure, Outcome
from instrc.runtime.interpreter.v1 import blocks
from instrc.runtime.interpreter.v1.runnable import PlanUnit
from instrc.runtime.interpreter.v1.state import ROOT, FailedError, Machine, scoped_id
from instrc.runtime.interpreter.v1.values import evaluate, shown_of
from instrc.schema.strip import is_meta, split
from instrc.text.jsonvalue import Json, JsonObject


def output_of(machine: Machine) -> Done:
    """Return the outcome of a finished run: all steps by key, and its `value`: that of the process, or else the last step's."""
    scope = machine.scope(ROOT)
    region = machine.region(ROOT)
    output: JsonObject = {}
    last: Json = None
    if machine.program.whole:
        unit = region.units[0]
        whole = split(scope["record"].get(unit.context), unit.schema)["output"]
        return {"status": "done", "output": whole, "value": whole}
    for unit in region.units:
        if unit.block is not None:
            key = getattr(unit.block, "key", None)
            if key is not None:
                output[key] = last = scope["values"].get(key)
            continue
        recorded = scope["record"].get(unit.context)
        for step in unit.steps:
            if not isinstance(recorded, dict) or step.key not in recorded or is_meta(step.key):
                continue
            shown = shown_of(machine, unit, step.key, recorded[step.key])
            before = output.get(step.key)
            output[step.key] = {**before, **shown} if isinstance(before, dict) and isinstance(shown, dict) else shown
            last = output[step.key]
            if unit.kind != "model" and step.output and isinstance(last, dict):
                last = last.get("output")
    value = last if region.value is None else evaluate(machine, ROOT, region.value)
    return {"status": "done", "output": output, "value": value}


def finish(machine: Machine, scope: str, unit: PlanUnit, record: Json, value: Json = None) -> None:
    """Record the result of a unit, start the units that waited for it, and finish the enclosing body if it is complete."""
    while True:
        _note(machine, scope, unit, record, value)
        here = machine.scope(scope)
        region = machine.program.regions[here["region"]]
        here["left"] -= 1
        for number in unit.dependents:
            left = here["waits"].pop(str(number), region.units[number].needs) - 1
            if left:
                here["waits"][str(number)] = left
            else:
                machine.state["ready"].append([scope, number])
        if here["left"]:
            return
        if here["parent"] is None:
            machine.state["outcome"] = output_of(machine)
            return
        parent = here["parent"]
        owner = machine.unit(parent, region.owner)
        try:
            given = blocks.body_done(machine, scope)
        except blocks.StoppedError as stopped:
            stop(machine, stopped.step)
            return
        except FailedError as error:
            fail(machine, parent, error.failure)
            return
        if given is None:
            return
        scope, unit, (record, value) = parent, owner, given


def _note(machine: Machine, scope: str, unit: PlanUnit, record: Json, value: Json) -> None:
    """Record the value of a unit, and remove its deadline."""
    here = machine.scope(scope)
    if unit.kind == "branch":
        return
    if unit.timed:
        machine.withdraw(f"{scoped_id(scope, unit.id)}!within")
    if unit.block is None:
        recorded = here["record"].setdefault(unit.context, {})
        if isinstance(record, dict) and isinstance(recorded, dict):
            recorded.update(record)
        else:
            here["record"][unit.context] = record
        return
    here["record"][unit.context] = record
    key = blocks.key_of(machine, scope, unit)
    if key is not None:
        here["values"][key] = value


def fail(machine: Machine, scope: str, error: Failure) -> None:
    """End a body in which a step failed permanently: the innermost `try` continues with its `else`, otherwise the run fails."""
    while True:
        here = machine.scope(scope)
        if here["parent"] is None:
            _end(machine, {"status": "failed", "error": error})
            return
        parent = here["parent"]
        owner = machine.unit(parent, machine.region(scope).owner)
        machine.close_scope(scope)
        if blocks.branch_failed(machine, parent, owner):
            return
        if blocks.can_rescue(machine, parent, owner):
            machine.withdraw(f"{scoped_id(parent, owner.id)}!within")
            if (given := blocks.rescue(machine, parent, owner, error)) is not None:
                finish(machine, parent, owner, *given)
            return
        scope = parent


def _end(machine: Machine, outcome: Outcome) -> None:
    """End the run; open commands are withdrawn, and the record is kept."""
    machine.withdrawn.extend(machine.state["open"])
    machine.state["open"].clear()
    machine.state["ready"].clear()
    machine.state["queue"].clear()
    machine.state["outcome"] = outcome


def is_rescued(machine: Machine, scope: str) -> bool:
    """Return whether an enclosing `try` would handle a failure in a body."""
    while (parent := machine.scope(scope)["parent"]) is not None:
        if blocks.can_rescue(machine, parent, machine.unit(parent, machine.region(scope).owner)):
            return True
        scope = parent
    return False


def stop(machine: Machine, step: str) -> None:
    """End the run because a person has refused."""
    _end(machine, {"status": "stopped", "step": step})
