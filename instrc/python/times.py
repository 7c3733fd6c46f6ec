"""Describe times and spans of time as the classes of Python read and write them.

The formats that pydantic names for them are those of RFC 3339, which takes less: a `date-time` and a `time` have a zone,
a `duration` has no sign and no fraction.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from instrc.jsonvalue import JsonObject

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema

_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
_DATE_TIME = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME}$"
_TIME_OF_DAY = rf"^{_TIME}(Z|[-+][0-9]{{2}}:[0-9]{{2}})?$"
_SPAN = r"^-?P([0-9]+[YMWD])*([0-9]+[YMWD]|T([0-9]+[HM])*[0-9]+(\.[0-9]+)?[HMS])$"


def described(describe: Callable[..., JsonObject]) -> JsonObject:
    """Return what a method that describes a type says: with our words for times, where it takes pydantic's generator."""
    try:
        parameter = inspect.signature(describe).parameters.get("schema_generator")
    except (TypeError, ValueError):
        return describe()
    usual = getattr(None if parameter is None else parameter.default, "__module__", "") == "pydantic.json_schema"
    return describe(schema_generator=_generator()) if usual else describe()


@lru_cache(maxsize=1)
def _generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema  # optional: only who has such types has it

    class Generator(GenerateJsonSchema):
        def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
            if schema.get("tz_constraint") == "naive":
                return {"type": "string", "pattern": _DATE_TIME}
            return super().datetime_schema(schema)

        def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:  # noqa: ARG002  -- of pydantic
            return {"type": "string", "pattern": _TIME_OF_DAY}

        def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
            said = super().timedelta_schema(schema)
            return {"type": "string", "pattern": _SPAN} if said.get("format") == "duration" else said

    return Generator
