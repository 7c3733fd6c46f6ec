"""What a rewrite is told of the lowering that it is part of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, at
from instrc.lowering.names import KeyNames
from instrc.lowering.progress import Progress
from instrc.lowering.variants import Variant


class RewriteContext(Struct, frozen=True, eq=False, gc=False):
    """The target, the schema that is lowered, and where in it a rewrite is at work."""

    dialect: Dialect
    root: Json
    keys: KeyNames
    all_asked: bool
    """Whether each property is required in the payload, so that an optional one is said as nullable."""
    deepest: int
    """The level of the innermost object or array."""
    unroll: int
    recursion: str
    uniform: bool = False
    """Whether plans are sent in their uniform spelling."""
    level: int = 1
    """Of objects and arrays inside one another."""
    nested: int = 0
    """Schemas around this one, combinators included."""
    copying: bool = False
    """Whether each branch of a union around has a copy of what stands here."""
    active: tuple[Hashable, ...] = ()
    """The references that are being written out."""

    def deeper(self) -> RewriteContext:
        """Return the context of what stands in an object or array."""
        return replace(self, level=self.level + 1, nested=self.nested + 1)

    def beside(self) -> RewriteContext:
        """Return the context of another schema about the same value."""
        return replace(self, nested=self.nested + 1)

    def boxed(self) -> RewriteContext:
        """Return the context of a schema that goes into an object or array of which nobody wrote a schema."""
        return replace(self, level=self.level + 1)

    @property
    def too_deep(self) -> str | None:
        """What to say of an object or array at this level if it is one too many."""
        if self.level <= self.deepest:
            return None
        return f"is nested too deeply: this is level {self.level}, and there are {self.deepest}"

    def target(self, reference: Json) -> Json:
        """Return what a reference stands for; a flat schema has local pointers only."""
        return target_of(self.root, reference)


ListVariants: TypeAlias = Callable[[Json, RewriteContext, Progress], tuple[list[Variant], Progress]]
"""Returns the ways in which a value of a schema can be written; none if there is no such value."""


def target_of(root: Json, reference: Json) -> Json:
    """Return what a local reference stands for; the schema that allows everything if it leads nowhere."""
    from urllib.parse import unquote

    try:
        return at(root, unquote(str(reference).removeprefix("#")))
    except (LookupError, ValueError):
        return True
