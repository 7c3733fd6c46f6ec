"""Steps and chunks from JSON and to JSON: what is for the engine is read out of a schema, and written back beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias, TypeGuard

from instrc.ir.executors import Executor
from instrc.ir.reads import Read, value_of, written_value
from instrc.ir.steps import NO_ENGINE, Chunk, EngineProperties, EngineSlot, Loop, Step, framed
from instrc.jsonvalue import (
    Json,
    JsonArray,
    JsonObject,
    Location,
    as_object,
    at,
    optional_text,
)
from instrc.limits.programs import PROCESS_LEVELS, ROUNDS

Resolve: TypeAlias = Callable[[Json], JsonObject]
"""Follows references within the document from the top of a schema."""

WORDS = ("activity", "plan", "among", "fail", "within", "delay", "references", "arguments")
"""What stands beside a schema for the engine, in the order in which it is written."""
_SIGNS = frozenset({"activity", "plan", "among", "references", "arguments"})
"""Words that show that a schema inside a step has something for the engine; an author may have the others for himself."""


def read_step(key: str, written: Json, executor: Executor, resolve: Resolve) -> Step:
    """Read one property of a chunk."""
    if not isinstance(written, dict):
        return Step(key, written, executor)
    refers = isinstance(written.get("$ref"), str)
    schema = resolve(written) if refers else written
    slots: list[EngineSlot] = []
    for path, node in nodes_in(schema):
        if path and not _SIGNS.isdisjoint(node):
            engine = _engine_in_slot(node)
            if engine is not NO_ENGINE:
                slots.append(EngineSlot(path, engine))
    engine = _engine_of(schema)
    for slot in slots:
        schema = as_object(with_changed_part(schema, slot.path, partial(_bare, engine=slot.engine)))
    return Step(key, _bare(schema, engine), executor, engine, tuple(slots), written if refers else None)


def write_step(step: Step) -> Json:
    """Return the schema of a step with what is for the engine."""
    if step.reference is not None:
        return step.reference
    schema: Json = step.schema
    for slot in step.slots:
        schema = with_changed_part(schema, slot.path, partial(beside, engine=slot.engine))
    return schema if step.engine is NO_ENGINE else beside(schema, step.engine)


def read_chunk(name: str, executor: Executor, schema: JsonObject, definition: str | None, resolve: Resolve) -> Chunk:
    """Read the schema of a chunk."""
    properties = as_object(schema.get("properties") or {})
    steps = tuple(read_step(key, each, executor, resolve) for key, each in properties.items())
    return Chunk(name, executor, steps, frame_of(schema, dict.fromkeys(properties)), definition)


def resolved(schema: Json, document: Json) -> JsonObject:
    """Follow references within a document from the top of a schema; what stands beside one counts as well.

    `ValueError` says where that does not lead to an object.
    """
    beside: JsonObject = {}
    for _ in range(100):
        if not isinstance(schema, dict):
            break
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {**schema, **beside} if beside else schema
        beside = {**{key: value for key, value in schema.items() if key != "$ref"}, **beside}
        try:
            schema = at(document, reference[1:])
        except (LookupError, ValueError):
            message = f"`{reference}` has no target"
            raise ValueError(message) from None
    message = "it is not an object"
    raise ValueError(message)


def write_chunk(chunk: Chunk) -> JsonObject:
    """Return the schema of a chunk with what is for the engine."""
    return framed(chunk.frame, {step.key: write_step(step) for step in chunk.steps})


def frame_of(schema: JsonObject, inside: dict[str, None], canonical: JsonObject | None = None) -> JsonObject | None:
    """Return a schema without what is `inside`; `None` if it is an object that requires its properties."""
    properties = as_object(schema["properties"]) if "properties" in schema else None
    kept = {name: each for name, each in (properties or {}).items() if name not in inside}
    usual = (
        schema.keys() <= {"type", "properties", "required"}
        and schema.get("type") == "object"
        and properties is not None
        and kept == (canonical or {})
        and schema.get("required", []) == list(properties)
    )
    return None if usual else {**schema, "properties": kept} if properties is not None else schema


def loops_of(chunk: Chunk) -> Iterator[Loop]:
    """Yield the parts of a model's answer that may ask for another round."""
    for path, node in nodes_in(chunk.schema) if chunk.executor == "model" else ():
        properties = node.get("properties")
        if isinstance(properties, dict) and "_iteration" in properties and "_continue" in properties:
            bound = properties["_iteration"]
            most = bound.get("maximum") if isinstance(bound, dict) else None
            yield Loop(EngineSlot(path, NO_ENGINE).names, most if is_count(most) else ROUNDS)


