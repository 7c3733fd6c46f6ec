"""A plan prepared for interpretation: regions of units, and the dependencies between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from instrc.process import flow
from instrc.process.chunk_json import loops_of
from instrc.process.process import Process
from instrc.runtime.interpreter.documents import PinnedPlan, RunOptions
from instrc.schema.strip import is_meta, strip
from instrc.schema.validation import SchemaValidator
from instrc.schema.vocabulary import APPROVAL
from instrc.schema.walk import nodes, with_definitions
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping

UnitKind: TypeAlias = Literal["model", "user", "activity", "fire", "fail", "plan", "block", "branch"]
NameSource: TypeAlias = Literal["name", "key", "context", "input"]


class LocatedPath(NamedTuple):
    """The source of a path: the number of `levels` outwards, and the rest of the path."""

    levels: int
    source: NameSource
    name: str
    rest: tuple[flow.Segment, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the rest."""
        return tuple(segment.name for segment in self.rest)


class PlanUnit(Struct):
    """The smallest part that starts and ends as a whole."""

    index: int
    id: str
    kind: UnitKind
    context: str
    steps: tuple[flow.Step, ...] = ()
    block: flow.Block | None = None
    regions: tuple[int, ...] = ()
    """Bodies of a block."""
    race: int = 0
    """For a `branch`: the unit of the `race` of which it starts one body once that body's values exist."""
    model: str | None = None
    called: str | None = None
    """For a tool whose properties are not steps: its name in errors."""
    timed: bool = False
    """Whether it has a deadline or a delay."""
    needs: int = 0
    """Number of units of its region that it waits for."""
    dependents: list[int] = field(default_factory=list)
    unread: frozenset[str] = frozenset()
    """Steps of a person whose `decision` no condition reads."""
    schema: Json = None
    """Schema of the answer without engine properties, with its definitions."""
    validator: SchemaValidator = field(default_factory=lambda: SchemaValidator(True))  # noqa: FBT003  -- the schema that accepts everything
    """Validator of answers."""
    wrapped: bool = False
    """Whether the value of its single step is the member `output` of the recorded one."""
    meta: frozenset[str] = frozenset()
    """Steps that may hold thoughts or metrics."""
    references: tuple[flow.Read, ...] = ()
    """Paths that its steps read."""
    among: tuple[tuple[flow.Step, flow.Among], ...] = ()
    """Properties whose value is chosen from a list."""
    people: tuple[tuple[flow.Step, flow.Named], ...] = ()
    """Steps of a person with the arguments of which a rule of approval may name one."""
    plans: tuple[tuple[flow.Step, flow.Planned], ...] = ()
    """Properties whose value is a plan."""
    loops: tuple[flow.Loop, ...] = ()
    """Parts of a model's answer that may request another round."""


class PlanRegion(Struct):
    """One body."""

    index: int
    parent: int | None
    owner: int
    """Unit of the parent that owns this body."""
    waits: int
    """Unit of the parent that waits for the values that this body reads."""
    names: frozenset[str]
    value: flow.Value | None
    until: flow.Condition | None = None
    shows: flow.Value | None = None
    """Part of the value that other rounds see, if not all of it."""
    units: list[PlanUnit] = field(default_factory=list)
    keys: dict[str, list[int]] = field(default_factory=dict)
    """Units that provide each key, in order."""
    contexts: dict[str, list[int]] = field(default_factory=dict)
    places: dict[flow.Read, LocatedPath] = field(default_factory=dict)
    """Resolved paths, filled on demand."""

    def repeated(self, unit: PlanUnit) -> PlanUnit:
        """Return a unit of this body, or the `repeat` of an `else`."""
        return self.units[self.contexts[unit.block.of][0]] if isinstance(unit.block, flow.Else) else unit


def reads(unit: PlanUnit) -> Iterator[flow.Read]:
    """Yield the paths that must have a value before a unit can start."""
    if unit.block is not None:
        yield from flow.reads_before(unit.block)
    for step in unit.steps:
        yield from step.references
        yield from flow.reads_of(step.engine.arguments)
        yield from (among.choices for among in step.among)
        for tool in (step.plan or {}).values():
            if (bound := mapping(tool).get("bound")) is not None:
                yield from flow.reads_of(flow.value_of(bound))


