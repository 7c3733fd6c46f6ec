"""The schema of a plan, which a model fills in for `Plan(…)` in a program."""

from __future__ import annotations

from instrc.compiler.ir import Instruction, PlannableTool
from instrc.schema.walk import adopted, map_schemas, redirected, refers, without
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_texts, equal
from instrc.text.names import free_name
from instrc.text.sentences import Sentences


def plan_schema(tools: tuple[PlannableTool, ...], sentences: Sentences) -> dict[str, Json]:
    """Return the schema of a plan: a list of tasks, each for one of the tools, with the arguments left to the model."""
    definitions: JsonObject = {"from": _from(sentences)}
    tasks = [_task(tool, as_object(adopted(tool.arguments, tool.name, definitions))) for tool in tools]
    return {"type": "array", "items": {"anyOf": tasks}, "$defs": definitions}


_PATH = r"^[A-Za-z][A-Za-z0-9_]{0,31}(\..+)?$"


def _from(sentences: Sentences) -> JsonObject:
    """Return the schema of the references that may replace an argument of a task."""
    return {
        "anyOf": [
            {
                "description": said,
                "type": "object",
                "properties": {word: {"type": "string", "pattern": _PATH}},
                "required": [word],
                "additionalProperties": False,
            }
            for word, said in (("from", sentences.taken), ("each", sentences.taken_for_each))
        ],
    }


_ID = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"


def _task(tool: PlannableTool, arguments: JsonObject) -> Json:
    return {
        "type": "object",
        "properties": {
            "tool": {"const": tool.name},
            "id": {"type": "string", "pattern": _ID},
            "arguments": _open_to_others(tool, arguments),
            "after": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["tool", "id", "arguments"],
        "additionalProperties": False,
    }


def _open_to_others(tool: PlannableTool, arguments: JsonObject) -> Json:
    """Return the arguments left to the model, each of which may also be the output of another task."""
    bound = {argument.label for argument in tool.bound}
    properties = as_object(arguments.get("properties", {}))
    if not properties:
        return arguments
    mine = {name: schema for name, schema in properties.items() if name not in bound}
    required: list[Json] = [name for name in as_texts(arguments.get("required", [])) if name in mine]
    made = {keyword: value for keyword, value in arguments.items() if keyword not in {"properties", "required", "$defs"}}
    made["properties"] = {name: {"anyOf": [schema, {"$ref": "#/$defs/from"}]} for name, schema in mine.items()}
    return {**made, "required": required} if required else made


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
"""Result of `RunPlan_Activity`: one result per task, in plan order."""
RUN_PLAN = Instruction("RunPlan_Activity", None, OUTCOMES)


def with_shared_references(schema: Json, sentences: Sentences) -> Json:
    """Return a schema with a plan in which the references shared by tasks are one definition under `$defs`."""
    found, taken = False, _from(sentences)

    def share(node: Json) -> Json:
        nonlocal found
        if isinstance(node, dict) and node.keys() == taken.keys() and equal(node, taken):
            found = True
            return {"$ref": "#/$defs/from"}
        return node

    made = map_schemas(schema, share)
    if not found or not isinstance(made, dict):
        return schema
    return {**made, "$defs": {**as_object(made.get("$defs", {})), "from": taken}}


def part_of(schema: JsonObject, part: Json) -> Json:
    """Return a part of a schema with the definitions that it refers to, which may include the whole schema."""
    if not isinstance(part, dict) or not refers(part) or "$defs" in part:
        return part
    definitions = as_object(schema.get("$defs", {}))
    whole = free_name("whole", definitions.__contains__)
    moved = {"#": f"#/$defs/{whole}"}
    complete: JsonObject = {**part, "$defs": definitions}
    result = as_object(redirected(complete, moved))
    if result is complete:  # nothing refers to the whole schema
        return result
    return {**result, "$defs": {**as_object(result["$defs"]), whole: redirected(without(schema, "$defs"), moved)}}
