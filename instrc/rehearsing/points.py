"""What decides how a run goes: values that conditions and lists read, and steps in a `try` that may fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast, get_args

from instrc.ir.flow import Each, Repeat, Try, When
from instrc.ir.reads import Read, reads_of
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.limits.runs import TRIED_ORDERS, TRIED_VALUES
from instrc.rehearsing.values import dereference, object_part, schema_inside, values_of
from instrc.runtime.interpreter.commands import FailureKind
from instrc.runtime.interpreter.v1.refusals import INPUT, bases_of, unread_decisions
from instrc.runtime.interpreter.v1.runnable import RunnablePlan
from instrc.runtime.interpreter.v1.units import PlanRegion, PlanUnit
from instrc.runtime.models.sampling import instance_of

ABSENT = object()
"""The choice to leave a property out."""
AS_MADE = object()
"""The choice to leave what the sample has."""
_NOT_EMPTY: Json = {"type": "array", "minItems": 1}
"""What a list is tried against that blocks run over."""


@dataclass(frozen=True, slots=True)
class Fails:
    """The choice to let a step fail."""

    kind: FailureKind = "failed"
    code: str | None = None


@dataclass(frozen=True, eq=False)
class Point:
    """A place where a rehearsal chooses."""

    region: int
    """Of the step; `INPUT` for an input."""
    key: str
    tail: tuple[str, ...]
    """The names that lead from the answer to the value."""
    choices: tuple[object, ...]
    """What may stand there, the made value first."""
    around: tuple[Json, ...]
    """For each name of the tail but the last, an object to put there where none is."""
    orders: tuple[tuple[int, ...], ...]
    """Choices by number: for all times that the step runs, or for the first time and all later ones."""

    @property
    def fails(self) -> bool:
        """Whether it is about a failure, and not about a value."""
        return isinstance(self.choices[-1], Fails)

    def told(self, order: tuple[int, ...]) -> str:
        """Say what is chosen."""
        name = ".".join((self.key, *self.tail))
        return ", then ".join(_choice_as_text(name, self.choices[number]) for number in order)


def points_of(program: RunnablePlan, fixed: Iterable[str]) -> list[Point]:
    """Return the places where a rehearsal chooses; inputs that are `fixed` are no such place."""
    given = set(fixed)
    values: dict[tuple[int, str, tuple[str, ...]], list[Json]] = {}
    for region, read, schema in _looks(program):
        for number, key, tail in sorted(bases_of(program, [(region, read, ())])):
            if number != INPUT or key not in given:
                values.setdefault((number, key, tail), []).append(_schema_of_test(program, region, read, schema))
    for number, key in refusals(program):
        values.setdefault((number, key, ("decision",)), [])
    made = [list(_points_of_value(program, *place, schemas)) for place, schemas in values.items()]
    whole = {(each[0].region, each[0].key, each[0].tail) for each in made if each}
    gaps = {(gap.region, gap.key, gap.tail): gap for each in made for gap in each[1:]}
    found = [each[0] for each in made if each] + [gap for place, gap in gaps.items() if place not in whole]
    failures = (AS_MADE, *_failures(program))
    return found + [_point(program, region, unit.steps[0].key, (), failures) for region, unit in _fallible_units(program)]


def refusals(program: RunnablePlan) -> Iterator[tuple[int, str]]:
    """Yield the steps of persons, by region and key, who may refuse so that the run ends."""
    for number, key in unread_decisions(program):
        schema = _schema(program, number, key)
        if "Reject" in list(values_of(schema_inside(schema, ("decision",), schema), schema)):
            yield number, key


def _failures(program: RunnablePlan) -> list[Fails]:
    """Return failures: one that says nothing special, and those that conditions on `error` name."""
    found = [Fails()]
    for region, read, schema in _looks(program):
        place = program.locate(region, read)
        if place.source == "name" and place.name == "error" and place.rest in {("kind",), ("code",)}:
            for value in values_of(schema, schema):
                if place.rest == ("kind",):
                    found += [Fails(kind) for kind in get_args(FailureKind) if kind == value]
                elif isinstance(value, str):
                    found.append(Fails(code=value))
    return list(dict.fromkeys(found))


def _looks(program: RunnablePlan) -> Iterator[tuple[PlanRegion, Read, Json]]:
    """Yield the paths on which it depends how a run goes, with the schema that they are checked against."""
    for region in program.regions:
        if region.until is not None:
            yield from ((region, read, schema) for read, schema in region.until.tests)
        for unit in region.units:
            match unit.block:
                case When(branches=branches):
                    for branch in branches:
                        if branch.condition is not None:
                            yield from ((region, read, schema) for read, schema in branch.condition.tests)
                case Each(source=source) | Repeat(source=source):
                    yield from ((region, read, _NOT_EMPTY) for read in reads_of(source))
                case _:
                    pass


def _schema_of_test(program: RunnablePlan, region: PlanRegion, read: Read, schema: Json) -> Json:
    """Return the schema of a test; of one that looks into an element, that of a list with such an element."""
    place = program.locate(region, read)
    inner = region
    for _ in range(place.levels):
        inner = program.regions[inner.parent or 0]
    block = program.regions[inner.parent].units[inner.owner].block if inner.parent is not None else None
    if place.source != "name" or not isinstance(block, Each | Repeat) or place.name != block.item:
        return schema
    for name in reversed(place.rest):
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return {"type": "array", "items": schema, "minItems": 1}


def _fallible_units(program: RunnablePlan) -> Iterator[tuple[PlanRegion, PlanUnit]]:
    """Yield what may fail in the first body of a `try`."""
    for region in program.regions:
        if any(isinstance(unit.block, Try) and first for unit, first in _around(program, region)):
            for unit in region.units:
                if unit.kind in {"activity", "model", "user", "plan"} and unit.steps:
                    yield region, unit


def _around(program: RunnablePlan, region: PlanRegion) -> Iterator[tuple[PlanUnit, bool]]:
    """Yield the blocks around a body, and whether it lies in their first body."""
    while region.parent is not None:
        outer = program.regions[region.parent]
        unit = outer.units[region.owner]
        yield unit, unit.regions[0] == region.index
        region = outer


# --- what may stand in a place ------------------------------------------------------------------------------------------------


def _points_of_value(program: RunnablePlan, number: int, key: str, tail: tuple[str, ...], schemas: list[Json]) -> Iterator[Point]:
    """Yield the point of a value, then one for each object around it that may be null or left out."""
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
    open_ = ("other", None) if not inside.keys() & {"type", "enum", "const", "anyOf", "properties"} else ()
    for value in [*values_of(inside, root), *(value for each in schemas for value in values_of(each, each, inside)), *open_]:
        word = dumps(value, indent=False)
        if word not in seen:
            seen.add(word)
            choices.append(value)
    around = tuple(instance_of(object_part(schema_inside(root, tail[:size], root), root)) for size in range(1, len(tail)))
    yield _point(program, region, key, tail, (*choices[:TRIED_VALUES], *([ABSENT] if tail else [])), around)
    for size in range(1, len(tail)):
        if gaps := _gaps(root, tail[:size]):
            yield _point(program, region, key, tail[:size], (AS_MADE, *gaps), around[: size - 1])


def _gaps(root: Json, tail: tuple[str, ...]) -> list[object]:
    """Return what may stand for an object that a condition looks into: null, or nothing."""
    gaps: list[object] = [None] if any(value is None for value in values_of(schema_inside(root, tail, root), root)) else []
    parent = object_part(schema_inside(root, tail[:-1], root), root)
    required = parent.get("required")
    always = isinstance(required, list) and tail[-1] in required
    return gaps if always or "properties" not in parent else [*gaps, ABSENT]


def _point(
    program: RunnablePlan,
    region: PlanRegion | None,
    key: str,
    tail: tuple[str, ...],
    choices: tuple[object, ...],
    around: tuple[Json, ...] = (),
) -> Point:
    orders: list[tuple[int, ...]] = [(number,) for number in range(len(choices))]
    again = region is not None and any(isinstance(unit.block, Each | Repeat) for unit, _ in _around(program, region))
    if again:
        pairs = [(one, other) for one in range(len(choices)) for other in range(len(choices)) if one != other]
        orders += pairs[:TRIED_ORDERS]
    return Point(INPUT if region is None else region.index, key, tail, choices, around, tuple(orders))


def _is_output(region: PlanRegion, key: str) -> bool:
    return any(step.key == key and step.output for unit in region.units if unit.kind == "activity" for step in unit.steps)


def _schema(program: RunnablePlan, number: int, key: str) -> Json:
    """Return the schema of what a step or an input is, with its definitions."""
    if number == INPUT:
        declared: Json = (program.process.inputs or {}).get(key, {"type": "string"})
        return declared
    for unit in program.regions[number].units:
        for step in unit.steps:
            if step.key == key and isinstance(step.schema, dict):
                return {**step.schema, "$defs": program.definitions}
    return None


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
