"""Show a model values of a tool, as it would write them itself."""

from __future__ import annotations

from contextlib import suppress

from instrc.codecs.encode import Inexpressible, encode
from instrc.ir.dialect import Dialect
from instrc.ir.tool import Tool
from instrc.jsonvalue import Json
from instrc.lowering.envelopes import fill_envelope
from instrc.lowering.losses import Loss


def examples_field(tool: Tool, record: Json, dialect: Dialect) -> tuple[list[Json] | None, list[Loss]]:
    """Return the examples of a tool for their field of the envelope, `None` if there are none, and what is left out.

    `CompileError` with `invalid-answer` problems for an example that does not satisfy the schema.
    """
    if not tool.examples:
        return None, []
    if dialect.example is None:
        for example in tool.examples:
            with suppress(Inexpressible):
                encode(example.value, record)  # a wrong one is told wherever it goes
        return None, [Loss("", "examples", None, "annotation", "have no field in the envelope of the target")]
    found: list[Json] = []
    losses: list[Loss] = []
    for number, example in enumerate(tool.examples):
        try:
            value = encode(example.value, record)
        except Inexpressible as error:
            losses.append(Loss("", "examples", example.value, "annotation", f"number {number + 1} is left out: {error}"))
            continue
        found.append(fill_envelope(dialect.example, {"@value": value, "@request": example.request or ""}))
    return found or None, losses
