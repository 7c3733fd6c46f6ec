"""A vibe file as an artefact: its schema is the export.

A schema whose properties are all contexts is a process written by hand; any other is a tool.
"""

from __future__ import annotations

from collections.abc import Callable

from instrc import problems
from instrc.emit.batched import batched
from instrc.emit.block_values import given_by
from instrc.emit.definitions import DocumentDefinitions
from instrc.emit.emit import document
from instrc.emit.paths import suffixed
from instrc.flattening.nullable import nullable
from instrc.flattening.strip import strip
from instrc.ir.artefact import Artefact, Emit
from instrc.ir.executors import Executor
from instrc.ir.flow import Else
from instrc.ir.process import Process
from instrc.ir.steps import Chunk
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.naming import snake
from instrc.problems.problem import CompileError


def emit_vibe(schema: Json, name: str, *, batch: int) -> Artefact:
    """Return the documents of a flat vibe schema with its engine properties; `batch` is the number of items."""
    named = schema.get("title") if isinstance(schema, dict) else None
    title = named if isinstance(named, str) else None
    definitions = DocumentDefinitions()
    own = schema if Process.find(schema) is None and batch <= 1 else definitions.hoist(schema, "Root")
    process = Process.find({**own, "$defs": definitions.schemas} if isinstance(own, dict) and definitions.schemas else own)
    documents: dict[Emit, JsonObject] = {}

    def finished(made: Json, *stripped: str) -> JsonObject:
        whole = document(made, title, definitions, keep_title=made is own or not isinstance(made, dict) or "title" not in made)
        return as_object(strip(whole, set(stripped)) if stripped else whole)

    if process is None:
        tool = _multiplied_tool(own, name, batch) if batch > 1 else own
        documents["tool"] = finished(tool, "engine")
        documents["result"] = finished(tool, "all")
        return Artefact(name, title, documents)
    whole = own
    if batch > 1:
        chunks = tuple(context for context in process.body.contexts if isinstance(context, Chunk))
        if len(chunks) < len(process.body.contexts):
            raise CompileError(
                [problems.settings.InvalidOption(option="batch", given=str(batch), wanted="1 for a vibe with blocks")]
            )
        process = batched(process, chunks, batch)
        written = process.to_json()
        definitions.schemas = as_object(written.pop("$defs", {}))
        whole = written
    documents["tool"] = finished(process.entry, "engine")
    documents["result"] = finished(_steps(process, _unchanged), "all")
    documents["flat"] = finished(_steps(process, _as_planned), "engine")
    documents["process"] = finished(whole)
    return Artefact(name, title, documents)


def _unchanged(_executor: Executor | None, schema: Json) -> Json:
    return schema


def _steps(process: Process, change: Callable[[Executor | None, Json], Json]) -> Json:
    """Return all steps and values of blocks as one object; `change` gets who gives one, nobody for a block, and its schema."""
    properties: dict[str, Json] = {}
    known = {step.key: step.schema for context in process.contexts() if isinstance(context, Chunk) for step in context.steps}
    for context in process.body.contexts:
        if isinstance(context, Chunk):
            for step in context.steps:
                made = change(context.executor, step.schema)
                properties[step.key] = _join_step(properties[step.key], made) if step.key in properties else made
        elif not isinstance(context, Else) and context.key is not None:
            properties[context.key] = change(None, given_by(context, known))
    return {"type": "object", "properties": properties, "required": list(properties)}


def _join_step(first: Json, second: Json) -> Json:
    """Return one step that stands in two contexts: its inputs, then the output."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    from deepmerge import Merger  # needed for processes written by hand that wait for the server

    halves = Merger([(dict, ["merge"]), (list, ["append_unique"])], ["override"], ["override"])
    joined: Json = halves.merge(loads(dumps(first, indent=False)), second)  # it works on its first argument
    return joined


def _as_planned(executor: Executor | None, schema: Json) -> Json:
    """Return a step as the model plans it: what others give is null for now."""
    properties = _properties(schema)
    if executor is not None and "output" in properties:
        return {**as_object(schema), "properties": {**properties, "output": nullable(properties["output"])}}
    return schema if executor == "model" else nullable(schema)


def _properties(schema: Json) -> dict[str, Json]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _multiplied_tool(schema: Json, name: str, batch: int) -> Json:
    """Return a tool with the schema once an item."""
    keys = [suffixed(f"step1_{snake(name)}".rstrip("_"), item) for item in range(1, batch + 1)]
    return {"type": "object", "properties": dict.fromkeys(keys, schema), "required": [*keys]}
