"""Read the maps that lowerings leave: one of a tool, of a set of tools, or the one an MCP tool carries."""

from __future__ import annotations

from typing import Any

from instrc.codecs.reverse import VERSION
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap

META_KEY = "dev.instrc/map"
"""Where a tool for MCP carries its map, below `_meta`."""


def records_in(map: Json) -> dict[str, Any]:  # noqa: A002  -- the word for it everywhere else
    """Return the maps of all tools by the names they were sent under."""
    if isinstance(map, dict) and isinstance(meta := map.get("_meta"), dict) and META_KEY in meta:
        map = meta[META_KEY]  # noqa: A001  -- as above
    if not isinstance(map, dict) or "instrc" not in map:
        raise CompileError([UnreadableMap(reason="the member `instrc` is missing")])
    if map["instrc"] != VERSION:
        raise CompileError([UnreadableMap(reason=f"it is of version {map['instrc']!r}, and this program reads {VERSION}")])
    records = map["tools"] if "tools" in map else {_sent(map): map}
    if not isinstance(records, dict) or not all(isinstance(record, dict) and "schema" in record for record in records.values()):
        raise CompileError([UnreadableMap(reason="it holds no schema to check answers by")])
    return records


def _sent(record: dict[str, Any]) -> str:
    tool = record.get("tool")
    return str(tool.get("sent", "")) if isinstance(tool, dict) else ""


def record_of(name: str | None, records: dict[str, Any]) -> Any:
    """Return the map of the tool of a name, ours or the sent one; `None` if there is none, or no name and several tools."""
    if name is None:
        return next(iter(records.values())) if len(records) == 1 else None
    if name in records:
        return records[name]
    return next((record for record in records.values() if record.get("tool", {}).get("name") == name), None)
