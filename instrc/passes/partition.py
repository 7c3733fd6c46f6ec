"""Graph to plan: cut the steps into chunks, each for one executor.

The cut has the fewest chunks; among those, the sequence of executors that comes first in the order model, server, person;
then each step lies as late as those who read it allow.
"""

from __future__ import annotations

from dataclasses import dataclass

from instrc import problems
from instrc.ir.graph import Executor, FlatGraph, Graph, Group, Step, Unit
from instrc.ir.plan import Chunk, Plan, Shape
from instrc.passes.holding import numbers
from instrc.passes.number import number_steps
from instrc.passes.sequence import shortest_sequence
from instrc.problems.report import Report

ORDER: tuple[Executor, ...] = ("model", "server", "user")


@dataclass(frozen=True, slots=True)
class Node:
    """What is cut as one piece: a unit, or the answer of the server to one."""

    unit: Unit
    executor: int
    """Its executor's place in `ORDER`."""
    answer: bool
    reads: tuple[int, ...]
    """Nodes that come first, by index."""


def partition(flat: FlatGraph, report: Report, *, naming: str = "step") -> Plan | None:
    """Return the plan of a graph; `None` if it was cut by hand against its data flow."""
    graph = flat.graph
    nodes = _nodes(graph)
    if graph.contexts is not None:
        cut = _by_hand(graph, nodes, report)
        if cut is None:
            return None
        executors, where = cut
    else:
        executors = shortest_sequence([node.executor for node in nodes], [node.reads for node in nodes])
        where = _as_late_as_possible(nodes, executors)
    chunks = _chunks(graph, nodes, executors, where)
    shape = _shape(graph, chunks)
    bare = shape == "tool" and not graph.keyed and _is_single(graph)
    return Plan(flat, shape, chunks, number_steps(graph, chunks, naming=naming, bare=bare), bare)


def _nodes(graph: Graph) -> list[Node]:
    """Return the pieces to cut, each after those it reads."""
    home: dict[int, int] = {}
    for index, unit in enumerate(graph.units):
        for number in steps_in(graph, unit):
            home[number] = index
    needs = [sorted(_needs(graph, unit, home) - {index}) for index, unit in enumerate(graph.units)]
    place: dict[int, int] = {}
    answers: dict[int, int] = {}
    nodes: list[Node] = []
    for index in _topological(needs):
        unit = graph.units[index]
        step = graph.steps[unit] if isinstance(unit, int) else None
        executor = ORDER.index(step.executor) if step else 0
        reads = tuple(answers.get(need, place[need]) for need in needs[index])
        place[index] = len(nodes)
        nodes.append(Node(unit, executor, answer=False, reads=reads))
        if step is not None and step.output and step.executor == "model":
            answers[index] = len(nodes)
            nodes.append(Node(unit, ORDER.index("server"), answer=True, reads=(place[index],)))
    return nodes


def steps_in(graph: Graph, unit: Unit) -> list[int]:
    """Return every step of a unit, those in its slots included: inner ones first, so in the order in which they are filled."""
    found: list[int] = []
    for number in numbers((unit,)):
        found.extend(graph.inner.get(number, ()))
        found.append(number)
    return found


def _needs(graph: Graph, unit: Unit, home: dict[int, int]) -> set[int]:
    reads = [path for number in steps_in(graph, unit) for path in graph.steps[number].reads]
    waiting = [unit]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Group):
            reads.extend(path for slot in each.application.slots for path in slot.reads)
            waiting.extend(each.members)
    return {home[path.origin] for path in reads if isinstance(path.origin, int)}


def _topological(needs: list[list[int]]) -> list[int]:
    """Return the indexes so that each stands after those it needs, otherwise in their order."""
    order: list[int] = []
    state = [0] * len(needs)
    for start in range(len(needs)):
        stack = [start]
        while stack:
            index = stack[-1]
            if state[index] == 0:
                state[index] = 1
                stack.extend(need for need in reversed(needs[index]) if state[need] == 0)
            else:
                stack.pop()
                if state[index] == 1:
                    state[index] = 2
                    order.append(index)
    return order


def _as_late_as_possible(nodes: list[Node], executors: list[int]) -> list[int]:
    """Return the chunk of each node: the last one of its executor that those who read it allow."""
    last_of = [[-1] * (len(executors) + 1) for _ in ORDER]
    for executor in range(len(ORDER)):
        for i, each in enumerate(executors):
            last_of[executor][i + 1] = i if each == executor else last_of[executor][i]
    limit = [len(executors)] * len(nodes)
    where = [0] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        where[index] = last_of[node.executor][limit[index]]
        for need in node.reads:
            same = nodes[need].executor == node.executor
            limit[need] = min(limit[need], where[index] + 1 if same else where[index])
    return where


def _by_hand(graph: Graph, nodes: list[Node], report: Report) -> tuple[list[int], list[int]] | None:
    """Return the executors of the contexts and the chunk of each node."""
    contexts = graph.contexts or ()
    executors = [ORDER.index(context.executor) for context in contexts]
    chosen = {id(unit) if not isinstance(unit, int) else unit: i for i, context in enumerate(contexts) for unit in context.units}
    where: list[int] = []
    for node in nodes:
        if node.answer:
            after = where[node.reads[0]]
            later = next((i for i in range(after + 1, len(contexts)) if executors[i] == node.executor), None)
            if later is None:
                step = _step(graph, node.unit)
                report.add(
                    problems.steps.CutAgainstDataFlow(
                        at=step.span, word=step.key or step.stem, reason="waits for the server, and no `Server_Context` follows"
                    )
                )
                return None
            where.append(later)
        else:
            where.append(chosen[node.unit if isinstance(node.unit, int) else id(node.unit)])
    for node, chunk in zip(nodes, where, strict=True):
        for need in node.reads:
            if where[need] > chunk:
                step = _step(graph, node.unit)
                report.add(
                    problems.steps.CutAgainstDataFlow(
                        at=step.span,
                        word=step.key or step.stem,
                        reason="reads what comes in a later context",
                        other=_step(graph, nodes[need].unit).span,
                    )
                )
                return None
    return executors, where


def _step(graph: Graph, unit: Unit) -> Step:
    return graph.steps[numbers((unit,))[0]]


def _chunks(graph: Graph, nodes: list[Node], executors: list[int], where: list[int]) -> tuple[Chunk, ...]:
    inside: list[list[Node]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    chunks: list[Chunk] = []
    counts = [0] * len(ORDER)
    for i, executor in enumerate(executors):
        counts[executor] += 1
        chunks.append(
            Chunk(
                executor=ORDER[executor],
                index=counts[executor],
                units=tuple(node.unit for node in inside[i]),
                answers=frozenset(node.unit for node in inside[i] if node.answer and isinstance(node.unit, int)),
                annotations=graph.contexts[i].annotations if graph.contexts else (),
            )
        )
    return tuple(chunks)


def _shape(graph: Graph, chunks: tuple[Chunk, ...]) -> Shape:
    if graph.contexts is not None:
        return "process"
    if len(chunks) == 1 and chunks[0].executor == "model":
        return "tool"
    if len(chunks) == 2 and [chunk.executor for chunk in chunks] == ["model", "server"] and len(chunks[1].units) == 1:
        unit = chunks[1].units[0]
        if isinstance(unit, int) and not graph.steps[unit].output:
            return "call"
    return "process"


def _is_single(graph: Graph) -> bool:
    return len(graph.units) == 1 and isinstance(graph.units[0], int) and graph.steps[graph.units[0]].key is None
