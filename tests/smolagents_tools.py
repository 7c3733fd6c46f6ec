"""Compiled tools as tools of smolagents, whose agents ours are compared with."""

from __future__ import annotations

from collections.abc import Callable

from smolagents import Tool

from instrc.text.jsonvalue import Json

_TYPES = frozenset({"string", "boolean", "integer", "number", "image", "audio", "array", "object", "any", "null"})


def smolagents_tool(schema: Json, handler: Callable[[dict[str, Json]], Json], *, name: str, output: str = "any") -> Tool:
    """Return a smolagents tool whose inputs are the properties of a compiled tool.

    `handler` is called with the arguments as one object; its result is returned to the agent.
    """
    known = schema if isinstance(schema, dict) else {}
    properties, names = known.get("properties"), known.get("required")
    properties = properties if isinstance(properties, dict) else {}
    required = names if isinstance(names, list) else []

    def forward(_self: object, *given: Json, **named: Json) -> Json:
        if len(given) > len(properties):
            raise TypeError(f"{name} takes {len(properties)} arguments, but was given {len(given)}")
        arguments = dict(zip(properties, given, strict=False)) | named  # code of an agent may give them in order
        return handler({key: value for key, value in arguments.items() if value is not None or key in required})

    members = {
        "name": name,
        "description": str(known.get("description", known.get("title", name))),
        "inputs": {key: _input(part, optional=key not in required) for key, part in properties.items()},
        "output_type": output,
        "skip_forward_signature_validation": True,
        "forward": forward,
    }
    made: Tool = type(name, (Tool,), members)()
    return made


def _input(schema: Json, *, optional: bool) -> dict[str, Json]:
    """Return an input in the notation of smolagents, which keeps JSON Schema keywords next to its own."""
    known = dict(schema) if isinstance(schema, dict) else {}
    kind = known.get("type")
    known["type"] = kind if isinstance(kind, str) and kind in _TYPES else "any"
    known["description"] = str(known.get("description", known.get("title", "")))
    return {**known, "nullable": True} if optional else known
