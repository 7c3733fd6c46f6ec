"""Convert Python types and functions to schemas."""

from __future__ import annotations

import inspect
import operator
import re
import sys
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar, cast

from instrc.problems.errors import InstrcError, SettingsError
from instrc.problems.importing import MissingLibrary
from instrc.text.arguments import attribute
from instrc.text.jsonvalue import Json, JsonObject

if TYPE_CHECKING:
    from griffe import DocstringSection
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema


def with_input_names(value: object, written: Json) -> Json:
    """Return pydantic's output for an instance, with the names that its class accepts as input, as in its schema.

    They are `validation_alias` instead of `serialization_alias`, at every level.  A value whose shape a serializer of the class
    changes is kept as is.
    """
    if getattr(type(value), "__pydantic_root_model__", False):
        return with_input_names(getattr(value, "root", None), written)
    fields = getattr(type(value), "__pydantic_fields__", None) or getattr(type(value), "__dataclass_fields__", None)
    if isinstance(written, dict) and isinstance(fields, Mapping):
        names = {_written_name(name, field): (name, input_name(name, field)) for name, field in fields.items()}
        return {
            names[key][1] if key in names else key: with_input_names(getattr(value, names[key][0], None), item)
            if key in names
            else item
            for key, item in written.items()
        }
    if isinstance(written, dict) and isinstance(value, Mapping) and len(value) == len(written):
        return {key: with_input_names(item, written[key]) for key, item in zip(written, value.values(), strict=True)}
    if isinstance(written, list) and isinstance(value, list | tuple | set | frozenset) and len(value) == len(written):
        return [with_input_names(item, below) for item, below in zip(value, written, strict=True)]
    return written


def _written_name(name: str, field: object) -> str:
    alias = getattr(field, "serialization_alias", None) or getattr(field, "alias", None)
    return alias if isinstance(alias, str) else name


def input_name(name: str, field: object) -> str:
    """Return the name of a field in the schema of its class: the first of several choices that is a single name."""
    alias = getattr(field, "validation_alias", None) or getattr(field, "alias", None)
    choices = getattr(alias, "choices", [alias])
    return next((choice for choice in choices if isinstance(choice, str)), name)


_OF_USERS = frozenset({"config", "default", "expected", "members", "metadata"})
"""Members of pydantic's core schema that hold user values of any shape."""


_ALIASES = frozenset({"alias", "validation_alias"})
"""Members of pydantic's core schema that hold names: a text, or lists of choices and paths."""


def aliases_of(value: object) -> frozenset[str]:
    """Return the field aliases in a type or a function, nested types included."""
    core, routine = attribute(value, "__pydantic_core_schema__" if isinstance(value, type) else "core_schema"), function_of(value)
    if core is None and not _is_type(value) and routine is None:
        return frozenset()
    if core is None:
        from pydantic import TypeAdapter  # the caller's type already comes from it

        readable = with_readable_dicts(value) if routine is None else with_read_annotations(routine)
        core = TypeAdapter(cast("type[object]", readable)).core_schema
    result: set[str] = set()
    waiting: list[tuple[object, bool]] = [(core, False)]
    while waiting:
        here, is_alias = waiting.pop()
        if isinstance(here, str) and is_alias:
            result.add(here)
        elif isinstance(here, dict):
            waiting += [(part, word in _ALIASES) for word, part in here.items() if word not in _OF_USERS]
        elif isinstance(here, list | tuple):
            waiting += [(part, is_alias) for part in here]
    return frozenset(result)


_OF_PYTHON = frozenset({"builtins", "collections", "collections.abc", "types", "typing", "typing_extensions"})
"""Modules that define generic types whose names do not describe their contents."""


def _is_type(value: object) -> bool:
    """Return whether a value is a class, a generic such as `list[int]`, a `NewType`, or an alias from `type X = …`."""
    if isinstance(value, type) or typing.get_origin(value) is not None:
        return True
    return type(value).__module__ in _OF_PYTHON and type(value).__name__ in {"NewType", "TypeAliasType"}


_STYLES: tuple[Literal["google", "numpy", "sphinx"], ...] = ("google", "numpy", "sphinx")


