"""Validate values against schemas: nothing else in the runtime does."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.limits.runs import COMPLAINTS
from instrc.runtime.interpreter.commands import Complaint
from instrc.schema.validation import SchemaValidator, Violation, is_valid, validate


def surely_valid(schema: Json, value: Json) -> bool:
    """Tell whether a value satisfies a schema; one that cannot be applied accepts nothing."""
    return is_valid(value, schema, unsure=False)


def complaints(value: Json, schema: Json) -> list[Complaint]:
    """Return what is wrong with a value, the first things; formats count."""
    return _complaints_of(validate(value, schema, most=COMPLAINTS))


def complaints_by(validator: SchemaValidator, value: Json) -> list[Complaint]:
    """Return what is wrong with a value by a schema that many values are checked against."""
    return _complaints_of(validator.validate(value, most=COMPLAINTS))


def _complaints_of(found: tuple[Violation, ...]) -> list[Complaint]:
    return [{"pointer": each.instance, "message": each.message} for each in found]
