"""Hold values against schemas: the only place of the runtime that judges."""

from __future__ import annotations

from instrc.codecs.judge import accepts, violations
from instrc.jsonvalue import Json
from instrc.runtime.interpreter.commands import Complaint

__all__ = ["accepts", "complaints"]

_MOST = 20
"""Complaints about one value."""


def complaints(value: Json, schema: Json) -> list[Complaint]:
    """Return what is wrong with a value, the first things."""
    return [{"pointer": found.instance, "message": found.message} for found in violations(schema, value, _MOST)]
