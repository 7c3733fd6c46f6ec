"""Read the functions of a list of tools, in the envelope of any provider."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec import Struct, field, structs

from instrc.problems.importing import NotATool
from instrc.process.flow import READS_ONLY
from instrc.schema.normalize import Rules, describe_value, parameters, properties_of
from instrc.text.jsonvalue import Json, Location, at, mapping, pointer
from instrc.tools import definitions
from instrc.tools.sources import Given, ImportedTool, description_text, normalize_schema


class ListFormat(Struct, frozen=True, kw_only=True):
    """The format of functions in one kind of source."""

    rules: Rules = field(default_factory=Rules)
    silent: frozenset[str] = frozenset({"type", "strict"})
    """Members without information about the tool itself."""
    keywords: dict[str, str] = field(default_factory=dict)
    """Members that become keywords of the schema, with the keyword."""
    demanded: str | None = None
    """Member that must hold the schema; `None` if a tool without a schema takes no arguments."""
    holders: frozenset[str] = frozenset()
    """Members allowed next to a list of tools without a note: the rest of a request or of a data set."""


def functions(given: Given, kind: ListFormat) -> Iterator[ImportedTool]:
    """Yield the tools of a list in order, and report the other entries."""
    stack: list[tuple[Json, Location, int]] = [(given.value, (), 0)]
    while stack:
        value, path, level = stack.pop()
        if level > definitions.LEVELS:
            given.problems.append(NotATool(at=given.locate(path), reason=f"it is nested over {definitions.LEVELS} levels deep"))
        elif value.__class__ is list:
            stack += [(item, (*path, index), level + 1) for index, item in reversed(list(enumerate(value)))]
        elif value.__class__ is str:
            inner = definitions.unpacked(value)
            if inner is None:
                given.problems.append(NotATool(at=given.locate(path), reason="it is a text"))
            else:
                stack.append((inner, path, level + 1))
        elif value.__class__ is not dict:
            given.problems.append(NotATool(at=given.locate(path), reason=f"it is {describe_value(value)}"))
        elif definitions.is_definition(value):
            yield _function(value, path, given, kind)
        else:
            inside = [(item, (*path, key), level + 1) for key, item in definitions.inside(value).items()]
            if not inside:
                given.problems.append(NotATool(at=given.locate(path), reason=_not_one(value)))
            stack += reversed(inside)
            if value.get("nextCursor") is not None:
                given.left_out((*path, "nextCursor"), "nextCursor", "the tools of the following pages are not in this file")


def _function(value: dict[str, Json], path: Location, given: Given, kind: ListFormat) -> ImportedTool:
    """Return the tool that a function describes; members that a vibe cannot hold are reported."""
    found = definitions.definition(value, of_data_sets=True)
    read = {"description", "title", *kind.silent, *kind.keywords, *found.read}
    name, raw, schema_at = value.get(found.name or ""), found.schema, (*path, *found.schema_at)
    if name is not None and name.__class__ is not str:
        given.left_out((*path, found.name or ""), "name", "it is not a text")
        name = None
    if kind.demanded and raw in (None, "", []):
        given.read_as(path, f"a tool without {kind.demanded}", "one that takes no arguments")
    if "required" in value and raw.__class__ is dict and raw.get("required") is value["required"]:
        given.read_as((*path, "required"), "required", "a part of the parameters")
    if raw is None and (value.get("type") == "custom" or path[-1:] == ("custom",)):
        read.add("format")
        try:
            raw = definitions.free_text_schema(value)
        except TypeError as error:
            given.left_out((*path, "format"), "format", str(error))
    schema = arguments_schema(raw, schema_at, given, kind.rules)
    options = definitions.options(value)
    read |= {word for held in options.values() for word in mapping(held)}
    for key, part in value.items():
        if key not in read and part is not None:
            is_list = key in definitions.TWO_LISTS
            given.left_out((*path, key), key, "it is not a list of parameters" if is_list else "a vibe has no place for it")
    title, result = value.get("title"), found.result
    return ImportedTool(
        name=name,
        at=path,
        schema=schema,
        schema_at=schema_at,
        description=description_text(value.get("description"), (*path, "description"), given),
        title=title if isinstance(title, str) else None,
        result=partial(normalize_schema, value[result], (*path, result), given, kind.rules) if result else None,
        extras={keyword: value[key] for key, keyword in kind.keywords.items() if value.get(key) is not None}
        | ({definitions.OPTIONS: options} if options else {}),
    )


def _not_one(value: dict[str, Json]) -> str:
    kind = value.get("type")
    if kind.__class__ is str:
        return f"`{describe_value(kind)}` is not a function"
    if any(value.get(key).__class__ is str for key in definitions.NAMES):
        return "it has a name, but neither a description nor a schema"
    return "it has neither a name nor a schema" if value else "it is empty"


def arguments_schema(raw: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return the normalized schema of a function's arguments; missing ones are an object without properties."""
    if raw is None or raw in ({}, [], ""):
        return {"type": "object", "properties": {}}
    if raw.__class__ is list and all(item.__class__ is dict and "name" in item for item in raw):
        given.read_as(path, "a list of parameters", "properties of an object")
        raw = {"type": "object", **properties_of({"properties": raw}, path).keywords}
    elif raw.__class__ is not dict:
        given.left_out(path, raw, "it is not a schema of parameters")
        return {"type": "object", "properties": {}}
    elif not parameters(raw) and "type" not in raw and ("properties" in raw or "required" in raw):
        raw = {"type": "object", **raw}
    return normalize_schema(raw, path, given, rules)


openai_tools = partial(functions, kind=ListFormat())
"""OpenAI: tools of Chat Completions and Responses, legacy functions, structured outputs, alone or in a whole request."""
anthropic_tools = partial(functions, kind=ListFormat(keywords={"input_examples": "examples"}))
"""Anthropic: tools of the Messages API, alone or in a whole request."""
bfcl_tools = partial(functions, kind=ListFormat(rules=Rules(plain_words=True), silent=frozenset({"type", "strict", "id"})))
"""Data sets in the format of the Berkeley Function Calling Leaderboard, with type names of Python, Java and JavaScript."""
MAP = "dev.instrc/map"
"""Key below `_meta` where a tool that was lowered from a vibe keeps the original schema."""
MCP_FORMAT = ListFormat(
    silent=frozenset({"type", "strict", "_meta", "icons"}),
    keywords={"annotations": "x-annotations", "execution": "x-execution"},
    demanded="inputSchema",
)


def mcp_tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools of a server; one compiled from a vibe becomes that vibe again."""
    for tool in functions(given, MCP_FORMAT):
        if mapping(tool.extras.get("x-annotations")).get("readOnlyHint") is True:  # does not wait for others that only read
            tool = structs.replace(tool, extras={**tool.extras, READS_ONLY: True})  # noqa: PLW2901  # the same tool
        yield _restored(at(given.value, pointer(tool.at)), tool, given)


def _restored(value: Json, tool: ImportedTool, given: Given) -> ImportedTool:
    meta = value.get("_meta") if value.__class__ is dict else None
    record = meta.get(MAP) if meta.__class__ is dict else None
    if record.__class__ is not dict:
        return tool
    names, schema = record.get("tool"), record.get("schema")
    if not isinstance(names, dict) or not isinstance(name := names.get("name"), str) or not isinstance(schema, dict):
        return tool
    if tool.name != names.get("sent"):
        return tool  # renamed since, so the map describes another tool
    path = (*tool.at, "_meta", MAP, "schema")
    return structs.replace(tool, name=name, schema=normalize_schema(schema, path, given, MCP_FORMAT.rules), schema_at=path)
