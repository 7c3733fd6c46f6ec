"""Read and write the maps of lowerings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NoReturn, TypeAlias

from msgspec import ValidationError, convert
from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.providers.codec import RefCodec, ToolMap, each
from instrc.schema.walk import is_schema
from instrc.schema.wellformed import problems_of
from instrc.text.arguments import attribute
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, is_deeper, mapping
from instrc.tools.definitions import AS_SENT, definition

META_KEY = "dev.instrc/map"
"""Key below `_meta` where an MCP tool carries its map."""
_OF_A_TOOL = AS_SENT | {"properties", "json_schema"}
"""Members of a sent tool or a schema, either of which is easily mistaken for its map."""


def _maps(value: object, level: int, *, served: bool = False) -> Iterator[JsonObject]:
    """Yield the maps in a value: a map, a lowering, a tool, or a collection of them; of what a server lists, those of tools."""
    if level > 5:  # a tool in a list in a result in an MCP answer, plus one level
        _refuse("it contains no map")
    if not isinstance(value, Mapping | list | tuple) and callable(dump := attribute(value, "model_dump")):
        value = _dumped(dump)  # a tool of Python's library has each member that its server has written, also a `map`
    elif not isinstance(value, Mapping | list | tuple) and (inside := attribute(value, "map")) is not None:
        value = inside
    if isinstance(value, str | bytes | bytearray):
        value = _read(value)
    if isinstance(value, list | tuple):
        for item in value:
            yield from _maps(item, level + 1, served=served)
        return
    if not isinstance(value, Mapping):
        _refuse(f"it is of the type {type(value).__name__}")
    if tool := _of_tool(value, level):
        yield from tool
    elif "instrc" in value and not served and _OF_A_TOOL.isdisjoint(value):
        yield dict(value)
    elif "jsonrpc" in value and isinstance(value.get("result"), Mapping):
        yield from _maps(value["result"], level + 1, served=True)
    elif isinstance(value.get("tools"), list | tuple):
        yield from _maps(value["tools"], level + 1, served=True)
    elif value and all(map(_carries_a_map, value.values())):
        yield from _maps([*value.values()], level + 1, served=served)
    elif not _OF_A_TOOL.isdisjoint(value):
        _refuse("it is a tool or a schema: give what `lower` or `lower_all` returned")
    else:
        _refuse("the member `instrc` is missing")


def _refuse(reason: str) -> NoReturn:
    raise CompileError([UnreadableMap(reason=reason)])


def _dumped(dump: Callable[..., object]) -> object:
    """Return a pydantic model as plain values."""
    try:
        return dump(mode="json", by_alias=True)
    except Exception:  # noqa: BLE001  -- a foreign object that looks like a model
        return None


def _read(text: str | bytes | bytearray) -> object:
    """Parse a JSON text."""
    try:
        return loads(text if isinstance(text, str) else bytes(text))
    except (ValueError, RecursionError):
        _refuse("it is a text, and no JSON: give what `lower` returned, or the text of the file that holds its map")


def _output_of(tool: Mapping[str, Json]) -> JsonObject:
    """Return the `output` member for the map of an MCP tool."""
    output = tool.get("outputSchema", tool.get("output_schema"))
    return {"output": output} if isinstance(output, dict) else {}


VERSION = 1
"""Version of the map format."""


_OF_ARGUMENTS = frozenset({"instrc", "keys", "codec", "codecs", "definitions", "schema", "output"})
"""Members of a map that an MCP tool carries: its server decides nothing about other tools, or what a model is told."""


def _of_tool(tool: Mapping[str, Json], level: int) -> list[JsonObject]:
    """Return the map of an MCP tool, which it carries if it was lowered; none for another value."""
    name, said = tool.get("name"), definition({**tool})
    schema = said.schema if said.schema_at[:1] in {("inputSchema",), ("input_schema",)} else None
    inner = tool.get("_meta", tool.get("meta"))
    carried = _maps(inner[META_KEY], level + 1) if isinstance(inner, Mapping) and META_KEY in inner else None
    if not isinstance(name, str) or not (carried or isinstance(schema, dict)):
        return []
    sent: JsonObject = {"instrc": VERSION, "keys": [*mapping(mapping(schema).get("properties"))], "codec": None, "schema": schema}
    own: JsonObject = {"target": "mcp", "tool": {"name": name, "sent": name}, **_output_of(tool)}
    return [{key: item[key] for key in _OF_ARGUMENTS & item.keys()} | own for item in ([sent] if carried is None else carried)]


def _carries_a_map(value: object) -> bool:
    """Return whether a value is or contains a map, like lowerings stored by name."""
    if isinstance(value, Mapping):
        return "instrc" in value
    return isinstance(inside := attribute(value, "map"), Mapping) and "instrc" in inside


Records: TypeAlias = dict[str, ToolMap]
"""Maps of tools, by the names under which they were sent."""
_NO_SCHEMA = "it holds no schema to check answers by"


def records_in(map: object) -> Records:  # noqa: A002  -- the word for it everywhere else
    """Return the maps of all tools by their sent names.

    `map` is a map, an object with a `map` (a lowering, the result of `lower_all`), an MCP tool, a list of these or a mapping from
    names to them, the result of `tools/list`, or the JSON text of any; raise `CompileError` for anything else.
    An MCP tool without a map was sent unchanged.
    """
    result: Records = {}
    for name, record in (entry for item in _maps(map, 0) for entry in _records(item).items()):
        if result.setdefault(name, record) != record:
            _refuse(f"it has two tools that are sent as `{name[:100]}`")
    if not result:
        _refuse("it contains no map")
    return result


def _records(map: JsonObject) -> Records:  # noqa: A002  -- as above
    if map["instrc"] != VERSION or isinstance(map["instrc"], bool):
        _refuse(f"it is of version `{str(map['instrc'])[:20]}`, and this program reads {VERSION}")
    if "tools" not in map:
        record = tool_map(map)
        return {record.tool.sent: record}
    if not isinstance(tools := map["tools"], dict):
        _refuse(_NO_SCHEMA)
    if not all(isinstance(name, str) for name in tools):
        _refuse("the name of a tool in it is not a text")
    return {name: tool_map(record) for name, record in tools.items()}


RESULT_LEVELS: Final = 20
"""Maximum nesting of the message that returns a result to a model; those of providers have five levels."""


def tool_map(record: Json) -> ToolMap:
    """Read the map of one tool; raise `CompileError` if it is invalid."""
    if not isinstance(record, dict) or "schema" not in record:
        _refuse(_NO_SCHEMA)
    if is_deeper(record.get("result"), RESULT_LEVELS):
        _refuse("its `result` is nested too deeply")
    try:
        result = convert(record, ToolMap)
    except (ValidationError, RecursionError) as error:
        _refuse(f"it is damaged: {error}")
    for word, schema in (("schema", result.schema), ("output", result.output)):
        if not is_schema(schema) or problems_of(schema):
            _refuse(f"its `{word}` is not a schema")
    for codec in each([result.codec, *result.codecs.values()]):
        if isinstance(codec, RefCodec) and codec.name not in result.codecs:
            _refuse(f"it is damaged: `{codec.name}` is not defined")
    return result


def of_results(records: Records) -> Records:
    """Return the maps for results; the output schema of a tool that declares none accepts anything."""
    return {
        name: replace(record, schema=record.output, keys=(*mapping(mapping(record.output).get("properties")),), codec=None)
        for name, record in records.items()
    }


def map_of(name: str | None, records: Records) -> ToolMap | None:
    """Return the map of a tool by original or sent name, or `None`; without a name, that of the only tool."""
    if name is None:
        return next(iter(records.values())) if len(records) == 1 else None
    return records.get(name) or next((record for record in records.values() if record.tool.name == name), None)
