"""What may be chosen about a compilation."""

from __future__ import annotations

from msgspec import Struct

from instrc.limits.schemas import FLAT_SCHEMAS

HINT = "Use {paths}."
"""What a model step's description says about the data it reads; `{paths}` stands for them."""


class CompileOptions(Struct, frozen=True):
    """What may be chosen about a compilation."""

    naming: str = "step"
    """`step` for `step1_find_slot`, `camel` for `findSlot`."""
    hints: bool = True
    hint: str = HINT
    """The sentence a model step's description gets; `{paths}` stands for what it reads."""
    batch: int = 1
    sketch: bool = False
    """Take unknown instructions for objects of anything."""
    limit: int = FLAT_SCHEMAS
    """How many schemas a composed one may have."""
    keywords: frozenset[str] = frozenset()
    """Keywords and formats of schemas that the project has for itself."""
    templates: bool = False
    """Texts of programs are templates that other code fills in."""