def nodes_in(schema: Json) -> Iterator[tuple[Location, JsonObject]]:
    """Yield a schema and those of the properties in it, at every depth, with the ways that lead there."""
    waiting: list[tuple[Location, int, Json]] = [((), 0, schema)]
    while waiting:
        path, depth, node = waiting.pop()
        if not isinstance(node, dict) or depth > PROCESS_LEVELS:
            continue
        yield path, node
        below: list[tuple[Location, int, Json]] = []
        branches = node.get("allOf")
        parts: list[tuple[Location, Json]] = [((), node)]
        parts += [(("allOf", index), each) for index, each in enumerate(branches)] if isinstance(branches, list) else []
        for way, part in parts:
            properties = part.get("properties") if isinstance(part, dict) else None
            if isinstance(properties, dict):
                below += [((*path, *way, "properties", name), depth + 1, child) for name, child in properties.items()]
        waiting.extend(reversed(below))


def beside(schema: Json, engine: EngineProperties) -> Json:
    """Write what is for the engine beside a schema, last."""
    return _with_engine(dict(schema), engine) if isinstance(schema, dict) else schema


def is_count(value: Json) -> TypeGuard[int]:
    """Tell whether a value is a number of things."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _with_engine(found: JsonObject, engine: EngineProperties) -> JsonObject:
    arguments = None if engine.arguments is None else written_value(engine.arguments)
    return add_words(found, engine, [read.text for read in engine.references], arguments)


def add_words(found: JsonObject, engine: EngineProperties, references: list[str], arguments: Json) -> JsonObject:
    """Add to an object what is for the engine, with its paths as they are written, and return it."""
    if engine is not NO_ENGINE:
        if engine.activity is not None:
            found["activity"] = engine.activity
        if engine.plan is not None:
            found["plan"] = {"tools": engine.plan}
        if engine.among is not None:
            found["among"] = engine.among.text
        if engine.fail:
            found["fail"] = True
        if engine.within is not None:
            found["within"] = engine.within
        if engine.delay is not None:
            found["delay"] = engine.delay
    if references:
        found["references"] = references  # type: ignore[assignment]  # a list of texts is JSON
    if arguments is not None:
        found["arguments"] = arguments
    return found


def _engine_of(node: JsonObject) -> EngineProperties:
    """Return what stands beside the schema of a step; what is no such word stays in the schema."""
    if all(word not in node for word in WORDS):
        return NO_ENGINE
    among, plan, arguments = node.get("among"), node.get("plan"), node.get("arguments")
    tools = plan.get("tools") if isinstance(plan, dict) else None
    return EngineProperties(
        tuple(_references(node)),
        None if arguments is None else value_of(arguments),
        optional_text(node.get("activity")),
        tools if isinstance(tools, dict) else None,
        Read.parse(among) if isinstance(among, str) else None,
        node.get("fail") is True,
        optional_text(node.get("within")),
        optional_text(node.get("delay")),
    )


def _engine_in_slot(node: JsonObject) -> EngineProperties:
    """Return what stands beside a schema inside a step; arguments only if they are written as they are written here."""
    engine = _engine_of(node)
    arguments = node.get("arguments")
    if arguments is not None and written_value(value_of(arguments)) != arguments:
        engine = _engine_of({word: value for word, value in node.items() if word != "arguments"})
    return engine if _with_engine({}, engine).keys() & _SIGNS else NO_ENGINE


def _bare(node: Json, engine: EngineProperties) -> Json:
    words = _with_engine({}, engine)
    return {word: value for word, value in as_object(node).items() if word not in words} if words else node


def with_changed_part(schema: Json, path: Location, change: Callable[[Json], Json]) -> Json:
    """Return a schema in which the part at a place is changed."""
    above: list[JsonArray | JsonObject] = []
    for each in path:
        outer = schema if isinstance(schema, list) else as_object(schema)
        above.append(outer)
        schema = outer[each]  # type: ignore[index]  # the place has been found by going there
    made = change(schema)
    for outer, each in zip(reversed(above), reversed(path), strict=True):
        if isinstance(outer, list):
            made = [made if index == each else part for index, part in enumerate(outer)]
        else:
            made = {**outer, str(each): made}
    return made


def _references(node: JsonObject) -> Iterator[Read]:
    listed = node.get("references")
    for path in listed if isinstance(listed, list) else [listed]:
        if isinstance(path, str) and path:
            yield Read.parse(path)