def schema_without_engine(chunk: flow.Chunk, steps: tuple[flow.Step, ...], definitions: dict[str, Json], *, alone: bool) -> Json:
    """Return the schema of some steps of a chunk, or of one step `alone`, with what the chunk says about who approves."""
    if alone:
        schema = steps[0].schema
        parts = nodes(with_definitions(chunk.frame, definitions))
        stated = ({word: said for word, said in part.items() if word in APPROVAL} for part in parts)
        if rules := [rule for rule in stated if rule]:
            schema = {**mapping(schema), "allOf": [*listing(mapping(schema).get("allOf")), *rules]}
        return with_definitions(strip(schema, {"engine"}), definitions)
    properties = {step.key: step.schema for step in steps}
    schema = flow.framed(chunk.frame, properties)
    if "required" in schema and len(steps) < len(chunk.steps):
        schema = {**schema, "required": [key for key in listing(schema["required"]) if key in properties]}
    return with_definitions(strip(schema, {"engine"}), definitions)


def replace_property(schema: Json, place: tuple[str, ...], change: Callable[[dict[str, Json]], Json]) -> Json:
    """Return a schema with the property at a path changed, or unchanged if there is none."""
    if not place:
        return change(schema) if isinstance(schema, dict) else schema
    if not isinstance(schema, dict):
        return schema
    name, rest = place[0], place[1:]
    if name in (properties := mapping(schema.get("properties"))):
        return {**schema, "properties": {**properties, name: replace_property(properties[name], rest, change)}}
    branches: list[Json] = [replace_property(branch, place, change) for branch in listing(schema.get("allOf"))]
    return {**schema, "allOf": branches} if branches else schema


