"""Build the schema of a context: the object of its steps, with the annotations that the program has for the context."""

from __future__ import annotations

from instrc.emit.container import Container
from instrc.ir.graph import Graph
from instrc.ir.plan import Chunk
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.source import Span


def context(graph: Graph, chunk: Chunk, steps: Container, at: Span | None) -> dict[str, Json]:
    """Return the object of a chunk, whose first step is written at `at`; a `CompileError` if it requires what is not there."""
    if chunk.annotations:
        from instrc.passes.compose.required import missing_in_context  # few chunks have annotations

        written = next((each for each in graph.contexts or () if each.annotations is chunk.annotations), None)
        missing = () if written is None else tuple(missing_in_context(written, steps.schema()))
        if missing:
            raise CompileError(missing)
    return steps.schema(chunk.annotations, at)
