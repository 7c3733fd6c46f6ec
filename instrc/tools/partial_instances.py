"""Unfinished values as instances of classes, with `None` for missing members."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Final

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

_PLAIN: Final = frozenset({str, int, float, bool, NoneType, object, typing.Any})


def partial_instance(kind: object, value: Json) -> object:
    """Return an unfinished value as an instance of a pydantic model or a dataclass, recursively.

    No validator is called.  Dates and similar values are `None` until their text can be parsed.
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN or value is None:
        return value
    if origin is typing.Annotated:
        return partial_instance(inner[0], value)
    if origin in {typing.Union, UnionType}:
        results = [partial_instance(item, value) for item in inner if item is not NoneType]
        return next((result for result in results if result is not None), None)
    if origin is typing.Literal:
        return value if value in inner else None
    if isinstance(value, list):
        return [partial_instance(inner[0], item) for item in value] if _is(origin, Sequence) and inner else value
    if isinstance(value, dict):
        if _is(origin, Mapping) and len(inner) == 2:
            return {name: partial_instance(inner[1], item) for name, item in value.items()}
        return _instance(kind, value) if isinstance(kind, type) else value
    return value if not isinstance(kind, type) or isinstance(value, kind) else _read(kind, value)


def _is(origin: object, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _instance(kind: type, value: dict[str, Json]) -> object:
    fields = _fields(kind)
    if fields is None:
        return value
    given = {name: key for name, (key, _) in fields.items() if key in value}
    built = {name: partial_instance(hint, value[key]) if key in value else None for name, (key, hint) in fields.items()}
    result: object = object.__new__(kind)
    if dataclasses.is_dataclass(kind):
        for name, item in built.items():
            object.__setattr__(result, name, item)
        return result
    state = {"dict": built, "pydantic_fields_set": set(given), "pydantic_extra": None, "pydantic_private": None}
    for name, item in state.items():
        object.__setattr__(result, f"__{name}__", item)
    return result


@cache
def _fields(kind: type) -> dict[str, tuple[str, object]] | None:
    """Return the JSON key and the type of each field, or `None` for a class without fields."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return {field.name: (field.name, hints[field.name]) for field in dataclasses.fields(kind)}
    fields: Mapping[str, typing.Any] | None = getattr(kind, "model_fields", None)
    return None if fields is None else {name: (field.alias or name, field.annotation) for name, field in fields.items()}


def _read(kind: type, value: Json) -> object:
    from pydantic import TypeAdapter, ValidationError

    with suppress(ValidationError):
        return TypeAdapter[object](kind).validate_json(dumps(value, indent=False))
    return None
