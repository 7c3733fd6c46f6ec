"""A program as chunks.

True of this form: every step lies in one chunk (a step that waits for the server's `output` in two),
no chunk needs what a later one gives, neighbours in the sequence differ unless cut by hand,
and every step has its final key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc.ir.graph import Executor, FlatGraph, Unit
from instrc.jsonvalue import Json

Shape: TypeAlias = Literal["tool", "call", "process"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one executor does without a break."""

    executor: Executor
    index: int
    """Its number among the chunks of its executor, from 1."""
    units: tuple[Unit, ...]
    answers: frozenset[int]
    """Steps that stand here with their `output` only; their inputs were filled in an earlier chunk."""
    annotations: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is emitted."""

    flat: FlatGraph
    shape: Shape
    chunks: tuple[Chunk, ...]
    keys: dict[int, str]
    """The key of each step, by number."""
    bare: bool
    """A single model step: its schema is the tool, with no key around it."""
