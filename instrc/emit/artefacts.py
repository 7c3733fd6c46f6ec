"""Read any artefact as a process, as `preview`, `graph` and `diff` need it: a tool is a process of one chunk."""

from __future__ import annotations

from instrc.emit.emit import process_of as process_of_plan
from instrc.ir.artefact import Artefact
from instrc.ir.process import Process
from instrc.jsonvalue import Json, JsonObject
from instrc.source import Span


def located_process(artefact: Artefact, *, hint: str | None = None) -> tuple[Process, dict[str, Span]]:
    """Return an artefact as a process, a tool as one of a single chunk, and where the program defines the step of each key."""
    plan = artefact.plan
    if plan is None:
        return Process.from_json(artefact.documents.get("process") or _as_process(artefact)), {}
    places = {key: plan.flat.graph.steps[number].span for number, key in plan.keys.items() if number in plan.flat.graph.steps}
    written = artefact.documents.get("process")
    return process_of_plan(plan, hint=hint) if written is None else Process.from_json(written), places


def _as_process(artefact: Artefact) -> Json:
    """Return the tool of a vibe file as a process of one chunk with one step."""
    tool = artefact.documents["tool"]
    definitions = tool.get("$defs", {}) if isinstance(tool, dict) else {}
    chunk: JsonObject = {"type": "object", "properties": {artefact.name: tool}, "required": [artefact.name]}
    title: JsonObject = {"title": artefact.title} if artefact.title else {}
    contexts: JsonObject = {"llmContext1": chunk}
    return {**title, "type": "object", "properties": contexts, "required": ["llmContext1"], "$defs": definitions}
