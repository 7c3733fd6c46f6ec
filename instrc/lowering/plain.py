"""Make sure that a value is JSON before anything is read in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from instrc.jsonvalue import AnyJson as Json

_STRICTLY = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


def plain(value: Any) -> Json:
    """Return a value of JSON; mappings and tuples in it become objects and lists.  `TypeError` for what JSON cannot say."""
    try:
        same = orjson.loads(orjson.dumps(value, option=_STRICTLY)) == value
    except (TypeError, RecursionError, orjson.JSONDecodeError):
        same = False
    return value if same else _plain_copy(value)  # what is no JSON, such as a tuple or no number, comes back as something else


def _plain_copy(value: Any) -> Json:
    """Return the value, with each part of it looked at; what is JSON already stays the same object."""
    root: list[Any] = [value]
    stack: list[tuple[Any, Any]] = [(root, 0)]
    around: set[int] = set()
    while stack:
        holder, key = stack.pop()
        if holder is None:
            around.discard(key)
            continue
        here = holder[key]
        if isinstance(here, Mapping | list | tuple):
            if id(here) in around:
                message = "this holds itself"
                raise TypeError(message)
            around.add(id(here))
            stack.append((None, id(here)))
        if here is None or here.__class__ in (bool, int, str):
            _check_text(here)
        elif here.__class__ is float:
            if not math.isfinite(here):
                message = f"{here} is no number of JSON"
                raise TypeError(message)
        elif isinstance(here, Mapping):
            for name in here:
                if not isinstance(name, str):
                    message = f"{name!r:.60} is no key of JSON"
                    raise TypeError(message)
                _check_text(name)
            copy: Any = dict(here)
            holder[key] = copy
            stack.extend((copy, name) for name in copy)
        elif isinstance(here, list | tuple):
            copy = list(here)
            holder[key] = copy
            stack.extend((copy, index) for index in range(len(copy)))
        elif isinstance(here, str | int | float) and not isinstance(here, bool):  # an enumeration's member and its like
            holder[key] = next(base(here) for base in (str, int, float) if isinstance(here, base))
        else:
            message = f"{here!r:.60} is no value of JSON"
            raise TypeError(message)
    return root[0]


def _check_text(value: Any) -> None:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            message = "a text holds half of a character (a lone surrogate)"
            raise TypeError(message) from None
