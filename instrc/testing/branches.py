"""The branches of a run, the conditions that decide them, and the values to try there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Literal, TypeAlias, cast, get_args

from msgspec import Struct

from instrc.process import flow
from instrc.runtime.interpreter.documents import BodyState, FailureKind, State
from instrc.runtime.interpreter.v1.refusals import INPUT, bases_of, unread_decisions, values_of_member
from instrc.runtime.interpreter.v1.runnable import PlanRegion, PlanUnit, RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, Machine, scoped_id
from instrc.runtime.interpreter.v1.values import holds
from instrc.runtime.models.model import instance_of
from instrc.schema.relations import disjoint
from instrc.schema.samples import instances
from instrc.schema.validation import is_valid
from instrc.schema.walk import dereferenced
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_integer, as_object, as_text, listing, mapping
from instrc.tools.plan_check import check_plan

TRIED_VALUES: Final = 10
"""Maximum values tried at one place of a rehearsal."""
PLANS_OF_ONE: Final = 3
"""Maximum single-task plans tried at one place."""
TOLD_APART: Final = 1_000
"""Maximum values searched for one that a test distinguishes."""
TRIED_ORDERS: Final = 30
"""Maximum pairs of places that are tried in order."""


def values_of(schema: Json, root: Json, besides: Json = None) -> Iterator[Json]:
    """Yield values that satisfy a schema, and some that do not; `besides` is a schema that all must satisfy."""
    schema = dereference(schema, root)
    yield from listing(schema.get("enum"))
    if "const" in schema:
        yield schema["const"]
    for item in (*listing(schema.get("anyOf")), *listing(schema.get("oneOf")), schema.get("not")):
        if item is not None:
            yield from values_of(item, root, besides)
    kinds: Json = schema.get("type", "object" if "properties" in schema else [])
    for kind in listing(kinds) if not isinstance(kinds, str) else [kinds]:
        yield from _of_kind(as_text(kind), schema, root, besides)


def _of_kind(kind: str, schema: JsonObject, root: Json, besides: Json) -> Iterator[Json]:
    definitions = _definitions(root)
    match kind:
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "integer" | "number":
            for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                limit = schema.get(word)
                if isinstance(limit, int | float):
                    yield from (limit, limit - 1, limit + 1)
            yield from (0, 1)
        case "object":
            result = instance_of({**schema, "type": "object", "$defs": definitions})
            other = instance_of(besides) if isinstance(besides, dict) else None
            yield {**other, **result} if isinstance(other, dict) and isinstance(result, dict) else result
        case "array":
            items = schema.get("items", {})
            wanted = besides.get("items", {}) if isinstance(besides, dict) else {}
            inside = list(values_of(items, root, wanted))[:4] or [instance_of({**mapping(items), "$defs": definitions})]
            if items == {} and isinstance(wanted, dict):
                inside = [instance_of(wanted)]
            for item in inside:
                yield [item]
            yield inside
            yield []
        case _:
            yield instance_of({**schema, "type": kind, "$defs": definitions})
            if kind == "string":
                yield from ("other", "")


def _definitions(root: Json) -> JsonObject:
    return mapping(root.get("$defs")) if isinstance(root, dict) else {}


def plans_for(schema: Json, tools: JsonObject, root: Json) -> list[Json]:
    """Return plans for some tools: one task of each, all of them together, and one that waits for another."""
    definitions = _definitions(root)
    items = dereference(dereference(schema, root).get("items", {}), root)
    tasks: list[JsonObject] = []
    for variant in listing(items.get("anyOf")) or [items]:
        built = instance_of({**dereference(variant, root), "$defs": definitions})
        if isinstance(built, dict):
            task: JsonObject = {word: item for word, item in built.items() if word != "after"} | {"id": f"t{len(tasks) + 1}"}
            tasks += [task] if not check_plan([task], tools) else []
    if not tasks:
        return []
    waiting: JsonObject = {**tasks[0], "id": f"t{len(tasks) + 1}", "after": ["t1"]}
    result: list[Json] = [[task] for task in tasks[:PLANS_OF_ONE]]
    together: list[Json] = [[*tasks]] if len(tasks) > 1 else []
    return [*result, *together, [tasks[0], waiting]]


def telling_values(schema: Json, test: Json, known: Iterable[Json]) -> Iterator[Json]:
    """Yield values of a schema that satisfy a test and values that do not, unless a `known` one already does."""
    left = {True, False} - {is_valid(value, test) for value in known if is_valid(value, schema)}
    for value in islice(instances(schema, test), TOLD_APART) if left else ():
        if is_valid(value, schema) and (verdict := is_valid(value, test)) in left:
            left.remove(verdict)
            yield value
            if not left:
                return


def schema_inside(schema: Json, tail: tuple[str, ...], root: Json) -> Json:
    """Return the part of a schema at the end of a path of names."""
    for name in tail:
        schema = dereference(schema, root)
        within = [schema, *listing(schema.get("anyOf"))] if isinstance(schema, dict) else []
        members = [mapping(dereference(item, root).get("properties")) for item in within]
        schema = next((member[name] for member in members if name in member), {})
    return schema


def object_part(schema: Json, root: Json) -> JsonObject:
    """Return the part of a schema that describes an object."""
    whole = dereference(schema, root)
    parts = (dereference(item, root) for item in (whole, *listing(whole.get("anyOf"))))
    usual: JsonObject = {"type": "object"}
    return {**next((item for item in parts if "properties" in item), usual), "$defs": _definitions(root)}


def dereference(schema: Json, root: Json) -> JsonObject:
    """Resolve a reference to the definitions of a schema; a value that is not an object schema allows everything."""
    return mapping(dereferenced(schema, {"$defs": _definitions(root)}))


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
            inner = schema
            for segment in reversed(read.segments[1:]):
                inner = {"type": "object", "properties": {segment.name: inner}, "required": [segment.name]}
            asked.append(inner)
        element = _merged(asked)
        yield from ((region, read, _list_of(element)) for read in flow.reads_of(block.source))
    for value in (chosen.most, chosen.first):
        yield from ((region, read, _SEVERAL) for read in flow.reads_of(value))


def _of_block_elements(
    program: RunnablePlan, region: PlanRegion, source: flow.Read, read: flow.Read
) -> Iterator[tuple[PlanRegion, flow.Read]]:
    """Yield the paths in the body of the block whose value is a list to which a path into an element leads."""
    place = program.locate(region, source)
    for _ in range(place.levels):
        region = program.regions[region.parent or 0]
    for index in region.keys.get(place.name, ()) if place.source == "key" and not place.rest else ():
        for body in [program.regions[number] for number in region.units[index].regions]:
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
    place = program.locate(region, read)
    for _ in range(place.levels):
        region = program.regions[region.parent or 0]
    for index in region.keys.get(place.name, ()) if place.source == "key" and not place.rest else ():
        block = region.units[index].block
        source = block.source if isinstance(block, flow.Each | flow.Repeat) else None
        yield from ((region, item) for item in flow.reads_of(source))


def _schema_of_test(program: RunnablePlan, region: PlanRegion, read: flow.Read, schema: Json) -> Json:
    """Return the schema of a test; for a test of an element, that of a list with such an element."""
    place = program.locate(region, read)
    inner = region
    for _ in range(place.levels):
        inner = program.regions[inner.parent or 0]
    block = program.regions[inner.parent].units[inner.owner].block if inner.parent is not None else None
    if place.source != "name" or not isinstance(block, flow.Each | flow.Repeat) or place.name != block.item:
        return schema
    for name in reversed(place.rest):
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return _list_of(schema)


def _of_plans(program: RunnablePlan, values: Mapping[_Place, list[Json]]) -> list[tuple[_Place, list[Json]]]:
    """Return the places of plans whose results a condition reads, with the tested schemas."""
    result: list[tuple[_Place, list[Json]]] = []
    for region, unit in _plan_units(program, values):
        here = region.index, unit.steps[0].key
        starts: list[_Start] = [(region, read, ()) for read in flow.reads_of(unit.steps[0].arguments)]
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
    schema = _schema(program, number, key)
    if schema is None:
        return
    region = None if number == INPUT else program.regions[number]
    if region is not None and tail[:1] == ("output",) and _is_output(region, key):
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
    whole: JsonObject = {**inside, "$defs": _definitions(root)}
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


def _schema(program: RunnablePlan, number: int, key: str) -> Json:
    """Return the schema of a step or an input, with its definitions."""
    if number == INPUT:
        declared: Json = (program.process.inputs or {}).get(key, {"type": "string"})
        return declared
    for unit in program.regions[number].units:
        for step in unit.steps:
            if step.key == key and isinstance(step.schema, dict):
                return {**step.schema, "$defs": program.definitions}
    return None


def _is_output(region: PlanRegion, key: str) -> bool:
    return any(step.key == key and step.output for unit in region.units if unit.kind == "activity" for step in unit.steps)


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
    items: JsonObject = {**dereference(schema.get("items", {}), root), "$defs": _definitions(root)}
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
    again = region is not None and any(isinstance(unit.block, flow.Each | flow.Repeat) for _, unit, _ in _around(program, region))
    if again:
        pairs = [(one, other) for one in range(len(choices)) for other in range(len(choices)) if one != other]
        orders += pairs[:TRIED_ORDERS]
    return Point(INPUT if region is None else region.index, key, tail, choices, around, tuple(orders))


def _around(program: RunnablePlan, region: PlanRegion) -> Iterator[tuple[PlanRegion, PlanUnit, flow.BlockPart]]:
    """Yield the enclosing blocks of a body, innermost first: the place of each, and its part with the body."""
    while region.parent is not None:
        outer = program.regions[region.parent]
        unit = outer.units[region.owner]
        assert unit.block is not None  # it has a body
        yield outer, unit, flow.parts_of(unit.block)[unit.regions.index(region.index)]
        region = outer


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
        if place.source == "name" and place.name == "error" and place.rest in {("kind",), ("code",)}:
            for value in values_of(schema, schema):
                if place.rest == ("kind",):
                    result += [Fails(kind) for kind in get_args(FailureKind) if kind == value]
                elif isinstance(value, str):
                    result.append(Fails(code=value))
    return list(dict.fromkeys(result))


def _fallible_units(program: RunnablePlan) -> Iterator[tuple[PlanRegion, PlanUnit]]:
    """Yield the units that may fail in a body whose failure is handled by another body, such as in a `try`."""
    for region in program.regions:
        if any(part.rescued for _, _, part in _around(program, region)):
            for unit in region.units:
                if unit.kind in {"activity", "model", "user", "plan"} and unit.steps:
                    yield region, unit


def refusals(program: RunnablePlan) -> Iterator[tuple[int, str]]:
    """Yield the steps of people, by region and key, whose refusal ends the run."""
    for number, key in unread_decisions(program):
        schema = _schema(program, number, key)
        if "Reject" in list(values_of(schema_inside(schema, ("decision",), schema), schema)):
            yield number, key


def is_excluded(program: RunnablePlan, region: PlanRegion, read: flow.Read, schema: Json) -> bool:
    """Return whether the schemas of everything a path leads to exclude the tested one."""
    bases = bases_of(program, [(region, read, ())])
    if not bases or _schema_of_test(program, region, read, schema) is not schema:
        return False
    roots = [(_schema(program, number, key), tail) for number, key, tail in bases]
    return all(root is not None and disjoint(schema_inside(root, tail, root), schema) for root, tail in roots)


BranchKind: TypeAlias = Literal["body", "succeed", "none", "until", "max", "win", "fail", "refuse"]


class RunBranch(Struct, frozen=True):
    """A branch that a run can take."""

    way: BranchKind
    region: int
    """Region of a body that starts, or that contains the block, `Fail` or question."""
    unit: int
    """Unit of the block, `Fail` or question; 0 for a body."""
    name: str
    """Display name."""


def run_branches(program: RunnablePlan) -> list[RunBranch]:
    """Return the branches of a program, in written order."""
    refusable = dict.fromkeys(refusals(program))
    return [branch for region in program.regions for unit in region.units for branch in _of(program, region, unit, refusable)]


def _of(program: RunnablePlan, region: PlanRegion, unit: PlanUnit, refusable: dict[tuple[int, str], None]) -> Iterator[RunBranch]:
    here, at = region.index, unit.index
    name = scoped_id(blocks_around(program, region), unit.context)
    match unit.block:
        case flow.When(branches=cases):
            for number, (case, body) in enumerate(zip(cases, unit.regions, strict=True), 1):
                yield RunBranch("body", body, 0, f"{name} branch {number}" if case.condition else f"{name} else")
            if all(case.condition for case in cases):
                yield RunBranch("none", here, at, f"{name} without a branch")
        case flow.Try():
            yield RunBranch("succeed", here, at, f"{name} succeeds")
            yield RunBranch("body", unit.regions[1], 0, f"{name} else")
        case flow.Race():
            for number, body in enumerate(unit.regions, 1):
                yield RunBranch("win", body, 0, f"{name} branch {number} wins")
        case flow.Repeat(until=until, source=None) if until is not None:
            yield RunBranch("until", here, at, f"{name} ends by its condition")
            yield RunBranch("max", here, at, f"{name} ends after all rounds")
        case flow.Repeat() | flow.Each() as block:
            yield RunBranch("body", unit.regions[0], 0, f"{name} body")
            if isinstance(block, flow.Each) and block.until is not None:
                yield RunBranch("until", here, at, f"{name} ends by its condition")
                yield RunBranch("max", here, at, f"{name} ends with its list")
        case flow.Else():
            yield RunBranch("body", unit.regions[0], 0, name)
        case _:
            if unit.kind == "fail":
                catcher = _catcher(program, region)
                ending = "fails the run" if catcher is None else f"fails, which {catcher} catches"
                yield RunBranch("fail", here, at, f"{scoped_id(blocks_around(program, region), unit.steps[0].key)} {ending}")
            for step in unit.steps:
                if (here, step.key) in refusable:
                    yield RunBranch("refuse", here, at, f"{scoped_id(blocks_around(program, region), step.key)} is refused")


def _catcher(program: RunnablePlan, region: PlanRegion) -> str | None:
    """Return the block that continues after a failure in a body, or `None` if that ends the run."""
    for outer, unit, part in _around(program, region):
        if part.rescued:
            return scoped_id(blocks_around(program, outer), unit.context)
    return None


def blocks_around(program: RunnablePlan, region: PlanRegion) -> str:
    """Return the enclosing blocks of a body: `whenContext1.repeatContext1`."""
    return ".".join(reversed([unit.context for _, unit, _ in _around(program, region)]))


class TakenBranches:
    """The branches taken by a run; it is notified of each body that starts and ends."""

    def __init__(self, program: RunnablePlan) -> None:
        self.program = program
        self.found: set[tuple[BranchKind, int, int]] = set()
        self.held: set[str] = set()
        """The `each` blocks, by their places, whose conditions have held."""

    def has(self, branch: RunBranch) -> bool:
        """Return whether a branch was taken."""
        return (branch.way, branch.region, branch.unit) in self.found

    def watch(self, state: State) -> None:
        """Start recording a run."""
        state["scopes"] = _WatchedScopes(self, state)

    def begun(self, body: BodyState) -> None:
        """Record that a body has started."""
        self.found.add(("body", body["region"], 0))

    def element_done(self, state: State, scope: str, body: BodyState) -> None:
        """Record whether the condition of an `each` holds for a finished element."""
        region = self.program.regions[body["region"]]
        if region.parent is None or region.until is None or body["left"]:
            return
        unit = self.program.regions[region.parent].units[region.owner]
        if isinstance(unit.block, flow.Each) and holds(Machine(self.program, state, []), scope, region.until):
            self.held.add(scoped_id(as_text(body["parent"]), unit.context))

    def ended(self, state: State, scope: str, body: BodyState, *, failed: bool) -> None:
        """Record the end of a body; if nothing else was left in it, only its `Fail` can have failed."""
        region = self.program.regions[body["region"]]
        for unit in region.units:
            if unit.block is not None and unit.context in body["record"]:
                self._block(state, scope, region, unit, body["record"][unit.context])
        fails = [unit.index for unit in region.units if unit.kind == "fail"]
        if failed and 0 < body["left"] <= len(fails):
            self.found.add(("fail", region.index, fails[len(fails) - body["left"]]))

    def conclude(self, state: State) -> None:
        """Record the outcome of the run."""
        outcome = state["outcome"]
        for scope, body in state["scopes"].items():
            failed = scope == ROOT and outcome is not None and outcome["status"] == "failed"
            self.ended(state, scope, body, failed=failed)
        if outcome is not None and outcome["status"] == "stopped":
            for region in self.program.regions:
                for unit in region.units:
                    if unit.kind == "user" and any(item.key == outcome["step"] for item in unit.steps):
                        self.found.add(("refuse", region.index, unit.index))

    def _block(self, state: State, scope: str, region: PlanRegion, unit: PlanUnit, recorded: Json) -> None:
        match unit.block:
            case flow.When() if recorded is None:
                self.found.add(("none", region.index, unit.index))
            case flow.Try() if as_object(recorded).get("branch") == 0:
                self.found.add(("succeed", region.index, unit.index))
            case flow.Race() if recorded is not None:
                self.found.add(("win", unit.regions[as_integer(as_object(recorded)["branch"])], 0))
            case flow.Each(until=until) if until is not None:
                ended: BranchKind = "until" if scoped_id(scope, unit.context) in self.held else "max"
                self.found.add((ended, region.index, unit.index))
            case flow.Repeat():
                vain = scoped_id(scope, unit.context) in state["vain"]
                self.found.add(("max" if vain else "until", region.index, unit.index))
            case _:
                pass


class _WatchedScopes(dict[str, BodyState]):
    """The open bodies of a run; reports each that starts or ends."""

    def __init__(self, taken: TakenBranches, state: State) -> None:
        super().__init__(state["scopes"])
        self.taken, self.state = taken, state
        for body in self.values():
            taken.begun(body)

    def __setitem__(self, scope: str, body: BodyState) -> None:
        self.taken.begun(body)
        super().__setitem__(scope, body)

    def pop(self, scope: str, default: BodyState | None = None) -> BodyState | None:  # type: ignore[override]  # bodies only
        if scope in self:
            self.taken.element_done(self.state, scope, self[scope])
        body = super().pop(scope, default)
        if body is not None:
            failed = body["parent"] in self  # what is closed after its parent is cancelled
            self.taken.ended(self.state, scope, body, failed=failed)
        return body
