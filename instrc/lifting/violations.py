"""Find out where a value breaks its schema, and how badly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from instrc.codecs.judge import ON_PURPOSE, validator
from instrc.jsonvalue import Json, dumps, pointer


class Violation(NamedTuple):
    """One way in which a value does not satisfy a schema."""

    instance: str
    """Where in the value, as a JSON Pointer."""
    keyword: str
    schema: str
    """Where the keyword stands, as a JSON Pointer into the schema."""
    message: str

    def to_json(self) -> Json:
        """Return the violation as plain JSON."""
        return self._asdict()


def violations(schema: Json, value: Json, most: int = 50) -> tuple[Violation, ...]:
    """Return what is wrong with a value, the first `most` things, the deepest cause of each in its message."""
    if schema is True or schema == {}:
        return ()
    try:
        return tuple(_first(_described(validator(dumps(schema, indent=False)).iter_errors(value)), most))
    except ON_PURPOSE:
        raise
    except BaseException as error:  # noqa: BLE001  -- as above; here it must be said
        return (Violation("", "schema", "", f"the schema cannot be applied: {type(error).__name__}: {error}"[:500]),)


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
        errors = islice(validator(dumps(schema, indent=False)).iter_errors(value), _MOST_WEIGHED)
        cost = sum(_cost(error, leaves, certain=True) for error in errors)
    except ON_PURPOSE:
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


def _first(items: Iterator[Violation], most: int) -> Iterator[Violation]:
    for index, item in enumerate(items):
        if index >= most:
            return
        yield item


def _described(errors: Any) -> Iterator[Violation]:
    for error in errors:
        keyword = error.validator if isinstance(error.validator, str) else "false"
        yield Violation(pointer(error.absolute_path), keyword, pointer(error.absolute_schema_path), str(error.message)[:500])