class RunnablePlan:
    """The regions of a plan."""

    def __init__(self, plan: PinnedPlan) -> None:
        self.document: JsonObject = plan["process"]
        self.options: RunOptions = plan["options"]
        self.whole: bool = plan["kind"] == "tool"
        """The first chunk is a tool, and its properties are not steps."""
        self.open: bool = plan["kind"] != "process"
        """Whether the first chunk is a tool, which declares no reads and therefore is shown all inputs."""
        self.fires: frozenset[str] = frozenset(self.options.get("fires", ()))
        self.models: dict[str, str] = self.options.get("models") or {}
        self.process: Process = Process.from_json(self.document)
        self.definitions: JsonObject = mapping(self.document.get("$defs"))
        self.regions: list[PlanRegion] = []
        self.shows = False
        """Whether rounds show less of some value than there is."""
        self.handed: set[int] = set()
        """Bodies of rounds that are looked at by later ones."""
        self._validators: dict[str, SchemaValidator] = {}
        """By their schemas as text: many steps have equal ones."""
        self._waits: set[tuple[int, int, int]] = set()
        self._build(self.process.body)
        for region in self.regions:
            self._connect(region)
        self._waits.clear()

    def locate(self, region: PlanRegion, read: flow.Read) -> LocatedPath:
        """Return the source of a path, searching outwards from its region, or an input if there is none. The longest key wins."""
        place = region.places.get(read)
        if place is None:
            place = region.places[read] = self._located(region, read)
        return place

    def _located(self, region: PlanRegion, read: flow.Read) -> LocatedPath:
        segments = read.segments
        levels = 0
        while True:
            for size in range(_end_of_key(segments), 0, -1):
                name = ".".join(segment.name for segment in segments[:size])
                source = _source(region, name)
                if source is not None:
                    return LocatedPath(levels, source, name, segments[size:])
            if region.parent is None:
                return LocatedPath(levels, "input", segments[0].name, segments[1:])
            region = self.regions[region.parent]
            levels += 1

    def _build(self, body: flow.Body) -> None:
        self.regions.append(PlanRegion(0, None, 0, 0, frozenset(), body.value))
        waiting = [(self.regions[0], body)]
        while waiting:
            region, inner = waiting.pop()
            for context in inner.contexts:
                for unit in self._units(context, len(region.units)):
                    unit.timed = bool(durations_of(unit, "within") or durations_of(unit, "delay"))
                    region.units.append(unit)
                    if unit.kind == "branch":
                        continue
                    region.contexts.setdefault(unit.context, []).append(unit.index)
                    for key in _keys(unit):
                        region.keys.setdefault(key, []).append(unit.index)
                    if unit.block is not None:
                        waiting += self._inside(unit, unit.block, region)
            for unit in region.units:  # readers of a `repeat` with an `else` wait for both
                if isinstance(unit.block, flow.Else):
                    for key in _keys(region.repeated(unit)):
                        region.keys[key].append(unit.index)

    def _inside(self, unit: PlanUnit, block: flow.Block, region: PlanRegion) -> Iterator[tuple[PlanRegion, flow.Body]]:
        parts = flow.parts_of(block)
        first = len(self.regions)
        unit.regions = tuple(range(first, first + len(parts)))
        for number, part in enumerate(parts, 1):
            body = part.body
            waits = unit.index + (number if isinstance(block, flow.Race) else 0)
            names, at = frozenset(part.names), len(self.regions)
            inner = PlanRegion(at, region.index, unit.index, waits, names, body.value, part.until, body.shows)
            self.shows = self.shows or body.shows is not None
            self.regions.append(inner)
            yield inner, body

    def _units(self, context: flow.Context, index: int) -> Iterator[PlanUnit]:
        if not isinstance(context, flow.Chunk):
            race = isinstance(context, flow.Race)
            yield PlanUnit(index, context.name, "block", context.name, block=context, needs=int(race))  # a branch of it
            for number in range(1, 1 + len(flow.parts_of(context)) if race else 1):
                name = f"{context.name}[{number}]"
                yield PlanUnit(index + number, name, "branch", context.name, race=index)
            return
        if context.executor == "server":
            for step in context.steps:
                kind: UnitKind = "fail" if step.engine.fail else "plan" if step.plan is not None else "activity"
                kind = "fire" if self.open and not self.options.get("waits") else kind
                yield self._viewed(PlanUnit(index, f"{context.name}.{step.key}", kind, context.name, (step,)), context)
                index += 1
            return
        if context.executor == "user":
            yield self._viewed(PlanUnit(index, context.name, "user", context.name, context.steps), context)
            return
        groups = [(self.models.get(""), context.steps)] if self.whole else list(_by_model(context, self.models))
        for number, (model, steps) in enumerate(groups):
            name = context.name if len(groups) == 1 else f"{context.name}.{steps[0].key}"
            called = self.options.get("step", context.name) if self.whole else None
            yield self._viewed(PlanUnit(index + number, name, "model", context.name, steps, model=model, called=called), context)

    def _viewed(self, unit: PlanUnit, chunk: flow.Chunk) -> PlanUnit:
        """Set the schema that a unit of a chunk fills in."""
        alone = unit.kind != "model" and (unit.kind != "user" or len(unit.steps) == 1)
        unit.schema = schema_without_engine(chunk, unit.steps, self.definitions, alone=alone)
        unit.validator = self._validators.setdefault(dumps(unit.schema, indent=False), SchemaValidator(unit.schema))
        if strip(unit.schema, {"thoughts", "metrics"}) is not unit.schema:
            unit.meta = frozenset(step.key for step in unit.steps)
        unit.wrapped = len(unit.steps) == 1 and unit.steps[0].output
        unit.references = tuple(read for step in unit.steps for read in step.references)
        unit.among = tuple((step, among) for step in unit.steps for among in step.among)
        rules = [node.get(word) for node in nodes(unit.schema) for word in ("x-approvers", "x-not")]
        if unit.kind == "user" and any(isinstance(rule, str) for rule in rules):
            given = ((step, step.engine.arguments) for step in unit.steps)
            unit.people = tuple((step, named) for step, named in given if isinstance(named, flow.Named))
        unit.plans = tuple((step, planned) for step in unit.steps for planned in step.plans)
        unit.loops = tuple(loops_of(chunk))
        return unit

    def _connect(self, region: PlanRegion) -> None:
        for unit in region.units:
            for read in reads(unit):
                self._need(region, unit.index, read)
            for giver in _effects_before(region, unit):
                if giver < unit.index:
                    self._wait(region, unit.index, giver)
            if isinstance(unit.block, flow.Else):
                self._wait(region, unit.index, region.contexts[unit.block.of][0])
            elif unit.kind == "fail":
                for other in region.units:
                    if other.kind != "fail":
                        self._wait(region, unit.index, other.index)
        last = list(flow.reads_of(region.value))
        last += [read for read, _ in region.until.tests] if region.until else []
        for read in last:
            self._need(region, None, read)

    def _need(self, region: PlanRegion, unit: int | None, read: flow.Read) -> None:
        """Make a unit, or the block around it, wait for the source of a path."""
        place = self.locate(region, read)
        for _ in range(place.levels):
            unit, region = region.waits, self.around(region, 1)
        if place.source == "name" and place.name in {"previous", "rounds"} and region.parent is not None:
            parent = self.regions[region.parent]
            self.handed.add(parent.repeated(parent.units[region.owner]).regions[0])
        if unit is None:
            return
        for giver in self.givers(region, place):
            if giver < unit:
                self._wait(region, unit, giver)

    def _wait(self, region: PlanRegion, unit: int, giver: int) -> None:
        wait = (region.index, unit, giver)
        if giver != unit and wait not in self._waits:
            self._waits.add(wait)
            region.units[giver].dependents.append(unit)
            region.units[unit].needs += 1

    def around(self, region: PlanRegion, levels: int) -> PlanRegion:
        """Return the region that encloses a region by a number of levels."""
        for _ in range(levels):
            region = self.regions[region.parent or 0]
        return region

    def givers(self, region: PlanRegion, place: LocatedPath) -> list[int]:
        """Return the units of a region that are the source of a path."""
        if place.source == "key":
            return region.keys[place.name]
        if place.source == "context":
            inside = region.contexts[place.name]
            key = place.rest[0].name if place.rest else None
            return [index for index in inside if key is None or key in _keys(region.units[index])] or inside
        return []


