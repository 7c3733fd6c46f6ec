"""Deadlines and delays: which words of an annotation are about time, not about the value."""

from __future__ import annotations

from instrc.ir.graph import TIMING
from instrc.jsonvalue import Json


def timing_words(annotation: str | dict[str, Json] | None) -> tuple[str, ...]:
    """Return the words of an annotation that give a deadline or a delay."""
    return tuple(word for word in TIMING if isinstance(annotation, dict) and word in annotation)
