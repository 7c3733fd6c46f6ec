"""What decides how a run goes: values that conditions and lists read, and steps in a `try` that may fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast, get_args

from instrc.ir.flow import Each, Repeat, Try, When
from instrc.ir.reads import Read, reads_of
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.plans.check import check_plan
from instrc.runtime.interpreter.commands import Kind
from instrc.runtime.interpreter.v1.program import Program
from instrc.runtime.interpreter.v1.refusals import INPUT, bases_of, unread_decisions
from instrc.runtime.interpreter.v1.units import Region, Unit
from instrc.runtime.models.sampling import instance_of

ABSENT = object()
"""The choice to leave a property out."""
AS_MADE = object()
"""The choice to leave what the sample has."""
_MOST = 10
"""Values that are tried in one place."""
_MOST_IN_TURN = 30


@dataclass(frozen=True, slots=True)
class Fails:
    """The choice to let a step fail."""

    kind: Kind = "failed"
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


def points_of(program: Program, fixed: Iterable[str]) -> list[Point]:
    """Return the places where a rehearsal chooses; inputs that are `fixed` are no such place."""
    given = set(fixed)
    values: dict[tuple[int, str, tuple[str, ...]], list[Json]] = {}
    for region, read, schema in _looks(program):
        for number, key, tail in sorted(bases_of(program, [(region, read, ())])):
            if number != INPUT or key not in given:
                values.setdefault((number, key, tail), []).append(_schema_of_test(program, region, read, schema))
    for number, key in refusals(program):
        values.setdefault((number, key, ("decision",)), [])
    found = [point for place, schemas in values.items() if (point := _point_of_value(program, *place, schemas)) is not None]
    failures = (AS_MADE, *_failures(program))
    return found + [_point(program, region, unit.steps[0].key, (), failures) for region, unit in _fallible_units(program)]


def refusals(program: Program) -> Iterator[tuple[int, str]]:
    """Yield the steps of persons, by region and key, who may refuse so that the run ends."""
    for number, key in unread_decisions(program):
        schema = _schema(program, number, key)
        if "Reject" in list(_values(_inside(schema, ("decision",), schema), schema)):
            yield number, key


def _failures(program: Program) -> list[Fails]:
    """Return failures: one that says nothing special, and those that conditions on `error` name."""
    found = [Fails()]
    for region, read, schema in _looks(program):
        place = program.locate(region, read)
        if place.source == "name" and place.name == "error" and place.rest in {("kind",), ("code",)}:
            for value in _values(schema, schema):
                if place.rest == ("kind",):
                    found += [Fails(kind) for kind in get_args(Kind) if kind == value]
                elif isinstance(value, str):
                    found.append(Fails(code=value))
    return list(dict.fromkeys(found))


def _looks(program: Program) -> Iterator[tuple[Region, Read, Json]]:
    """Yield the paths on which it depends how a run goes, with the schema that they are held against."""
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
                    yield from ((region, read, {"type": "array", "minItems": 1}) for read in reads_of(source))
                case _:
                    pass


def _schema_of_test(program: Program, region: Region, read: Read, schema: Json) -> Json:
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


def _fallible_units(program: Program) -> Iterator[tuple[Region, Unit]]:
    """Yield what may fail in the first body of a `try`."""
    for region in program.regions:
        if any(isinstance(unit.block, Try) and first for unit, first in _around(program, region)):
            for unit in region.units:
                if unit.kind in {"activity", "model", "user", "plan"} and unit.steps:
                    yield region, unit


def _around(program: Program, region: Region) -> Iterator[tuple[Unit, bool]]:
    """Yield the blocks around a body, and whether it lies in their first body."""
    while region.parent is not None:
        outer = program.regions[region.parent]
        unit = outer.units[region.owner]
        yield unit, unit.regions[0] == region.index
        region = outer


# --- what may stand in a place ------------------------------------------------------------------------------------------------


def _point_of_value(program: Program, number: int, key: str, tail: tuple[str, ...], schemas: list[Json]) -> Point | None:
    schema = _schema(program, number, key)
    if schema is None:
        return None
    region = None if number == INPUT else program.regions[number]
    if region is not None and tail[:1] == ("output",) and _is_output(region, key):
        tail = tail[1:]
        schema = _inside(schema, ("output",), schema)
    root = schema
    inside = _dereference(_inside(schema, tail, root), root)
    choices: list[object] = [AS_MADE]
    seen: set[str] = set()
    open_ = ("other", None) if not inside.keys() & {"type", "enum", "const", "anyOf", "properties"} else ()
    for value in [*_values(inside, root), *(value for each in schemas for value in _values(each, each, inside)), *open_]:
        word = dumps(value, indent=False)
        if word not in seen:
            seen.add(word)
            choices.append(value)
    around = tuple(instance_of(_object(_inside(root, tail[:size], root), root)) for size in range(1, len(tail)))
    return _point(program, region, key, tail, (*choices[:_MOST], *([ABSENT] if tail else [])), around)


def _object(schema: Json, root: Json) -> Json:
    """Return the part of a schema that describes an object."""
    whole = _dereference(schema, root)
    parts = (_dereference(each, root) for each in (whole, *whole.get("anyOf", ())))
    found = next((each for each in parts if "properties" in each), {"type": "object"})
    return {**found, "$defs": root.get("$defs", {})}


def _point(
    program: Program,
    region: Region | None,
    key: str,
    tail: tuple[str, ...],
    choices: tuple[object, ...],
    around: tuple[Json, ...] = (),
) -> Point:
    orders: list[tuple[int, ...]] = [(number,) for number in range(len(choices))]
    again = region is not None and any(isinstance(unit.block, Each | Repeat) for unit, _ in _around(program, region))
    if again:
        pairs = [(one, other) for one in range(len(choices)) for other in range(len(choices)) if one != other]
        orders += pairs[:_MOST_IN_TURN]
    return Point(INPUT if region is None else region.index, key, tail, choices, around, tuple(orders))


def _is_output(region: Region, key: str) -> bool:
    return any(step.key == key and step.output for unit in region.units if unit.kind == "activity" for step in unit.steps)


def _schema(program: Program, number: int, key: str) -> Json:
    """Return the schema of what a step or an input is, with its definitions."""
    if number == INPUT:
        return (program.process.inputs or {}).get(key, {"type": "string"})
    for unit in program.regions[number].units:
        for step in unit.steps:
            if step.key == key and isinstance(step.schema, dict):
                return {**step.schema, "$defs": program.definitions}
    return None


def _inside(schema: Json, tail: tuple[str, ...], root: Json) -> Json:
    for name in tail:
        schema = _dereference(schema, root)
        within = [schema, *schema.get("anyOf", ())] if isinstance(schema, dict) else []
        members = [each["properties"] for each in (_dereference(each, root) for each in within) if "properties" in each]
        schema = next((member[name] for member in members if name in member), {})
    return schema


def _dereference(schema: Json, root: Json) -> dict[str, Json]:
    for _ in range(20):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            break
        schema = root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}) if isinstance(root, dict) else {}
    return schema if isinstance(schema, dict) else {}


def _values(schema: Json, root: Json, besides: Json = None) -> Iterator[Json]:
    """Yield values that satisfy a schema, and some that do not; `besides` is what they have to satisfy as well."""
    schema = _dereference(schema, root)
    yield from schema.get("enum", ())
    if "const" in schema:
        yield schema["const"]
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("not")):
        if each is not None:
            yield from _values(each, root, besides)
    kinds = schema.get("type", "object" if "properties" in schema else ())
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield from _of_kind(kind, schema, root, besides)


def _of_kind(kind: str, schema: dict[str, Json], root: Json, besides: Json) -> Iterator[Json]:
    definitions = root.get("$defs", {}) if isinstance(root, dict) else {}
    match kind:
        case "array" if isinstance(schema.get("plan"), dict):
            yield from ([task] for task in _tasks(schema, definitions))
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "integer" | "number":
            for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                if isinstance(schema.get(word), int | float):
                    yield from (schema[word], schema[word] - 1, schema[word] + 1)
            yield from (0, 1)
        case "object":
            made = instance_of({**schema, "type": "object", "$defs": definitions})
            other = instance_of(besides) if isinstance(besides, dict) else None
            yield {**other, **made} if isinstance(other, dict) and isinstance(made, dict) else made
        case "array":
            items = schema.get("items", {})
            wanted = besides.get("items", {}) if isinstance(besides, dict) else {}
            inside = list(_values(items, root, wanted))[:4] or [instance_of({**items, "$defs": definitions})]
            if items == {} and isinstance(wanted, dict):
                inside = [instance_of(wanted)]
            yield from ([each] for each in inside)
            yield inside
            yield []
        case _:
            yield instance_of({**schema, "type": kind, "$defs": definitions})
            if kind == "string":
                yield from ("other", "")


def _tasks(schema: dict[str, Json], definitions: Json) -> Iterator[Json]:
    """Yield tasks for a plan that waits for nothing."""
    tools = schema["plan"].get("tools")
    items = _dereference(schema.get("items", {}), {"$defs": definitions})
    for variant in items.get("anyOf") or [items]:
        made = instance_of({**_dereference(variant, {"$defs": definitions}), "$defs": definitions})
        if not isinstance(made, dict):
            continue
        task = {name: [] if name != "arguments" and isinstance(value, list) else value for name, value in made.items()}
        for each in (task, {name: value for name, value in task.items() if value != []}):
            if not check_plan([each], tools):
                yield each
                return


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
