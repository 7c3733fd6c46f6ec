"""Model Context Protocol: the answer to `tools/list`, its `result`, or the tools alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from instrc.importers.functions import ListFormat, functions, normalize_schema
from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, at, pointer

MAP = "dev.instrc/map"
"""Where a tool that was made by lowering a vibe carries the vibe's own schema, below `_meta`."""
FORMAT = ListFormat(
    silent=frozenset({"type", "strict", "_meta", "icons"}),
    keywords={"annotations": "x-annotations", "execution": "x-execution"},
    demanded="inputSchema",
)


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools of a server; one that was a vibe before is that vibe again."""
    for tool in functions(given, FORMAT):
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
        return tool  # renamed since: the map is not about this tool any more
    path = (*tool.at, "_meta", MAP, "schema")
    return replace(tool, name=name, schema=normalize_schema(schema, path, given, FORMAT.rules), schema_at=path)