def _effects_before(region: PlanRegion, unit: PlanUnit) -> Iterator[int]:
    """Yield the units that must end before one starts although it does not read them; in a race, each branch waits."""
    block = region.units[unit.race].block if unit.kind == "branch" else unit.block
    if isinstance(unit.block, flow.Race | flow.Else):
        return
    names = [name for step in unit.steps for name in step.after]
    for name in names if block is None else flow.afters_of(block):
        yield from region.keys.get(name, region.contexts.get(name, ()))
        yield from (each.index for each in region.units if isinstance(each.block, flow.Else) and each.block.of == name)


def _end_of_key(path: tuple[flow.Segment, ...]) -> int:
    """Return the number of first names of a path that may be one key with dots: several without quotes, or one."""
    return next((place for place, segment in enumerate(path) if segment.quoted), len(path)) or 1


def _source(region: PlanRegion, name: str) -> NameSource | None:
    if name in region.names:
        return "name"
    if name in region.keys:
        return "key"
    return "context" if name in region.contexts else None


def durations_of(unit: PlanUnit, word: Literal["within", "delay"]) -> list[str]:
    """Return the deadlines or delays of a unit's steps, or of its block."""
    return [span for part in (*unit.steps, unit.block) if (span := getattr(part, word, None)) is not None]


def _keys(unit: PlanUnit) -> tuple[str, ...]:
    if unit.block is not None:
        return () if (key := getattr(unit.block, "key", None)) is None else (key,)
    return tuple(step.key for step in unit.steps)


def _by_model(chunk: flow.Chunk, models: dict[str, str]) -> Iterator[tuple[str | None, tuple[flow.Step, ...]]]:
    """Split a chunk by model; the steps in a mixin stay together."""
    chosen = [models.get(step.key) for step in chunk.steps]
    if len(set(chosen)) < 2 or any(is_meta(step.key) for step in chunk.steps):
        yield next((model for model in chosen if model), None), chunk.steps
        return
    for model, pairs in groupby(zip(chosen, chunk.steps, strict=True), itemgetter(0)):
        yield model, tuple([step for _, step in pairs])
