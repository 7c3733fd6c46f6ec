"""Find out where a value breaks its schema, and how badly."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from instrc.jsonvalue import Json
from instrc.limits.payloads import COUNTED_VIOLATIONS
from instrc.schema.expressions import time_limit
from instrc.schema.validation import RAISED_ON_PURPOSE, Violation, validate, validator

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


def violations(schema: Json, value: Json) -> tuple[Violation, ...]:
    """Return what is wrong with a value by a schema that a map holds; what the map says of it may be anything."""
    return validate(value, schema)


class LeafViolation(NamedTuple):
    """One place at which a value goes wrong, alternatives that were not meant included."""

    path: tuple[str | int, ...]
    value: Json
    keyword: str
    certain: bool
    """Whether it is wrong whichever alternative was meant."""
    listed: tuple[str, ...] = ()
    """The texts that may stand there, where they are listed."""
    types: tuple[str, ...] = ()
    """The types that a value may have there, where it has another one."""
    keys: frozenset[str] = frozenset()
    """The keys that the schema declares there, where keys are missing or too many, or an object stands alone in a list."""
    items: bool = False
    """Whether the schema says of what lists may be there."""


class Wrongness(NamedTuple):
    """How wrong a value is."""

    cost: int
    """The number of things to repair if the nearest alternatives were meant; 0 for a valid value."""
    leaves: tuple[LeafViolation, ...]


def error_cost(schema: Json, value: Json) -> Wrongness:
    """Return how wrong a value is and where, so that two readings of an answer can be compared."""
    leaves: list[LeafViolation] = []
    try:
        with time_limit():
            errors = islice(validator(schema, formats=True).iter_errors(value), COUNTED_VIOLATIONS)
            cost = sum(_cost(error, leaves, certain=True) for error in errors)
    except RAISED_ON_PURPOSE:
        raise
    except BaseException:  # noqa: BLE001  -- what cannot be judged cannot be repaired
        return Wrongness(1, ())
    return Wrongness(cost, tuple(leaves[:COUNTED_VIOLATIONS]))


def _alone(instance: object) -> object:
    """Return the only item of a list, anything else as it is."""
    return instance[0] if isinstance(instance, list) and len(instance) == 1 else instance


def _keys(schema: object) -> frozenset[str]:
    """Return the keys that a schema declares."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _texts(items: object) -> tuple[str, ...]:
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def _cost(error: ValidationError, leaves: list[LeafViolation], *, certain: bool) -> int:
    """Return what it takes to repair one error: for a union, what its nearest alternative takes."""
    if not error.context:
        keyword, wanted = str(error.validator), error.validator_value
        words = wanted if keyword == "enum" else [wanted] if keyword == "const" else ()
        listed = _texts(words)
        types = _texts(wanted if isinstance(wanted, list) else [wanted]) if keyword == "type" else ()
        keys = _keys(error.schema) if isinstance(_alone(error.instance), dict) else frozenset()
        items = isinstance(error.schema, dict) and bool(error.schema.get("items"))
        instance: Json = error.instance  # type: ignore[assignment]  # its types allow for an error that is about nothing
        leaves.append(LeafViolation(tuple(error.absolute_path), instance, keyword, certain, listed, types, keys, items))
        return 1
    by_branch: dict[str | int | None, int] = {}
    for cause in error.context:
        branch = cause.relative_schema_path[0] if cause.relative_schema_path else None
        by_branch[branch] = by_branch.get(branch, 0) + _cost(cause, leaves, certain=False)
    return 1 + min(by_branch.values())
