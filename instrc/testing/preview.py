"""The requests of a program to a model, chunk by chunk: no key, no network, no effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from typing import Final

from msgspec import Struct

from instrc.compiler.emit.emit import located_process
from instrc.compiler.ir import Artefact
from instrc.process.chunk_json import write_step
from instrc.process.flow import Chunk, Step
from instrc.process.process import Process
from instrc.runtime.interpreter.documents import Command, ModelCommand
from instrc.runtime.interpreter.v1.runnable import PlanUnit, RunnablePlan, schema_without_engine
from instrc.runtime.models.model import instance_of, model_message, tool_name
from instrc.runtime.plan import plan_of
from instrc.schema.patterns import time_limit
from instrc.testing.rehearsal import rehearsal_of
from instrc.text.jsonvalue import Json
from instrc.text.sentences import EN, Sentences

PREVIEW_SECONDS: Final = 1
"""Time limit of the searches for patterns in all runs of a preview, in seconds of the processor."""
PREVIEWED_COMMANDS: Final = 4_000
"""Maximum commands of a preview without a new model call; then the search ends."""


class ModelCall(Struct, frozen=True):
    """A chunk of the model, or the part of one that another model completes."""

    chunk: str
    """Name of the chunk; for a part, with its first step as in the command id: `llmContext1.step2_judge`."""
    name: str
    """Name of the tool that the model completes."""
    steps: tuple[str, ...]
    message: str | None
    """Message with the given `prompt` and generated results; `None` if no run of the rehearsal reaches it."""
    schema: Json
    """Schema of the answer."""
    kept: dict[str, dict[str, Json]]
    """Keywords of each step that the engine does not send."""
    model: str | None = None
    """Model that the project sets for it."""
    command: ModelCommand | None = None
    """Command for the model; `None` if no run of the rehearsal reaches it."""


def calls_of(
    artefact: Artefact, given: str, models: Mapping[str, str] | None = None, sentences: Sentences = EN
) -> tuple[ModelCall, ...]:
    """Return the model calls, in the order of the process.

    `given` is the request; `models` are those of steps, which split chunks as in a run.
    """
    process, _ = located_process(artefact)
    document = artefact.documents[artefact.kind]
    regions = RunnablePlan(plan_of(document, models=models)).regions
    units: dict[str, list[PlanUnit]] = {}
    for unit in (unit for region in regions for unit in region.units if unit.kind == "model"):
        units.setdefault(unit.context, []).append(unit)
    divided = {(unit.context, unit.steps[0].key): unit.id for parts in units.values() if len(parts) > 1 for unit in parts}
    watched = _ReachedCalls(divided, sum(map(len, units.values())))
    with time_limit(PREVIEW_SECONDS):
        rehearsal_of(document, {"prompt": given}, _inputs(process), watched.see, watched.enough, models)
    result: list[ModelCall] = []
    for context in process.contexts():
        for unit in units.get(context.name, ()):
            assert isinstance(context, Chunk)
            keys = {step.key for step in unit.steps} if unit.id in divided.values() else None
            steps = tuple(step for step in context.steps if keys is None or step.key in keys)
            names = tuple(step.key for step in steps)
            command = watched.found.get(unit.id)
            name = tool_name(context.name, names if command is None else command["steps"], artefact.step if command else None)
            schema = None if command is None else command["schema"]
            if command is None:
                schema = schema_without_engine(context, steps, process.definitions, alone=False)
            kept = {step.key: _engine_keywords(step) for step in steps}
            sent = None if command is None else model_message(command, sentences)
            result.append(ModelCall(unit.id, name, names, sent, schema, kept, unit.model, command))
    return tuple(result)


class _ReachedCalls:
    """The command of each call that a rehearsal reaches, by `ModelCall.chunk`."""

    def __init__(self, divided: Mapping[tuple[str, str], str], wanted: int) -> None:
        """`divided` has the parts of chunks by chunk and first step."""
        self.divided = divided
        self.wanted = wanted
        self.found: dict[str, ModelCommand] = {}
        self._in_vain = 0

    def see(self, command: Command) -> None:
        self._in_vain += 1
        if command["kind"] != "model":
            return
        steps = command["steps"]
        call = self.divided.get((command["chunk"], steps[0]), command["chunk"]) if steps else command["chunk"]
        if call not in self.found:
            self.found[call] = command
            self._in_vain = 0

    def enough(self) -> bool:
        return len(self.found) == self.wanted or self._in_vain > PREVIEWED_COMMANDS


def _inputs(process: Process) -> dict[str, Json]:
    """Return generated values for the inputs other than `prompt`."""
    return {name: instance_of(schema) for name, schema in (process.inputs or {}).items() if name != "prompt"}


def _engine_keywords(step: Step) -> dict[str, Json]:
    written = write_step(step)
    schema = written if isinstance(written, dict) else {}
    return {word: schema[word] for word in ("references", "arguments", "activity", "within", "delay") if word in schema}


def later_schemas(artefact: Artefact) -> dict[str, Json]:
    """Return the schemas that the model completes after the tool that starts a process, by chunk."""
    process = Process.from_json(artefact.documents["process"])
    first = process.body.contexts[0] if process.body.contexts else None
    return {
        context.name: schema_without_engine(context, context.steps, process.definitions, alone=False)
        for context in process.contexts()
        if isinstance(context, Chunk) and context.executor == "model" and context is not first
    }


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: within 10 % for 95 of 100 prompts of ours, of two tokenizers of open models."""
    return sum(_tokens_of(piece[0]) for piece in _PIECES.finditer(text))


_PIECES: Final = re.compile(r"[^\W\d_]+|\d|[^\w\s]+\n*|_+|\n\s*| {2,}")
_LETTERS: Final = 8
_OTHER_LETTERS: Final = 2.5
"""Assumed characters per token in non-Latin scripts."""
_SIGNS: Final = 3
TEMPLATE_TOKENS: Final = 30
"""Tokens that a server of open weights adds to a message: roles, and its own system prompt."""


def _tokens_of(piece: str) -> int:
    if piece[0].isalpha():
        return ceil(len(piece) / (_LETTERS if piece.isascii() else _OTHER_LETTERS))
    return 1 if piece[0].isdigit() or piece.isspace() else ceil(len(piece.rstrip("\n")) / _SIGNS)
