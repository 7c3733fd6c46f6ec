"""A tool: a schema with its name and description for a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import UnionType
from typing import NamedTuple, Protocol, TypeAlias, cast

from instrc.text import arguments
from instrc.text.arguments import excerpt
from instrc.text.jsontext import exact_copy
from instrc.text.jsonvalue import Json, JsonArray, JsonObject
from instrc.text.sentences import EN, Sentences
from instrc.tools.python_types import schema_of_python


class Example(NamedTuple):
    """An example value for the model, and the request that it answers."""

    value: Json
    request: str | None = None


class Hint(NamedTuple):
    """A compiler-generated sentence in a description that lists the results a step reads."""

    text: str
    paths: tuple[tuple[int, int], ...]
    """Character ranges of the paths in the text, ends exclusive."""

    @staticmethod
    def split(text: str, hints: Sequence[Hint] | None) -> tuple[str, str]:
        """Split a description into the author's text and the hint at its end, if that is a known one."""
        found = [hint.text for hint in hints or () if text == hint.text or text.endswith(f"\n{hint.text}")]
        hint = max(found, key=len, default="")
        return text[: len(text) - len(hint)].removesuffix("\n"), hint


class Tool(NamedTuple):
    """A schema with its name and description for a model."""

    name: str
    schema: Json | type | UnionType | Callable[..., object]
    """Schema of the arguments: JSON, or a type whose schema pydantic generates, such as a model or an annotated function."""
    description: str | None = None
    strict: bool | None = None
    """Whether to use the provider's strict envelope; `None` lets the provider and its budgets decide."""
    priority: int = 0
    """Priority when several tools exceed a budget together: the highest ones stay strict."""
    examples: tuple[Example, ...] = ()
    """Example values for the model, where a provider has a field for them."""
    hints: tuple[Hint, ...] | None = None
    """Hints in the schema's descriptions, which use property names as sent; `None` if unknown."""
    options: JsonObject | None = None
    """Provider options by target or the first word of several: `{"anthropic": {"defer_loading": True}}`."""
    sentences: Sentences = EN
    """Sentences for descriptions, where a provider has no keyword, in the project's language."""


class HasTool(Protocol):
    """An object that converts itself to a tool, such as an artefact of a program."""

    def __instrc_tool__(self, name: str | None) -> Tool:
        """Return the tool, under the given name or its own."""


def own_tool(value: object, name: str | None) -> Tool | None:
    """Return the tool that the class of a value declares, without accessing the value, which may be hostile."""
    make: Callable[[object, str | None], Tool] | None = getattr(type(value), "__instrc_tool__", None)
    return None if make is None else make(value, name)


_Copied: TypeAlias = tuple[object, Callable[[Json], None]]
"""Part of a value, and the function that replaces it by its copy."""


def checked_json(value: object) -> Json:
    """Return a JSON value with mappings and tuples converted to objects and lists; raise `TypeError` for other types."""
    try:
        exact_copy(value)
    except (TypeError, ValueError, RecursionError):
        return copied_json(value)
    return cast("Json", value)


def copied_json(value: object) -> Json:
    """Return a JSON value as `checked_json` does, always as a copy in which nothing is shared."""
    try:
        return _copy(value)
    except TypeError:
        raise
    except Exception as error:
        raise TypeError(f"{excerpt(value)} cannot be read as JSON: its own code raises {type(error).__name__}") from error


def _copy(value: object) -> Json:
    """Return a checked copy of a value."""
    root: JsonArray = [None]
    pending: list[_Copied | int] = [(value, partial(root.__setitem__, 0))]
    around: set[int] = set()
    while pending:
        part = pending.pop()
        if isinstance(part, int):  # the contents of this container are copied
            around.discard(part)
            continue
        here, put = part
        if not isinstance(here, Mapping | list | tuple):
            put(_scalar(here))
            continue
        if id(here) in around:
            raise TypeError("a JSON value cannot contain itself")
        around.add(id(here))
        pending.append(id(here))
        if isinstance(here, Mapping):
            members: JsonObject = dict.fromkeys(map(_key, here))
            put(members)
            pending.extend((here[name], partial(members.__setitem__, name)) for name in members)
        else:
            items: JsonArray = [None] * len(here)
            put(items)
            pending.extend((item, partial(items.__setitem__, index)) for index, item in enumerate(here))
    return root[0]


def _scalar(value: object) -> Json:
    """Return a scalar, with enum members and the like converted to their values."""
    match value:
        case None | bool():
            return value
        case str():
            return _text(value if value.__class__ is str else str.__str__(value))
        case int():
            return value if value.__class__ is int else int(value)
        case float():
            if not math.isfinite(value):
                raise TypeError(f"{value} is not a JSON number")
            return value if value.__class__ is float else float(value)
    raise TypeError(f"{excerpt(value)} is not a JSON value")


def _text(text: str) -> str:
    """Return a text that can be encoded."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise TypeError("a text holds half of a character (a lone surrogate)") from None
    return text


def _key(name: object) -> str:
    """Return a valid key of an object."""
    if not isinstance(name, str):
        raise TypeError(f"{excerpt(name)} is not a key of JSON")
    return _text(name)


def checked_tool(tool: Tool, name: str | None) -> Tool:
    """Return a tool with members of the declared types and a JSON schema; raise `TypeError` for any other."""
    arguments.text("Tool.name", tool.name)
    arguments.text_or_none("Tool.description", tool.description)
    arguments.whole_number("Tool.priority", tool.priority)
    if tool.strict is not None:
        arguments.truth("Tool.strict", tool.strict)
    hints: object = tool.hints
    if hints is not None and not (isinstance(hints, tuple) and all(isinstance(hint, Hint) for hint in hints)):
        raise TypeError(f"`Tool.hints` takes the hints of an artefact, not {arguments.excerpt(hints)}")
    arguments.instance("Tool.sentences", tool.sentences, Sentences, "the sentences of an artefact")
    given: object = tool.schema
    if not isinstance(given, Mapping | bool):
        described = schema_of_python(given)
        if described is None:
            raise TypeError(f"`Tool.schema` takes a JSON Schema, a type or a function, not {arguments.excerpt(given)}")
        given, tool = described.schema, tool._replace(description=tool.description or described.description)
    return tool._replace(name=name or tool.name, schema=checked_json(given))


def schema_of(tool: Tool) -> Json:
    """Return the schema of a checked tool, which is JSON."""
    return cast("Json", tool.schema)
