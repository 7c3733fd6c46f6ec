"""Which units of a region need which others, and an order in which each stands after those it needs."""

from __future__ import annotations

from typing import TypeAlias

from instrc import problems
from instrc.ir.fusion import MixinGroup, Unit
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Local, Path
from instrc.passes.bind.holding import step_numbers
from instrc.problems.problem import Problem

Home: TypeAlias = dict[int | str | Local, int]
"""In which unit of a region each step lies, those in slots and mixins included."""


def problem_of_circle(units: tuple[Unit, ...], needs: list[list[int]]) -> Problem:
    """Return the problem of mixins that need what each other holds: of the first two in one circle."""
    behind = _behind_circles(needs)
    way: dict[int, int] = {}
    index = min(behind)
    while index not in way:  # each of these needs another one of them, so the way meets itself
        way[index] = len(way)
        index = next(need for need in needs[index] if need in behind)
    circle = (units[each] for each in way if way[each] >= way[index])
    spans = [each.application.span for each in circle if isinstance(each, MixinGroup)]
    first, *others = sorted(spans, key=lambda span: span.start)
    return problems.steps.EntangledMixins(at=others[0] if others else first, other=first)


def _behind_circles(needs: list[list[int]]) -> set[int]:
    """Return what can never come: what is in a circle, and what needs that."""
    readers: list[list[int]] = [[] for _ in needs]
    for index, each in enumerate(needs):
        for need in each:
            readers[need].append(index)
    waits = [len(set(each)) for each in needs]
    ready = [index for index, count in enumerate(waits) if not count]
    behind = set(range(len(needs)))
    while ready:
        index = ready.pop()
        behind.discard(index)
        for reader in readers[index]:
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    return behind


def needs_of(units: tuple[Unit, ...], steps: list[list[Step]], home: Home) -> list[list[int]]:
    """Return which units each unit needs."""
    needs: list[list[int]] = []
    fails: set[int] = set()
    for index, unit in enumerate(units):
        found = {home[path.origin] for step in steps[index] for path in step.reads + step.needs if path.origin in home}
        if not isinstance(unit, int):
            found.update(home[path.origin] for path in _slot_reads(unit) if path.origin in home)
        elif steps[index][-1].fail:
            fails.add(index)
        found.discard(index)
        needs.append(sorted(found))
    for index in fails:  # what fails does so after all else, so that an undo beside it is completed
        needs[index] = [other for other in range(len(units)) if other not in fails]
    return needs


def steps_in(graph: Graph, unit: Unit) -> list[Step]:
    """Return every step of a unit, those in its slots included: inner ones first, so in the order in which they are filled."""
    steps, inner = graph.steps, graph.inner
    if isinstance(unit, int) and unit not in inner:
        return [steps[unit]]
    return [steps[each] for number in step_numbers((unit,)) for each in (*inner.get(number, ()), number)]


def _slot_reads(group: MixinGroup) -> list[Path]:
    """Return what the slots of a mixin read, and those of the mixins in it."""
    reads: list[Path] = []
    waiting: list[Unit] = [group]
    while waiting:
        each = waiting.pop()
        if isinstance(each, MixinGroup):
            reads.extend(path for slot in each.application.slots for path in slot.reads)
            waiting.extend(each.members)
    return reads


def topological_order(needs: list[list[int]]) -> list[int] | None:
    """Return the indexes so that each stands after those it needs, otherwise in their order; `None` if some need each other."""
    if all(not each or each[-1] < index for index, each in enumerate(needs)):
        return list(range(len(needs)))  # as most are: evaluation order
    order: list[int] = []
    state = [0] * len(needs)
    for start in range(len(needs)):
        stack = [start]
        while stack:
            index = stack[-1]
            if state[index] == 0:
                state[index] = 1
                if any(state[need] == 1 for need in needs[index] if need != index):
                    return None
                stack.extend(need for need in reversed(needs[index]) if state[need] == 0)
            else:
                stack.pop()
                if state[index] == 1:
                    state[index] = 2
                    order.append(index)
    return order
