"""The nodes of a graph that is to be cut into chunks, and the chunks that the cut gives."""

from __future__ import annotations

from typing import Literal

import msgspec

from instrc.ir.executors import Executor
from instrc.ir.fusion import Unit
from instrc.jsonvalue import Json

ORDER: tuple[Executor | Literal["block"], ...] = ("model", "server", "user", "block")

PLACE: dict[str, int] = {executor: place for place, executor in enumerate(ORDER)}
"""The place of each executor in this order."""

BLOCK = PLACE["block"]


class PartitionNode(msgspec.Struct, frozen=True, gc=False):
    """What is cut as one piece: a unit, or the answer of the server to one."""

    unit: Unit
    executor: int
    """Its executor's place in `ORDER`."""
    answer: bool
    reads: tuple[int, ...] = ()
    """Nodes that come first, by index."""
    apart: tuple[int, ...] = ()
    """Those of them that cannot lie in the same chunk."""


class CutChunk(msgspec.Struct, frozen=True, gc=False):
    """A chunk without its number: its executor's place in `ORDER` and what lies in it."""

    executor: int
    units: tuple[Unit, ...]
    answers: frozenset[int] = frozenset()
    """Those of which the answers of the server stand here."""
    annotations: tuple[Json, ...] = ()


def chunk_of(executor: int, nodes: list[PartitionNode], annotations: tuple[Json, ...] = ()) -> CutChunk:
    """Return the chunk of some nodes."""
    answers = frozenset([node.unit for node in nodes if node.answer and isinstance(node.unit, int)])
    return CutChunk(executor, tuple([node.unit for node in nodes]), answers, annotations)
