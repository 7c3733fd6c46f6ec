"""Write a process for a batch of items: it has every step once for each item.

A path to a step or to an input follows its item; a path to a whole context shows the steps of all items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from instrc.emit.paths import suffixed
from instrc.ir.flow import Body
from instrc.ir.process import Process
from instrc.ir.reads import Read, map_reads, value_of, written_value
from instrc.ir.steps import Chunk, EngineProperties, EngineSlot, Step
from instrc.jsonvalue import Json, JsonObject, as_texts

_Follow: TypeAlias = Callable[[Read], Read]


def batched(process: Process, chunks: tuple[Chunk, ...], size: int) -> Process:
    """Return a process for `size` items; `chunks` are its contexts, none of which is a block.

    It gives what its last steps give, as a compiled batch: the value of one item has no place in it.
    """
    contexts = frozenset(chunk.name for chunk in chunks)
    keys = frozenset(step.key for chunk in chunks for step in chunk.steps)
    ways = [_follower(contexts, keys, item) for item in range(1, size + 1)]
    inputs = process.inputs
    if inputs is not None:
        inputs = {suffixed(name, item): each for name, each in inputs.items() for item in range(1, size + 1)}
    return replace(process, body=Body(tuple(_chunk(chunk, ways) for chunk in chunks)), inputs=inputs)


def _follower(contexts: frozenset[str], keys: frozenset[str], item: int) -> _Follow:
    """Return what gives a path the name of an item; the longest key wins, what is no key is an input."""

    def follow(read: Read) -> Read:
        names = [segment.name for segment in read.segments]
        start = 1 if names[0] in contexts else 0
        if start == len(names):
            return read
        ends = range(len(names), start, -1)
        end = next((end for end in ends if ".".join(names[start:end]) in keys), start + 1)
        last = read.segments[end - 1]
        named = replace(last, name=suffixed(last.name, item))
        return replace(read, segments=(*read.segments[: end - 1], named, *read.segments[end:]))

    return follow


def _chunk(chunk: Chunk, ways: list[_Follow]) -> Chunk:
    steps = tuple(_step(step, item, follow) for step in chunk.steps for item, follow in enumerate(ways, 1))
    frame: JsonObject | None = chunk.frame
    if frame is not None and "required" in frame:
        required = [suffixed(key, item) for key in as_texts(frame["required"]) for item in range(1, len(ways) + 1)]
        frame = {**frame, "required": [*required]}
    return replace(chunk, steps=steps, frame=frame)


def _step(step: Step, item: int, follow: _Follow) -> Step:
    """Return a step of one item; it is written out, since what it refers to is the same for all."""
    slots = tuple(EngineSlot(slot.path, _engine(slot.engine, follow)) for slot in step.slots)
    return replace(step, key=suffixed(step.key, item), engine=_engine(step.engine, follow), slots=slots, reference=None)


def _engine(engine: EngineProperties, follow: _Follow) -> EngineProperties:
    return replace(
        engine,
        references=tuple(map(follow, engine.references)),
        arguments=None if engine.arguments is None else map_reads(engine.arguments, follow),
        among=None if engine.among is None else follow(engine.among),
        plan=None if engine.plan is None else {name: _tool(tool, follow) for name, tool in engine.plan.items()},
    )


def _tool(tool: Json, follow: _Follow) -> Json:
    """Return a tool of a plan with the arguments that the program gives for the item."""
    if not isinstance(tool, dict) or tool.get("bound") is None:
        return tool
    return {**tool, "bound": written_value(map_reads(value_of(tool["bound"]), follow))}
