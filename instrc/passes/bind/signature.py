"""What a call of an instruction becomes, as far as its schema says it: worked out once for all calls of it."""

from __future__ import annotations

from msgspec import Struct

from instrc.ir.executors import Executor
from instrc.ir.fusion import Instruction, InstructionKind
from instrc.jsonvalue import Json, mapping


class Signature(Struct, frozen=True):
    """The step that a call makes."""

    schema: Json
    """Flat, without annotations."""
    properties: dict[str, None]
    """Their names in order, those that annotations add included."""
    kind: InstructionKind
    base_name: str
    executor: Executor
    output: bool
    """It gives back its property `output` only."""
    activity: str | None
    """What the server is called by."""
    number: int | None
    """That of its steps without anything composed into them, as `Identities.kind` gives it; `None` for one with annotations."""


def signature(instruction: Instruction, schema: Json, annotations: tuple[Json, ...]) -> Signature:
    """Return the signature of an instruction with a flat schema and annotations behind it, without its number."""
    properties = property_names(schema, annotations)
    kind = instruction.kind
    executor: Executor = "server" if kind == "server" else "user" if kind == "user" else "model"
    output = "output" in properties and executor != "user"
    if output and len(properties) == 1:
        executor = "server"  # nothing is left for the model to fill in
    activity = instruction.name if executor == "server" or output else None
    return Signature(schema, properties, kind, instruction.base_name, executor, output, activity, None)


def property_names(schema: Json, annotations: tuple[Json, ...]) -> dict[str, None]:
    """Return the names of the top-level properties in order, those that annotations add included."""
    found: dict[str, None] = {}
    for part in (schema, *annotations) if annotations else (schema,):
        if isinstance(part, dict):
            found.update(dict.fromkeys(mapping(part.get("properties"))))
    return found
