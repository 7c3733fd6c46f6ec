"""The schema of a plan: what a model fills in where a program says `Plan(…)`."""

from __future__ import annotations

from instrc.ir.fusion import Instruction, Tool
from instrc.jsonvalue import Json, JsonObject, as_object, as_texts, equal
from instrc.schema.walk import rebuild

OUTCOMES: JsonObject = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "tool": {"type": "string"},
            "status": {"enum": ["ok", "failed", "skipped"]},
            "output": {},
            "error": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string"},
                    "code": {"type": ["string", "null"]},
                    "message": {"type": "string"},
                },
            },
        },
        "required": ["id", "tool", "status"],
    },
}
"""What `RunPlan_Activity` gives back: a result for each task, in the order of the plan."""
RUN_PLAN = Instruction("RunPlan_Activity", None, OUTCOMES)
_ID = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
_PATH = r"^[A-Za-z][A-Za-z0-9_]{0,31}(\..+)?$"
_FROM: JsonObject = {
    "description": "The output of another task, or a part of it; `each` makes a copy of this task for every element.",
    "anyOf": [
        {
            "type": "object",
            "properties": {word: {"type": "string", "pattern": _PATH}},
            "required": [word],
            "additionalProperties": False,
        }
        for word in ("from", "each")
    ],
}


def with_shared_references(schema: Json) -> Json:
    """Return a schema with a plan in it so that what a task may take from others is said once, under `$defs`."""
    found = False

    def share(node: Json) -> Json:
        nonlocal found
        if isinstance(node, dict) and node.get("description") == _FROM["description"] and equal(node, _FROM):
            found = True
            return {"$ref": "#/$defs/from"}
        return node

    made = rebuild(schema, share)
    if not found or not isinstance(made, dict):
        return schema
    return {**made, "$defs": {**as_object(made.get("$defs", {})), "from": _FROM}}


def plan_schema(tools: tuple[Tool, ...]) -> dict[str, Json]:
    """Return the schema of a plan: a list of tasks, each for one of the tools, with the arguments that are the model's."""
    return {"type": "array", "items": {"anyOf": [_task(tool) for tool in tools]}, "$defs": {"from": _FROM}}


def _task(tool: Tool) -> Json:
    return {
        "type": "object",
        "properties": {
            "tool": {"const": tool.name},
            "id": {"type": "string", "pattern": _ID},
            "arguments": _open_to_others(tool),
            "after": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["tool", "id", "arguments"],
        "additionalProperties": False,
    }


def _open_to_others(tool: Tool) -> Json:
    """Return the arguments that are the model's; each may be the output of another task instead."""
    bound = {argument.label for argument in tool.bound}
    properties = as_object(tool.arguments.get("properties", {}))
    if not properties:
        return tool.arguments
    mine = {name: schema for name, schema in properties.items() if name not in bound}
    required: list[Json] = [name for name in as_texts(tool.arguments.get("required", [])) if name in mine]
    made = {keyword: value for keyword, value in tool.arguments.items() if keyword not in {"properties", "required", "$defs"}}
    made["properties"] = {name: {"anyOf": [schema, {"$ref": "#/$defs/from"}]} for name, schema in mine.items()}
    return {**made, "required": required} if required else made
