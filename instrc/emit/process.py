"""Plan to the document of a process: every chunk and block as a context, with the keys and paths that an engine goes by."""

from __future__ import annotations

from instrc.emit.blocks import Blocks, context_name, definition_name
from instrc.emit.paths import suffixed
from instrc.emit.step_schemas import StepSchemas
from instrc.ir import flow
from instrc.ir.executors import Executor
from instrc.ir.paths import ObjectReading, Path, Reading
from instrc.ir.plan import Chunk, Plan, all_chunks
from instrc.ir.process import Process
from instrc.ir.process_writer import references_to, write_block
from instrc.ir.reads import Constant
from instrc.ir.steps import Chunk as ProcessChunk
from instrc.jsonvalue import JsonObject


def process_document(plan: Plan, schemas: StepSchemas, title: str | None) -> JsonObject:
    """Return the JSON of the process of a plan, its steps as they are rendered."""
    blocks = Blocks(plan, schemas.paths)
    graph = plan.flat.graph
    definitions: JsonObject = {}
    known: dict[str, flow.Context] = {}
    """By name; chunks as the bodies around them need them, without their steps: these are written at once."""
    waiting: list[tuple[Chunk, int | None, str, str]] = []
    """Blocks with their names, each before what is in it."""
    names: list[str] = []
    for chunk in plan.chunks:
        # a block is repeated an item, steps are multiplied inside theirs
        once = (None,) if chunk.block is None else schemas.items
        for item in once:
            for each in all_chunks(graph, (chunk,), plan.inside):
                name, definition = context_name(each, item), definition_name(each, item)
                if each is chunk:
                    names.append(name)
                if each.block is not None:
                    definitions[definition] = None  # it keeps its place
                    waiting.append((each, item, name, definition))
                    continue
                executor: Executor = each.executor  # type: ignore[assignment]  # a chunk of one executor
                known[name] = ProcessChunk(name, executor, (), None, definition)
                definitions[definition] = schemas.chunk(each, schemas.items if chunk.block is None else (item,))
    for block, item, name, definition in reversed(waiting):
        made = known[name] = blocks.context(block, name, definition, item, known)
        definitions[definition] = write_block(made)
    value = None
    if graph.value is not None and len(schemas.items) == 1 and _has_members(graph.value):
        value = schemas.paths.value(graph.value)
    inputs = None
    if schemas.paths.quoted or any(graph.inputs.values()):
        inputs = {suffixed(name, item): each for name, each in graph.inputs.items() for item in schemas.items}
    body = flow.Body(tuple([known[name] for name in names]), value)
    return Process(body, title, inputs, schemas.definitions.schemas).with_contexts(references_to(body.contexts), definitions)


def _has_members(value: Reading) -> bool:
    """Tell whether a value is, or holds, a member of what a step gives; every other value is the last key of the record."""
    match value:
        case Path(tail=tail):
            return bool(tail)
        case ObjectReading(members):
            return any(_has_members(member) for _, member in members)
        case Constant():
            return False
