"""Read an instance of a typed class of Python as JSON: models of pydantic, dataclasses, enumerations, dates, named tuples."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import operator
import uuid
from collections.abc import Mapping
from functools import partial

from instrc.jsonvalue import Json
from instrc.python.aliases import with_input_names

_PLAIN = (str, int, float, bool, type(None))
_KNOWN = (enum.Enum, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID)


def json_of(value: object, *, as_input: bool = False) -> object:
    """Return a typed instance, or what holds such instances, as JSON; any other value as it is.

    With `as_input` it is what the class is made from: without the fields that pydantic computes.

    A member is left out where it is null and null is its default: providers that mark what is left out by null
    could not tell the two apart, and to the class they are the same.
    """
    try:
        return _read(value, as_input=as_input)
    except RecursionError:  # too deep, or a circle: whoever asked says so
        return value


def _read(value: object, *, as_input: bool) -> object:
    if type(value) in _PLAIN:
        return value
    if type(value) in {list, tuple, set, frozenset} and isinstance(value, list | tuple | set | frozenset):
        items = [_read(item, as_input=as_input) for item in value]
        return value if type(value) is list and all(map(operator.is_, items, value)) else items
    if type(value) is dict and isinstance(value, dict):
        members = {key: _read(item, as_input=as_input) for key, item in value.items()}
        return value if all(members[key] is item for key, item in value.items()) else members
    return value if isinstance(value, Mapping | type) else _dumped(value, as_input=as_input)


def _dumped(value: object, *, as_input: bool) -> object:
    try:
        from pydantic import TypeAdapter  # optional: only who has such values has it
        from pydantic.errors import PydanticUserError
    except ImportError:
        return value
    if not _is_typed(value):
        return value
    try:
        adapter = TypeAdapter(type(value))
        dump = partial(adapter.dump_python, value, mode="json", by_alias=True, round_trip=as_input, warnings=False)
        whole: Json = dump()
        said: Json = dump(exclude_defaults=True)
    except (PydanticUserError, ValueError, TypeError, RecursionError):
        return value  # it has no JSON: whoever asked says so
    found = _without_null_defaults(whole, said)
    return with_input_names(value, found) if as_input else found


def why_unwritten(value: object) -> str:
    """Return why pydantic cannot write an instance as JSON, in one line of its words; nothing if it says nothing."""
    if not _is_typed(value):
        return ""
    try:
        from pydantic import TypeAdapter  # is there: it has tried before

        TypeAdapter(type(value)).dump_python(value, mode="json", warnings=False)
    except Exception as error:  # noqa: BLE001  -- whatever it, or code of the class, raises
        return " ".join(str(error).split())[:200]
    return ""


def _is_typed(value: object) -> bool:
    """Tell whether pydantic reads the class of a value by its annotations, or knows it."""
    kind = type(value)
    described = hasattr(kind, "model_fields") or dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
    return described or isinstance(value, _KNOWN)


def _without_null_defaults(whole: Json, said: Json) -> Json:
    """Return a dump without the nulls that the dump without defaults leaves out."""
    if isinstance(whole, dict):
        other = said if isinstance(said, dict) else {}
        return {
            key: _without_null_defaults(item, other.get(key, item))
            for key, item in whole.items()
            if item is not None or key in other or not isinstance(said, dict)
        }
    if isinstance(whole, list) and isinstance(said, list) and len(whole) == len(said):
        return [_without_null_defaults(item, other) for item, other in zip(whole, said, strict=True)]
    return whole
