"""What comes out: JSON documents by kind.

True of this form: plain JSON, nothing left to resolve, ready to be written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast, get_args

from instrc.ir.plan import Plan
from instrc.jsonvalue import JsonObject

Emit: TypeAlias = Literal["tool", "result", "flat", "process", "call"]
KINDS = cast("tuple[Emit, ...]", get_args(Emit))


@dataclass(frozen=True, slots=True)
class Artefact:
    """The documents of one export; `tool` and `result` are always among them."""

    name: str
    """The stem of its file names."""
    title: str | None
    documents: dict[Emit, JsonObject]
    plan: Plan | None = field(default=None, repr=False, compare=False)
    """What they were emitted from; a vibe file has none."""

    @property
    def kind(self) -> Emit:
        """The document that stands for the whole: the process, the direct call, or the tool."""
        return next(kind for kind in ("process", "call", "tool") if kind in self.documents)
