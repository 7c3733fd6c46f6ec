"""A vibe file as an artefact: its schema is the export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.emit.emit import document
from instrc.compiler.emit.paths import suffixed
from instrc.compiler.ir import Artefact, Emit
from instrc.problems.errors import SettingsError
from instrc.process import flow
from instrc.process.chunk_json import WORDS
from instrc.process.process import Process
from instrc.schema.annotate import nullable
from instrc.schema.document_definitions import DocumentDefinitions
from instrc.schema.strip import strip
from instrc.schema.walk import map_schemas, without
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_texts, mapping, optional_text
from instrc.text.names import snake

_Follow: TypeAlias = Callable[[flow.Read], flow.Read]


def batched(process: Process, chunks: tuple[flow.Chunk, ...], size: int) -> Process:
    """Return a process for `size` items; `chunks` are its contexts, none of which is a block.

    It returns the value of its last steps, like a compiled batch, as the value of one item has no place in it.
    """
    contexts = frozenset(chunk.name for chunk in chunks)
    keys = frozenset(step.key for chunk in chunks for step in chunk.steps)
    ways = [_follower(contexts, keys, item) for item in range(1, size + 1)]
    inputs = process.inputs
    if inputs is not None:
        inputs = {suffixed(name, item): each for name, each in inputs.items() for item in range(1, size + 1)}
    return replace(process, body=flow.Body(tuple(_chunk(chunk, ways) for chunk in chunks)), inputs=inputs)


def _follower(contexts: frozenset[str], keys: frozenset[str], item: int) -> _Follow:
    """Return a function that adds an item suffix to a path; the longest key wins, a path without a key is an input."""

    def follow(read: flow.Read) -> flow.Read:
        names = [segment.name for segment in read.segments]
        start = 1 if names[0] in contexts else 0
        if start == len(names):
            return read
        ends = range(len(names), start, -1)
        end = next((end for end in ends if ".".join(names[start:end]) in keys), start + 1)
        last = read.segments[end - 1]
        named = replace(last, name=suffixed(last.name, item))
        return replace(read, segments=(*read.segments[: end - 1], named, *read.segments[end:]))

    return follow


def _chunk(chunk: flow.Chunk, ways: list[_Follow]) -> flow.Chunk:
    steps = tuple(_step(step, item, follow) for step in chunk.steps for item, follow in enumerate(ways, 1))
    frame: JsonObject | None = chunk.frame
    if frame is not None and "required" in frame:
        required = [suffixed(key, item) for key in as_texts(frame["required"]) for item in range(1, len(ways) + 1)]
        frame = {**frame, "required": [*required]}
    return replace(chunk, steps=steps, frame=frame)


def _step(step: flow.Step, item: int, follow: _Follow) -> flow.Step:
    """Return a step of one item, as a copy, since its references are shared by all items."""
    slots = tuple(flow.EngineSlot(slot.path, _engine(slot.engine, follow)) for slot in step.slots)
    return replace(step, key=suffixed(step.key, item), engine=_engine(step.engine, follow), slots=slots, reference=None)


def _engine(engine: flow.EngineProperties, follow: _Follow) -> flow.EngineProperties:
    return replace(
        engine,
        references=tuple(map(follow, engine.references)),
        arguments=None if engine.arguments is None else flow.map_reads(engine.arguments, follow),
        among=None if engine.among is None else follow(engine.among),
        plan=None if engine.plan is None else {name: _tool(tool, follow) for name, tool in engine.plan.items()},
    )


def _tool(tool: Json, follow: _Follow) -> Json:
    """Return a tool of a plan with the arguments fixed by the program for the item."""
    if not isinstance(tool, dict) or tool.get("bound") is None:
        return tool
    return {**tool, "bound": flow.written_value(flow.map_reads(flow.value_of(tool["bound"]), follow))}


def given_by(block: flow.KeyedBlock, steps: Mapping[str, Json]) -> Json:
    """Return the schema of a block's value; `steps` are the schemas of all steps by key."""
    given = flow.gives(block)
    if given.listed is not None:
        items = _value(given.listed, steps)
        return {"type": "array", "items": nullable(items) if given.null else items}
    made = [_value(body, steps) for body in given.ones]
    return _one_of([*made, {"type": "null"}] if given.null else made)


