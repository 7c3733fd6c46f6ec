"""Graph to plan: cut the steps into chunks, each for one executor.

The cut has the fewest chunks; among those, the sequence of executors that comes first in the order model, server, person;
then each step lies as late as those who read it allow.
"""

from __future__ import annotations

from typing import TypeAlias

from instrc import problems
from instrc.ir.blocks import Repeat, regions_of, word_of
from instrc.ir.fusion import MixinGroup, Unit
from instrc.ir.graph import FlatGraph, Graph, Step
from instrc.ir.paths import Local, Path
from instrc.ir.plan import ArtefactShape, Chunk, Plan
from instrc.passes.bind.holding import step_numbers
from instrc.passes.partition.nodes import BLOCK, ORDER, PLACE, CutChunk, PartitionNode, chunk_of
from instrc.passes.partition.number import number_steps
from instrc.passes.partition.sequence import sequence
from instrc.problems.problem import Problem
from instrc.problems.report import Report

ROOT = 0
"""The region of the program itself."""
_Home: TypeAlias = dict[int | str | Local, int]
"""In which unit of a region each step lies, those in slots and mixins included."""


def partition(flat: FlatGraph, report: Report, *, naming: str = "step") -> Plan | None:
    """Return the plan of a graph; `None` if it was cut by hand against its data flow."""
    graph = flat.graph
    regions = {region.number: region.units for step in graph.blocks() for region in regions_of(step.content)}
    cut: dict[int, tuple[CutChunk, ...]] = {}
    for number, units in (*regions.items(), (ROOT, graph.units)):
        by_hand = number == ROOT and graph.contexts is not None
        whole = None if by_hand else _single_chunk(graph, units)
        if whole is not None:
            cut[number] = (whole,)
            continue
        steps = [_steps_in(graph, unit) for unit in units]
        home: _Home = {step.number: index for index, inside in enumerate(steps) for step in inside}
        needs = _all_needs(units, steps, home)
        order = _topological(needs)
        if order is None:
            report.add(_circle(units, needs))
            return None
        nodes = _nodes(units, steps, order, needs, home)
        if not by_hand:
            cut[number] = _cut_into_chunks(nodes)
            continue
        from instrc.passes.partition.by_hand import cut_by_hand  # few programs are divided so

        found = cut_by_hand(graph, nodes, report)
        if found is None:
            return None
        cut[number] = found
    chunks, inside = _number_chunks(graph, cut.pop(ROOT), cut)
    shape = _shape(graph, chunks)
    if shape != "process":
        from instrc.passes.partition.deadlines import report_deadlines  # a process has an engine for both
        from instrc.passes.partition.members import report_members

        report_members(graph, report)
        report_deadlines(graph, report)
    bare = shape == "tool" and not graph.keyed and _is_single(graph)
    keys, elements = number_steps(graph, chunks, inside, naming=naming, bare=bare)
    return Plan(flat, shape, chunks, keys, bare, inside, elements)


def _single_chunk(graph: Graph, units: tuple[Unit, ...]) -> CutChunk | None:
    """Return the chunk of units with nothing to cut: steps alone, all of one executor; `None` for any others.

    They are in evaluation order, so each stands after those it reads.
    """
    steps = [graph.steps[unit] for unit in units if isinstance(unit, int)]
    executors = {step.executor for step in steps}
    if len(steps) < len(units) or len(executors) != 1 or not graph.inner.keys().isdisjoint(units):
        return None
    executor = PLACE[executors.pop()]
    if executor == BLOCK or [step for step in steps if step.fail or step.chosen or step.output]:
        return None
    return CutChunk(executor, units)


