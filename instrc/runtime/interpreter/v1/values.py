"""Resolve paths in a run, and build values from them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial

from instrc.process.flow import Comparison, Condition, Constant, Else, Listed, Named, Read, Repeat, Segment, Value
from instrc.runtime.interpreter.documents import BodyState
from instrc.runtime.interpreter.v1.runnable import LocatedPath, PlanRegion, PlanUnit
from instrc.runtime.interpreter.v1.state import Machine
from instrc.schema.kinds import is_number
from instrc.schema.strip import is_meta, split
from instrc.schema.validation import SchemaValidator
from instrc.schema.walk import with_definitions
from instrc.text.jsonvalue import Json, JsonObject, as_object, equal, mapping


def resolve(machine: Machine, scope: str, read: Read, *, shown: bool = False) -> Json:
    """Return the value of a path from a scope, or `null` if unresolvable; thoughts and metrics only if it names them.

    With `shown`, return the part that rounds show.
    """
    return _value_at(machine, scope, machine.program.locate(machine.region(scope), read), shown=shown)


def _value_at(machine: Machine, scope: str, place: LocatedPath, *, shown: bool = False) -> Json:
    for _ in range(place.levels):
        scope = machine.around(scope)
    here, region = machine.scope(scope), machine.region(scope)
    match place.source:
        case "input":
            return _member(machine.state["inputs"].get(place.name), place.rest)
        case "name":
            return _member(_name(machine, scope, region, place.name), place.rest)
        case "context":
            return _context(machine, here, region, place)
        case "key" if shown and place.name in here.get("shows", ()):
            return _member(here["shows"][place.name], place.rest)
        case "key":
            return _step(machine, here, region.keys[place.name], region, place.name, place.rest)


def _member(value: Json, path: tuple[Segment, ...]) -> Json:
    """Go into objects, one key for each name: a key with a dot, which no schema need check, stands for no member."""
    for segment in path:
        value = mapping(value).get(segment.name)
    return value


def _name(machine: Machine, scope: str, region: PlanRegion, name: str) -> Json:
    """Return the value of a name defined by a block."""
    names = machine.scope(scope)["names"]
    if name in names:
        return names[name]
    parent = machine.around(scope)
    block = machine.unit(parent, region.owner).block
    if isinstance(block, Else):
        return machine.repeat(parent, block.of)["shown"]
    if not isinstance(block, Repeat):
        return None
    noted = machine.repeat(parent, block.name)
    shown = noted["shown"]
    about: JsonObject = {"round": noted["round"], "previous": shown[-1] if shown else noted.get("first"), "rounds": shown}
    return about.get(name)


def _context(machine: Machine, scope: BodyState, region: PlanRegion, place: LocatedPath) -> Json:
    """Return the value of a chunk, or of one step of it."""
    units = region.contexts[place.name]
    if place.rest:
        key, rest = place.rest[0].name, place.rest[1:]
        inside = [index for index in units if any(step.key == key for step in region.units[index].steps)]
        return _step(machine, scope, inside, region, key, rest)
    keys = [step.key for index in units for step in region.units[index].steps]
    return {key: _step(machine, scope, units, region, key, ()) for key in keys}


def _step(machine: Machine, scope: BodyState, givers: list[int], region: PlanRegion, key: str, rest: tuple[Segment, ...]) -> Json:
    """Return the value of a key or its member; for a step in two chunks, of both halves combined."""
    if key in scope["values"]:
        return _member(scope["values"][key], rest)
    whole: Json = None
    whole_shown: Json = None
    for index in givers:
        unit = region.units[index]
        recorded = scope["record"].get(unit.context)
        if unit.block is not None or not isinstance(recorded, dict) or key not in recorded:
            continue
        value = recorded[key]
        shown = shown_of(machine, unit, key, value)
        if isinstance(whole, dict) and isinstance(value, dict):
            whole, whole_shown = {**whole, **value}, {**as_object(whole_shown), **as_object(shown)}
        else:
            whole, whole_shown = value, shown
    shown = _member(whole_shown, rest)
    return _member(whole, rest) if shown is None and _names_meta(rest) else shown


def evaluate(machine: Machine, scope: str, value: Value | None, *, shown: bool = False) -> Json:
    """Return a value, or the part of it that rounds show; optional members that are `null` are left out."""
    match value:
        case None:
            return None
        case Read():
            return resolve(machine, scope, value, shown=shown)
        case Constant(given):
            return given
        case Listed(items):
            return [evaluate(machine, scope, item, shown=shown) for item in items]
        case Named(members):
            result = {}
            for name, member in members.items():
                given = evaluate(machine, scope, member, shown=shown)
                if given is not None or not (isinstance(member, Read) and member.optional):
                    result[name] = given
            return result


def holds(machine: Machine, scope: str, condition: Condition) -> bool:
    """Return whether a condition holds in a scope."""
    return test_of(machine, scope, condition)({})


def test_of(machine: Machine, scope: str, condition: Condition) -> Callable[[JsonObject], bool]:
    """Return a test of whether a condition holds in a scope with additional names, which is called for each of many elements."""
    definitions, compared, alternatives = machine.program.definitions, condition.compared, condition.alternatives
    checks = [_check(with_definitions(schema, definitions)) for _, schema in condition.tests]

    def value_of(number: int, names: JsonObject) -> Json:
        read = condition.tests[number][0]
        return _member(names[read.first], read.segments[1:]) if read.first in names else resolve(machine, scope, read)

    def one(number: int, names: JsonObject) -> bool:
        value = value_of(number, names)
        if number in compared:
            other = value_of(number + 1, names)
            return value is not None and other is not None and _compares(compared[number], value, other)
        return number - 1 in compared or checks[number](value)

    return lambda names: any(all(one(number, names) for number in case) for case in alternatives)


def _check(schema: Json) -> Callable[[Json], bool]:
    """Return whether a value satisfies a schema, without a validator for the usual one, as that takes ten times as long."""
    if isinstance(schema, dict) and schema.keys() == {"const"}:
        return partial(equal, schema["const"])
    return partial(SchemaValidator(schema, formats=False).is_valid, unsure=False)


def _compares(word: Comparison, value: Json, other: Json) -> bool:
    """Return whether two values satisfy a comparison; only numbers are ordered."""
    if word in {"equals", "differs"}:
        return equal(value, other) == (word == "equals")
    return is_number(value) and is_number(other) and bool(_ORDERS[word](value, other))


_ORDERS = {"minimum": operator.ge, "exclusiveMinimum": operator.gt, "maximum": operator.le, "exclusiveMaximum": operator.lt}


def context_of(machine: Machine, scope: str, unit: PlanUnit, reads: tuple[Read, ...]) -> dict[str, Json]:
    """Return the values of paths, nested by the paths, without values that the unit itself provides."""
    region = machine.region(scope)
    chosen = [read for read in dict.fromkeys(reads) if not _is_own(machine, region, read, unit)]
    known = {read.segments for read in chosen}
    result: dict[str, Json] = {}
    for read in chosen:
        path = read.segments
        if any(path[:size] in known for size in range(1, len(path))) and not _names_meta(path[1:]):
            continue  # it is a part of what another path shows
        place = machine.program.locate(region, read)
        value = _value_at(machine, scope, place)
        if names := place.members if place.source == "context" else (place.name, *place.members):
            _set_member(result, names, value)
        else:
            result |= mapping(value)
    return result


def _is_own(machine: Machine, region: PlanRegion, read: Read, unit: PlanUnit) -> bool:
    """Return whether a path leads to a value of the unit itself rather than to an earlier one."""
    place = machine.program.locate(region, read)
    if place.levels:
        return False
    givers = machine.program.givers(region, place)
    if place.source == "input":
        return place.name not in machine.state["inputs"] and place.name in _properties(unit)
    return bool(givers) and all(giver >= unit.index for giver in givers)


def _properties(unit: PlanUnit) -> Iterable[str]:
    """Return the names of surrounding properties, with which a path in a slot may begin."""
    steps = mapping(mapping(unit.schema).get("properties")).values()
    return {name for step in steps for name in mapping(mapping(step).get("properties"))}


def _names_meta(path: tuple[Segment, ...]) -> bool:
    return any(is_meta(segment.name) for segment in path)


def _set_member(found: dict[str, Json], names: tuple[str, ...], value: Json) -> None:
    """Set a member deep inside; containers on the way are copied, so that recorded values never change."""
    for name in names[:-1]:
        inner = found.get(name)
        found[name] = found = dict(inner) if isinstance(inner, dict) else {}
    found[names[-1]] = value


def without_own(machine: Machine, scope: str, unit: PlanUnit, value: Value | None) -> Value | None:
    """Return a value without the parts that the unit itself provides later, or `None` if nothing remains."""
    region = machine.region(scope)

    def is_earlier(read: Read) -> bool:
        return machine.program.locate(region, read).source == "input" or not _is_own(machine, region, read, unit)

    match value:
        case Read():
            return value if is_earlier(value) else None
        case Listed(items):
            left = tuple(item for item in items if without_own(machine, scope, unit, item) is not None)
            return Listed(left) if len(left) > 1 else left[0] if left else None
        case Named(members):
            parts = {name: without_own(machine, scope, unit, member) for name, member in members.items()}
            kept = {name: part for name, part in parts.items() if part is not None}
            return Named(kept) if kept or not members else None
        case _:
            return value


def shown_of(machine: Machine, unit: PlanUnit, key: str, value: Json) -> Json:
    """Return the part of a step's value visible to others: its output, without thoughts and metrics."""
    if key not in unit.meta:
        return value
    schema = next(step.schema for step in unit.steps if step.key == key)
    return split(value, with_definitions(schema, machine.program.definitions))["output"]
