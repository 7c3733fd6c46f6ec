"""Make typed dicts readable for pydantic, which reads those of `typing` from Python 3.12 on only."""

from __future__ import annotations

import operator
import sys
import typing
from types import UnionType
from typing import TypeVar, cast

T = TypeVar("T")


def with_readable_dicts(value: T) -> T:
    """Return a type with the typed dicts in it made anew: those of `typing` pydantic reads from Python 3.12 on only."""
    if sys.version_info >= (3, 12):
        return value
    if typing.is_typeddict(value) and value.__class__.__module__ == "typing":
        from typing import NotRequired, Required  # comes with pydantic

        from typing_extensions import TypedDict

        hints = typing.get_type_hints(value, include_extras=True)
        members = {
            name: (Required if _is_required(value, name, hint) else NotRequired)[with_readable_dicts(_bare(hint))]
            for name, hint in hints.items()
        }
        made = TypedDict(value.__name__, members)  # type: ignore[misc]  # by its call, as the library allows
        made.__doc__ = value.__doc__
        return cast("T", made)
    arguments = typing.get_args(value)
    if not arguments or typing.get_origin(value) in {typing.Annotated, typing.Literal}:
        return value
    inner = tuple(map(with_readable_dicts, arguments))
    return value if all(map(operator.is_, inner, arguments)) else cast("T", _with(value, inner))


def _is_required(kind: object, name: str, hint: object) -> bool:
    """Tell whether a typed dict requires a member; where annotations are texts, `__required_keys__` knows nothing of these."""
    origin = typing.get_origin(hint)
    if origin in {typing.Required, typing.NotRequired}:
        return origin is typing.Required
    return name in getattr(kind, "__required_keys__", ())


def _bare(hint: object) -> object:
    """Return the type inside of `Required` and `NotRequired`."""
    origin = typing.get_origin(hint)
    return typing.get_args(hint)[0] if origin in {typing.Required, typing.NotRequired} else hint


def _with(value: object, arguments: tuple[object, ...]) -> object:
    """Return a generic type with other arguments."""
    if typing.get_origin(value) in {typing.Union, UnionType}:
        return typing.Union[arguments]  # noqa: UP007  -- made of a tuple
    copy = getattr(value, "copy_with", None)
    if callable(copy):
        return cast("object", copy(arguments))
    origin = typing.get_origin(value)
    assert origin is not None  # it has arguments
    return cast("object", origin[arguments])
