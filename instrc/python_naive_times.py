"""Describe times of Python that must have no zone: pydantic says `date-time` of them as well, which asks for one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from instrc.jsonvalue import JsonObject

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema

_WITHOUT_ZONE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?$"


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
                return {"type": "string", "pattern": _WITHOUT_ZONE}
            return super().datetime_schema(schema)

    return Generator
