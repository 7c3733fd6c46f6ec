"""Plan to process: every chunk and block as a context, with the keys and paths that an engine goes by."""

from __future__ import annotations

from instrc.emit.blocks import Blocks, context_name, definition_name
from instrc.emit.paths import suffixed
from instrc.emit.step_schemas import StepSchemas
from instrc.ir import flow
from instrc.ir.paths import ObjectReading, Path, Reading
from instrc.ir.plan import Chunk, Plan, all_chunks
from instrc.ir.process import Process
from instrc.ir.reads import Constant


def make_process(plan: Plan, schemas: StepSchemas, title: str | None) -> Process:
    """Return the process of a plan, its steps as they are rendered."""
    blocks = Blocks(plan, schemas.paths)
    made: dict[str, flow.Context] = {}
    waiting: list[tuple[Chunk, int | None]] = []
    """Blocks, each before what is in it."""
    names: list[str] = []
    for chunk in plan.chunks:
        # a block is repeated an item, steps are multiplied inside theirs
        once = (None,) if chunk.block is None else schemas.items
        for item in once:
            names.append(context_name(chunk, item))
            for each in all_chunks(plan.flat.graph, (chunk,), plan.inside):
                if each.block is not None:
                    waiting.append((each, item))
                    continue
                name = context_name(each, item)
                items = schemas.items if chunk.block is None else (item,)
                made[name] = schemas.chunk(name, each, items, definition_name(each, item))
    for block, item in reversed(waiting):
        made[context_name(block, item)] = blocks.context(block, item, made)
    graph = plan.flat.graph
    value = None
    if graph.value is not None and len(schemas.items) == 1 and _has_members(graph.value):
        value = schemas.paths.value(graph.value)
    inputs = None
    if schemas.paths.quoted or any(graph.inputs.values()):
        inputs = {suffixed(name, item): each for name, each in graph.inputs.items() for item in schemas.items}
    body = flow.Body(tuple(made[name] for name in names), value)
    return Process(body, title, inputs, schemas.definitions.schemas)


def _has_members(value: Reading) -> bool:
    """Tell whether a value is, or holds, a member of what a step gives; every other value is the last key of the record."""
    match value:
        case Path(tail=tail):
            return bool(tail)
        case ObjectReading(members):
            return any(_has_members(member) for _, member in members)
        case Constant():
            return False
