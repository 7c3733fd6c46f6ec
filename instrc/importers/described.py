"""The JSON Schema of what Python code has instead of one: a model of pydantic, a dataclass, a `TypedDict`, a type."""

from __future__ import annotations

from typing import Any

from instrc import problems
from instrc.jsontext import loads
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.python_types import schema_of as described


def schema_of(value: Any, option: str) -> Json:
    """Return a schema as it is, or that of a type; a `CompileError` that names the `option` if a value has none."""
    if isinstance(value, dict | bool):
        return value
    if isinstance(value, str):
        try:
            found = loads(value)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
    elif value is not None and not isinstance(value, int | float | list | tuple | bytes):
        try:
            schema: Json = described(value)
        except CompileError:
            raise
        except Exception:  # noqa: BLE001, S110  -- the code is not ours, nor is what it raises: said below
            pass
        else:
            return schema
    wanted = "a JSON Schema, or a type that pydantic can describe (a model, a dataclass, a `TypedDict`)"
    raise CompileError([problems.rim.InvalidOption(option=option, given=repr(value)[:60], wanted=wanted)])