def _cut_into_chunks(nodes: list[PartitionNode]) -> tuple[CutChunk, ...]:
    """Cut nodes into the fewest chunks."""
    carried = [node.executor for node in nodes]
    apart = [node.apart for node in nodes]
    if len(set(carried)) == 1 and carried[0] != BLOCK and not any(apart):
        return (chunk_of(carried[0], nodes),)
    executors, blocks = sequence(carried, [node.reads for node in nodes], apart)
    where = _as_late_as_possible(nodes, executors, blocks)
    inside: list[list[PartitionNode]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    return tuple(chunk_of(executor, each) for executor, each in zip(executors, inside, strict=True))


def _number_chunks(
    graph: Graph, root: tuple[CutChunk, ...], chunks: dict[int, tuple[CutChunk, ...]]
) -> tuple[tuple[Chunk, ...], dict[int, tuple[Chunk, ...]]]:
    """Count chunks in one walk: a block before what is in it, what is in it before what comes after."""
    counts: dict[str, int] = {}
    made: dict[int, list[Chunk]] = {number: [] for number in (ROOT, *chunks)}
    waiting: list[tuple[int, CutChunk, bool]] = [(ROOT, chunk, False) for chunk in reversed(root)]
    while waiting:
        region, chunk, otherwise = waiting.pop()
        units = chunk.units
        block = units[0] if chunk.executor == BLOCK and isinstance(units[0], int) else None
        word: str = ORDER[chunk.executor]
        if block is not None:
            content = graph.steps[block].content
            word = "else" if otherwise else word_of(content)  # type: ignore[arg-type]  # a block, by its executor
            inner = regions_of(content)
            if type(content) is Repeat:
                inner = inner[1:] if otherwise else inner[:1]
                if not otherwise and content.otherwise is not None:
                    waiting.append((region, chunk, True))
            for each in reversed(inner):
                waiting.extend((each.number, below, False) for below in reversed(chunks[each.number]))
        counts[word] = counts.get(word, 0) + 1
        made[region].append(Chunk(word, counts[word], units, chunk.answers, chunk.annotations, block))  # type: ignore[arg-type]  # as above
    whole = {number: tuple(chunks) for number, chunks in made.items()}
    return whole.pop(ROOT), whole


def _circle(units: tuple[Unit, ...], needs: list[list[int]]) -> Problem:
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


def _all_needs(units: tuple[Unit, ...], steps: list[list[Step]], home: _Home) -> list[list[int]]:
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


def _nodes(
    units: tuple[Unit, ...], steps: list[list[Step]], order: list[int], needs: list[list[int]], home: _Home
) -> list[PartitionNode]:
    """Return the nodes to cut, each after those it reads."""
    place: dict[int, int] = {}
    answers: dict[int, int] = {}
    nodes: list[PartitionNode] = []
    any_chosen = any(step.chosen for inside in steps for step in inside)
    for index in order:
        unit = units[index]
        step = steps[index][-1] if isinstance(unit, int) else None
        executor = PLACE[step.executor] if step else 0
        needed = needs[index]
        reads = tuple([answers.get(need, place[need]) for need in needed]) if needed else ()
        apart: tuple[int, ...] = ()
        if any_chosen:
            lists = {home[path.origin] for inside in steps[index] for path in inside.chosen if path.origin in home}
            apart = tuple([place[need] for need in needed if need in lists and nodes[place[need]].executor == executor])
        place[index] = len(nodes)
        nodes.append(PartitionNode(unit, executor, answer=False, reads=reads, apart=apart))
        if step is not None and step.output and step.executor == "model":
            answers[index] = len(nodes)
            nodes.append(PartitionNode(unit, PLACE["server"], answer=True, reads=(place[index],)))
    return nodes


def _steps_in(graph: Graph, unit: Unit) -> list[Step]:
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


def _topological(needs: list[list[int]]) -> list[int] | None:
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


def _as_late_as_possible(nodes: list[PartitionNode], executors: list[int], blocks: dict[int, int]) -> list[int]:
    """Return the chunk of each node: the last one of its executor that those who read it allow; blocks have theirs."""
    last_of = [[-1] * (len(executors) + 1) for _ in ORDER]
    for executor in range(len(ORDER)):
        for i, each in enumerate(executors):
            last_of[executor][i + 1] = i if each == executor else last_of[executor][i]
    limit = [len(executors)] * len(nodes)
    where = [0] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        where[index] = blocks[index] if index in blocks else last_of[node.executor][limit[index]]
        for need in node.reads:
            same = nodes[need].executor == node.executor and need not in blocks and need not in node.apart
            limit[need] = min(limit[need], where[index] + 1 if same else where[index])
    return where


def _shape(graph: Graph, chunks: tuple[Chunk, ...]) -> ArtefactShape:
    if graph.contexts is not None or any(step.chosen for step in graph.compounds()):
        return "process"  # only an engine can put the values of a list into the schema of a choice
    if len(chunks) == 1 and chunks[0].executor == "model":
        return "tool"
    if len(chunks) == 2 and [chunk.executor for chunk in chunks] == ["model", "server"] and len(chunks[1].units) == 1:
        unit = chunks[1].units[0]
        step = graph.steps[unit] if isinstance(unit, int) else None
        if step is not None and not step.output and not step.fail and step.activity != "RunPlan_Activity":
            return "call"
    return "process"


def _is_single(graph: Graph) -> bool:
    return len(graph.units) == 1 and isinstance(graph.units[0], int) and graph.steps[graph.units[0]].key is None
