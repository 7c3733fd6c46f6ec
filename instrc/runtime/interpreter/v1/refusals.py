"""Decisions of people that conditions read: a refusal that none reads ends the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from instrc.process.flow import Condition, Each, Named, Read, Repeat, Segment, Value, When, reads_of
from instrc.runtime.interpreter.v1.runnable import PlanRegion, RunnablePlan

INPUT = -1
"""Placeholder for the region of an input."""


def unread_decisions(program: RunnablePlan) -> list[tuple[int, str]]:
    """Return the steps of people, by region and key, whose `decision` no condition reads."""
    asked: set[tuple[int, str]] = set()
    conditions: list[tuple[PlanRegion, Condition | None]] = []
    for region in program.regions:
        conditions.append((region, region.until))
        for unit in region.units:
            if unit.kind == "user":
                asked |= {(region.index, step.key) for step in unit.steps}
            elif isinstance(unit.block, When):
                conditions += [(region, branch.condition) for branch in unit.block.branches]
    return sorted(asked - decisions_of(program, conditions)) if asked else []


def decisions_of(program: RunnablePlan, conditions: Iterable[tuple[PlanRegion, Condition | None]]) -> set[tuple[int, str]]:
    """Return the steps, by region and key, whose `decision` conditions read."""
    result = bases_of(
        program, [(region, read, ()) for region, condition in conditions if condition for read, _ in condition.tests]
    )
    return {(number, key) for number, key, tail in result if not tail or tail[0] == "decision"}


def bases_of(
    program: RunnablePlan, start: list[tuple[PlanRegion, Read, tuple[str, ...]]]
) -> set[tuple[int, str, tuple[str, ...]]]:
    """Return the steps by region, the inputs, and their members that paths lead to, through the values of blocks."""
    result: set[tuple[int, str, tuple[str, ...]]] = set()
    seen: set[tuple[int, Read, tuple[str, ...]]] = set()
    waiting = list(start)
    while waiting:
        region, read, more = waiting.pop()
        if (region.index, read, more) in seen:
            continue
        seen.add((region.index, read, more))
        place = program.locate(region, read)
        tail = (*place.members, *more)
        region = program.around(region, place.levels)
        if place.source == "name":
            waiting += _values_of_block(program, region, place.name, tail)
            continue
        if place.source == "input":
            result.add((INPUT, place.name, tail))
        elif place.source == "context":
            waiting += [
                (region, Read((Segment(step.key),)), tail[1:])
                for index in program.givers(region, place)
                for step in region.units[index].steps
                if not tail or tail[0] == step.key
            ]
        for index in region.keys.get(place.name, ()) if place.source == "key" else ():
            unit = region.units[index]
            if unit.block is None:
                result.add((region.index, place.name, tail))
            for number in unit.regions:
                body = program.regions[number]
                lists = isinstance(unit.block, Each) or (isinstance(unit.block, Repeat) and unit.block.source is not None)
                waiting += values_of_member(body, body.value, () if lists else tail)
    return result


def _values_of_block(
    program: RunnablePlan, region: PlanRegion, name: str, tail: tuple[str, ...]
) -> Iterator[tuple[PlanRegion, Read, tuple[str, ...]]]:
    """Yield the values of a block's name."""
    if region.parent is None:
        return
    parent = program.regions[region.parent]
    block = parent.units[region.owner].block
    if isinstance(block, Each | Repeat) and name == block.item:
        for read in reads_of(block.source):
            yield parent, read, ()
    elif name in {"previous", "rounds"}:
        unit = parent.repeated(parent.units[region.owner])
        body = program.regions[unit.regions[0]]
        hands = unit.block.hands if isinstance(unit.block, Repeat) else None
        for key in body.keys if hands is None else hands:
            if name == "rounds" or not tail or tail[0] == key:
                yield body, Read((Segment(key, quoted=True),)), tail[1:] if name == "previous" else ()


def values_of_member(
    region: PlanRegion, value: Value | None, tail: tuple[str, ...]
) -> Iterator[tuple[PlanRegion, Read, tuple[str, ...]]]:
    """Yield the paths that a member of a value leads to."""
    match value:
        case Read() as read:
            yield region, read, tail
        case Named(members) if tail:
            yield from values_of_member(region, members.get(tail[0]), tail[1:])
        case _:
            for read in reads_of(value):
                yield region, read, ()
