"""Read a type or a function of Python as a schema: models of pydantic, dataclasses, typed dicts, annotated functions."""

from __future__ import annotations

import inspect
import operator
import sys
import typing
from collections.abc import Callable
from types import UnionType
from typing import Any, NamedTuple

from instrc import arguments
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.importing import MissingLibrary
from instrc.problems.problem import CompileError
from instrc.python_docstrings import share_docstring


class Described(NamedTuple):
    """What a type or a function says of itself."""

    name: str | None
    schema: Json
    description: str | None


def described(value: Any) -> Described | None:
    """Return the schema of a type, a function or a `TypeAdapter`; `None` for what is none of them.

    `CompileError` with a `missing-library` problem if pydantic is needed and not installed.
    What pydantic cannot describe is a `TypeError`.
    """
    adapts = not isinstance(value, type) and attribute(value, "core_schema") is not None
    if adapts and callable(attribute(value, "json_schema")):
        return Described(None, value.json_schema(), None)  # a `TypeAdapter`
    if not _is_type(value) and not inspect.isroutine(value):
        return None
    try:
        schema = schema_of(value)
    except CompileError:
        raise
    except Exception as error:
        message = f"pydantic cannot describe {getattr(value, '__name__', value)!r}: {error}"
        raise TypeError(message) from error
    text = inspect.getdoc(value) if inspect.isroutine(value) else schema.get("description")
    if not isinstance(text, str):
        text = None
    elif inspect.isroutine(value) and isinstance(schema, dict):
        text, schema = share_docstring(text, schema)
    return Described(getattr(value, "__name__", None), schema, text or None)


def attribute(value: object, name: str) -> object:
    """Return an attribute, `None` where there is none; a proxy outside of its context raises whatever it likes."""
    try:
        found: object = getattr(value, name, None)
    except Exception:  # noqa: BLE001  -- somebody's object: it has no such attribute that could be read
        return None
    return found


def schema_of(value: object) -> JsonObject:
    """Return what pydantic says of a type, a function or anything that describes itself as pydantic's types do."""
    for method in ("model_json_schema", "json_schema", "schema"):  # a model, a `TypeAdapter`, a model of pydantic 1
        describe: Callable[[], JsonObject] | None = getattr(value, method, None)
        if callable(describe):
            return describe()
    try:
        from pydantic import TypeAdapter  # optional: only who has such types has it
    except ImportError:
        raise CompileError([MissingLibrary(library="pydantic", extra="import")]) from None
    return TypeAdapter(readable(value)).json_schema()


def readable(value: Any) -> Any:  # a user's type
    """Return a type with the typed dicts in it made anew: those of `typing` pydantic reads from Python 3.12 on only."""
    if sys.version_info >= (3, 12):
        return value
    if typing.is_typeddict(value) and value.__class__.__module__ == "typing":
        from typing import NotRequired, Required  # comes with pydantic

        from typing_extensions import TypedDict

        hints = typing.get_type_hints(value, include_extras=True)
        required = value.__required_keys__
        members = {name: (Required if name in required else NotRequired)[readable(_bare(hint))] for name, hint in hints.items()}
        made: Any = TypedDict(value.__name__, members)  # type: ignore[misc]  # by its call, as the library allows
        made.__doc__ = value.__doc__
        return made
    arguments = typing.get_args(value)
    if not arguments or typing.get_origin(value) in {typing.Annotated, typing.Literal}:
        return value
    inner = tuple(map(readable, arguments))
    return value if all(map(operator.is_, inner, arguments)) else _with(value, inner)


def _bare(hint: object) -> object:
    """Return the type inside of `Required` and `NotRequired`."""
    origin = typing.get_origin(hint)
    return typing.get_args(hint)[0] if origin in {typing.Required, typing.NotRequired} else hint


def _with(value: Any, arguments: tuple[object, ...]) -> object:  # a user's type
    """Return a generic type with other arguments."""
    if typing.get_origin(value) in {typing.Union, UnionType}:
        return typing.Union[arguments]  # noqa: UP007  -- made of a tuple
    return value.copy_with(arguments) if hasattr(value, "copy_with") else typing.get_origin(value)[arguments]


def _is_type(value: object) -> bool:
    """Say whether a value is a class, or a form of one such as `list[int]`."""
    return isinstance(value, type) or typing.get_origin(value) is not None


def as_json(value: Any) -> Json:  # a user's value
    """Return a model of pydantic as plain JSON under the names in which it is sent; any other value as it is."""
    if callable(attribute(value, "model_dump")) and not isinstance(value, type):
        try:
            dumped: Json = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:
            message = f"{arguments.excerpt(value)} cannot be read: its `model_dump` raises {type(error).__name__}: {error}"
            raise TypeError(message) from error
        return dumped
    plain: Json = value
    return plain