def share_docstring(text: str, schema: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """Return the docstring's text about the whole function, and the schema with its descriptions of parameters.

    Existing parameter descriptions are kept. Text that does not fit into the schema stays in the docstring.
    Both are unchanged without the library, or if the docstring has no list of parameters.
    """
    properties = schema.get("properties")
    sections = _sections(text)
    if not isinstance(properties, dict) or not sections:
        return text, schema
    rest: list[str] = []
    described = dict(properties)
    for section in sections:
        if section.kind.value == "parameters":
            for item in section.value:
                said, own = item.description.strip(), described.get(item.name)
                if isinstance(own, dict) and "description" not in own:
                    described[item.name] = {**own, "description": said} if said else own
                elif said and not (isinstance(own, dict) and own["description"] == said):
                    rest.append(f"{item.name}: {said}")
        else:
            words = _words(section)
            if words is None:
                return text, {**schema, "properties": described}
            rest.append(words)
    return "\n\n".join(filter(None, rest)), {**schema, "properties": described}


def _sections(text: str) -> list[DocstringSection]:
    """Return the sections of a docstring in the first style for which it has a list of parameters, or none."""
    try:
        from griffe import Docstring  # optional
    except ImportError:
        return []
    for style in _STYLES:
        sections = Docstring(text, lineno=1).parse(style, warnings=False)
        if any(section.kind.value == "parameters" for section in sections):
            return sections
    return []


def _words(section: DocstringSection) -> str | None:
    """Return a section as text, or `None` for one that the library parses differently."""
    match section.kind.value:
        case "text":
            return str(section.value).strip()
        case "returns" | "yields":
            return f"{section.kind.value.title()}: {'; '.join(item.description.strip() for item in section.value)}"
        case "raises":
            return "\n".join(f"Raises {item.annotation}: {item.description.strip()}" for item in section.value)
        case _:
            return None


class UndescribedError(TypeError):
    """A type or function that no schema can describe; the text is the reason."""


def function_of(value: object) -> Callable[..., object] | None:
    """Return a function or method, one with bound arguments (`functools.partial`), or the one inside a wrapper."""
    if isinstance(value, type) or not callable(value):
        return None
    if not inspect.isfunction(value) and inspect.isroutine(inner := attribute(value, "__wrapped__")):
        return inner  # of `functools.cache` and decorators that are classes
    return value if isinstance(value, partial) or inspect.isroutine(value) else None


def docstring_of(function: object) -> str | None:
    """Return the docstring of a function, except one that `__call__` inherits."""
    inherited = getattr(function, "__name__", "") == "__call__" and not getattr(function, "__doc__", None)
    return None if inherited else inspect.getdoc(function)


def with_read_annotations(routine: Callable[..., object]) -> Callable[..., object]:
    """Return a method or partial as a function with evaluated annotations, as pydantic cannot resolve names of its module."""
    inner = routine.func if isinstance(routine, partial) else routine
    if inspect.isfunction(routine) or inspect.isbuiltin(inner):
        return routine
    try:
        signature, hints = inspect.signature(routine), typing.get_type_hints(inner, include_extras=True)
    except Exception:  # noqa: BLE001  -- an undefined name in an annotation: pydantic reports it
        return routine

    def call() -> None:
        """Represent the routine with its signature."""

    parameters = [item.replace(annotation=hints.get(name, item.annotation)) for name, item in signature.parameters.items()]
    vars(call).update(__signature__=signature.replace(parameters=parameters))
    call.__annotations__ = hints
    call.__name__, call.__module__ = getattr(inner, "__name__", "call"), getattr(inner, "__module__", __name__)
    return call


def refuse_unnamed(function: Callable[..., object]) -> None:
    """Raise `UndescribedError` for a function with positional-only or variadic parameters: a model names all arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    name = getattr(function, "__qualname__", None) or str(function)
    for place, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            message = f"`{name}` takes `*{parameter.name}`, but a model gives each argument by its name: take a list instead"
            raise UndescribedError(message)
        if parameter.kind is parameter.POSITIONAL_ONLY and not inspect.isbuiltin(function):
            message = f"`{name}` takes `{parameter.name}` by its place only, but a model gives each argument by its name"
            raise UndescribedError(message)
        unbound = place == 0 and parameter.name in {"self", "cls"} and parameter.annotation is parameter.empty
        if unbound and inspect.isfunction(function):
            message = f"`{name}` is a method without its object: give that of an instance, as in `object.{function.__name__}`"
            raise UndescribedError(message)


_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
_DATE_TIME = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME}$"
_TIME_OF_DAY = rf"^{_TIME}(Z|[-+][0-9]{{2}}:[0-9]{{2}})?$"
_SPAN = r"^-?P([0-9]+[YMWD])*([0-9]+[YMWD]|T([0-9]+[HM])*[0-9]+(\.[0-9]+)?[HMS])$"


def described(describe: Callable[..., JsonObject]) -> JsonObject:
    """Return the schema of a self-describing type, with this package's text for durations if it uses pydantic's generator."""
    try:
        parameter = inspect.signature(describe).parameters.get("schema_generator")
    except (TypeError, ValueError):
        return describe()
    usual = getattr(None if parameter is None else parameter.default, "__module__", "") == "pydantic.json_schema"
    return describe(schema_generator=_generator()) if usual else describe()


@lru_cache(maxsize=1)
def _generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema  # optional, but installed if such types exist

    class Generator(GenerateJsonSchema):
        def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
            if schema.get("tz_constraint") == "naive":
                return {"type": "string", "pattern": _DATE_TIME}
            return super().datetime_schema(schema)

        def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:  # noqa: ARG002  -- of pydantic
            return {"type": "string", "pattern": _TIME_OF_DAY}

        def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
            said = super().timedelta_schema(schema)
            return {"type": "string", "pattern": _SPAN} if said.get("format") == "duration" else said

    return Generator


T = TypeVar("T")


def with_readable_dicts(value: T) -> T:
    """Return a type with its typed dicts recreated: pydantic reads those of `typing` only from Python 3.12 on."""
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
        result = TypedDict(value.__name__, members)  # type: ignore[misc]  # by calling it, as the library allows
        result.__doc__ = value.__doc__
        return cast("T", result)
    arguments = typing.get_args(value)
    if not arguments or typing.get_origin(value) in {typing.Annotated, typing.Literal}:
        return value
    inner = tuple(map(with_readable_dicts, arguments))
    return value if all(map(operator.is_, inner, arguments)) else cast("T", _with(value, inner))


def _is_required(kind: object, name: str, hint: object) -> bool:
    """Return whether a typed dict requires a member; `__required_keys__` is wrong if annotations are strings."""
    origin = typing.get_origin(hint)
    if origin in {typing.Required, typing.NotRequired}:
        return origin is typing.Required
    return name in getattr(kind, "__required_keys__", ())


def _bare(hint: object) -> object:
    """Return the type inside `Required` or `NotRequired`."""
    origin = typing.get_origin(hint)
    return typing.get_args(hint)[0] if origin in {typing.Required, typing.NotRequired} else hint


def _with(value: object, arguments: tuple[object, ...]) -> object:
    """Return a generic type with other arguments."""
    if typing.get_origin(value) in {typing.Union, UnionType}:
        return typing.Union[arguments]  # noqa: UP007  -- built from a tuple
    copy = getattr(value, "copy_with", None)
    if callable(copy):
        return cast("object", copy(arguments))
    origin = typing.get_origin(value)
    assert origin is not None
    return cast("object", origin[arguments])


T_co = TypeVar("T_co", covariant=True)


class Adapter(Protocol[T_co]):
    """Pydantic's `TypeAdapter`, for type checkers."""

    @property
    def core_schema(self) -> object:
        """The core schema of the type."""
        ...

    def validate_json(self, data: str, /) -> T_co:
        """Return an instance of the type."""
        ...


class LibraryTool(Protocol):
    """A tool as a library object: those of MCP, OpenAI, Anthropic and Gemini are pydantic models."""

    def model_dump(self) -> object:
        """Return the object as JSON."""
        ...


PythonType: TypeAlias = type | UnionType | Callable[..., object] | Adapter[object]
"""A model, a typed dict, a dataclass, an annotated function, `A | B`, or a `TypeAdapter` of one of these."""


class Described(NamedTuple):
    """The description of a type or function."""

    name: str | None
    schema: Json
    description: str | None


def schema_of_type(value: object) -> Described | None:
    """Return the schema of a type, a function or a `TypeAdapter`, or `None` for any other value.

    Raise `CompileError` with a `missing-library` problem if pydantic is needed and not installed,
    and `TypeError` for types that pydantic cannot describe.
    """
    if is_adapter(value) and callable(describe := attribute(value, "json_schema")):
        schema = described(describe)
        return Described(None, schema, None)
    routine = function_of(value)
    if not _is_type(value) and routine is None:
        return None
    try:
        if routine is not None:
            refuse_unnamed(routine)
        schema = pydantic_schema(value if routine is None else with_read_annotations(routine))
    except (InstrcError, UndescribedError):
        raise
    except Exception as error:
        raise TypeError(f"pydantic cannot describe `{_shown(value)}`: {why_undescribed(error, value)}") from error
    inner = routine.func if isinstance(routine, partial) else routine
    text = schema.get("description") if routine is None else docstring_of(inner)
    if not isinstance(text, str):
        text = None
    elif routine is not None and isinstance(schema, dict):
        text, schema = share_docstring(text, schema)
    return Described(_own_name(value) if inner is None else getattr(inner, "__name__", None), schema, text or None)


def _shown(value: object) -> object:
    inner = value.func if isinstance(value, partial) else value
    return getattr(inner, "__name__", inner)


def _own_name(value: object) -> str | None:
    """Return the declared name of a type, or `None` for `list[Item]`, `A | B` and the like, optionally in `Annotated`."""
    if typing.get_origin(value) is typing.Annotated:
        value = typing.get_args(value)[0]
    origin = typing.get_origin(value)
    if origin is not None and getattr(origin, "__module__", None) in _OF_PYTHON:
        return None
    return getattr(value if origin is None else origin, "__name__", None)


def schema_of_call(value: object) -> Described | None:
    """Return the schema of a callable object, or `None` for any other value."""
    call = attribute(value, "__call__")
    if not inspect.ismethod(call) or type(value).__module__ in _OF_PYTHON or (kind := schema_of_type(call)) is None:
        return None
    return kind._replace(name=type(value).__name__, description=kind.description or inspect.getdoc(type(value)))


def schema_of_python(value: object) -> Described | None:
    """Return the schema of any Python value that has one: a type, a function, a `TypeAdapter`, a callable object."""
    return schema_of_type(value) or schema_of_call(value)


def schema_of_result(value: object) -> Json:
    """Return the schema of the result of a function or a callable object, or `{}` if it is not annotated.

    Raise `TypeError` for types that pydantic cannot describe.
    """
    routine = function_of(value) or attribute(value, "__call__")
    inner = routine.func if isinstance(routine, partial) else routine
    try:
        hints = typing.get_type_hints(inner, include_extras=True) if callable(inner) else {}
        if "return" not in hints:
            return {}
        from pydantic import TypeAdapter  # installed, as it has described the parameters

        return described(partial(TypeAdapter(with_readable_dicts(hints["return"])).json_schema, mode="serialization"))
    except Exception as error:
        message = f"pydantic cannot describe what `{getattr(inner, '__name__', inner)}` returns: {why_undescribed(error, None)}"
        raise TypeError(message) from error


def why_undescribed(error: Exception, value: object) -> str:
    """Return why pydantic cannot describe a type, with a suggestion if there is one."""
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
    """Return whether a value is a type, or a `TypeAdapter` of one: its schema is that of its values."""
    return _is_type(value) or is_adapter(value)


def is_adapter(value: object) -> TypeGuard[Adapter[object]]:
    """Return whether a value is a `TypeAdapter`."""
    return not isinstance(value, type) and attribute(value, "core_schema") is not None


def pydantic_schema(value: object) -> JsonObject:
    """Return pydantic's schema of a type or function, or of any type with pydantic's hooks."""
    for method in ("model_json_schema", "json_schema", "schema"):  # a model, a `TypeAdapter`, a model of pydantic 1
        describe: Callable[..., JsonObject] | None = getattr(value, method, None)
        if callable(describe):
            return described(describe)
    try:
        from pydantic import TypeAdapter  # optional, but installed if such types exist
    except ImportError:
        raise SettingsError([MissingLibrary(library="pydantic", extra="import")]) from None
    adapter = TypeAdapter(with_readable_dicts(cast("type[object]", value)))
    return described(adapter.json_schema)
