"""The tool files of TaskBench: `{"nodes": [{"id", "desc", "input-type", "output-type"} or {"id", "desc", "parameters"}]}`."""

from __future__ import annotations

from collections.abc import Callable

from instrc.ir.bench import Bench, BenchInput, BenchKind, BenchTool
from instrc.jsonvalue import Json, JsonObject, as_texts
from instrc.naming import free_name, pascal, snake

_TEXT_WORDS = frozenset({"string", "str", "text", "date", "time", "datetime", "email", "url", "path"})
_MEDIA = {"image": "image/*", "audio": "audio/*", "video": "video/*", "text": "text/plain"}
Refuse = Callable[[tuple[str | int, ...], str], None]


def is_bench(value: Json) -> bool:
    """Tell whether a value looks like a tool file of TaskBench."""
    return value.__class__ is dict and value.get("nodes").__class__ is list


def read_bench(value: Json, refuse: Refuse) -> Bench:
    """Return the tools of a file; `refuse` is told the path of what is none, and why."""
    nodes = value.get("nodes", value.get("tools")) if value.__class__ is dict else value
    path: tuple[str | int, ...] = () if value.__class__ is not dict else ("nodes" if "nodes" in value else "tools",)
    if nodes.__class__ is not list:
        refuse((), "there is no list of tools")
        return Bench(())
    tools: list[BenchTool] = []
    ids: set[str] = set()
    names: set[str] = set()
    for number, node in enumerate(nodes):
        id_ = node.get("id") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(id_, str) or not id_:
            refuse((*path, number), "it has no id")
        elif id_ in ids:
            refuse((*path, number), f"another tool has the id `{id_[:60]}` too")
        else:
            ids.add(id_)
            name = _free(pascal(id_) or "Tool", names)
            tools.append(_tool(node, id_, name, len(tools), _below(refuse, (*path, number))))
    return Bench(tuple(tools))


def tools_map(bench: Bench) -> dict[str, Json]:
    """Return the tools as `check_plan` takes them."""
    return {
        tool.name: {"activity": f"{tool.name}_Activity", "arguments": arguments_schema(tool), "output": output_schema(tool)}
        for tool in bench.tools
    }


def arguments_schema(tool: BenchTool) -> dict[str, Json]:
    """Return the schema of what a tool is given; inputs by type are required, of parameters that is not said."""
    if tool.kind == "open":
        return {"type": "object"}
    properties = {slot.key: _schema(slot, tool.kind) for slot in tool.slots}
    made: dict[str, Json] = {"type": "object", "properties": properties}
    if tool.kind == "resource" and properties:
        made["required"] = list(properties)
    return {**made, "additionalProperties": False}


def output_schema(tool: BenchTool) -> Json:
    """Return the schema of what a tool gives back: a text of its media type, several by type, or nothing."""
    if tool.kind != "resource":
        return {}
    if len(tool.outputs) == 1:
        return media(tool.outputs[0])
    if not tool.outputs:
        return {"type": "null"}
    properties: JsonObject = {kind: media(kind) for kind in tool.outputs}
    return {"type": "object", "properties": properties, "required": list(properties)}


def media(kind: str) -> dict[str, Json]:
    """Return the schema of a text that is or names something of a type."""
    word = kind.lower()
    if word == "url":
        return {"type": "string", "format": "uri-reference"}
    return {"type": "string", "contentMediaType": _MEDIA[word]} if word in _MEDIA else {"type": "string", "description": kind}


def _schema(slot: BenchInput, kind: BenchKind) -> Json:
    if kind == "resource":
        made = media(slot.type)
        return {"type": "string"} if "format" in made else made  # models write what they know: `the first link`
    made = {"type": "string"} if slot.type.lower() in _TEXT_WORDS else {}
    lines = [line for line in (slot.description, "" if slot.type == "string" else f"Type: {slot.type}.") if line]
    return {**made, "description": "\n".join(lines)} if lines else made


def _below(refuse: Refuse, at: tuple[str | int, ...]) -> Refuse:
    return lambda path, reason: refuse((*at, *path), reason)


def _tool(node: JsonObject, id_: str, name: str, index: int, refuse: Refuse) -> BenchTool:
    inputs, parameters = node.get("input-type"), node.get("parameters")
    said = node.get("desc", node.get("description"))
    description = said if said.__class__ is str else ""
    if inputs is not None:
        keys: set[str] = set()
        slots = tuple(BenchInput(_free(snake(kind) or "input", keys, "_"), kind) for kind in _words(inputs, "input-type", refuse))
        return BenchTool(id_, name, "resource", description, slots, _words(node.get("output-type"), "output-type", refuse), index)
    if parameters is not None:
        return BenchTool(id_, name, "temporal", description, _parameters(parameters, refuse), (), index)
    return BenchTool(id_, name, "open", description, (), (), index)


def _words(value: Json, key: str, refuse: Refuse) -> tuple[str, ...]:
    if value is None:
        return ()
    if value.__class__ is not list or not all(each.__class__ is str for each in value):
        refuse((key,), "it is not a list of types")
        return ()
    return tuple(as_texts(value))


def _parameters(value: Json, refuse: Refuse) -> tuple[BenchInput, ...]:
    if value.__class__ is not list:
        refuse(("parameters",), "it is not a list of parameters")
        return ()
    slots: dict[str, BenchInput] = {}
    for number, each in enumerate(value):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(name, str) or name in slots:
            refuse(("parameters", number), "it has no name of its own")
            continue
        kind, said = each.get("type"), each.get("desc", each.get("description"))
        slots[name] = BenchInput(name, kind if kind.__class__ is str else "any", said if said.__class__ is str else "")
    return tuple(slots.values())


def _free(name: str, taken: set[str], joint: str = "") -> str:
    free = free_name(name, taken.__contains__, joint)
    taken.add(free)
    return free
