"""Convert arguments to tools: schemas, tools of providers, Python types and functions, processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from instrc.problems.suggest import nearest
from instrc.process.process import Process
from instrc.schema.vocabulary import KEYWORDS, is_extension
from instrc.text import arguments
from instrc.text.arguments import attribute, model_as_json
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, mapping
from instrc.tools import definitions
from instrc.tools.python_types import LibraryTool, PythonType, function_of, schema_of_call, schema_of_type
from instrc.tools.tool import Example, HasTool, Tool, checked_json, checked_tool, own_tool

ToolLike: TypeAlias = Mapping[str, object] | bool | Tool | HasTool | Process | LibraryTool | PythonType
"""A schema, a provider's tool, a compiled artefact, a model, a typed dict, a dataclass or an annotated function."""
_OF_SCHEMAS = frozenset({"properties", "$schema", "$ref", "$defs", "allOf", "anyOf", "oneOf", "items", "enum", "const"})
_OF_OBJECTS = frozenset({*definitions.LISTS, *definitions.ONE, *definitions.SCHEMA_WORDS, *_OF_SCHEMAS})
"""Members of which a library object has at least one if it is a tool, several tools or a schema."""


def tool_of(value: object, name: str | None = None) -> Tool:
    """Return the single tool in a value, under the given name or its own.

    Raise `TypeError` for a value that is not a schema, tool, type, function or process, and for several tools.
    """
    result = tools_of(value, name)
    if len(result) != 1:
        raise TypeError(f"{len(result)} tools are given where one is expected: give them to `lower_all`")
    return result[0]


def tools_of(value: object, name: str | None = None) -> list[Tool]:
    """Return the tools in a value: one, or those of a list or a request."""
    if type(value) is dict:
        return _of_mapping(value, name)
    if (own := own_tool(value, name)) is not None:
        return [own]
    match value:
        case Tool():
            return [checked_tool(value, name)]
        case Process():
            return [_of_json(value.to_json(), name or value.title)]
        case bool():
            return [Tool(name or "tool", value)]
        case Mapping():
            return _of_mapping(dict(value), name)
        case None | str() | bytes() | int() | float():
            raise TypeError(_refusal(value))
        case Sequence() | set() | frozenset():
            raise TypeError("a list is not a schema: take one of its members, as in `[tool] = …`, or give it to `lower_all`")
        case _:
            return _of_object(value, name)


def _of_mapping(given: Mapping[str, object], name: str | None) -> list[Tool]:
    return _in_object(as_object(checked_json(given)), name, 0)


def _in_object(value: JsonObject, name: str | None, level: int) -> list[Tool]:
    """Return an object's schema or tool, or the tools that it contains; `level` is the nesting of wrappers."""
    if not _OF_SCHEMAS.isdisjoint(value):
        return [_of_json(value, name)]
    if definitions.is_definition(value):
        return [_of_definition(value, name)]
    if level > definitions.LEVELS:
        raise TypeError(f"a tool is nested over {definitions.LEVELS} levels deep")
    for member, inner in definitions.inside(value).items():
        if isinstance(inner, dict):
            kind = {"type": "custom"} if member == "custom" else {}
            strict = {"strict": value["strict"]} if isinstance(value.get("strict"), bool) else {}
            return _in_object({**inner, **strict, **kind}, name, level + 1)
        if isinstance(inner, list):
            found = [_in_object(item, None, level + 1) if isinstance(item, dict) else tools_of(item) for item in inner]
            tools = [tool for item in found for tool in item]
            return [tool._replace(name=name or tool.name) for tool in tools] if len(tools) == 1 else tools
    if isinstance(value.get("name"), str):
        return [_of_definition(value, name)]
    if value and KEYWORDS.keys().isdisjoint(value) and not any(map(is_extension, value)):
        shown = ", ".join(f"`{dumps(word, indent=False)[1:-1]}`" for word in [*value][:3])
        message = f"{shown}{', …' if len(value) > 3 else ''}: this is not a tool, and has no keyword of JSON Schema"
        raise TypeError(message)
    return [_of_json(value, name)]


def _of_json(schema: Json, name: str | None) -> Tool:
    """Return a tool for a schema; for a process, its entry is the schema."""
    process = Process.find(schema)
    if process is None:
        return Tool(name or "tool", schema)
    entry = process.entry
    definitions: JsonObject = {word: item for word, item in mapping(schema).items() if word in ("$defs", "definitions")}
    return Tool(name or "tool", {**definitions, **entry} if definitions and isinstance(entry, dict) else entry, process.title)


def _of_definition(value: JsonObject, name: str | None) -> Tool:
    """Return a tool from a provider's format; raise `TypeError` if its schema would be lost."""
    found = definitions.definition(value)
    schema = found.schema
    if not isinstance(schema, dict | bool):
        if schema is None and value.get("type") == "custom":
            schema = definitions.free_text_schema(value)
        else:
            _refuse_hidden_schema(value)
            schema = {"type": "object", "properties": {}}
    text, strict, own = value.get("description"), value.get("strict"), value.get(found.name or "")
    return Tool(
        name or (own if isinstance(own, str) else "tool"),
        schema,
        text if isinstance(text, str) else None,
        strict if isinstance(strict, bool) else None,
        examples=tuple(_examples(value)),
        options=definitions.options(value),
    )


