"""Ask a JSON Schema validator for its verdict; hostile schemas get an answer too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from instrc.jsonvalue import Json, dumps, loads, pointer


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


@lru_cache(maxsize=512)
def _validator(text: str) -> Any:
    from jsonschema import Draft202012Validator  # 100 ms, needed for answers and rare literals only

    return Draft202012Validator(loads(text))


_MOST_FOLLOWED = 10
"""References to references that are followed."""

_MEANT = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""What is raised on purpose; endless recursion may surface as a panic of the validator's own maps, which is no `Exception`."""


def accepts(schema: Json, value: Json, definitions: Json = None) -> bool:
    """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
    if isinstance(schema, bool):
        return schema
    if definitions:
        schema = {**schema, "$defs": definitions}
    try:
        return bool(_validator(dumps(schema, indent=False)).is_valid(value))
    except _MEANT:
        raise
    except BaseException:  # noqa: BLE001  -- patterns Python cannot read, references that lead nowhere, endless recursion
        return True


class Judge:
    """The verdict on values of schemas that refer to common definitions, which are read once for all of them."""

    def __init__(self, definitions: Json) -> None:
        """`definitions` are schemas by name, and references to them begin with `#/$defs/`; `None` if there are none."""
        self._definitions: dict[str, Json] = definitions if isinstance(definitions, dict) else {}
        self._validator: Any = None

    def accepts(self, schema: Json, value: Json) -> bool:
        """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
        if isinstance(schema, bool):
            return schema
        try:
            if self._validator is None:
                from jsonschema import Draft202012Validator  # as above

                self._validator = Draft202012Validator({"$defs": self._definitions})
            return bool(self._validator.evolve(schema=schema).is_valid(value))
        except _MEANT:
            raise
        except BaseException:  # noqa: BLE001  -- as for `accepts`
            return True

    def seen_through(self, schema: Json) -> Json:
        """Return what a schema that only refers to a definition stands for."""
        for _ in range(_MOST_FOLLOWED):
            if not isinstance(schema, dict) or not isinstance(ref := schema.get("$ref"), str):
                break
            schema = self._definitions.get(ref.removeprefix("#/$defs/"), True)
        return schema


def violations(schema: Json, value: Json, most: int = 50) -> tuple[Violation, ...]:
    """Return what is wrong with a value, the first `most` things, the deepest cause of each in its message."""
    if schema is True or schema == {}:
        return ()
    try:
        return tuple(_first(_described(_validator(dumps(schema, indent=False)).iter_errors(value)), most))
    except _MEANT:
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
        errors = islice(_validator(dumps(schema, indent=False)).iter_errors(value), _MOST_WEIGHED)
        cost = sum(_cost(error, leaves, certain=True) for error in errors)
    except _MEANT:
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