def _value(body: flow.Body, steps: Mapping[str, Json]) -> Json:
    return {} if body.value is None else _schema(body.value, steps)


def _schema(value: flow.Value, steps: Mapping[str, Json]) -> Json:
    match value:
        case flow.Constant(constant):
            return {"const": constant}
        case flow.Named(members):
            properties: JsonObject = {name: _schema(member, steps) for name, member in members.items()}
            return {"type": "object", "properties": properties, "required": list(properties)}
        case flow.Listed():
            return {"type": "array"}
        case flow.Read(segments):
            schema = steps.get(segments[0].name, {})
            for segment in segments[1:]:
                schema = mapping(mapping(schema).get("properties")).get(segment.name, {})
            return schema


def _one_of(schemas: list[Json]) -> Json:
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return {} if {} in distinct else distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def emit_vibe(schema: Json, name: str, *, batch: int) -> Artefact:
    """Return the documents of a flat vibe schema with its engine properties; `batch` is the number of items."""
    title = optional_text(mapping(schema).get("title"))
    definitions = DocumentDefinitions()
    is_process = Process.find(schema) is not None
    if not is_process:
        schema = map_schemas(schema, lambda node: without(node, *WORDS))
    own = schema if not is_process and batch <= 1 else definitions.hoist(schema, "Root")
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
        chunks = tuple(context for context in process.body.contexts if isinstance(context, flow.Chunk))
        if len(chunks) < len(process.body.contexts):
            raise SettingsError(
                [problems.settings.InvalidOption(option="batch", given=str(batch), wanted="1 for a vibe with blocks")]
            )
        process = batched(process, chunks, batch)
        written = process.to_json()
        definitions.schemas = as_object(written.pop("$defs", {}))
        whole = written
    documents["tool"] = finished(process.entry, "engine")
    documents["result"] = finished(_steps(process, lambda _, schema: schema), "all")
    documents["flat"] = finished(_steps(process, _as_planned), "engine")
    documents["process"] = finished(whole)
    return Artefact(name, title, documents)


def _multiplied_tool(schema: Json, name: str, batch: int) -> Json:
    """Return a tool with the schema once per item."""
    keys = [suffixed(f"step1_{snake(name)}".rstrip("_"), item) for item in range(1, batch + 1)]
    return {"type": "object", "properties": dict.fromkeys(keys, schema), "required": [*keys]}


def _steps(process: Process, change: Callable[[flow.Executor | None, Json], Json]) -> Json:
    """Return all steps and values of blocks as one object; `change` receives the executor, `None` for a block, and the schema."""
    properties: dict[str, Json] = {}
    known = {step.key: step.schema for step in process.steps()}
    for context in process.body.contexts:
        if isinstance(context, flow.Chunk):
            for step in context.steps:
                made = change(context.executor, step.schema)
                properties[step.key] = _join_step(properties[step.key], made) if step.key in properties else made
        elif not isinstance(context, flow.Else) and context.key is not None:
            properties[context.key] = change(None, given_by(context, known))
    return {"type": "object", "properties": properties, "required": list(properties)}


def _join_step(first: Json, second: Json) -> Json:
    """Return one step that occurs in two contexts: its inputs, then the output."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    from deepmerge import Merger  # needed for processes written by hand that wait for the server

    halves = Merger([(dict, ["merge"]), (list, ["append_unique"])], ["override"], ["override"])
    joined: Json = halves.merge(loads(dumps(first, indent=False)), second)  # it works on its first argument
    return joined


def _as_planned(executor: flow.Executor | None, schema: Json) -> Json:
    """Return a step as planned by the model: values of other executors are null."""
    properties = mapping(mapping(schema).get("properties"))
    if executor is not None and "output" in properties:
        return {**as_object(schema), "properties": {**properties, "output": nullable(properties["output"])}}
    return schema if executor == "model" else nullable(schema)
