"""Ask a JSON Schema validator for its verdict; hostile schemas get an answer too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.jsonvalue import Json
from instrc.limits.payloads import JUDGED_REFERENCES
from instrc.schema.expressions import time_limit
from instrc.schema.validation import RAISED_ON_PURPOSE, is_valid, of

if TYPE_CHECKING:
    from instrc.schema.validators import Validator


def accepts(schema: Json, value: Json, definitions: Json = None) -> bool:
    """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
    return is_valid(value, {**schema, "$defs": definitions} if definitions and isinstance(schema, dict) else schema)


class DefinitionsValidator:
    """The verdict on values of schemas that refer to common definitions, which are read once for all of them."""

    def __init__(self, definitions: Json) -> None:
        """`definitions` are schemas by name, and references to them begin with `#/$defs/`; `None` if there are none."""
        self._definitions: dict[str, Json] = definitions if isinstance(definitions, dict) else {}
        self._validator: Validator | None = None

    def accepts(self, schema: Json, value: Json) -> bool:
        """Say whether a value satisfies a schema; a schema that cannot be judged accepts."""
        if isinstance(schema, bool):
            return schema
        try:
            if self._validator is None:
                self._validator = of({"$defs": self._definitions}, formats=False)
            with time_limit():
                return self._validator.evolve(schema=schema).is_valid(value)
        except RAISED_ON_PURPOSE:
            raise
        except BaseException:  # noqa: BLE001  -- references that lead nowhere, endless recursion, keywords with odd values
            return True

    def dereferenced(self, schema: Json) -> Json:
        """Return what a schema that only refers to a definition stands for."""
        for _ in range(JUDGED_REFERENCES):
            if not isinstance(schema, dict) or not isinstance(ref := schema.get("$ref"), str):
                break
            schema = self._definitions.get(ref.removeprefix("#/$defs/"), True)
        return schema
