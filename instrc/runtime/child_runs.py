"""A process that serves an activity, run as a child: what it is given, and what its end is for the step that waits."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject, without_type
from instrc.runtime.interpreter.commands import ActivityCommand, Result
from instrc.runtime.interpreter.documents import Outcome
from instrc.runtime.validation import complaints


def child_inputs(command: ActivityCommand, document: Json) -> JsonObject:
    """Return the inputs of a process that serves an activity: its arguments by name, all of them as `prompt`, and `called`."""
    given = command["input"]
    inputs: JsonObject = dict(given) if isinstance(given, dict) else {}
    declared = document.get("inputs") if isinstance(document, dict) else None
    inputs.setdefault("prompt", given)
    if isinstance(declared, dict) and "called" in declared:
        inputs["called"] = command["called"]
    return inputs


def child_result(outcome: Outcome, command: ActivityCommand) -> Result:
    """Return how a child has ended as the result of the activity that it serves."""
    if outcome["status"] == "done":
        for value in (outcome["value"], outcome["output"]):
            if not complaints(value, command["schema"]) or not complaints({"output": value}, command["schema"]):
                return {"ok": value}
        return {"ok": outcome["value"]}
    if outcome["status"] == "stopped":
        return {"error": {"kind": "failed", "code": "stopped", "message": f"`{outcome['step']}` was refused"}}
    return {"error": without_type(outcome["error"])}
