"""What a model receives of a program, chunk by chunk, found out by a rehearsal: no key, no network, no effect.

The interpreter runs the process, once for each branch; answers, results and decisions are made from the schemas.
So messages and schemas are those that an engine would send.
"""

from __future__ import annotations

from dataclasses import dataclass

from instrc.emit.artefacts import located_process
from instrc.ir.artefact import Artefact
from instrc.ir.chunk_json import write_step
from instrc.ir.process import Process
from instrc.ir.steps import Chunk, Step
from instrc.jsonvalue import Json
from instrc.limits.runs import PREVIEWED_COMMANDS
from instrc.rehearsing.rehearsal import rehearsal_of
from instrc.runtime.interpreter.commands import Command
from instrc.runtime.interpreter.v1.views import schema_without_engine
from instrc.runtime.message import model_message, tool_name
from instrc.runtime.models.sampling import instance_of


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One chunk of the model."""

    chunk: str
    name: str
    """Of the tool that the model fills in."""
    steps: tuple[str, ...]
    message: str | None
    """What is sent with `prompt` as given and made results; `None` where no run of the rehearsal reaches it."""
    schema: Json
    """What the model fills in."""
    kept: dict[str, dict[str, Json]]
    """What the engine keeps back of each step."""


def calls_of(artefact: Artefact, given: str) -> tuple[ModelCall, ...]:
    """Return the calls of the model, in the order in which they stand in the process; `given` is the request."""
    process, _ = located_process(artefact)
    document = artefact.documents[artefact.kind]
    chunks = [each.name for each in process.contexts() if isinstance(each, Chunk) and each.executor == "model"]
    reached = _reached(document, given, _inputs(process), len(chunks), artefact.step)
    found: list[ModelCall] = []
    for context in process.contexts():
        if isinstance(context, Chunk) and context.executor == "model":
            steps = tuple(step.key for step in context.steps)
            sent, schema, name = reached.get(context.name, (None, None, tool_name(context.name, steps, None)))
            shown = (
                schema if sent is not None else schema_without_engine(context, context.steps, process.definitions, alone=False)
            )
            found.append(
                ModelCall(context.name, name, steps, sent, shown, {step.key: _engine_keywords(step) for step in context.steps})
            )
    return tuple(found)


def later_schemas(artefact: Artefact) -> dict[str, Json]:
    """Return what the model fills in after the tool that starts a process, by chunk."""
    process = Process.from_json(artefact.documents["process"])
    first = process.body.contexts[0] if process.body.contexts else None
    return {
        context.name: schema_without_engine(context, context.steps, process.definitions, alone=False)
        for context in process.contexts()
        if isinstance(context, Chunk) and context.executor == "model" and context is not first
    }


def _inputs(process: Process) -> dict[str, Json]:
    """Return made values for the inputs beside `prompt`."""
    return {name: instance_of(schema) for name, schema in (process.inputs or {}).items() if name != "prompt"}


def _engine_keywords(step: Step) -> dict[str, Json]:
    written = write_step(step)
    schema = written if isinstance(written, dict) else {}
    return {word: schema[word] for word in ("references", "arguments", "activity", "within", "delay") if word in schema}


def _reached(
    document: Json, given: str, inputs: dict[str, Json], wanted: int, only: str | None
) -> dict[str, tuple[str, Json, str]]:
    """Return message, schema and name of the tool of each chunk that a rehearsal reaches.

    `wanted` is how many there are, `only` the name of the only step of a program.
    """
    found: dict[str, tuple[str, Json, str]] = {}
    in_vain = 0

    def watch(command: Command) -> None:
        nonlocal in_vain
        in_vain += 1
        if command["kind"] == "model" and command["chunk"] not in found:
            name = tool_name(command["chunk"], command["steps"], only)
            found[command["chunk"]] = model_message(command), command["schema"], name
            in_vain = 0

    def enough() -> bool:
        return len(found) == wanted or in_vain > PREVIEWED_COMMANDS

    rehearsal_of(document, {"prompt": given}, inputs, watch, enough)
    return found
