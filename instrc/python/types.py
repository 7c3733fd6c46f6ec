"""Read a type or a function of Python as a schema: models of pydantic, dataclasses, typed dicts, annotated functions."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar, cast

from instrc.jsonvalue import Json, JsonObject
from instrc.problems.importing import MissingLibrary
from instrc.problems.problem import CompileError
from instrc.python.aliases import field_of_path
from instrc.python.docstrings import share_docstring
from instrc.python.functions import UndescribedError, docstring_of, function_of, refuse_unnamed, with_read_annotations
from instrc.python.objects import attribute
from instrc.python.times import described
from instrc.python.typed_dicts import with_readable_dicts

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
        schema = described(describe)
        _refuse_paths(value)
        return Described(None, schema, None)
    routine = function_of(value)
    if not _is_type(value) and routine is None:
        return None
    try:
        if routine is not None:
            refuse_unnamed(routine)
        schema = pydantic_schema(value if routine is None else with_read_annotations(routine))
    except (CompileError, UndescribedError):
        raise
    except Exception as error:
        message = f"pydantic cannot describe `{_shown(value)}`: {why_undescribed(error, value)}"
        raise TypeError(message) from error
    inner = routine.func if isinstance(routine, partial) else routine
    text = schema.get("description") if routine is None else docstring_of(inner)
    if not isinstance(text, str):
        text = None
    elif routine is not None and isinstance(schema, dict):
        text, schema = share_docstring(text, schema)
    return Described(_own_name(value) if inner is None else getattr(inner, "__name__", None), schema, text or None)


def schema_of_call(value: object) -> Described | None:
    """Return the schema of an object that is called as a function; `None` for any other."""
    call = attribute(value, "__call__")
    if not inspect.ismethod(call) or type(value).__module__ in _OF_PYTHON or (kind := schema_of_type(call)) is None:
        return None
    return kind._replace(name=type(value).__name__, description=kind.description or inspect.getdoc(type(value)))


def _shown(value: object) -> object:
    inner = value.func if isinstance(value, partial) else value
    return getattr(inner, "__name__", inner)


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
        message = f"pydantic cannot describe what `{getattr(inner, '__name__', inner)}` returns: {why_undescribed(error, None)}"
        raise TypeError(message) from error


def why_undescribed(error: Exception, value: object) -> str:
    """Return why pydantic cannot describe a type, with what to do where that can be said."""
    if isinstance(error, RecursionError):
        return "a type in it names itself, which pydantic reads in a model or a `TypeAliasType`, but in no other alias"
    said = str(error).partition("\n")[0]
    if unknown := re.match(r"Unable to generate pydantic-core schema for (?:<class '([^']*)'>|(.*?))\. Set ", said):
        if unknown[2]:
            return f"it knows nothing of {unknown[2]}"
        own = unknown[1].rpartition(".")[2]
        known = "a model, a dataclass, a `TypedDict`, a `NamedTuple` or an enumeration"
        way = "`msgspec.json.schema` gives its JSON Schema" if hasattr(value, "__struct_fields__") else "or give its JSON Schema"
        return f"it does not know what `{own}` holds: make it {known}{';' if way[0] == '`' else ','} {way}"
    if "core_schema.CallableSchema" in said:
        return "JSON has no functions, and it takes one"
    return said


def describes_values(value: object) -> bool:
    """Tell whether a value is a type, or a `TypeAdapter` of one: its schema is that of its values."""
    return _is_type(value) or is_adapter(value)


def is_adapter(value: object) -> TypeGuard[Adapter[object]]:
    """Tell whether a value is a `TypeAdapter`."""
    return not isinstance(value, type) and attribute(value, "core_schema") is not None


def pydantic_schema(value: object) -> JsonObject:
    """Return what pydantic says of a type, a function or anything that describes itself as pydantic's types do."""
    for method in ("model_json_schema", "json_schema", "schema"):  # a model, a `TypeAdapter`, a model of pydantic 1
        describe: Callable[..., JsonObject] | None = getattr(value, method, None)
        if callable(describe):
            schema = _filled_in(described(describe))
            _refuse_paths(value)
            return schema
    try:
        from pydantic import TypeAdapter  # optional: only who has such types has it
    except ImportError:
        raise CompileError([MissingLibrary(library="pydantic", extra="import")]) from None
    adapter = TypeAdapter(with_readable_dicts(cast("type[object]", value)))
    schema = described(adapter.json_schema)
    _refuse_paths(adapter)
    return schema


def _refuse_paths(value: object) -> None:
    """Raise an `UndescribedError` for a type with a field that is read from inside another one only."""
    core = attribute(value, "__pydantic_core_schema__" if isinstance(value, type) else "core_schema")
    if found := field_of_path(core):
        name, path = found
        written = ", ".join(map(repr, path))
        message = (
            f"the field `{name}` is read from inside another one only, by `AliasPath({written})`, which a schema does not say: "
            f'allow its name too, by `AliasChoices("{name}", AliasPath({written}))`'
        )
        raise UndescribedError(message)


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


def _is_type(value: object) -> bool:
    """Say whether a value is a class, a form of one such as `list[int]`, a `NewType`, or an alias that `type X = …` makes."""
    if isinstance(value, type) or typing.get_origin(value) is not None:
        return True
    return type(value).__module__ in _OF_PYTHON and type(value).__name__ in {"NewType", "TypeAliasType"}
