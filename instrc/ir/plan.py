"""A program that is cut into chunks: each is carried out by one executor, or is a block.

True of this form: every step lies in one chunk (a step that waits for the server's `output` in two),
no chunk needs what a later one gives, neighbours in the sequence differ unless cut by hand,
every block is a chunk of its own, and every step that is read has its final key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from instrc.ir.blocks import Region, Repeat, Word, regions_of
from instrc.ir.executors import Executor
from instrc.ir.fusion import Unit
from instrc.ir.graph import FlatGraph, Graph
from instrc.jsonvalue import Json

ArtefactShape: TypeAlias = Literal["tool", "call", "process"]


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """What one executor does without a break, or a block."""

    executor: Executor | Word | Literal["else"]
    index: int
    """Its number among the chunks of its executor in the whole program, from 1."""
    units: tuple[Unit, ...]
    answers: frozenset[int]
    """Steps that stand here with their `output` only; their inputs were filled in an earlier chunk."""
    annotations: tuple[Json, ...]
    block: int | None
    """The number of the block that this is; `None` for a chunk of one executor."""


class Plan(msgspec.Struct, frozen=True, gc=False):
    """What is emitted."""

    flat: FlatGraph
    shape: ArtefactShape
    chunks: tuple[Chunk, ...]
    keys: dict[int, str]
    """The key of each step, by number; a block that nothing reads has none."""
    bare: bool
    """A single model step: its schema is the tool, with no key around it."""
    inside: Mapping[int, tuple[Chunk, ...]] = msgspec.field(default_factory=dict)
    """The chunks of each body of a block, by the number of its region."""
    elements: Mapping[int, str] = msgspec.field(default_factory=dict)
    """What the element of a block is called, by the number of its region."""

    def walk(self) -> Iterator[Chunk]:
        """Yield all chunks: a block before what is in it, what is in it before what comes after."""
        yield from all_chunks(self.flat.graph, self.chunks, self.inside)

    @property
    def intersects(self) -> bool:
        """Whether schemas are intersected when it is emitted, so that this may still fail."""
        return bool(self.flat.mixins or self.flat.placed) or any(chunk.annotations for chunk in self.walk())


def all_chunks(graph: Graph, chunks: tuple[Chunk, ...], inside: Mapping[int, tuple[Chunk, ...]]) -> Iterator[Chunk]:
    """Yield chunks and those in them: a block before what is in it, what is in it before what comes after."""
    waiting = list(reversed(chunks))
    while waiting:
        chunk = waiting.pop()
        yield chunk
        if chunk.block is not None:
            for region in reversed(regions_in(graph, chunk)):
                waiting.extend(reversed(inside[region.number]))


def regions_in(graph: Graph, chunk: Chunk) -> tuple[Region, ...]:
    """Return the bodies that lie in a chunk; those of a `repeat` and of its `else` are two chunks."""
    if chunk.block is None:
        return ()
    content = graph.steps[chunk.block].content
    if type(content) is Repeat:
        return regions_of(content)[1:] if chunk.executor == "else" else (content.body,)
    return regions_of(content)