def _refuse_hidden_schema(value: Mapping[str, object]) -> None:
    """Raise `TypeError` for a tool without parameters that is the provider's own, or has a misspelt member."""
    kind = value.get("type")
    if isinstance(kind, str) and kind not in definitions.CARRIED_OUT_BY_THE_CALLER:
        shown = dumps(kind, indent=False)
        raise TypeError(f"a tool of the type {shown} is carried out by its provider: it has no schema, and is sent as it is")
    for word, inner in value.items():
        said = word in definitions.PARAMETER_WORDS and inner is not None
        if said or (isinstance(inner, dict) and word not in definitions.OBJECTS_BESIDE_THE_SCHEMA):
            known = " or ".join(f"`{item}`" for item in nearest(word, definitions.SCHEMA_WORDS))
            more = f": did you mean {known}?" if known and word not in definitions.PARAMETER_WORDS else ""
            raise TypeError(f"`{word}` of {_shown(value)} is not a schema of its arguments{more}")


def _shown(tool: Mapping[str, object]) -> str:
    """Return the name of a tool for messages."""
    name = tool.get("name")
    return f"the tool {dumps(name, indent=False)}" if isinstance(name, str) else "a tool without a name"


def _examples(value: JsonObject) -> list[Example]:
    """Return the examples of a tool; raise `TypeError` if they are not a list, or if a request is not a text."""
    result: list[Example] = []
    for word in definitions.EXAMPLES:
        listed = value.get(word) or []
        if not isinstance(listed, list):
            raise TypeError(f"`{word}` of {_shown(value)} is not a list of examples")
        for item in listed:
            if isinstance(item, dict) and item.keys() == {"request", "params"}:
                result.append(Example(item["params"], arguments.text_or_none("request", item["request"])))
            else:
                result.append(Example(item))
    return result


def _refusal(value: object) -> str:
    shown = "a text" if isinstance(value, str | bytes) else arguments.excerpt(value)
    more = ": read it first, for example with `json.loads`" if isinstance(value, str | bytes) else ""
    return f"{shown} is not a schema, tool, type or function{more}"


def _of_object(value: object, name: str | None) -> list[Tool]:
    """Return the tools in a type, a function, or a library's tool object."""
    if (kind := schema_of_type(value)) is not None:
        return [Tool(name or kind.name or "tool", checked_json(kind.schema), kind.description)]
    if (tool := _of_library(attribute(value, "tool_def") or value, name)) is not None:  # a `Tool` of pydantic-ai holds its texts
        return [tool]
    if (json := model_as_json(value)) is not value and isinstance(json, dict):
        if _OF_OBJECTS.isdisjoint({*json, *getattr(type(value), "model_fields", ())}):
            own = type(value).__name__
            raise TypeError(f"an instance of `{own}` is given, and no tool or schema: give the class, `{own}`")
        return _of_mapping(json, name)
    if (kind := schema_of_call(value)) is not None:
        return [Tool(name or kind.name or "tool", checked_json(kind.schema), kind.description)]
    raise TypeError(_refusal(value))


def _of_library(value: object, name: str | None) -> Tool | None:
    """Return the tool in a library object by its attribute names, or `None` if it has none of these."""
    for words in definitions.OBJECTS:
        own, given = attribute(value, words.name), attribute(value, words.schema)
        if isinstance(own, str) and given is not None:
            text = attribute(value, words.description)
            if not isinstance(given, dict):
                schema = tool_of(given).schema
            elif words.schema == "inputs":
                schema = definitions.inputs_schema(given)
            else:
                schema = given
            return Tool(name or own, checked_json(schema), text if isinstance(text, str) else None)
    return None


def each_of(values: object) -> list[Tool]:
    """Return the tools of a list, a request, or a mapping from names to types and functions.

    A tuple in a list consists of a name, a schema and optionally a description.
    """
    if isinstance(values, Mapping):
        by_name = bool(values) and all(isinstance(item, type | Tool) or function_of(item) is not None for item in values.values())
        return [tool_of(item, name) for name, item in values.items()] if by_name else tools_of(values)
    if isinstance(values, Tool) or (isinstance(values, type) and schema_of_type(values) is not None) or function_of(values):
        raise TypeError(f"one tool is given where several are expected: give a list, `[{_name_of(values)}]`, or use `lower`")
    if (json := model_as_json(values)) is not values and isinstance(json, dict):  # of `mcp`, whose objects yield their members
        return _of_object(values, None)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(_refusal(values))
    result: list[Tool] = []
    for value in values:
        if isinstance(value, tuple) and not isinstance(value, Tool):
            name, schema, *rest = (*value, None) if len(value) == 1 else value
            if not isinstance(name, str) or len(rest) > 1:
                raise TypeError("a tool in a tuple is a name, a schema and perhaps a description")
            tool = tool_of(schema, name)
            text = arguments.text_or_none("description", rest[0] if rest else None)
            result.append(tool if text is None else tool._replace(description=text))
        else:
            result += tools_of(value)
    return result


def _name_of(value: object) -> str:
    own = value.name if isinstance(value, Tool) else getattr(value, "__name__", None)
    return own if isinstance(own, str) else "tool"
