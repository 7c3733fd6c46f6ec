"""Graph to plan: cut the steps into chunks, each for one executor.

The cut has the fewest chunks; among those, the sequence of executors that comes first in the order model, server, person;
then each step lies as late as those who read it allow.
"""

from __future__ import annotations

from functools import lru_cache

from instrc.ir.blocks import Repeat, regions_of, word_of
from instrc.ir.fusion import Unit
from instrc.ir.graph import FlatGraph, Graph, Step
from instrc.ir.paths import reading_paths
from instrc.ir.plan import ArtefactShape, Chunk, Plan
from instrc.limits.programs import KEPT_CUT
from instrc.passes.partition.needs import Home, needs_of, problem_of_circle, steps_in, topological_order
from instrc.passes.partition.nodes import BLOCK, ORDER, PLACE, CutChunk, PartitionNode, chunk_of
from instrc.passes.partition.number import number_steps
from instrc.passes.partition.sequence import sequence
from instrc.problems.report import Report

ROOT = 0
"""The region of the program itself."""


def partition(flat: FlatGraph, report: Report, *, naming: str = "step") -> Plan | None:
    """Return the plan of a graph; `None` if it was cut by hand against its data flow."""
    graph = flat.graph
    regions = {region.number: region.units for step in graph.blocks() for region in regions_of(step.content)}
    reasons = _reasons_to_cut(graph)
    cut: dict[int, tuple[CutChunk, ...]] = {}
    for number, units in (*regions.items(), (ROOT, graph.units)):
        by_hand = number == ROOT and graph.contexts is not None
        if units and not by_hand and not flat.mixins and reasons.isdisjoint(units):
            cut[number] = (CutChunk(PLACE["model"], units),)  # they are in evaluation order: each after what it reads
            continue
        found = _cut_region(graph, units, report, by_hand=by_hand)
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
    keys, elements = number_steps(flat, chunks, inside, naming=naming, bare=bare)
    return Plan(flat, shape, chunks, keys, bare, inside, elements)


def may_cut_wrongly(flat: FlatGraph) -> bool:
    """Tell whether partitioning a graph, or emitting it, can report a problem: a mere check skips both otherwise.

    It can if mixins contain steps, if the program is divided by hand, or if an export without blocks (which may become a tool)
    has deadlines or gives members.
    """
    graph = flat.graph
    if graph.contexts is not None or flat.mixins or flat.placed:
        return True
    if any(graph.steps[unit].executor == "block" for unit in graph.units if isinstance(unit, int)):
        return False
    given = () if graph.value is None else reading_paths(graph.value)
    return any(path.tail for path in given) or any(step.timing.words for step in graph.steps.values())


def _cut_region(graph: Graph, units: tuple[Unit, ...], report: Report, *, by_hand: bool) -> tuple[CutChunk, ...] | None:
    """Cut the units of one region, `by_hand` as the program says; `None` for a cut against the data flow, which is reported."""
    steps = [steps_in(graph, unit) for unit in units]
    home: Home = {step.number: index for index, inside in enumerate(steps) for step in inside}
    needs = needs_of(units, steps, home)
    order = topological_order(needs)
    if order is None:
        report.add(problem_of_circle(units, needs))
        return None
    nodes = _nodes(units, steps, order, needs, home)
    if not by_hand:
        return _cut_into_chunks(nodes)
    from instrc.passes.partition.by_hand import divided_by_hand  # few programs are divided so

    return divided_by_hand(graph, nodes, report)


def _reasons_to_cut(graph: Graph) -> set[int]:
    """Return the steps for which a region may need several chunks: all but those that the model writes and nothing stands in."""
    choosing = [step.number for step in graph.compounds() if step.chosen]
    return {*graph.block_numbers, *graph.awaited_numbers, *graph.inner, *choosing}


def _cut_into_chunks(nodes: list[PartitionNode]) -> tuple[CutChunk, ...]:
    """Cut nodes into the fewest chunks."""
    carried = [node.executor for node in nodes]
    apart = [node.apart for node in nodes]
    if len(set(carried)) == 1 and carried[0] != BLOCK and not any(apart):
        return (chunk_of(carried[0], nodes),)
    shape = tuple(carried), tuple([node.reads for node in nodes]), tuple(apart)
    executors, where = _known_cut(*shape) if len(nodes) <= KEPT_CUT else _cut(*shape)
    inside: list[list[PartitionNode]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    return tuple(chunk_of(executor, each) for executor, each in zip(executors, inside, strict=True))


def _cut(
    executors: tuple[int, ...], reads: tuple[tuple[int, ...], ...], apart: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the executor of each chunk, and the chunk of each node."""
    found, blocks = sequence(executors, reads, apart)
    return tuple(found), _as_late_as_possible(executors, reads, apart, found, blocks)


_known_cut = lru_cache(1024)(_cut)
"""The same, kept: the bodies of blocks are short and much alike."""


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


def _nodes(
    units: tuple[Unit, ...], steps: list[list[Step]], order: list[int], needs: list[list[int]], home: Home
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


def _as_late_as_possible(
    executors: tuple[int, ...],
    reads: tuple[tuple[int, ...], ...],
    apart: tuple[tuple[int, ...], ...],
    chunks: list[int],
    blocks: dict[int, int],
) -> tuple[int, ...]:
    """Return the chunk of each node: the last one of its executor that those who read it allow; blocks have theirs."""
    last_of = [[-1] * (len(chunks) + 1) for _ in ORDER]
    for executor in {*executors} - {BLOCK}:
        for i, each in enumerate(chunks):
            last_of[executor][i + 1] = i if each == executor else last_of[executor][i]
    limit = [len(chunks)] * len(executors)
    where = [0] * len(executors)
    for index in range(len(executors) - 1, -1, -1):
        executor = executors[index]
        where[index] = blocks[index] if index in blocks else last_of[executor][limit[index]]
        for need in reads[index]:
            same = executors[need] == executor and need not in blocks and need not in apart[index]
            limit[need] = min(limit[need], where[index] + 1 if same else where[index])
    return tuple(where)


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
