"""Follow the paths by which the parts of a process with blocks read each other.

A path begins with an input, a name of a block around the reader, or the key of a step or block
that runs before it in its own body or in one around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from instrc.ir.flow import Body, Condition, Context, Each, Else, Repeat, Try, When, bodies_of
from instrc.ir.process import Process
from instrc.ir.reads import Read, reads_of
from instrc.ir.steps import Chunk, Step
from instrc.jsonvalue import Json, Location
from instrc.limits.programs import COMPARED_NAMES
from instrc.problems.suggest import NearestNames

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


class _Scope:
    """What can be read in a body: its own names, and those of the bodies around it up to the block that it is of."""

    def __init__(self, known: dict[str, Json], around: _Scope | None = None) -> None:
        self.known: dict[str, Json] = known
        """Schemas by name, `True` where there is none."""
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(known)}
        self.expected: dict[str, Location] = {}
        """Where that stands which comes later."""
        self.around = around
        self.known_around = len(around.known) if around is not None else 0
        self.offers: NearestNames = (
            around.offers if around is not None else NearestNames(COMPARED_NAMES // 10)
        )  # each in names of its own

    def know(self, name: str, schema: Json) -> None:
        """Let a name be known from here on."""
        self.numbers.setdefault(name, len(self.numbers))
        self.known[name] = schema

    def find(self, name: str) -> Json | None:
        """Return the schema of a name that can be read; `None` if there is no such name."""
        return next((scope.known[name] for scope, count in self._outwards() if scope.numbers.get(name, count) < count), None)

    def later(self, name: str) -> Location | None:
        """Return where that stands which has a name and comes later."""
        return next((scope.expected[name] for scope, _ in self._outwards() if name in scope.expected), None)

    def names(self) -> tuple[str, ...]:
        """Return all names that can be read."""
        return tuple(name for scope, count in self._outwards() for name in islice(scope.known, count))

    def _outwards(self) -> Iterator[tuple[_Scope, int]]:
        """Yield this body and those around it, each with the number of its names that can be read here."""
        scope: _Scope | None = self
        count = len(self.known)
        while scope is not None:
            yield scope, count
            count, scope = scope.known_around, scope.around


class _PendingBody(NamedTuple):
    body: Body
    place: Location
    engine: Location
    """Where its value is written, and when it ends."""
    scope: _Scope
    until: Condition | None = None


def dataflow_faults(process: Process, inputs: tuple[str, ...]) -> Iterator[ProcessFault]:
    """Yield each path of a process that is no good; `inputs` are known beside those that it lists."""
    names: dict[str, Json] = dict.fromkeys(("prompt", *inputs), True)
    waiting = [_PendingBody(process.body, (), (), _Scope(names | (process.inputs or {})))]
    while waiting:
        body, place, engine, scope, until = waiting.pop()
        places = [_place_of(context, place) for context in body.contexts]
        for context, at in zip(body.contexts, places, strict=True):
            scope.expected |= {key: (*at, *below) for key, below in _keys(context)}
        for context, at in zip(body.contexts, places, strict=True):
            if isinstance(context, Chunk):
                yield from _in_chunk(context, at, scope)
            else:
                yield from _in_block(context, at, scope)
                waiting += _inside(context, at, scope)
                if not isinstance(context, Else) and context.key is not None:
                    scope.know(context.key, schema=True)
        if until is not None:
            yield from _in_condition(until, (*engine, "until"), "until", scope)
        yield from _judged(reads_of(body.value), (*engine, "value"), "value", scope)


def _in_chunk(chunk: Chunk, place: Location, scope: _Scope) -> Iterator[ProcessFault]:
    own: dict[str, Json] = {}
    for step in chunk.steps:
        at = (*place, "properties", step.key)
        yield from _in_step(step, at, scope)
        own[step.key] = step.schema
        scope.know(step.key, step.schema)
        scope.know(chunk.name, {"properties": own})


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


def _inside(block: Context, place: Location, scope: _Scope) -> Iterator[_PendingBody]:
    """Yield the bodies of a block with what can be read in them."""
    bodies = bodies_of(block)
    for number, body in enumerate(bodies):
        names: tuple[str, ...] = ()
        until: Condition | None = None
        match block:
            case Each(item=item):
                names = (item,)
            case Repeat(item=own, until=until):
                names = ("round", "previous", "rounds", *([own] if own else []))
            case Else():
                names = ("rounds",)
            case Try() if number:
                names = ("error",)
            case _:
                pass
        at = (*place, "anyOf", number) if isinstance(block, When | Try | Else) else place
        engine = (*at, type(block).__name__.lower())
        at = (*place, "items") if isinstance(block, Each | Repeat) else at
        yield _PendingBody(body, at, engine, _Scope(dict.fromkeys(names, True), scope), until)


def _judged(reads: Iterator[Read] | list[Read], place: Location, reader: str, scope: _Scope) -> Iterator[ProcessFault]:
    for read in reads:
        names = [segment.name for segment in read.segments]
        sizes = ((size, scope.find(".".join(names[:size]))) for size in range(len(names), 0, -1))
        size, schema = next(((size, found) for size, found in sizes if found is not None), (0, None))
        if schema is not None:
            if missing := _missing(schema, names[size:], scope.offers):
                done = names[: len(names) - len(missing[0])]
                close = tuple(".".join([*done, name, *missing[0][1:]]) for name in missing[1])
                yield ProcessFault(place, read.text, reader, close, None)
        elif (later := scope.later(names[0])) is not None:
            yield ProcessFault(place, read.text, reader, (), later)
        else:
            near = () if scope.offers.over else scope.offers.nearest(names[0], scope.names())
            close = tuple(".".join([name, *names[1:]]) for name in near)
            yield ProcessFault(place, read.text, reader, close, None)


def _missing(schema: Json, names: list[str], offers: NearestNames) -> tuple[list[str], tuple[str, ...]] | None:
    """Return what is left of a path where a schema certainly has no such member, and the nearest that it has."""
    for index, name in enumerate(names):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict) or not properties or not _OPEN.isdisjoint(schema):
            return None
        if name not in properties:
            return names[index:], offers.nearest(name, tuple(properties))
        schema = properties[name]
    return None


def _keys(context: Context) -> Iterator[tuple[str, Location]]:
    if isinstance(context, Chunk):
        yield from ((step.key, ("properties", step.key)) for step in context.steps)
    elif not isinstance(context, Else) and context.key is not None:
        yield context.key, ()


def _place_of(context: Context, around: Location) -> Location:
    return (*around, "properties", context.name) if context.definition is None else ("$defs", context.definition)
