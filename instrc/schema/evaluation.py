"""Tell of a value whether it satisfies a schema, as far as that is certain for every validator.

The answer is `None` where validators differ (formats, odd patterns, steps that are no binary fractions), where something cannot
be resolved, and where a keyword is malformed or unknown: whoever asks must be right whatever the validator says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from instrc.jsonvalue import Json
from instrc.limits.schemas import DEPTH, EVALUATIONS
from instrc.schema.kinds import kind_of_value, kinds_spoken_of
from instrc.schema.laws.law import Answer, all_satisfied
from instrc.schema.laws.table import LAWS
from instrc.schema.vocabulary import NO_ASSERTIONS, SPEAKS_OF

Resolve: TypeAlias = Callable[[str], Json]
"""From a reference to the schema that it leads to; `None` if that is not known."""


def satisfies(value: Json, schema: Json, resolve: Resolve | None = None) -> Answer:
    """Tell whether a value satisfies a schema; `None` if that is not certain."""
    return InstanceCheck(resolve).of(value, schema, 0)


class InstanceCheck:
    """The asking of one question; the number of steps is bounded."""

    def __init__(self, resolve: Resolve | None) -> None:
        self.resolve = resolve
        self.steps: int = 0

    def of(self, value: Json, schema: Json, depth: int) -> Answer:
        """Tell whether a value satisfies a schema."""
        if schema.__class__ is bool:
            return bool(schema)
        self.steps += 1
        if schema.__class__ is not dict or depth > DEPTH or self.steps > EVALUATIONS:
            return None
        kind = kind_of_value(value)
        return all_satisfied(self._of_keyword(value, kind, keyword, schema, depth) for keyword in schema)

    def target(self, reference: Json) -> Json:
        """Return the schema that a reference leads to; `None` if it is not known."""
        return self.resolve(reference) if self.resolve is not None and reference.__class__ is str else None

    def _of_keyword(self, value: Json, kind: str, keyword: str, schema: dict[str, Json], depth: int) -> Answer:
        """Tell whether a value satisfies one keyword of a schema."""
        if keyword in NO_ASSERTIONS:
            return True
        if keyword in SPEAKS_OF and kind not in kinds_spoken_of(SPEAKS_OF[keyword]):
            return True
        satisfied = LAWS[keyword].satisfied
        return None if satisfied is None else satisfied(self, value, keyword, schema, depth)
