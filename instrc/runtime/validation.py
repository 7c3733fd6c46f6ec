"""Hold values against schemas: the only place of the runtime that judges."""

from __future__ import annotations

from instrc.jsonvalue import AnyJson as Json
from instrc.runtime.interpreter.commands import Complaint
from instrc.schema.validation import is_valid, validate

_MOST = 20
"""Complaints about one value."""


def accepts(schema: Json, value: Json) -> bool:
    """Tell whether a value satisfies a schema; one that cannot be applied accepts nothing."""
    return is_valid(value, schema, unsure=False)


def complaints(value: Json, schema: Json) -> list[Complaint]:
    """Return what is wrong with a value, the first things; formats count."""
    return [{"pointer": found.instance, "message": found.message} for found in validate(value, schema, most=_MOST)]
