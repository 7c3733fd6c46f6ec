"""The places where a rehearsal makes a choice, and the values to try there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, cast, get_args

from msgspec import Struct

from instrc.process import flow
from instrc.runtime.interpreter.documents import FailureKind
from instrc.runtime.interpreter.v1.refusals import INPUT, bases_of, values_of_member
from instrc.runtime.interpreter.v1.runnable import PlanRegion, PlanUnit, RunnablePlan
from instrc.runtime.models.model import instance_of
from instrc.schema.relations import disjoint
from instrc.testing.branches import enclosing_blocks, refusals, schema_of
from instrc.testing.choice_values import (
    TRIED_VALUES,
    definitions_of,
    dereference,
    object_part,
    plans_for,
    schema_inside,
    telling_values,
    values_of,
)
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, listing, mapping

TRIED_ORDERS: Final = 30
"""Maximum pairs of places that are tried in order."""
ABSENT = object()
"""Choice that omits a property."""
AS_MADE = object()
"""Choice that keeps the sample value."""
_NOT_EMPTY: Json = {"type": "array", "minItems": 1}
"""Schema for a list that blocks iterate over."""


class Fails(Struct, frozen=True):
    """The choice that makes a step fail."""

    kind: FailureKind = "failed"
    code: str | None = None


class Point(Struct, frozen=True, eq=False):
    """A place where a rehearsal makes a choice."""

    region: int
    """Region of the step; `INPUT` for an input."""
    key: str
    tail: tuple[str, ...]
    """Property names that lead from the answer to the value."""
    choices: tuple[object, ...]
    """Possible values, the sample first."""
    around: tuple[Json, ...]
    """Object to insert for each name of the tail but the last, if missing."""
    orders: tuple[tuple[int, ...], ...]
    """Sequences of choice numbers: for all runs of the step, or for its first and all later ones."""

    @property
    def fails(self) -> bool:
        """Whether the choice concerns a failure rather than a value."""
        return isinstance(self.choices[-1], Fails)

    @property
    def tried(self) -> str:
        """The values tried at the place, as text."""
        return ", ".join(_choice_as_text("", choice).removeprefix(" = ").strip() for choice in self.choices[1:])

    def told(self, order: tuple[int, ...]) -> str:
        """Describe the choice."""
        name = ".".join((self.key, *self.tail))
        return ", then ".join(_choice_as_text(name, self.choices[number]) for number in order)


def _choice_as_text(name: str, choice: Json | object) -> str:
    if isinstance(choice, Fails):
        words = " ".join(word for word in (choice.kind if choice.kind != "failed" else "", choice.code or "") if word)
        return f"{name} fails{f' ({words})' if words else ''}"
    if choice is AS_MADE:
        return f"{name} as made up"
    if choice is ABSENT:
        return f"{name} left out"
    text = dumps(cast("Json", choice), indent=False)
    return f"{name} = {text if len(text) <= 60 else text[:57] + '...'}"


_Place: TypeAlias = tuple[int, str, tuple[str, ...]]
"""A step or an input, by region and key, and the property names that lead to the value."""
_Start: TypeAlias = tuple[PlanRegion, flow.Read, tuple[str, ...]]
"""A path read in a region, and further property names."""


def points_of(program: RunnablePlan, fixed: Iterable[str]) -> list[Point]:
    """Return the places where a rehearsal makes a choice; `fixed` inputs are excluded."""
    given = set(fixed)
    values: dict[_Place, list[Json]] = {}
    for region, read, schema in _looks(program):
        starts: list[_Start] = [(region, read, ())]
        starts += [(inner, source, ()) for inner, source in _sources_behind(program, region, read)]
        for number, key, tail in sorted(bases_of(program, starts)):
            if number != INPUT or key not in given:
                values.setdefault((number, key, tail), []).append(_schema_of_test(program, region, read, schema))
    for number, key in refusals(program):
        values.setdefault((number, key, ("decision",)), [])
    for place, tests in _of_plans(program, values):
        values.setdefault(place, []).extend(tests)
    built = [list(_points_of_value(program, *place, schemas)) for place, schemas in values.items()]
    whole = {(item[0].region, item[0].key, item[0].tail) for item in built if item}
    gaps = {(gap.region, gap.key, gap.tail): gap for item in built for gap in item[1:]}
    result = [item[0] for item in built if item] + [gap for place, gap in gaps.items() if place not in whole]
    failures = (AS_MADE, *_failures(program))
    fallible = [*_fallible_units(program), *_plan_units(program, values)]
    return result + [_point(program, region, unit.steps[0].key, (), failures) for region, unit in fallible]


def _looks(program: RunnablePlan) -> Iterator[tuple[PlanRegion, flow.Read, Json]]:
    """Yield the paths that decide the course of a run, with the schemas that they are checked against."""
    for region in program.regions:
        if region.until is not None:
            yield from ((region, read, schema) for read, schema in region.until.tests)
        for unit in region.units:
            if unit.block is not None:
                for part in flow.parts_of(unit.block):
                    yield from ((region, read, schema) for read, schema in (part.condition.tests if part.condition else ()))
                yield from ((region, read, _NOT_EMPTY) for read in flow.reads_of(flow.source_of_block(unit.block)))
            if isinstance(unit.block, flow.Each | flow.Repeat) and unit.block.selection is not None:
                yield from _of_selection(program, region, unit.block, unit.block.selection)


def _of_selection(
    program: RunnablePlan, region: PlanRegion, block: flow.Each | flow.Repeat, chosen: flow.Selection
) -> Iterator[tuple[PlanRegion, flow.Read, Json]]:
    """Yield the paths that select elements: for the list, with a selected element."""
    condition = chosen.condition or flow.Condition(())
    for case in condition.alternatives:
        asked: list[Json] = []
        for number in case:
            read, schema = condition.tests[number]
            if condition.compared.get(number, condition.compared.get(number - 1, "")) in flow.BY_SIZE:
                schema = _SEVERAL  # the other number may be smaller, as samples are
            if read.first != block.item:
                yield region, read, schema
                continue
            for source in flow.reads_of(block.source):
                yield from ((*place, schema) for place in _of_block_elements(program, region, source, read))
            asked.append(_nested(tuple(segment.name for segment in read.segments[1:]), schema))
        element = _merged(asked)
        yield from ((region, read, _list_of(element)) for read in flow.reads_of(block.source))
    for value in (chosen.most, chosen.first):
        yield from ((region, read, _SEVERAL) for read in flow.reads_of(value))


def _of_block_elements(
    program: RunnablePlan, region: PlanRegion, source: flow.Read, read: flow.Read
) -> Iterator[tuple[PlanRegion, flow.Read]]:
    """Yield the paths in the body of the block whose value is a list to which a path into an element leads."""
    for _, unit in _units_behind(program, region, source):
        for body in [program.regions[number] for number in unit.regions]:
            tail = tuple(segment.name for segment in read.segments[1:])
            for inner, given, more in values_of_member(body, body.value, tail):
                yield inner, flow.Read((*given.segments, *map(flow.Segment, more)))


_SEVERAL: Json = {"type": "integer", "minimum": 2}


def _list_of(element: Json) -> Json:
    return {"type": "array", "items": element, "minItems": 1}


def _merged(schemas: list[Json]) -> Json:
    """Return a schema for what satisfies several schemas, with object schemas merged by their properties."""
    properties = {name: each for schema in schemas for name, each in as_object(as_object(schema).get("properties", {})).items()}
    return {"type": "object", "properties": properties, "required": [*properties]} if properties else {"allOf": [*schemas]}


def _sources_behind(program: RunnablePlan, region: PlanRegion, read: flow.Read) -> Iterator[tuple[PlanRegion, flow.Read]]:
    """Yield the lists that determine the length of a list: those of the blocks whose values form it."""
    for around, unit in _units_behind(program, region, read):
        if isinstance(unit.block, flow.Each | flow.Repeat):
            yield from ((around, item) for item in flow.reads_of(unit.block.source))


def _units_behind(program: RunnablePlan, region: PlanRegion, read: flow.Read) -> Iterator[tuple[PlanRegion, PlanUnit]]:
    """Yield the units whose whole values a path leads to, with their region."""
    place = program.locate(region, read)
    around = program.around(region, place.levels)
    if place.source == "key" and not place.rest:
        yield from ((around, around.units[index]) for index in around.keys.get(place.name, ()))


def _schema_of_test(program: RunnablePlan, region: PlanRegion, read: flow.Read, schema: Json) -> Json:
    """Return the schema of a test; for a test of an element, that of a list with such an element."""
    place = program.locate(region, read)
    inner = program.around(region, place.levels)
    block = program.regions[inner.parent].units[inner.owner].block if inner.parent is not None else None
    if place.source != "name" or not isinstance(block, flow.Each | flow.Repeat) or place.name != block.item:
        return schema
    return _list_of(_nested(place.members, schema))


def _nested(names: Sequence[str], schema: Json) -> Json:
    """Return a schema of objects whose member, by its path, satisfies a schema."""
    for name in reversed(names):
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return schema


def _of_plans(program: RunnablePlan, values: Mapping[_Place, list[Json]]) -> list[tuple[_Place, list[Json]]]:
    """Return the places of plans whose results a condition reads, with the tested schemas."""
    result: list[tuple[_Place, list[Json]]] = []
    for region, unit in _plan_units(program, values):
        here = region.index, unit.steps[0].key
        starts: list[_Start] = [(region, read, ()) for read in flow.reads_of(unit.steps[0].engine.arguments)]
        asked = [test for (number, key, _), tests in values.items() if (number, key) == here for test in tests]
        result += [(place, asked) for place in sorted(bases_of(program, starts))]
    return result


def _plan_units(program: RunnablePlan, places: Iterable[_Place]) -> Iterator[tuple[PlanRegion, PlanUnit]]:
    """Yield the units that execute a plan whose result decides a branch."""
    for number, key in dict.fromkeys((number, key) for number, key, _ in places if number != INPUT):
        region = program.regions[number]
        yield from ((region, unit) for unit in region.units if unit.kind == "plan" and unit.steps[0].key == key)


def _points_of_value(program: RunnablePlan, number: int, key: str, tail: tuple[str, ...], schemas: list[Json]) -> Iterator[Point]:
    """Yield the point of a value, then one for each enclosing object that may be null or missing."""
    schema = schema_of(program, number, key)
    if schema is None:
        return
    region = None if number == INPUT else program.regions[number]
    called = () if region is None else (unit for unit in region.units if unit.kind == "activity")
    if tail[:1] == ("output",) and any(step.key == key and step.output for unit in called for step in unit.steps):
        tail = tail[1:]
        schema = schema_inside(schema, ("output",), schema)
    root = schema
    inside = dereference(schema_inside(schema, tail, root), root)
    choices: list[object] = [AS_MADE]
    seen: set[str] = set()
    tests = [test for item in schemas for test in (item, *_of_elements(item))]
    tools = _tools(program, number, key, tail)
    plans = [] if tools is None else plans_for(inside, tools, root)
    open_ = ("other", None) if not inside.keys() & {"type", "enum", "const", "anyOf", "properties"} else ()
    usual = [*plans, *values_of(inside, root), *(value for item in tests for value in values_of(item, item, inside)), *open_]
    whole: JsonObject = {**inside, "$defs": definitions_of(root)}
    mixed = [item for test in schemas for item in _mixed_lists(inside, root, test)] if inside.get("type") == "array" else []
    telling = [value for test in tests for value in telling_values(whole, test, usual[:TRIED_VALUES])]
    few = usual[: TRIED_VALUES - 1]
    for value in [*few, *mixed, *telling, *usual[len(few) :]]:
        word = dumps(value, indent=False)
        if word not in seen:
            seen.add(word)
            choices.append(value)
    tried = max(TRIED_VALUES, 1 + len(few) + len(mixed) + len(telling))
    around = tuple(instance_of(object_part(schema_inside(root, tail[:size], root), root)) for size in range(1, len(tail)))
    yield _point(program, region, key, tail, (*choices[:tried], *([ABSENT] if tail else [])), around)
    for size in range(1, len(tail)):
        if gaps := _gaps(root, tail[:size]):
            yield _point(program, region, key, tail[:size], (AS_MADE, *gaps), around[: size - 1])


def _of_elements(test: Json) -> Iterator[Json]:
    """Yield the schemas of elements in a test of a list."""
    for word, part in mapping(test).items():
        if word in {"items", "contains"}:
            yield part
        elif word in {"anyOf", "oneOf", "allOf", "not"}:
            for item in listing(part) or [part]:
                yield from _of_elements(item)


def _tools(program: RunnablePlan, number: int, key: str, tail: tuple[str, ...]) -> JsonObject | None:
    """Return the tools allowed in the plan at a place, or `None` if there is no plan."""
    steps = () if number == INPUT else (step for unit in program.regions[number].units for step in unit.steps if step.key == key)
    return next((plan.tools for step in steps for plan in step.plans if plan.place == tail), None)


def _mixed_lists(schema: JsonObject, root: Json, test: Json) -> Iterator[Json]:
    """Yield lists of mixed elements: some satisfy the schema of a test, others do not."""
    items: JsonObject = {**dereference(schema.get("items", {}), root), "$defs": definitions_of(root)}
    for asked in _of_elements(test):
        kinds = list(telling_values(items, asked, ()))
        if len(kinds) > 1:
            yield from (kinds, [*reversed(kinds), kinds[-1]])


def _point(
    program: RunnablePlan,
    region: PlanRegion | None,
    key: str,
    tail: tuple[str, ...],
    choices: tuple[object, ...],
    around: tuple[Json, ...] = (),
) -> Point:
    orders: list[tuple[int, ...]] = [(number,) for number in range(len(choices))]
    again = region is not None and any(
        isinstance(unit.block, flow.Each | flow.Repeat) for _, unit, _ in enclosing_blocks(program, region)
    )
    if again:
        pairs = [(one, other) for one in range(len(choices)) for other in range(len(choices)) if one != other]
        orders += pairs[:TRIED_ORDERS]
    return Point(INPUT if region is None else region.index, key, tail, choices, around, tuple(orders))


def _gaps(root: Json, tail: tuple[str, ...]) -> list[object]:
    """Return the replacements of an object that a condition looks into: null, or nothing."""
    gaps: list[object] = [None] if any(value is None for value in values_of(schema_inside(root, tail, root), root)) else []
    parent = object_part(schema_inside(root, tail[:-1], root), root)
    required = parent.get("required")
    always = isinstance(required, list) and tail[-1] in required
    return gaps if always or "properties" not in parent else [*gaps, ABSENT]


def _failures(program: RunnablePlan) -> list[Fails]:
    """Return failures: a plain one, and those named by conditions on `error`."""
    result = [Fails()]
    for region, read, schema in _looks(program):
        place = program.locate(region, read)
        if place.source == "name" and place.name == "error" and place.members in {("kind",), ("code",)}:
            for value in values_of(schema, schema):
                if place.members == ("kind",):
                    result += [Fails(kind) for kind in get_args(FailureKind) if kind == value]
                elif isinstance(value, str):
                    result.append(Fails(code=value))
    return list(dict.fromkeys(result))


def _fallible_units(program: RunnablePlan) -> Iterator[tuple[PlanRegion, PlanUnit]]:
    """Yield the units that may fail in a body whose failure is handled by another body, such as in a `try`."""
    for region in program.regions:
        if any(part.rescued for _, _, part in enclosing_blocks(program, region)):
            for unit in region.units:
                if unit.kind in {"activity", "model", "user", "plan"} and unit.steps:
                    yield region, unit


def is_excluded(program: RunnablePlan, region: PlanRegion, read: flow.Read, schema: Json) -> bool:
    """Return whether the schemas of everything a path leads to exclude the tested one."""
    bases = bases_of(program, [(region, read, ())])
    if not bases or _schema_of_test(program, region, read, schema) is not schema:
        return False
    roots = [(schema_of(program, number, key), tail) for number, key, tail in bases]
    return all(root is not None and disjoint(schema_inside(root, tail, root), schema) for root, tail in roots)
