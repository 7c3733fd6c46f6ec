"""Write a plan in its uniform spelling: a task's arguments as a list of names and texts, for any tool.

In the typed spelling each argument of each tool is a property whose value is a union with the output of another task:
ten tools of five arguments exceed the unions that Anthropic's decoder allows.  The uniform spelling is one object for all tools.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from instrc.providers.codec import Codec, PlanCodec
from instrc.providers.lowering import arrays
from instrc.providers.lowering.context import RewriteContext, Variant
from instrc.schema.kinds import own_kinds
from instrc.schema.walk import required_names, walk
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text, listing, mapping
from instrc.text.limits import UNION_VARIANTS
from instrc.text.sentences import Sentences, filled

_TASK = {"tool", "id", "arguments", "after"}
_REFERENCES = ({"from"}, {"each"})
_REASON = (
    "is sent as names and texts, which `lift` checks: in full it would make {}; to send it in full, name fewer tools in `Plan(…)`"
)


def branches_of(node: Json) -> list[JsonObject] | None:
    """Return the kinds of tasks, one per tool, of a plan's schema, or `None` if it is not a plan."""
    if not isinstance(node, dict) or node.get("type") != "array":
        return None
    items = node.get("items")
    members = items.get("anyOf", [items]) if isinstance(items, dict) else []
    result = [member for member in members if isinstance(member, dict) and _is_task(member)] if isinstance(members, list) else []
    return result if result and isinstance(members, list) and len(result) == len(members) else None


def _is_task(node: JsonObject) -> bool:
    properties = node.get("properties")
    if not isinstance(properties, dict) or properties.keys() != _TASK:
        return False
    tool, arguments = properties["tool"], properties["arguments"]
    return isinstance(tool, dict) and isinstance(tool.get("const"), str) and isinstance(arguments, dict)


def holds_plan(schema: Json) -> bool:
    """Return whether a schema contains a plan."""
    return any(branches_of(node) is not None for _, node in walk(schema))


def reason_for_uniform(node: JsonObject, context: RewriteContext) -> str:
    """Return why a plan's array is sent in the uniform spelling, or the empty string."""
    if context.uniform:
        return context.uniform
    items = node.get("items")
    tools = len(listing(items.get("anyOf"))) if isinstance(items, dict) else 0
    return f"{tools} alternatives, of which at most {UNION_VARIANTS} are kept apart" if tools > UNION_VARIANTS else ""


def uniform(node: JsonObject, branches: Sequence[JsonObject], reason: str, context: RewriteContext) -> Variant | None:
    """Return the variant of a plan in its uniform spelling."""
    context.ledger.lose(node, "items", reason=_REASON.format(reason), parts=False)
    for branch in branches:
        context.ledger.lose_all(_arguments(branch), "is part of the arguments of a task", "part")
    spelled: JsonObject = {**node, "items": _task(branches, context.sentences)}
    variant = arrays.arrays(context.ledger.invent(spelled, node), context)
    if variant is None or variant.kind != "array":
        return variant
    return replace(variant, codec=_codec(branches, variant.codec))


def _arguments(branch: JsonObject) -> JsonObject:
    return as_object(_properties(branch)["arguments"])


def _properties(branch: JsonObject) -> JsonObject:
    return as_object(branch["properties"])


def _task(branches: Sequence[JsonObject], sentences: Sentences) -> Json:
    first = branches[0]
    properties = _properties(first)
    tools: list[Json] = [tool_name_of(branch) for branch in branches]
    said = "\n".join([sentences.plan_tools, *(_tool_line(branch, sentences) for branch in branches)])
    name: JsonObject = {"type": "string", "description": sentences.plan_argument}
    text: JsonObject = {"type": "string", "description": sentences.plan_text}
    entry: JsonObject = {
        "type": "object",
        "properties": {"name": name, "is": {"enum": ["value", "from", "each"], "description": sentences.plan_is}, "text": text},
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


def _tool_line(branch: JsonObject, sentences: Sentences) -> str:
    """Return the line of the description that lists the arguments of a tool."""
    arguments = _arguments(branch)
    required = required_names(arguments)
    takes = [
        f"{name}{'' if name in required else f' ({sentences.optional})'} {dumps(_value(schema), indent=False)}"
        for name, schema in mapping(arguments.get("properties")).items()
    ]
    text = arguments.get("description") or branch.get("description")
    rest = f" {text}" if isinstance(text, str) else ""
    is_open = arguments.get("additionalProperties") is not False
    taken = "; ".join(takes) or (sentences.any_arguments if is_open else sentences.no_arguments)
    return f"{tool_name_of(branch)}:{rest} {filled(sentences.arguments, taken=taken)}"


def _value(schema: Json) -> Json:
    """Return the schema of an argument's value, without the reference that may replace it."""
    members = schema.get("anyOf") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(members, list):
        return schema
    own = [item for item in members if not is_output_reference(item)]
    around: JsonObject = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    if len(own) == 1 and isinstance(own[0], dict):
        return {**around, **own[0]}
    return {**around, "anyOf": own} if own else schema


def _codec(branches: Sequence[JsonObject], inner: Codec) -> Codec:
    raw = {tool_name_of(branch): _raw(_arguments(branch)) for branch in branches}
    return PlanCodec({tool: names for tool, names in raw.items() if names}, inner)


def _raw(arguments: JsonObject) -> tuple[str, ...]:
    """Return the arguments that are always texts."""
    values = {name: _value(schema) for name, schema in mapping(arguments.get("properties")).items()}
    return tuple(name for name, value in values.items() if isinstance(value, dict) and own_kinds(value) == {"string"})


def tool_name_of(branch: JsonObject) -> str:
    """Return the name of the tool of a task."""
    return as_text(as_object(_properties(branch)["tool"])["const"])


def is_output_reference(schema: Json) -> bool:
    """Return whether a schema is that of a reference to another task's output."""
    if not isinstance(schema, dict):
        return False
    if isinstance(members := schema.get("anyOf"), list):
        return all(map(is_output_reference, members))
    properties = schema.get("properties")
    return isinstance(properties, dict) and properties.keys() in _REFERENCES and schema.get("additionalProperties") is False
