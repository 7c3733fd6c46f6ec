"""What a run has to show: its record by the shape of the process, and its result by the keys of the steps."""

from __future__ import annotations

from instrc.flattening.split import split
from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.interpreter.documents import Done
from instrc.runtime.interpreter.v1.state import ROOT, Machine
from instrc.runtime.interpreter.v1.values import evaluate, shown_of


def output_of(machine: Machine) -> Done:
    """Return how a finished run has ended: all steps by their keys, and its `value`: what the process says, else the last."""
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
            if not isinstance(recorded, dict) or step.key not in recorded or step.key[:1] in {"_", "$"}:
                continue
            shown = shown_of(machine, unit, step.key, recorded[step.key])
            before = output.get(step.key)
            output[step.key] = {**before, **shown} if isinstance(before, dict) and isinstance(shown, dict) else shown
            last = output[step.key]
            if unit.kind != "model" and step.output and isinstance(last, dict):
                last = last.get("output")
    return {
        "status": "done",
        "output": output,
        "value": last if region.value is None else evaluate(machine, ROOT, region.value),
    }


def record_of(machine: Machine) -> JsonObject:
    """Return what is recorded so far, in the shape of the process; of a finished run it satisfies the process's schema."""
    record = machine.scope(ROOT)["record"]
    return {context: record[context] for context in machine.region(ROOT).contexts if context in record}
