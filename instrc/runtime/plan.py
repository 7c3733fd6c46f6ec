"""The plan of a run: process, version of the interpreter, and the settings that decide what happens; pinned by a digest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from instrc.ir.process import Process
from instrc.ir.steps import Chunk, Step
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject
from instrc.naming import snake
from instrc.runtime.interpreter.documents import PinnedPlan, PlanKind, RunOptions
from instrc.runtime.interpreter.names import bare_name
from instrc.runtime.interpreter.versions import CURRENT

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
    entry: Json = None,
    pauses: bool = True,
    step: str | None = None,
) -> PinnedPlan:
    """Return the plan of a document: a process, a tool, or a direct call.

    `activities` are the names that are registered, so that a step that is called like one is also sent to it.
    `asks` is how often a model is asked again; `elements` how many of an `each` run at the same time;
    `requests` and `tokens` are the budget for models.
    `entry` is the answer of the first chunk, where it is filled already: by the model that has started the process.
    `step` is the name of the only step of a tool, whose answer has no key for it.
    Without `pauses` no `delay` is waited for: nothing is gained by it in a rehearsal.
    """
    kind, written = _process(document)
    process = Process.from_json(written)
    options: RunOptions = {"asks": asks, "elements": elements}
    if requests is not None:
        options["requests"] = requests
    if tokens is not None:
        options["tokens"] = tokens
    if entry is not None:
        options["entry"] = entry
    fires = {bare_name(name): name for name in activities}
    keys = {step.key for step in _steps(process)}
    fires = {bare: name for bare, name in sorted(fires.items()) if any(bare_name(key) == bare for key in keys)}
    if not pauses:
        options["pauses"] = False
    if fires:
        options["fires"] = fires
    if step is not None and kind == "tool":
        options["step"] = step
    if models:
        options["models"] = dict(models)
    plan: PinnedPlan = {"interpreter": CURRENT, "kind": kind, "process": written, "options": options, "digest": ""}
    plan["digest"] = plan_digest(plan)
    return plan


def has_pauses(plan: PinnedPlan) -> bool:
    """Tell whether a run waits for delays, as the processes that it calls then do."""
    return plan["options"].get("pauses", True) is True


def plan_digest(plan: PinnedPlan) -> str:
    """Return what pins a plan: equal for plans that are equal as JSON texts."""
    text = dumps({key: value for key, value in plan.items() if key != "digest"}, indent=False)
    return sha256(text.encode()).hexdigest()


def _process(document: Json) -> tuple[PlanKind, JsonObject]:
    """Return a document as a process: a tool is one chunk, a direct call one chunk and an activity that is not waited for."""
    if isinstance(document, dict) and "properties" not in document and isinstance(document.get("tool"), dict):
        tool, name = document["tool"], str(document.get("activity"))
        step = {"activity": name, "arguments": document.get("arguments")}
        contexts: dict[str, Json] = {"llmContext1": tool, "serverContext1": {"properties": {snake(name): step}}}
        return "call", _wrap_tool(contexts, tool)
    if isinstance(document, dict) and Process.describes(document):
        return "process", document
    properties = document.get("properties") if isinstance(document, dict) else None
    keyed = isinstance(properties, dict) and bool(properties) and all(map(_STEP.fullmatch, properties))
    return "steps" if keyed else "tool", _wrap_tool({"llmContext1": document}, document)


def _wrap_tool(contexts: JsonObject, tool: Json) -> JsonObject:
    tool = tool if isinstance(tool, dict) else {"description": "Anything."} if tool else {"not": {}}
    own = {key: value for key, value in tool.items() if key not in {"$defs", "$schema"}}
    made: JsonObject = {"type": "object", "properties": {**contexts, "llmContext1": own}, "required": list(contexts)}
    return {**made, "$defs": tool["$defs"]} if "$defs" in tool else made


def _steps(process: Process) -> Iterable[Step]:
    for context in process.contexts():
        if isinstance(context, Chunk):
            yield from context.steps
