"""Read a type or a function of Python as a schema: models of pydantic, dataclasses, typed dicts, annotated functions."""

from __future__ import annotations

import inspect
import operator
import sys
import typing
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar, cast

from instrc import arguments
from instrc.jsonvalue import Json, JsonObject
from instrc.problems.importing import MissingLibrary
from instrc.problems.problem import CompileError
from instrc.python_docstrings import share_docstring
from instrc.python_naive_times import described

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Adapter(Protocol[T_co]):
    """A `TypeAdapter` of pydantic, for those who check types."""

    @property
    def core_schema(self) -> object:
        """What pydantic makes of the type."""
        ...

    def validate_json(self, data: str, /) -> T_co:
        """Return an instance of the type."""
        ...


class LibraryTool(Protocol):
    """A tool as an object of a library: those of MCP, OpenAI, Anthropic and Gemini are models of pydantic."""

    def model_dump(self) -> object:
        """Return the object as JSON."""
        ...


PythonType: TypeAlias = type | UnionType | Callable[..., object] | Adapter[object]
"""A model, a typed dict, a dataclass, an annotated function, `A | B`, a `TypeAdapter` of any of these."""

_OF_PYTHON = frozenset({"builtins", "collections", "collections.abc", "types", "typing", "typing_extensions"})
"""Where the generic types are defined whose names say nothing of what they hold."""


class Described(NamedTuple):
    """What a type or a function says of itself."""

    name: str | None
    schema: Json
    description: str | None


def schema_of_type(value: object) -> Described | None:
    """Return the schema of a type, a function or a `TypeAdapter`; `None` for what is none of them.

    `CompileError` with a `missing-library` problem if pydantic is needed and not installed.
    What pydantic cannot describe is a `TypeError`.
    """
    if is_adapter(value) and callable(describe := attribute(value, "json_schema")):
        return Described(None, described(describe), None)
    routine = function_of(value)
    if not _is_type(value) and routine is None:
        return None
    try:
        if routine is not None:
            _refuse_unnamed(routine)
        schema = pydantic_schema(value if routine is None else routine)
    except _Unnamed as error:
        raise TypeError(str(error)) from None
    except CompileError:
        raise
    except Exception as error:
        message = f"pydantic cannot describe `{getattr(value, '__name__', value)}`: {_reason(error)}"
        raise TypeError(message) from error
    inner = routine.func if isinstance(routine, partial) else routine
    text = schema.get("description") if routine is None else inspect.getdoc(inner)
    if not isinstance(text, str):
        text = None
    elif routine is not None and isinstance(schema, dict):
        text, schema = share_docstring(text, schema)
    return Described(_own_name(value) if inner is None else getattr(inner, "__name__", None), schema, text or None)


def _own_name(value: object) -> str | None:
    """Return the name that somebody gave a type; nothing for `list[Item]`, `A | B` and their like, in `Annotated` or not."""
    if typing.get_origin(value) is typing.Annotated:
        value = typing.get_args(value)[0]
    origin = typing.get_origin(value)
    if origin is not None and getattr(origin, "__module__", None) in _OF_PYTHON:
        return None
    return getattr(value if origin is None else origin, "__name__", None)


def schema_of_result(value: object) -> Json:
    """Return the schema of what a function, or an object that is called as one, returns; `{}` if it does not say.

    What pydantic cannot describe is a `TypeError`.
    """
    routine = function_of(value) or attribute(value, "__call__")
    inner = routine.func if isinstance(routine, partial) else routine
    try:
        hints = typing.get_type_hints(inner, include_extras=True) if callable(inner) else {}
        if "return" not in hints:
            return {}
        from pydantic import TypeAdapter  # is there: it has described the parameters

        return described(partial(TypeAdapter(with_readable_dicts(hints["return"])).json_schema, mode="serialization"))
    except Exception as error:
        message = f"pydantic cannot describe what `{getattr(inner, '__name__', inner)}` returns: {_reason(error)}"
        raise TypeError(message) from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "a type in it names itself, which pydantic reads in a model or a `TypeAliasType`, but in no other alias"
    return str(error).partition("\n")[0]


def describes_values(value: object) -> bool:
    """Tell whether a value is a type, or a `TypeAdapter` of one: its schema is that of its values."""
    return _is_type(value) or is_adapter(value)


def is_adapter(value: object) -> TypeGuard[Adapter[object]]:
    """Tell whether a value is a `TypeAdapter`."""
    return not isinstance(value, type) and attribute(value, "core_schema") is not None


def function_of(value: object) -> Callable[..., object] | None:
    """Return a function or method, one with some arguments given (`functools.partial`), or the one that a wrapper is around."""
    if isinstance(value, type) or not callable(value):
        return None
    if not inspect.isfunction(value) and inspect.isroutine(inner := attribute(value, "__wrapped__")):
        return inner  # of `functools.cache` and decorators that are classes
    return value if isinstance(value, partial) or inspect.isroutine(value) else None


