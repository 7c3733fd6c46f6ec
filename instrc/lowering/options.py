"""How a schema is to be lowered."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from instrc import arguments
from instrc.limits.payloads import UNROLL

Recursion: TypeAlias = Literal["keep", "unroll", "refuse"]


class LoweringOptions(Struct, frozen=True, gc=False):
    """How a schema is to be lowered."""

    ordered: bool = True
    unroll: int = UNROLL
    recursion: Recursion | None = None
    uniform: str = ""
    """Why plans are sent in their uniform spelling: the budgets that they exceed in the typed one; empty if they are not."""

    def __post_init__(self) -> None:
        """Refuse what cannot be worked with."""
        arguments.truth("ordered", self.ordered)
        arguments.natural_number("unroll", self.unroll)
        if self.recursion is not None:
            arguments.known_word("recursion", self.recursion, get_args(Recursion))
