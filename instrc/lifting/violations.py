"""Find out where a value breaks its schema, and how badly."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from instrc.jsonvalue import Json
from instrc.schema.expressions import time_limit
from instrc.schema.validation import RAISED_ON_PURPOSE, Violation, validate, validator

__all__ = ["Leaf", "Violation", "Weight", "violations", "weighed"]


def violations(schema: Json, value: Json) -> tuple[Violation, ...]:
    """Return what is wrong with a value by a schema that a map holds; what the map says of it may be anything."""
    return validate(value, schema)


class Leaf(NamedTuple):
    """One place at which a value goes wrong, alternatives that were not meant included."""

    path: tuple[str | int, ...]
    value: Json
    keyword: str
    certain: bool
    """Whether it is wrong whichever alternative was meant."""


class Weight(NamedTuple):
    """How wrong a value is."""

    cost: int
    """The number of things to mend if the nearest alternatives were meant; 0 for a valid value."""
    leaves: tuple[Leaf, ...]


_MOST_WEIGHED = 300


def weighed(schema: Json, value: Json) -> Weight:
    """Return how wrong a value is and where, so that two readings of an answer can be compared."""
    leaves: list[Leaf] = []
    try:
        with time_limit():
            errors = islice(validator(schema, formats=True).iter_errors(value), _MOST_WEIGHED)
            cost = sum(_cost(error, leaves, certain=True) for error in errors)
    except RAISED_ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- as above: what cannot be judged cannot be mended
        return Weight(1, ())
    return Weight(cost, tuple(leaves[:_MOST_WEIGHED]))


def _cost(error: Any, leaves: list[Leaf], *, certain: bool) -> int:
    """Return what it takes to mend one error: for a union, what its nearest alternative takes."""
    if not error.context:
        leaves.append(Leaf(tuple(error.absolute_path), error.instance, str(error.validator), certain))
        return 1
    by_branch: dict[Any, int] = {}
    for cause in error.context:
        branch = cause.relative_schema_path[0] if cause.relative_schema_path else None
        by_branch[branch] = by_branch.get(branch, 0) + _cost(cause, leaves, certain=False)
    return 1 + min(by_branch.values())
