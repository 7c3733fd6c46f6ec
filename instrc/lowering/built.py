"""What is built of a schema before it goes into its envelope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from instrc.jsonvalue import Json
from instrc.lowering.context import Log
from instrc.lowering.losses import Loss
from instrc.problems.targets import BudgetExceeded

SAYING_NOTHING = frozenset({"$schema", "$id", "$comment", "title", "description", "$defs", "definitions"})
"""Keywords of a schema that asks nothing of a value."""


class Built(Struct, frozen=True, eq=False, gc=False):
    """A schema in a target's words, its part of the reverse map, and what was lost."""

    schema: Json
    record: dict[str, Json]
    losses: Sequence[Loss] = ()
    log: Log = None
    """What was noted of further losses."""
    back: Mapping[str, str] = MappingProxyType({})
    """The names of properties by what is sent for them, where the two differ."""
    given_up: tuple[Loss, ...] = ()
    """What is given up to stay within the budgets of the target."""
    strict: bool = True
    """Whether it goes into the envelope of the target, and not into the one without strictness."""
    problems: tuple[BudgetExceeded, ...] = ()
    """The budgets that are exceeded, with what is done about it."""
