"""The shape of a process schema: one context a chunk, named after its executor and counted."""

from __future__ import annotations

import re

from instrc.ir.graph import Executor
from instrc.jsonvalue import Json

CONTEXT: dict[Executor, str] = {"model": "llmContext", "server": "serverContext", "user": "userContext"}
"""What a chunk is called among the properties of a process."""
CHUNK: dict[Executor, str] = {"model": "LLM", "server": "SERVER", "user": "USER"}
"""What it is called among the definitions."""
NOTHING: Json = {"type": "object", "properties": {}}
"""The entry of a process that does not begin with the model."""

_CONTEXT = re.compile(f"({'|'.join(CONTEXT.values())})[0-9]*")


def contexts_of(schema: Json) -> dict[str, Json] | None:
    """Return the contexts of a flat process schema by name, in order; `None` if it is not one."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict) and properties and all(_CONTEXT.fullmatch(name) for name in properties):
        return properties
    return None


def executor_of(context: str) -> Executor:
    """Return who carries out a context, by its name."""
    return next(executor for executor, name in CONTEXT.items() if context.startswith(name))


def entry_of(contexts: dict[str, Json]) -> Json:
    """Return what the model fills in to start the process."""
    name, schema = next(iter(contexts.items()))
    return schema if executor_of(name) == "model" else NOTHING
