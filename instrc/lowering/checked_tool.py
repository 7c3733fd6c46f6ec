"""Make sure that the `Tool` of a caller holds what it says before anything is read in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from instrc import arguments
from instrc.ir.tool import Tool
from instrc.jsonvalue import Json
from instrc.lowering.checked_json import checked_json
from instrc.python.types import schema_of_call, schema_of_type


def checked_tool(tool: Tool, name: str | None) -> Tool:
    """Return a tool whose members are of the types that they say, with a schema in JSON; `TypeError` for any other."""
    arguments.text("Tool.name", tool.name)
    arguments.text_or_none("Tool.description", tool.description)
    arguments.whole_number("Tool.priority", tool.priority)
    if tool.strict is not None:
        arguments.truth("Tool.strict", tool.strict)
    given: object = tool.schema
    if not isinstance(given, Mapping | bool):
        described = schema_of_type(given) or schema_of_call(given)
        if described is None:
            message = f"`Tool.schema` takes a JSON Schema, a type or a function, not {arguments.excerpt(given)}"
            raise TypeError(message)
        given, tool = described.schema, tool._replace(description=tool.description or described.description)
    return tool._replace(name=name or tool.name, schema=checked_json(given))


def schema_of(tool: Tool) -> Json:
    """Return the schema of a tool that has been checked: it is JSON."""
    return cast("Json", tool.schema)
