"""What comes out: JSON documents by kind.

True of this form: plain JSON, nothing left to resolve, ready to be written.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, cast, get_args

from msgspec import Struct

from instrc.ir.plan import Plan
from instrc.jsonvalue import JsonObject

Emit: TypeAlias = Literal["tool", "result", "flat", "process", "call"]
KINDS = cast("tuple[Emit, ...]", get_args(Emit))
_NUMBER = re.compile(r"^step\d+_")
"""What stands before the name of a step in its key."""


class Artefact(Struct, frozen=True, eq=False):
    """The documents of one export; `tool` and `result` are always among them."""

    name: str
    """The stem of its file names."""
    title: str | None
    documents: dict[Emit, JsonObject]
    """By kind: what a model fills in (`tool`), what comes of it (`result`), and where there is one the `process`,
    its `flat` view, or the direct `call`."""
    plan: Plan | None = None
    """What they were emitted from, which is neither compared nor shown; a vibe file has none."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Artefact):
            return NotImplemented
        return (self.name, self.title, self.documents) == (other.name, other.title, other.documents)

    __hash__ = None  # type: ignore[assignment]  # documents change

    def __repr__(self) -> str:
        return f"Artefact(name={self.name!r}, title={self.title!r}, documents={self.documents!r})"

    @property
    def step(self) -> str | None:
        """The name of the only step, where the tool is its schema, with no key around it."""
        if self.plan is None:
            return self.name  # of a vibe file
        return _NUMBER.sub("", next(iter(self.plan.keys.values()))) if self.plan.bare else None

    @property
    def kind(self) -> Emit:
        """The document that stands for the whole: the process, the direct call, or the tool."""
        return next(kind for kind in ("process", "call", "tool") if kind in self.documents)
