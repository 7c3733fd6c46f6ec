"""Unfinished values as instances of classes, with `None` for missing members."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Final

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.tools.python_types import input_name

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
        kinds = sorted((item for item in inner if item is not NoneType), key=lambda item: _fit(item, value), reverse=True)
        return next((result for item in kinds if (result := partial_instance(item, value)) is not None), None)
    if origin is typing.Literal:
        return value if value in inner else None
    if getattr(kind, "__pydantic_root_model__", False) and isinstance(kind, type):
        return _instance(kind, {"root": value})
    if isinstance(value, list):
        if not (_is(origin, Sequence) and inner):
            return value
        hints = chain(inner, repeat(object)) if origin is tuple and inner[-1] is not Ellipsis else repeat(inner[0])
        items = [partial_instance(hint, item) for hint, item in zip(hints, value, strict=False)]
        return tuple(items) if origin is tuple else items
    if isinstance(value, dict):
        if _is(origin, Mapping) and len(inner) == 2:
            return {name: partial_instance(inner[1], item) for name, item in value.items()}
        return _instance(kind, value) if isinstance(kind, type) else value
    return value if not isinstance(kind, type) or isinstance(value, kind) else _read(kind, value)


def _is(origin: object, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _fit(kind: object, value: Json) -> tuple[bool, int]:
    """Return whether no literal of a class contradicts a value, and how many of its members the class has."""
    kind = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    fields = _fields(kind) if isinstance(kind, type) and isinstance(value, dict) else None
    known = [(hint, value[key]) for key, hint in (fields or {}).values() if key in value] if isinstance(value, dict) else []
    literals = [(typing.get_args(hint), item) for hint, item in known if typing.get_origin(hint) is typing.Literal]
    return all(item in wanted for wanted, item in literals), len(known)


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
    return None if fields is None else {name: (input_name(name, field), field.annotation) for name, field in fields.items()}


def _read(kind: type, value: Json) -> object:
    from pydantic import TypeAdapter, ValidationError

    with suppress(ValidationError):
        return TypeAdapter[object](kind).validate_json(dumps(value, indent=False))
    return None
