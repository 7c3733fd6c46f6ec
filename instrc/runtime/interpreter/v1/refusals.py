"""Decisions of people that conditions read: a refusal that none reads ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, cast

from instrc.process.flow import Condition, Each, Listed, Named, Read, Repeat, Segment, Value, When, reads_of, source_of_block
from instrc.runtime.interpreter.v1.runnable import PlanRegion, RunnablePlan

INPUT = -1
"""Placeholder for the region of an input."""
ELEMENT: Final = "\0"
"""Stands for any element of a list among the names that lead to a member; no property is called so."""
CARRIED: Final = 8
"""Maximum names carried from one value into another: values of rounds can lead deeper into each other without end."""
TAILS: Final = 50
"""Maximum members of one value that paths are followed from; of more, the whole value is taken to be read."""
ReadPlace: TypeAlias = tuple[PlanRegion, Read, tuple[str, ...]]
"""A path read in a region, and further names that lead to a member of its value."""


def unread_decisions(program: RunnablePlan) -> list[tuple[int, str]]:
    """Return the steps of people, by region and key, whose `decision` no condition reads."""
    asked: set[tuple[int, str]] = set()
    reads: list[ReadPlace] = []
    for region in program.regions:
        reads += reads_of_condition(region, region.until)
        for unit in region.units:
            if unit.kind == "user":
                asked |= {(region.index, step.key) for step in unit.steps}
            elif isinstance(unit.block, When):
                reads += [read for branch in unit.block.branches for read in reads_of_condition(region, branch.condition)]
            elif isinstance(unit.block, Each | Repeat) and unit.block.selection is not None:
                for _, read, _ in reads_of_condition(region, unit.block.selection.condition):
                    reads.append((program.regions[unit.regions[0]] if read.first == unit.block.item else region, read, ()))
    return sorted(asked - decisions_of(program, reads)) if asked else []


def reads_of_condition(region: PlanRegion, condition: Condition | None) -> list[ReadPlace]:
    """Return the paths that a condition in a region reads."""
    return [(region, read, ()) for read, _ in condition.tests] if condition else []


def decisions_of(program: RunnablePlan, reads: list[ReadPlace]) -> set[tuple[int, str]]:
    """Return the steps, by region and key, whose `decision` paths read, alone or in what contains it."""
    return {(number, key) for number, key, tail in bases_of(program, reads) if not tail or tail[0] == "decision"}


def bases_of(program: RunnablePlan, start: list[ReadPlace]) -> set[tuple[int, str, tuple[str, ...]]]:
    """Return the steps by region, the inputs, and their members that paths lead to, through the values of blocks.

    Of a path into the elements of a list that a step or an input gives, the list is returned.
    """
    result: set[tuple[int, str, tuple[str, ...]]] = set()
    seen: dict[tuple[int, Read], set[tuple[str, ...]]] = {}
    waiting = list(start)
    while waiting:
        region, read, more = waiting.pop()
        tails = seen.setdefault((region.index, read), set())
        more = more[:CARRIED] if len(tails) < TAILS else ()
        if more in tails:
            continue
        tails.add(more)
        place = program.locate(region, read)
        tail = (*place.members, *more)
        region = program.around(region, place.levels)
        given = tail[: tail.index(ELEMENT)] if ELEMENT in tail else tail
        if place.source == "name":
            waiting += _values_of_name(program, region, place.name, tail)
        elif place.source == "input":
            result.add((INPUT, place.name, given))
        elif place.source == "context":
            waiting += [
                (region, Read((Segment(step.key),)), tail[1:])
                for index in program.givers(region, place)
                for step in region.units[index].steps
                if not tail or tail[0] == step.key
            ]
        for index in region.keys[place.name] if place.source == "key" else ():
            unit = region.units[index]
            if unit.block is None:
                result.add((region.index, place.name, given))
                continue
            for number in unit.regions:
                body = program.regions[number]
                for inside in [tail] if source_of_block(unit.block) is None else _in_elements(tail):
                    waiting += values_of_member(body, body.value, inside)
    return result


def _values_of_name(program: RunnablePlan, region: PlanRegion, name: str, tail: tuple[str, ...]) -> Iterator[ReadPlace]:
    """Yield the values of a block's name."""
    if region.parent is None:
        return
    parent = program.regions[region.parent]
    block = parent.units[region.owner].block
    if isinstance(block, Each | Repeat) and name == block.item:
        yield from values_of_member(parent, block.source, (ELEMENT, *tail))
    elif name in {"previous", "rounds"}:
        unit = parent.repeated(parent.units[region.owner])
        body, repeated = program.regions[unit.regions[0]], cast("Repeat", unit.block)
        if name == "previous":
            yield from values_of_member(parent, repeated.first, tail)
        for inside in [tail] if name == "previous" else _in_elements(tail):
            for key in body.keys if repeated.hands is None else repeated.hands:
                if not inside or inside[0] == key:
                    yield body, Read((Segment(key, quoted=True),)), inside[1:]


def values_of_member(region: PlanRegion, value: Value | None, tail: tuple[str, ...]) -> Iterator[ReadPlace]:
    """Yield the paths that a member of a value leads to."""
    match value:
        case Read() as read:
            yield region, read, tail
        case Named(members) if tail:
            yield from values_of_member(region, members.get(tail[0]), tail[1:])
        case Listed(items) if tail:
            for item in items if tail[0] == ELEMENT else ():
                yield from values_of_member(region, item, tail[1:])
        case _:
            for read in reads_of(value):
                yield region, read, ()


def _in_elements(tail: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the names that lead on from an element of a list: none if they lead to a member, which a list does not have."""
    return [tail[1:]] if tail[:1] in {(), (ELEMENT,)} else []
