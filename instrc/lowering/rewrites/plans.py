"""Say a plan in its uniform spelling: the arguments of a task as a list of names and texts, whatever its tool is.

In the typed spelling each argument of each tool is a property and a union of its value with the output of another task:
ten tools of five arguments are more unions than Anthropic's decoder takes.  The uniform spelling is one object for all tools.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.codec import Codec, PlanCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.rewrites import arrays
from instrc.lowering.variants import Variant
from instrc.lowering.walk import Walk
from instrc.schema.kinds import own_kinds
from instrc.schema.walk import walk

_TASK = {"tool", "id", "arguments", "after"}
_REFERENCES = ({"from"}, {"each"})
_REASON = "is sent as names and texts, because a budget of the target is exceeded; what they hold is checked by `lift`"
_SAID = {
    "tool": "The tool of this task. The arguments that each takes:",
    "name": "The name of the argument.",
    "is": "`value`: the text is the value. `from`: the value is the output of another task. "
    "`each`: a copy of this task is made for every element of that output.",
    "text": "A value that is a text as it is, any other as JSON. After `from` and `each` the id of the other task, "
    "with a path into its output behind a dot: `t1` or `t1.items.0.name`.",
}

Branch = dict[str, Any]


def branches_of(node: Json) -> list[Branch] | None:
    """Return the kinds of tasks, one a tool, of which a schema is a plan; `None` if it is none."""
    if not isinstance(node, dict) or node.get("type") != "array":
        return None
    items = node.get("items")
    found = items.get("anyOf", [items]) if isinstance(items, dict) else []
    return found if found and all(map(_is_task, found)) else None


def _is_task(node: Json) -> bool:
    properties = node.get("properties") if isinstance(node, dict) else None
    if not isinstance(properties, dict) or properties.keys() != _TASK:
        return False
    tool, arguments = properties["tool"], properties["arguments"]
    return isinstance(tool, dict) and isinstance(tool.get("const"), str) and isinstance(arguments, dict)


def holds_plan(schema: Json) -> bool:
    """Tell whether there is a plan anywhere in a schema."""
    return any(branches_of(node) is not None for _, node in walk(schema))


def uniform(lowerer: Walk, node: dict[str, Any], branches: list[Branch], level: int) -> Variant | None:
    """Return the form of a plan in its uniform spelling."""
    lowerer.take(node, "items", "unenforced", _REASON, parts=False)
    for branch in branches:
        lowerer.lose_all(branch["properties"]["arguments"], "is part of the arguments of a task", "part")
    spelled = {**node, "items": _task(branches)}
    form = arrays.arrays(lowerer, lowerer.own(spelled, node), level)
    if form is not None and form.kind == "array":
        form.codec = _codec(branches, form.codec)
    return form


def _codec(branches: list[Branch], inner: Codec) -> Codec:
    raw = {branch["properties"]["tool"]["const"]: _raw(branch["properties"]["arguments"]) for branch in branches}
    return PlanCodec({tool: names for tool, names in raw.items() if names}, inner)


def _task(branches: list[Branch]) -> Json:
    first = branches[0]
    properties = first["properties"]
    tools = [branch["properties"]["tool"]["const"] for branch in branches]
    said = "\n".join([_SAID["tool"], *map(_told, branches)])
    parts = {name: {"type": "string", "description": _SAID[name]} for name in ("name", "text")}
    entry = {
        "type": "object",
        "properties": {
            "name": parts["name"],
            "is": {"enum": ["value", "from", "each"], "description": _SAID["is"]},
            "text": parts["text"],
        },
        "required": ["name", "is", "text"],
        "additionalProperties": False,
    }
    return {
        **{keyword: value for keyword, value in first.items() if keyword in {"type", "required", "additionalProperties"}},
        "properties": {
            "tool": {"enum": tools, "description": said},
            "id": properties["id"],
            "arguments": {"type": "array", "items": entry},
            "after": properties["after"],
        },
    }


def _told(branch: Branch) -> str:
    """Return the line that tells the model what a tool takes."""
    arguments = branch["properties"]["arguments"]
    required = arguments.get("required", ())
    takes = [
        f"{name}{'' if name in required else ' (may be left out)'} {dumps(_value(schema), indent=False)}"
        for name, schema in arguments.get("properties", {}).items()
    ]
    head = branch["properties"]["tool"]["const"]
    text = arguments.get("description") or branch.get("description")
    rest = f" {text}" if isinstance(text, str) else ""
    return f"{head}:{rest} Arguments: {'; '.join(takes) or ('none' if _is_closed(arguments) else 'any')}."


def _is_closed(arguments: Branch) -> bool:
    return arguments.get("additionalProperties") is False


def _raw(arguments: Branch) -> tuple[str, ...]:
    """Return the arguments that are texts whatever is in them."""
    properties = arguments.get("properties", {})
    return tuple(name for name, schema in properties.items() if own_kinds(_value(schema)) == {"string"})


def _value(schema: Json) -> Json:
    """Return the schema of the value of an argument, without the output of another task that may stand there instead."""
    if not isinstance(schema, dict) or not isinstance(schema.get("anyOf"), list):
        return schema
    own = [each for each in schema["anyOf"] if not _is_reference(each)]
    around = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    if len(own) == 1 and isinstance(own[0], dict):
        return {**around, **own[0]}
    return {**around, "anyOf": own} if own else schema


def _is_reference(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return False
    if "anyOf" in schema:
        return all(map(_is_reference, schema["anyOf"]))
    properties = schema.get("properties")
    return isinstance(properties, dict) and properties.keys() in _REFERENCES and schema.get("additionalProperties") is False