class _Unnamed(Exception):  # noqa: N818  -- what the parameter is, not what went wrong
    """A parameter that no tool can give by its name."""


def _refuse_unnamed(function: Callable[..., object]) -> None:
    """Raise `_Unnamed` for a function with parameters that have no name for its caller: a model names all arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    name = getattr(function, "__qualname__", None) or str(function)
    for place, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            message = f"`{name}` takes `*{parameter.name}`, but a model gives each argument by its name: take a list instead"
            raise _Unnamed(message)
        if parameter.kind is parameter.POSITIONAL_ONLY and not inspect.isbuiltin(function):
            message = f"`{name}` takes `{parameter.name}` by its place only, but a model gives each argument by its name"
            raise _Unnamed(message)
        unbound = place == 0 and parameter.name in {"self", "cls"} and parameter.annotation is parameter.empty
        if unbound and inspect.isfunction(function):
            message = f"`{name}` is a method without its object: give that of an instance, as in `object.{function.__name__}`"
            raise _Unnamed(message)


def attribute(value: object, name: str) -> object:
    """Return an attribute, `None` where there is none; a proxy outside of its context raises whatever it likes."""
    try:
        found: object = getattr(value, name, None)
    except Exception:  # noqa: BLE001  -- somebody's object: it has no such attribute that could be read
        return None
    return found


def pydantic_schema(value: object) -> JsonObject:
    """Return what pydantic says of a type, a function or anything that describes itself as pydantic's types do."""
    for method in ("model_json_schema", "json_schema", "schema"):  # a model, a `TypeAdapter`, a model of pydantic 1
        describe: Callable[..., JsonObject] | None = getattr(value, method, None)
        if callable(describe):
            return _filled_in(described(describe))
    try:
        from pydantic import TypeAdapter  # optional: only who has such types has it
    except ImportError:
        raise CompileError([MissingLibrary(library="pydantic", extra="import")]) from None
    return described(TypeAdapter(with_readable_dicts(cast("type[object]", value))).json_schema)


_OF_DSPY = "__dspy_field_type"


def _filled_in(schema: JsonObject) -> JsonObject:
    """Return what a model fills in of a signature of DSPy: its outputs, with their texts; any other schema as it is."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    fields = (
        {name: field for name, field in properties.items() if isinstance(field, dict)} if isinstance(properties, dict) else {}
    )
    if not fields or not all(_OF_DSPY in field for field in fields.values()):
        return schema
    outputs: JsonObject = {}
    for name, field in fields.items():
        if field[_OF_DSPY] == "output":
            text = field.get("desc")
            told = {"description": text} if isinstance(text, str) and not text.startswith("${") else {}
            outputs[name] = {**told, **{key: member for key, member in field.items() if key not in {_OF_DSPY, "desc", "prefix"}}}
    required = schema.get("required")
    kept: Json = [name for name in required if name in outputs] if isinstance(required, list) else []
    return {**schema, "properties": outputs, "required": kept}


def with_readable_dicts(value: T) -> T:
    """Return a type with the typed dicts in it made anew: those of `typing` pydantic reads from Python 3.12 on only."""
    if sys.version_info >= (3, 12):
        return value
    if typing.is_typeddict(value) and value.__class__.__module__ == "typing":
        from typing import NotRequired, Required  # comes with pydantic

        from typing_extensions import TypedDict

        hints = typing.get_type_hints(value, include_extras=True)
        required = cast("frozenset[str]", attribute(value, "__required_keys__"))
        members = {
            name: (Required if name in required else NotRequired)[with_readable_dicts(_bare(hint))]
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


def _bare(hint: object) -> object:
    """Return the type inside of `Required` and `NotRequired`."""
    origin = typing.get_origin(hint)
    return typing.get_args(hint)[0] if origin in {typing.Required, typing.NotRequired} else hint


def _with(value: object, arguments: tuple[object, ...]) -> object:
    """Return a generic type with other arguments."""
    if typing.get_origin(value) in {typing.Union, UnionType}:
        return typing.Union[arguments]  # noqa: UP007  -- made of a tuple
    copy = attribute(value, "copy_with")
    if callable(copy):
        return cast("object", copy(arguments))
    origin = typing.get_origin(value)
    assert origin is not None  # it has arguments
    return cast("object", origin[arguments])


def _is_type(value: object) -> bool:
    """Say whether a value is a class, or a form of one such as `list[int]`."""
    return isinstance(value, type) or typing.get_origin(value) is not None


def model_as_json(value: object) -> Json:
    """Return a model of pydantic as plain JSON under the names in which it is sent; any other value as it is."""
    dump = attribute(value, "model_dump")
    if callable(dump) and not isinstance(value, type):
        try:
            dumped: Json = dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:
            message = f"{arguments.excerpt(value)} cannot be read: its `model_dump` raises {type(error).__name__}: {error}"
            raise TypeError(message) from error
        return dumped
    return cast("Json", value)  # whoever needs pure JSON checks that it is
