"""The plan of a run, pinned by a digest, and the one loop from commands to results and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final, Protocol, cast

from instrc.process.flow import EXECUTORS, Chunk
from instrc.process.process import Process
from instrc.runtime.activities import complaints
from instrc.runtime.interpreter import documents, versions
from instrc.runtime.interpreter.versions import CURRENT, program_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, mapping, without_type
from instrc.text.names import snake

PLAN_CALLS: Final = 1_000
"""Maximum calls of one plan of a model or a person."""
_STEP = re.compile(r"step\d+_.*|[_$].*")


def plan_of(
    document: Json,
    *,
    activities: Iterable[str] = (),
    models: Mapping[str, str] | None = None,
    asks: int = 2,
    elements: int | None = 100,
    requests: int | None = None,
    tokens: int | None = None,
    pauses: bool = True,
    step: str | None = None,
) -> documents.PinnedPlan:
    """Return the plan of a document: a process, a tool, or a direct call.

    `activities` are the registered names, so that steps with these names are also sent to them.
    `asks` is the maximum number of repeated requests to a model; `elements` that of concurrent elements of an `each`;
    `requests` and `tokens` are the budgets for models.

    `step` is the name of the only step of a tool, whose answer has no key for it.
    Without `pauses`, every `delay` is skipped, as in a rehearsal.
    """
    kind, written = _process(document, step)
    process = Process.from_json(written)
    registered = {documents.bare_name(name): name for name in activities}
    unless_none = {
        "requests": requests,
        "tokens": tokens,
        "pauses": None if pauses else False,
        "fires": {bare: registered[bare] for bare in sorted(registered.keys() & _names(process)) if kind != "tool"} or None,
        "waits": True if kind == "call" else None,
        "step": step if kind == "tool" else None,
        "models": dict(models or {}) or None,
    }
    given = {name: value for name, value in unless_none.items() if value is not None}
    options = cast("documents.RunOptions", {"asks": asks, "elements": elements, "calls": PLAN_CALLS, "labels": True, **given})
    plan: documents.PinnedPlan = {"interpreter": CURRENT, "kind": kind, "process": written, "options": options, "digest": ""}
    plan["digest"] = plan_digest(plan)
    return plan


def _process(document: Json, only: str | None) -> tuple[documents.PlanKind, JsonObject]:
    """Return a document as a process: a tool is one chunk, a direct call one chunk and an activity with an unread result.

    The properties of a tool with `only` this step are those of its vibe, whatever their names.
    """
    if isinstance(document, dict) and "properties" not in document and isinstance(document.get("tool"), dict):
        tool, name = document["tool"], str(document.get("activity"))
        step = {"activity": name, "arguments": document.get("arguments")}
        contexts: dict[str, Json] = {"llmContext1": tool, "serverContext1": {"properties": {snake(name): step}}}
        return "call", _wrap_tool(contexts, tool)
    if only is None and isinstance(document, dict) and Process.describes(document):
        return "process", document
    properties = mapping(mapping(document).get("properties"))
    keyed = bool(properties) and all(map(_STEP.fullmatch, properties))
    return "steps" if keyed else "tool", _wrap_tool({"llmContext1": document}, document)


def _wrap_tool(contexts: JsonObject, tool: Json) -> JsonObject:
    tool = tool if isinstance(tool, dict) else {"description": "Anything."} if tool else {"not": {}}
    own = {key: value for key, value in tool.items() if key not in {"$defs", "$schema"}}
    result: JsonObject = {"type": "object", "properties": {**contexts, "llmContext1": own}, "required": list(contexts)}
    return {**result, "$defs": tool["$defs"]} if "$defs" in tool else result


def _names(process: Process) -> set[str]:
    """Return the bare names of the steps, except those that a model completes and their own server chunk then sends."""
    chunks = [context for context in process.contexts() if isinstance(context, Chunk)]
    keys = {kind: {step.key for each in chunks if each.executor == kind for step in each.steps} for kind in EXECUTORS}
    firing = {step.key for chunk in chunks for step in chunk.steps if documents.may_fire(step)}
    return {documents.bare_name(key) for key in firing - (keys["model"] & keys["server"])}


def step_keys(plan: documents.PinnedPlan) -> tuple[str, ...]:
    """Return the keys of all steps of a program, in order."""
    if (only := plan["options"].get("step")) is not None:
        return (only,)
    chunks = (chunk for chunk in program_of(plan).process.contexts() if isinstance(chunk, Chunk))
    return tuple(dict.fromkeys(step.key for chunk in chunks for step in chunk.steps))


def has_pauses(plan: documents.PinnedPlan) -> bool:
    """Return whether a run and its child runs wait for delays."""
    return plan["options"].get("pauses", True) is True


def plan_digest(plan: documents.PinnedPlan) -> str:
    """Return the digest that pins a plan: equal for plans with equal JSON text."""
    text = dumps({key: value for key, value in plan.items() if key != "digest"}, indent=False)
    return sha256(text.encode()).hexdigest()


def child_inputs(command: documents.ActivityCommand, document: Json) -> JsonObject:
    """Return the inputs of a process for an activity: its arguments by name, or defaults; all as `prompt`; and `called`."""
    given, declared = command["input"], mapping(mapping(document).get("inputs"))
    defaults = {name: schema["default"] for name, schema in declared.items() if isinstance(schema, dict) and "default" in schema}
    inputs = {**defaults, "prompt": given, **mapping(given)}
    if "called" in declared:
        inputs["called"] = command["called"]
    return inputs


def child_result(outcome: documents.Outcome, command: documents.ActivityCommand) -> documents.Result:
    """Return the outcome of a child as the result of the activity that it serves."""
    if outcome["status"] == "done":
        for value in (outcome["value"], outcome["output"]):
            if not complaints(value, command["schema"]) or not complaints({"output": value}, command["schema"]):
                return {"ok": value}
        return {"ok": outcome["value"]}
    if outcome["status"] == "stopped":
        return {"error": {"kind": "failed", "code": "stopped", "message": f"`{outcome['step']}` was refused"}}
    return {"error": without_type(outcome["error"])}


class Cancellable(Protocol):
    """The handle of a command in execution."""

    def cancel(self) -> object:
        """Cancel its execution; its result is not needed."""


class Port(Protocol):
    """What an engine provides to the loop."""

    def start(self, command: documents.Command) -> Cancellable:
        """Start a command, whose id is its idempotency key."""

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, documents.Result]]:
        """Wait until at least one started command has a result; return the available results by command."""

    async def fire(self, command: documents.FireCommand) -> None:
        """Execute a command without waiting for its result."""

    def want_handoff(self) -> bool:
        """Return whether to leave the loop with the run unfinished, to continue elsewhere or later."""


async def drive(plan: documents.PinnedPlan, state: documents.State, port: Port) -> documents.Outcome | None:
    """Run to the end; return the outcome, or `None` if the run is handed off."""
    tasks: dict[str, Cancellable] = {command["id"]: port.start(command) for command in versions.pending(plan, state)}
    try:
        while True:
            for command in versions.issue(plan, state):
                if command["kind"] == "fire":
                    await port.fire(command)
                else:
                    tasks[command["id"]] = port.start(command)
            _cancel(tasks, state.pop("withdrawn", []))
            if versions.outcome(plan, state) is not None or port.want_handoff():
                return versions.outcome(plan, state)
            for answered, result in await port.wait_first(tasks):
                tasks.pop(answered, None)
                _cancel(tasks, versions.apply(plan, state, answered, result))
    finally:
        _cancel(tasks, list(tasks))


def _cancel(tasks: dict[str, Cancellable], commands: list[str]) -> None:
    """Cancel commands."""
    for gone in commands:
        if (task := tasks.pop(gone, None)) is not None:
            task.cancel()
