"""Follow the paths by which the parts of a process with blocks read each other.

A path begins with an input, a name of a block around the reader, or the key of a step or block
that runs before it in its own body or in one around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from instrc.ir.flow import Body, Condition, Context, Each, Else, Repeat, Try, When, bodies_of
from instrc.ir.process import Process
from instrc.ir.reads import Read, reads_of
from instrc.ir.steps import Chunk, Step
from instrc.jsonvalue import Json, Location
from instrc.problems.suggest import nearest

_OPEN = frozenset({"allOf", "anyOf", "oneOf", "$ref", "additionalProperties", "patternProperties", "if", "items", "prefixItems"})
"""Keywords beside which a value may have members that are not among its properties."""


class ProcessFault(NamedTuple):
    """A path that leads nowhere, or to what comes later; its place is that of the canonical spelling."""

    place: Location
    path: str
    reader: str
    nearest: tuple[str, ...]
    later: Location | None
    """Where that stands which comes later."""


@dataclass(slots=True)
class _Scope:
    """What can be read in a body: schemas by name, `True` where there is none."""

    known: dict[str, Json]
    later: dict[str, Location] = field(default_factory=dict)


class _Waiting(NamedTuple):
    body: Body
    place: Location
    engine: Location
    """Where its value is written, and when it ends."""
    scope: _Scope
    until: Condition | None = None


def faults(process: Process, inputs: tuple[str, ...]) -> Iterator[ProcessFault]:
    """Yield each path of a process that is no good; `inputs` are known beside those that it lists."""
    names: dict[str, Json] = dict.fromkeys(("prompt", *inputs), True)
    names |= process.inputs or {}
    waiting = [_Waiting(process.body, (), (), _Scope(names))]
    while waiting:
        body, place, engine, scope, until = waiting.pop()
        places = [_place_of(context, place) for context in body.contexts]
        for context, at in zip(body.contexts, places, strict=True):
            scope.later |= {key: (*at, *below) for key, below in _keys(context)}
        for context, at in zip(body.contexts, places, strict=True):
            if isinstance(context, Chunk):
                yield from _in_chunk(context, at, scope)
            else:
                yield from _in_block(context, at, scope)
                waiting += _inside(context, at, scope)
                if not isinstance(context, Else) and context.key is not None:
                    scope.known[context.key] = True
        if until is not None:
            yield from _in_condition(until, (*engine, "until"), "until", scope)
        yield from _judged(reads_of(body.value), (*engine, "value"), "value", scope)


def _in_chunk(chunk: Chunk, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    own: dict[str, Json] = {}
    for step in chunk.steps:
        at = (*place, "properties", step.key)
        yield from _in_step(step, at, scope)
        scope.known[step.key] = own[step.key] = step.schema
        scope.known[chunk.name] = {"properties": own}


def _in_step(step: Step, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    for at, engine in ((place, step.engine), *(((*place, *slot.path), slot.engine) for slot in step.slots)):
        for index, read in enumerate(engine.references):
            yield from _judged([read], (*at, "references", index), step.key, scope)
        yield from _judged(reads_of(engine.arguments), (*at, "arguments"), step.key, scope)
        if engine.among is not None:
            yield from _judged([engine.among], (*at, "among"), step.key, scope)


def _in_block(block: Context, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    """Judge what a block reads before anything in it runs."""
    match block:
        case When(branches=branches):
            for number, branch in enumerate(branches):
                if branch.condition is not None:
                    yield from _in_condition(branch.condition, (*place, "anyOf", number, "when"), block.key or block.name, scope)
        case Each(source=source):
            yield from _judged(reads_of(source), (*place, "each", "in"), block.key or block.name, scope)
        case Repeat(source=source):
            yield from _judged(reads_of(source), (*place, "repeat", "in"), block.key or block.name, scope)
        case _:
            pass


def _in_condition(condition: Condition, place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for number, (read, _) in enumerate(condition.tests):
        at = (*place, "path") if len(condition.tests) == 1 else (*place, "anyOf", number, "path")
        yield from _judged([read], at, reader, scope)


def _inside(block: Context, place: Location, scope: _Scope) -> Iterator[_Waiting]:
    """Yield the bodies of a block with what can be read in them."""
    bodies = bodies_of(block)
    for number, body in enumerate(bodies):
        names = dict(scope.known)
        until: Condition | None = None
        match block:
            case Each(item=item):
                names[item] = True
            case Repeat(item=own, until=until):
                names |= dict.fromkeys(("round", "previous", "rounds", *([own] if own else [])), True)
            case Else():
                names["rounds"] = True
            case Try() if number:
                names["error"] = True
            case _:
                pass
        at = (*place, "anyOf", number) if isinstance(block, When | Try | Else) else place
        engine = (*at, type(block).__name__.lower())
        at = (*place, "items") if isinstance(block, Each | Repeat) else at
        yield _Waiting(body, at, engine, _Scope(names, dict(scope.later)), until)


def _judged(reads: Iterator[Read] | list[Read], place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for read in reads:
        names = [segment.name for segment in read.segments]
        size = next((size for size in range(len(names), 0, -1) if ".".join(names[:size]) in scope.known), 0)
        if size:
            schema = scope.known[".".join(names[:size])]
            if missing := _missing(schema, names[size:]):
                done = names[: len(names) - len(missing[0])]
                close = tuple(".".join([*done, name, *missing[0][1:]]) for name in missing[1])
                yield ProcessFault(place, read.text, reader, close, None)
        elif names[0] in scope.later:
            yield ProcessFault(place, read.text, reader, (), scope.later[names[0]])
        else:
            close = tuple(".".join([name, *names[1:]]) for name in nearest(names[0], tuple(scope.known)))
            yield ProcessFault(place, read.text, reader, close, None)


def _missing(schema: Json, names: list[str]) -> tuple[list[str], tuple[str, ...]] | None:
    """Return what is left of a path where a schema certainly has no such member, and the nearest that it has."""
    for index, name in enumerate(names):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict) or not properties or not _OPEN.isdisjoint(schema):
            return None
        if name not in properties:
            return names[index:], nearest(name, tuple(properties))
        schema = properties[name]
    return None


def _keys(context: Context) -> Iterator[tuple[str, Location]]:
    if isinstance(context, Chunk):
        yield from ((step.key, ("properties", step.key)) for step in context.steps)
    elif not isinstance(context, Else) and context.key is not None:
        yield context.key, ()


def _place_of(context: Context, around: Location) -> Location:
    return (*around, "properties", context.name) if context.definition is None else ("$defs", context.definition)
